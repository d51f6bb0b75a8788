"""The project's address on GitHub, from pyproject.toml: the theme's buttons.

Without an address there are none.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config


def set_buttons(app: Sphinx, config: Config) -> None:
    """Tell the theme where the repository is, and to offer each chapter in Colab."""
    text = Path(app.srcdir, "pyproject.toml").read_text(encoding="utf-8")
    address = tomllib.loads(text)["project"].get("urls", {}).get("Repository")
    if not address:
        return
    owner, name = address.rstrip("/").split("/")[-2:]
    # GitHub Pages, where the workflow publishes.
    edition = "" if config.language == "en" else f"{config.language}/"
    config.html_baseurl = f"https://{owner}.github.io/{name}/{edition}"
    config.html_theme_options |= {
        "repository_url": address,
        "repository_branch": "main",
        "use_repository_button": True,
        "use_issues_button": True,
        "launch_buttons": {"colab_url": "https://colab.research.google.com"},
    }


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("config-inited", set_buttons)
