"""The glass network: one stage at the head of each chapter and of the front page, and the strip that it is when closed.

    ```{glass}
    ```

is its place on a page: a still picture, which `capsnet_book/widgets/glass/` brings to life with the reader's digit. A
chapter has it where its notebook draws the network, else under its title; the chapter's part is enlarged. The strip
above a chapter is a `<details>` of names and links, so it opens and leads on without JavaScript. What the parts are
called, what a chapter lights and which chapters build a part stands in `capsnet_book/network.json`, for figures, too.
"""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from live_widgets import notebook_models, publish, skip, stills
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from stored_widgets import WIDGETS, class_name, files_by_hash, sources, stored_models

CHAPTERS = "book/chapters"
SPARED = 250_000  # bytes: where a page loads more besides, the stage waits until it is touched: 2 MB a page are enough
CHAPTER = re.compile(rf"^{CHAPTERS}/(\d+)-(.+)$")
NETWORK = json.loads((WIDGETS.parent / "network.json").read_text(encoding="utf-8"))
WEIGHTS = "capsnet_tutorial/assets/weights/small.safetensors"
SAMPLES = ("DrawDigit", "samples")  # where a digit of each class is stored
FILE = "glass"  # of the script and of the styles, in _static
DRAWN = "figures.network_still("  # in the cell of a notebook in whose place the stage stands
SENTENCE = "A still picture: with JavaScript switched on, a digit runs through this network."

logger = logging.getLogger(__name__)


def strip(app: Sphinx, page: str) -> dict[str, Any]:
    """What the template of the strip shows: the parts with their links, what the chapter is about."""
    chapters = {named(name)[1]: name for name in sorted(app.env.found_docs) if CHAPTER.match(name)}
    _, here = named(page)
    lit = NETWORK["chapters"].get(here, ())
    parts = [
        {
            "key": key,
            "name": part["name"],
            "shape": part["shape"],
            "lit": key in lit,
            "links": [
                link(app, page, chapters[name]) for name in part["built"] if name in chapters
            ],
        }
        for key, part in ((key, NETWORK["parts"][key]) for key in NETWORK["strip"])
    ]
    return {
        "parts": parts,
        "all": not lit,
        "about": ", ".join(part["name"] for part in parts if part["lit"]) or "the whole of it",
    }


def named(chapter: str) -> tuple[int, str]:
    """The number and the name in a chapter's file name."""
    number, name = CHAPTER.sub(r"\1 \2", chapter).split()
    return int(number), name


def link(app: Sphinx, page: str, chapter: str) -> dict[str, Any]:
    """A link to a chapter, by its number and title."""
    number, _ = named(chapter)
    title = f"{number}. {app.env.titles[chapter].astext()}"
    return {
        "title": title,
        "address": app.builder.get_relative_uri(page, chapter) or "#",
        "here": chapter == page,
    }


@cache
def samples(folder: Path) -> str:
    """A handwritten digit of each class in base64, which a widget of one of the notebooks there stores."""
    for notebook in sorted(folder.glob("*.ipynb")):
        for model in stored_models(json.loads(notebook.read_text(encoding="utf-8"))).values():
            for buffer in model.get("buffers", []):
                if class_name(model) == SAMPLES[0] and buffer["path"] == [SAMPLES[1]]:
                    return str(buffer["data"])
    logger.warning(f"no notebook stores a {SAMPLES[0]}, whose digits the stage shows", type="glass")
    return base64.b64encode(bytes(10 * 28 * 28)).decode()


class glass(nodes.General, nodes.Element):
    """The place of the stage (in lower case, as docutils names nodes)."""


class Glass(SphinxDirective):
    """```{glass}```: the place of the stage."""

    def run(self) -> list[nodes.Node]:
        return [glass("")]


