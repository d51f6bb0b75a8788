"""The strip above each chapter: the network in small, the chapter's part lit, and the way to the other chapters.

The page holds it as a `<details>` with a still picture of each part, so it opens and leads on without JavaScript;
`capsnet_book/widgets/network_strip.js` brings it to life, with the reader's digit. Where it stands, the picture of
the whole network that heads a notebook is left out.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import shutil
import struct
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from capsnet_book import palette
from docutils import nodes
from live_widgets import notebook_models, publish
from network_stills import stills
from sphinx.application import Sphinx
from sphinx.util import logging
from stored_widgets import class_name, files_by_hash, stored_models


class Part(NamedTuple):
    """A part of the network: what it is called, the shape of what it holds, the chapters that build it."""

    name: str
    shape: str
    chapters: tuple[str, ...]


# Names and shapes are filled in from the network's config.
PARTS = {
    "digit": Part("digit", "{side} × {side}", ("try-it", "why-capsules")),
    "maps": Part("feature maps", "{maps} × {map_side} × {map_side}", ("primary-capsules",)),
    "primary": Part("{I} capsules", "{I} × {D_in}", ("primary-capsules", "squash")),
    "votes": Part("{votes} votes", "{I} × {J} × {D_out}", ("prediction-vectors", "routing")),
    "classes": Part("{J} capsules", "{J} × {D_out}", ("margin-loss",)),
    "drawing": Part("drawing", "{side} × {side}", ("masking-and-decoder", "sixteen-numbers")),
}

# The parts that a chapter lights; one that is not named lights all.
LIT = {
    "try-it": ("digit", "drawing"),
    "primary-capsules": ("maps", "primary"),
    "squash": ("primary",),
    "prediction-vectors": ("votes",),
    "routing": ("votes", "classes"),
    "margin-loss": ("classes",),
    "masking-and-decoder": ("classes", "drawing"),
    "sixteen-numbers": ("classes", "drawing"),
    "what-the-numbers-mean": ("classes", "drawing"),
    "who-votes-who-decides": ("primary", "votes", "classes"),
    "message-passing": ("votes",),
    "two-digits-at-once": ("digit", "classes", "drawing"),
    "new-viewpoints": ("digit", "classes"),
    "does-routing-matter": ("votes",),
}
EFFECTS = {"training": "join", "bugs-in-the-wild": "stain"}  # what happens to the parts there

CHAPTERS = "book/chapters"
CHAPTER = re.compile(rf"^{CHAPTERS}/(\d+)-(.+)$")
HEADING_PICTURE = re.compile(r"network_diagram\(\s*(lit=)?[\"']")  # one with a part lit; all lit, it is the text's own
WIDGETS = Path(palette.__file__).parent / "widgets"
WEIGHTS = "capsnet_tutorial/assets/weights/small.safetensors"
SAMPLES = ("DrawDigit", "samples")  # where a digit of each class is stored
SHOWN = 7  # in the still picture
SPARED = 250_000  # bytes: where a page loads more besides, the strip sleeps until it is opened: 2 MB a page are enough
SIDE = 28
FILE = "network-strip"  # of the script and of the styles, in _static

logger = logging.getLogger(__name__)


# --- what the strip says ----------------------------------------------------------------------------------------------


@cache
def sizes(weights: Path) -> dict[str, int | str]:
    """The network's sizes by the book's symbols, from the config in the weights file's header."""
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        config = json.loads(json.loads(file.read(length))["__metadata__"]["config"])
    map_side = (config["image_size"] - config["conv_kernel"]) // config["conv_stride"] + 1
    places = ((map_side - config["primary_kernel"]) // config["primary_stride"] + 1) ** 2
    I, J = config["primary_types"] * places, config["classes"]
    return {
        "side": config["image_size"],
        "maps": config["conv_channels"],
        "map_side": map_side,
        "I": I,
        "J": J,
        "D_in": config["primary_dim"],
        "D_out": config["class_dim"],
        "votes": f"{I * J:,}",
    }


def strip(app: Sphinx, page: str) -> dict[str, Any]:
    """What the template shows: the parts with their pictures and links, what the chapter is about."""
    chapters = {named(name)[1]: name for name in sorted(app.env.found_docs) if CHAPTER.match(name)}
    _, here = named(page)
    lit = LIT.get(here, ())
    known = sizes(Path(app.srcdir, WEIGHTS))
    pictures = stills(digits(Path(app.srcdir, CHAPTERS))[SHOWN], SHOWN)
    parts = [
        {
            "key": key,
            "name": part.name.format(**known),
            "shape": part.shape.format(**known),
            "picture": pictures[key],
            "lit": key in lit,
            "links": [link(app, page, chapters[name]) for name in part.chapters if name in chapters],
        }
        for key, part in PARTS.items()
    ]
    about = ", ".join(str(part["name"]) for part in parts if part["lit"])
    pad = chapters.get("try-it", page)
    return {
        "parts": parts,
        "all": not lit,
        "about": about or "the whole of it",
        "effect": EFFECTS.get(here, ""),
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


# --- what the page needs ----------------------------------------------------------------------------------------------


@cache
def digits(folder: Path) -> list[bytes]:
    """A handwritten digit of each class, which a widget of one of the notebooks there stores."""
    for notebook in sorted(folder.glob("*.ipynb")):
        for model in stored_models(json.loads(notebook.read_text(encoding="utf-8"))).values():
            for buffer in model.get("buffers", []):
                if class_name(model) == SAMPLES[0] and buffer["path"] == [SAMPLES[1]]:
                    data = base64.b64decode(buffer["data"])
                    return [data[at : at + SIDE**2] for at in range(0, len(data), SIDE**2)]
    logger.warning(f"no notebook stores a {SAMPLES[0]}, whose digits the strip shows", type="network-strip")
    return [bytes(SIDE**2)] * 10


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
    buffers = [each for model in notebook_models(app, page).values() for each in model.get("buffers", [])]
    names = {each["data"] for each in buffers if each["encoding"] == "sha256"} - {sha256(app)}
    files = files_by_hash(Path(app.srcdir))
    return sum(files[name].stat().st_size for name in names if name in files)


def sha256(app: Sphinx) -> str:
    """The name under which the weights are published."""
    files = files_by_hash(Path(app.srcdir))
    return next(key for key, file in files.items() if file == Path(app.srcdir, WEIGHTS))


def leave_out_the_picture(app: Sphinx, page: str, source: list[str]) -> None:
    """Take the picture of the network that heads a notebook out of its page."""
    if CHAPTER.match(page) and Path(app.env.doc2path(page)).suffix == ".ipynb":
        notebook = json.loads(source[0])
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code" and HEADING_PICTURE.search("".join(cell["source"])):
                cell["metadata"].setdefault("tags", []).append("remove-cell")
        source[0] = json.dumps(notebook)


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """The script, a classic one, since a page opened from the disk may load no module; and the styles."""
    if exception or app.builder.format != "html":
        return
    samples = base64.b64encode(b"".join(digits(Path(app.srcdir, CHAPTERS)))).decode()
    module = re.sub(r"^export ", "", sources().module("network_strip.js"), flags=re.MULTILINE)
    call = (
        'start(document.querySelector(".network-strip"), '
        f'{{ bytes: () => capsnetBuffer("{sha256(app)}"), samples: "{samples}" }});'
    )
    static = Path(app.outdir, "_static")
    static.joinpath(f"{FILE}.js").write_text(f"(() => {{\n{module}\n{call}\n}})();\n", encoding="utf-8")
    shutil.copy(WIDGETS / "network_strip.css", static / f"{FILE}.css")


@cache
def sources() -> ModuleType:
    """`capsnet_book.widgets._sources` by its path: the package around it wants more than the book's build has."""
    spec = importlib.util.spec_from_file_location("widget_sources", WIDGETS / "_sources.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def add_templates(app: Sphinx, config: Any) -> None:
    config.templates_path.append(str(Path(__file__).parent / "templates"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", add_templates)
    app.connect("source-read", leave_out_the_picture)
    app.connect("html-page-context", add_strip)
    app.connect("build-finished", write_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
