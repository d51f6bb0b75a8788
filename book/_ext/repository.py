"""The project's address on GitHub, from pyproject.toml: the theme's buttons, where there is one.

Without an address there are none. A notebook's link to its own page, which it has for readers elsewhere, is left out of
that page.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform


def set_buttons(app: Sphinx, config: Config) -> None:
    """Tell the theme where the repository is, and to offer each chapter in Colab."""
    project = tomllib.loads((Path(app.srcdir) / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if address := project.get("urls", {}).get("Repository"):
        owner, name = address.rstrip("/").split("/")[-2:]
        config.html_baseurl = f"https://{owner}.github.io/{name}/"  # GitHub Pages, where the workflow publishes
        config.html_theme_options |= {
            "repository_url": address,
            "repository_branch": "main",
            "use_repository_button": True,
            "use_issues_button": True,
            "launch_buttons": {"colab_url": "https://colab.research.google.com"},
        }


class LeaveOutOwnAddress(SphinxPostTransform):
    """Remove links to the page that they stand on."""

    default_priority = 500

    def run(self, **kwargs: Any) -> None:
        own = f"/{self.env.docname}.html"
        for link in list(self.document.findall(nodes.reference)):
            address = link.get("refuri", "")
            if ".github.io/" in address and address.endswith(own):
                link.parent.remove(link)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", set_buttons)
    app.add_post_transform(LeaveOutOwnAddress)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