def visit_html(writer: Any, node: glass) -> None:
    """Write the place: the parts to enlarge, the still picture, a sentence for readers without JavaScript."""
    page = writer.builder.current_docname
    lit = NETWORK["chapters"].get(named(page)[1], ()) if CHAPTER.match(page) else ()
    waits = " data-waits" if other_weights(writer.builder.app, page) > SPARED else ""
    writer.body.append(
        f'<figure class="glass full-width" data-widget="Glass" data-lit="{" ".join(lit)}"{waits}>\n'
        f"{stills('Glass', writer.builder)}"
        f'<div class="live-view"></div>\n<noscript>{SENTENCE}</noscript>\n</figure>\n'
    )
    raise nodes.SkipNode


def place_in_notebook(app: Sphinx, page: str, source: list[str]) -> None:
    """Give a chapter's notebook the place: where it draws the network, else after its title."""
    if not CHAPTER.match(page):
        return
    notebook = json.loads(source[0])
    cells = notebook["cells"]
    place = {"cell_type": "markdown", "id": FILE, "metadata": {}, "source": "```{glass}\n```"}
    drawn = next((n for n, cell in enumerate(cells) if DRAWN in "".join(cell["source"])), None)
    if drawn is None:
        cells.insert(1, place)
    else:
        cells[drawn] = place
    source[0] = json.dumps(notebook)


def add_stage(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> str | None:
    """Give a page with a stage the script that wakes it, and the weights; a chapter the strip, too."""
    if not (doctree and any(doctree.findall(glass))):
        return None
    app.add_css_file(f"{FILE}.css")
    app.add_js_file("live-host.js", loading_method="defer")
    app.add_js_file(
        f"{FILE}.js", loading_method="defer", priority=900
    )  # after the host, which loads the weights
    publish(app, page, {"glass": {"buffers": [{"encoding": "sha256", "data": sha256(app)}]}})
    if not CHAPTER.match(page):
        return None
    context["strip"] = strip(app, page)
    return "with_strip.html"


def other_weights(app: Sphinx, page: str) -> int:
    """The bytes of the files that a page's widgets load, without the stage's own, and without digits: those are fetched
    when a reader wants to train."""
    buffers = [
        buffer
        for model in notebook_models(app, page).values()
        for buffer in model.get("buffers", [])
    ]
    names = {buffer["data"] for buffer in buffers if buffer["encoding"] == "sha256"} - {sha256(app)}
    files = [file for name, file in files_by_hash(Path(app.srcdir)).items() if name in names]
    return sum(file.stat().st_size for file in files if file.parent.name != "digits")


def sha256(app: Sphinx) -> str:
    """The name under which the weights are published."""
    files = files_by_hash(Path(app.srcdir))
    return next(key for key, file in files.items() if file == Path(app.srcdir, WEIGHTS))


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """The script, a classic one, since a page opened from the disk may load no module; and the styles."""
    if exception or app.builder.format != "html":
        return
    call = (
        '.start(document.querySelector("figure.glass"), document.querySelector(".network-strip"), '
        f'{{ bytes: () => capsnetBuffer("{sha256(app)}"), own: capsnetOwn, '
        f'samples: "{samples(Path(app.srcdir, CHAPTERS))}" }});'
    )
    static = Path(app.outdir, "_static")
    static.joinpath(f"{FILE}.js").write_text(
        f"{sources().script('glass/glass.js')}{call}\n", encoding="utf-8"
    )
    static.joinpath(f"{FILE}.css").write_text(
        sources().stylesheet("glass/glass.css"), encoding="utf-8"
    )


def add_templates(app: Sphinx, config: Any) -> None:
    config.templates_path.append(str(Path(__file__).parent / "templates"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", add_templates)
    app.add_node(glass, html=(visit_html, skip), latex=(skip, skip), text=(skip, skip))
    app.add_directive("glass", Glass)
    app.connect("source-read", place_in_notebook)
    app.connect("html-page-context", add_stage)
    app.connect("build-finished", write_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
