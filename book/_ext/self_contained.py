"""Make the pages stand alone: over http and from the disk they ask nobody else for anything, and for little.

* MathJax comes from the book. Its files are taken out of the wheel of `django-static-mathjax`, which carries MathJax
  3.2.2 and needs nothing, not even Django; `mathjax_path` in _config.yml points at the copy. Sphinx would load it
  (263 kB compressed) on every page that has a formula or leads to one that has; here only a formula brings it.
* The search shows no summaries on file://, where it may not fetch the pages that it found.
"""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

MATHJAX = (
    "tex-chtml.js",  # TeX in, HTML and CSS out
    "output/chtml/fonts",
    "input/tex/extensions",  # rarer TeX packages, fetched when a formula asks for one
    "a11y",  # the explorer for screen readers, fetched when a reader switches it on in the menu
    "sre/mathmaps/base.json",
    "sre/mathmaps/en.json",
)
SEARCH_ON_DISK = (
    'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
)


def mathjax_where_needed(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take MathJax off a page without formulas."""
    if not (
        doctree
        and any(doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block)))
    ):
        path = app.config.mathjax_path
        scripts = context["script_files"]
        scripts[:] = [
            script for script in scripts if not str(getattr(script, "filename", "")).endswith(path)
        ]


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    """Copy what a browser may ask for to `_static/mathjax`, once a build folder."""
    target = app.outdir / "_static" / "mathjax"
    if exception or app.builder.format != "html" or (target / MATHJAX[0]).exists():
        return
    try:
        package = files("mathjax")
    except ModuleNotFoundError as error:
        raise ExtensionError(
            "MathJax is missing: pip install -c requirements.txt django-static-mathjax"
        ) from error
    with as_file(package / "static" / "mathjax" / "es5") as source:
        for part in reversed(MATHJAX):  # the first part last: where it stands, the copy is complete
            (target / part).parent.mkdir(parents=True, exist_ok=True)
            if (source / part).is_dir():
                shutil.copytree(source / part, target / part, dirs_exist_ok=True)
            else:
                shutil.copy(source / part, target / part)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_js_file(None, body=SEARCH_ON_DISK)
    app.connect(
        "html-page-context", mathjax_where_needed, priority=900
    )  # after Sphinx has added it
    app.connect("build-finished", copy_mathjax)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
