"""The stage: the network drawn as glass, on the front page, in some chapters, and in the strip.

    ```{glass}
    ```

is its place on a page: a still picture, which `capsnet_book/widgets/glass/` brings to life with the
reader's digit. A chapter has the place where its notebook has the widget `Glass`
(`notebooks/stage.py`); the chapter's part is enlarged. Each chapter has the strip above it
(`strip.py`): a `<details>` of names and links, which works without JavaScript, and holds the stage
when it is opened.

    ```{turned}
    ```

is the place of a line below the stage, where capsules that turn read the same digit, turned.
"""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from .. import order
from ..notebook import read_notebook
from .buffers import files_by_hash, named_buffers, publish
from .models import Model, class_name, stored_models
from .places import notebook_models, skip
from .sources import joined_sources
from .stills import stills
from .strip import CHAPTER, highlighted_parts, strip

CHAPTERS = "book/chapters"
WEIGHTS = "capsnet_tutorial/assets/weights/small.safetensors"
TURNING_WEIGHTS = "book/capsnet_book/assets/weights/small-turning.safetensors"
FILE = "glass"  # the stem of the script and of the styles, in _static
SAMPLES_WIDGET, SAMPLES_TRAIT = "Glass", "samples"  # where a digit of each class is stored
SAMPLES_BYTES = 10 * 28 * 28
# A page may load 2 MB. Where its other widgets load more than this, the stage waits for a touch.
LIGHT_PAGE = 250_000  # bytes

logger = logging.getLogger(__name__)


class glass(nodes.General, nodes.Element):
    """The place of the stage (in lower case, as docutils names nodes)."""


class Glass(SphinxDirective):
    """The directive `glass`: the place of the stage."""

    def run(self) -> list[nodes.Node]:
        """Return the place."""
        return [glass("")]


def visit_html(writer: Any, node: glass) -> None:
    """Write the place: the parts to enlarge, the still picture, a sentence without JavaScript."""
    page = writer.builder.current_docname
    parts = " ".join(highlighted_parts(page))
    waits = " data-waits" if must_wait(writer.builder.app, page) else ""
    sentence = _("A still picture: with JavaScript switched on, a digit runs through this network.")
    writer.body.append(
        f'<figure class="glass full-width" data-widget="Glass" data-lit="{parts}"{waits}>\n'
        f"{stills('Glass', writer.builder)}"
        f'<div class="live-view"></div>\n<noscript>{sentence}</noscript>\n</figure>\n'
    )
    raise nodes.SkipNode


class turned(nodes.General, nodes.Element):
    """The place of the turned digit (in lower case, as docutils names nodes)."""


class Turned(SphinxDirective):
    """The directive `turned`: the place of the digit that is turned, on a page with the stage."""

    def run(self) -> list[nodes.Node]:
        """Return the place."""
        return [turned("")]


def visit_turned(writer: Any, node: turned) -> None:
    """Write the place, which is as high as what the stage's script puts into it."""
    writer.body.append('<div class="turned-place"></div>\n')
    raise nodes.SkipNode


def add_stage(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give a page with a stage, or with the strip, its script and weights."""
    has_stage = doctree and any(doctree.findall(glass))
    if not (has_stage or CHAPTER.match(page)):
        return
    app.add_css_file(f"{FILE}.css")
    app.add_js_file("live-host.js", loading_method="defer")
    app.add_js_file(f"{FILE}.js", loading_method="defer", priority=order.STAGE_SCRIPT)
    publish(app, page, [weights_hash(app)])
    if doctree and any(doctree.findall(turned)):
        publish(app, page, [weights_hash(app, TURNING_WEIGHTS)])
    if CHAPTER.match(page):
        context["strip"] = strip(app, page) | {"waits": must_wait(app, page)}


def must_wait(app: Sphinx, page: str) -> bool:
    """Return True if a page's other widgets load so much that the stage waits for a touch."""
    return other_weights(app, page) > LIGHT_PAGE


def other_weights(app: Sphinx, page: str) -> int:
    """Return how many bytes a page's widgets load besides the stage's own weights.

    Digits do not count: they are fetched when a reader wants to train.
    """
    hashes = set(named_buffers(notebook_models(app, page))) - {weights_hash(app)}
    files = [file for key, file in files_by_hash(Path(app.srcdir)).items() if key in hashes]
    return sum(file.stat().st_size for file in files if file.parent.name != "digits")


def weights_hash(app: Sphinx, file: str = WEIGHTS) -> str:
    """Return the SHA-256 under which weights are published, by default the stage's."""
    weights = Path(app.srcdir, file)
    files = files_by_hash(Path(app.srcdir))
    return next(key for key, path in files.items() if path == weights)


@cache
def samples(folder: Path) -> str:
    """Return a handwritten digit of each class, in base64, as a notebook of `folder` stores them.

    Warn, and return white paper, where none does.
    """
    for file in sorted(folder.glob("*.ipynb")):
        for model in stored_models(read_notebook(file)).values():
            digits = stored_samples(model)
            if digits:
                return digits
    logger.warning(
        f"no notebook stores a {SAMPLES_WIDGET}, whose digits the stage shows", type="glass"
    )
    return base64.b64encode(bytes(SAMPLES_BYTES)).decode()


def stored_samples(model: Model) -> str:
    """Return the digits that a model stores, in base64; "" for none."""
    if class_name(model) != SAMPLES_WIDGET:
        return ""
    for buffer in model.get("buffers", []):
        if buffer["path"] == [SAMPLES_TRAIT]:
            return buffer["data"]
    return ""


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """Write the stage's script, a classic one since file:// loads no modules, and its styles."""
    if exception or app.builder.format != "html":
        return
    places = 'document.querySelector("figure.glass"), document.querySelector(".network-strip")'
    settings = (
        f'bytes: () => capsnetBuffer("{weights_hash(app)}"), own: capsnetOwn, '
        f'turning: () => capsnetBuffer("{weights_hash(app, TURNING_WEIGHTS)}"), '
        f'samples: "{samples(Path(app.srcdir, CHAPTERS))}"'
    )
    script = joined_sources().script("glass/glass.js")
    styles = joined_sources().stylesheet("glass.css", "glass/glass.css")
    static = Path(app.outdir, "_static")
    static.joinpath(f"{FILE}.js").write_text(
        f"{script}.start({places}, {{ {settings} }});\n", encoding="utf-8"
    )
    static.joinpath(f"{FILE}.css").write_text(styles, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_node(glass, html=(visit_html, skip), latex=(skip, skip), text=(skip, skip))
    app.add_directive("glass", Glass)
    app.add_node(turned, html=(visit_turned, skip), latex=(skip, skip), text=(skip, skip))
    app.add_directive("turned", Turned)
    app.connect("html-page-context", add_stage)
    app.connect("build-finished", write_files)
