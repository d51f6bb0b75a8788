"""The project's address on GitHub, from pyproject.toml: the theme's buttons, where there is one.

Without an address there are none.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config


def set_buttons(app: Sphinx, config: Config) -> None:
    """Tell the theme where the repository is, and to offer each chapter in Colab."""
    project = tomllib.loads((Path(app.srcdir) / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    if address := project.get("urls", {}).get("Repository"):
        owner, name = address.rstrip("/").split("/")[-2:]
        config.html_baseurl = (
            f"https://{owner}.github.io/{name}/"  # GitHub Pages, where the workflow publishes
        )
        config.html_theme_options |= {
            "repository_url": address,
            "repository_branch": "main",
            "use_repository_button": True,
            "use_issues_button": True,
            "launch_buttons": {"colab_url": "https://colab.research.google.com"},
        }


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", set_buttons)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
