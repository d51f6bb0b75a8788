"""Formulas, set when the book is built: MathML, which browsers draw without a script.

`math_core` makes MathML Core of the TeX in the text; the letters are `_static/fonts/stix-two-math`.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging

RENDERER = "mathml"  # what _config.yml calls it

converter = LatexToMathML(fancy_error=False)
logger = logging.getLogger(__name__)


def mathml(formula: nodes.Element, *, displayed: bool) -> str:
    """Return a formula as MathML; "", and a warning, where its TeX is wrong.

    Args:
        formula: the node that holds the TeX.
        displayed: whether it stands on a line of its own.
    """
    try:
        return converter.convert_with_local_state(formula.astext(), displaystyle=displayed)
    except LatexError as error:
        logger.warning("a formula cannot be set: %s", error, location=formula)
        return ""


def open_inline(visitor: Any, node: nodes.math) -> None:
    """Write a formula in the text."""
    visitor.body.append(visitor.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    visitor.body.append(mathml(node, displayed=False) + "</span>")
    raise nodes.SkipNode


def open_block(visitor: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own; a screen that is too narrow for it scrolls it."""
    visitor.body.append(visitor.starttag(node, "div", "", CLASS="math notranslate nohighlight"))
    visitor.body.append(mathml(node, displayed=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_html_math_renderer(RENDERER, (open_inline, None), (open_block, None))
