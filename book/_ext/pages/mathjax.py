"""MathJax from the book itself, on pages that have formulas.

The files are taken out of the wheel of `django-static-mathjax`, which carries MathJax 3.2.2 and
needs nothing, not even Django; `mathjax_path` in _config.yml points at the copy. Sphinx would load
it (263 kB compressed) on every page that has a formula or leads to one; here only a formula does.
"""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from .. import order

LOADER = "tex-chtml.js"  # TeX in, HTML and CSS out
LICENCE = "LICENSE"  # Apache 2.0, which must go along with every copy
PARTS = (
    "output/chtml/fonts",
    "input/tex/extensions",  # rarer TeX packages, fetched when a formula asks for one
    "a11y",  # the explorer for screen readers, fetched when a reader switches it on in the menu
    "sre/mathmaps/base.json",
    "sre/mathmaps/en.json",
)


def is_formula(node: nodes.Node) -> bool:
    """Return True for nodes that MathJax sets."""
    return isinstance(node, nodes.math | nodes.math_block)


def remove_needless_mathjax(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take MathJax off a page without formulas."""
    if doctree and any(doctree.findall(is_formula)):
        return
    path = app.config.mathjax_path
    scripts = context["script_files"]
    scripts[:] = [script for script in scripts if not file_name(script).endswith(path)]


def file_name(script: Any) -> str:
    """Return the file of a page's script; "" for one that stands in the page."""
    return str(getattr(script, "filename", None) or "")


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    """Copy what a browser may ask for to `_static/mathjax`, once a build folder.

    Raises:
        ExtensionError: MathJax is not installed.
    """
    target = app.outdir / "_static" / "mathjax"
    if exception or app.builder.format != "html" or (target / LOADER).exists():
        return
    try:
        package = files("mathjax")
    except ModuleNotFoundError as error:
        raise ExtensionError(
            "MathJax is missing: pip install -c requirements.txt django-static-mathjax"
        ) from error
    with as_file(package / "static" / "mathjax") as source:
        copy(source / LICENCE, target / LICENCE)
        for part in (*PARTS, LOADER):  # the loader last: if it is there, the copy is complete
            copy(source / "es5" / part, target / part)


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", remove_needless_mathjax, priority=order.REMOVE_MATHJAX)
    app.connect("build-finished", copy_mathjax)
