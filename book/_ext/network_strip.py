"""The strip above each chapter: the network in small, the chapter's part lit, and the way to the other chapters.

The page holds it as a `<details>` of names and links, so it opens and leads on without JavaScript;
`capsnet_book/widgets/network_strip.js` brings it to life, with the reader's digit. What its parts are called, what a
chapter lights and which chapters build a part stands in `capsnet_book/network.json`, for the figures, too.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from live_widgets import notebook_models, publish
from sphinx.application import Sphinx
from sphinx.util import logging
from stored_widgets import WIDGETS, class_name, files_by_hash, sources, stored_models

CHAPTERS = "book/chapters"
SPARED = 250_000  # bytes: where a page loads more besides, the strip waits until it is opened: 2 MB a page are enough
CHAPTER = re.compile(rf"^{CHAPTERS}/(\d+)-(.+)$")
NETWORK = json.loads((WIDGETS.parent / "network.json").read_text(encoding="utf-8"))
WEIGHTS = "capsnet_tutorial/assets/weights/small.safetensors"
SAMPLES = ("DrawDigit", "samples")  # where a digit of each class is stored
FILE = "network-strip"  # of the script and of the styles, in _static

logger = logging.getLogger(__name__)


def strip(app: Sphinx, page: str) -> dict[str, Any]:
    """What the template shows: the parts with their links, what the chapter is about."""
    chapters = {named(name)[1]: name for name in sorted(app.env.found_docs) if CHAPTER.match(name)}
    _, here = named(page)
    lit = NETWORK["chapters"].get(here, ())
    parts = [
        {
            "key": key,
            "name": part["name"],
            "shape": part["shape"],
            "lit": key in lit,
            "links": [link(app, page, chapters[name]) for name in part["built"] if name in chapters],
        }
        for key, part in ((key, NETWORK["parts"][key]) for key in NETWORK["strip"])
    ]
    pad = chapters.get("try-it", page)
    return {
        "parts": parts,
        "all": not lit,
        "about": ", ".join(part["name"] for part in parts if part["lit"]) or "the whole of it",
        "draw": f"{app.builder.get_relative_uri(page, pad)}#draw-a-digit" if pad != page else None,
    }


def named(chapter: str) -> tuple[int, str]:
    """The number and the name in a chapter's file name."""
    number, name = CHAPTER.sub(r"\1 \2", chapter).split()
    return int(number), name


def link(app: Sphinx, page: str, chapter: str) -> dict[str, Any]:
    """A link to a chapter, by its number and title."""
    number, _ = named(chapter)
    title = f"{number}. {app.env.titles[chapter].astext()}"
    return {"title": title, "address": app.builder.get_relative_uri(page, chapter) or "#", "here": chapter == page}


@cache
def samples(folder: Path) -> str:
    """A handwritten digit of each class in base64, which a widget of one of the notebooks there stores."""
    for notebook in sorted(folder.glob("*.ipynb")):
        for model in stored_models(json.loads(notebook.read_text(encoding="utf-8"))).values():
            for buffer in model.get("buffers", []):
                if class_name(model) == SAMPLES[0] and buffer["path"] == [SAMPLES[1]]:
                    return str(buffer["data"])
    logger.warning(f"no notebook stores a {SAMPLES[0]}, whose digits the strip shows", type="network-strip")
    return base64.b64encode(bytes(10 * 28 * 28)).decode()


def add_strip(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> str | None:
    """Put the strip above a chapter, with the script that wakes it and the weights."""
    if not CHAPTER.match(page):
        return None
    context["strip"] = strip(app, page) | {"waits": other_weights(app, page) > SPARED}
    app.add_css_file(f"{FILE}.css")
    app.add_js_file("live-host.js", loading_method="defer")
    app.add_js_file(f"{FILE}.js", loading_method="defer", priority=900)  # after the host, which loads the weights
    publish(app, page, {"strip": {"buffers": [{"encoding": "sha256", "data": sha256(app)}]}})
    return "with_strip.html"


def other_weights(app: Sphinx, page: str) -> int:
    """The bytes of the files that a page's widgets load, without the strip's own."""
    buffers = [buffer for model in notebook_models(app, page).values() for buffer in model.get("buffers", [])]
    names = {buffer["data"] for buffer in buffers if buffer["encoding"] == "sha256"} - {sha256(app)}
    files = files_by_hash(Path(app.srcdir))
    return sum(files[name].stat().st_size for name in names if name in files)


def sha256(app: Sphinx) -> str:
    """The name under which the weights are published."""
    files = files_by_hash(Path(app.srcdir))
    return next(key for key, file in files.items() if file == Path(app.srcdir, WEIGHTS))


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """The script, a classic one, since a page opened from the disk may load no module; and the styles."""
    if exception or app.builder.format != "html":
        return
    call = (
        '.start(document.querySelector(".network-strip"), '
        f'{{ bytes: () => capsnetBuffer("{sha256(app)}"), samples: "{samples(Path(app.srcdir, CHAPTERS))}" }});'
    )
    static = Path(app.outdir, "_static")
    static.joinpath(f"{FILE}.js").write_text(f"{sources().script('network_strip.js')}{call}\n", encoding="utf-8")
    shutil.copy(WIDGETS / "network_strip.css", static / f"{FILE}.css")


def add_templates(app: Sphinx, config: Any) -> None:
    config.templates_path.append(str(Path(__file__).parent / "templates"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", add_templates)
    app.connect("html-page-context", add_strip)
    app.connect("build-finished", write_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
