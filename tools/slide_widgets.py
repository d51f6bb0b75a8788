"""Pages of single widgets, for the slides: each is alive, from the disk, without a kernel.

A widget stands on its slide in a frame of its own: its styles and the slides' stay apart, its
pointer fits whatever size the slides have, and keys move slides unless the focus is in the frame.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import imagesize
from _ext.widgets.buffers import FOLDER as PUBLISHED_BUFFERS
from _ext.widgets.buffers import files_by_hash, named_buffers, write_buffer
from _ext.widgets.models import (
    OURS,
    STATE,
    Models,
    class_name,
    look_of,
    reachable,
    stored_models,
)
from _ext.widgets.sources import FOLDER as PUBLISHED_SCRIPTS
from _ext.widgets.sources import with_sources, write_scripts_into
from _ext.widgets.stills import PIXEL_DENSITY
from _ext.widgets.words import ENGLISH, words_script
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "book" / "_static"
FOLDER = "widgets"
WORDS, HOST = "words.js", "live-host.js"

ROOM = (1220, 580)
"""Pixels of a slide of 1280 × 720 below its heading."""
BESIDE = (24, 40)
"""Pixels that a frame has beside its widget's still: margins, and the line below."""
SMALLEST, LARGEST = 0.7, 1.4
"""How much a widget is scaled at least and at most; one that is still too tall scrolls."""

LAYOUT = (
    "body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--caps-ink);"
    "background:var(--caps-surface)}"
    "figure{margin:0;padding:4px 12px}figcaption{font-size:.85rem}"
)
KEYS = """
addEventListener("keydown", ({ key }) => {
  const methods = { PageDown: "next", PageUp: "prev" };
  if (key in methods) parent.postMessage(JSON.stringify({ method: methods[key] }), "*");
  if (key === "Escape") parent.postMessage("capsnet:leave", "*");
}, { capture: true });
"""
"""In a widget's page: a presenter's keys move the slides, and Escape leaves the widget."""
FOR_SLIDES = """<style>.reveal :is(h1, h2) { text-transform: none }</style>
<script>
addEventListener("message", ({ data }) => {
  if (data === "capsnet:leave") document.activeElement.blur();
});
</script>
"""
"""On the slides: headings as they are written; Escape in a widget gives them the keys back."""


class Frame(NamedTuple):
    """The frame of a widget: a file's name, and its size in pixels before it is scaled."""

    file: str
    width: int
    height: int
    scale: float

    def html(self) -> str:
        """Return the frame as HTML, scaled."""
        width, height = (round(self.scale * side) for side in (self.width, self.height))
        outside = f"width:{width}px;height:{height}px;margin:auto;overflow:hidden"
        inside = (
            f"width:{self.width}px;height:{self.height}px;max-width:none;max-height:none;"
            f"margin:0;border:0;transform:scale({self.scale});transform-origin:0 0"
        )
        address = escape(f"{FOLDER}/{self.file}", quote=True)
        return (
            f'<div style="{outside}"><iframe src="{address}" loading="lazy" '
            f'title="A widget" style="{inside}"></iframe></div>'
        )


def shown_models(cell: NotebookNode) -> Iterator[str]:
    """Yield the ids of the models that a cell shows."""
    for output in cell.outputs:
        if OURS in output.get("metadata", {}):
            yield output["metadata"][OURS]["model"]


def frame_of(notebook: NotebookNode, model: str) -> Frame:
    """Return the frame of a notebook's widget."""
    look = look_of(stored_models(notebook)[model])
    still = STATIC / "stills" / f"{look}.webp"
    width, height = (
        pixels // PIXEL_DENSITY + beside
        for pixels, beside in zip(imagesize.get(still), BESIDE, strict=True)
    )
    fitting = min(ROOM[0] / width, ROOM[1] / height, LARGEST)
    scale = round(max(fitting, SMALLEST), 3)
    height = min(height, int(ROOM[1] / scale))
    return Frame(f"{look}-{model[:8]}.html", width, height, scale)


def page_of(notebook: NotebookNode, model: str) -> str:
    """Return the page of a notebook's widget, with the models that the widget names."""
    models = stored_models(notebook)
    needed = {key: models[key] for key in reachable([model], models)}
    state = json.dumps({"state": with_sources(needed)}).replace("</", "<\\/")
    name = class_name(models[model])
    return (
        '<!doctype html>\n<html lang="en" data-theme="light">\n<meta charset="utf-8">\n'
        f"<title>{name}</title>\n<style>{LAYOUT}</style>\n"
        f'<script type="{STATE}">{state}</script>\n'
        f'<figure class="live-widget" data-model="{model}" data-widget="{name}">'
        "<figcaption></figcaption></figure>\n"
        f'<script src="{WORDS}"></script>\n<script src="{HOST}"></script>\n'
        f"<script>{KEYS}</script>\n</html>\n"
    )


def write_widgets(notebook: NotebookNode, folder: Path) -> None:
    """Write the pages of a notebook's widgets, with the scripts and weights that they load."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(STATIC / HOST, folder / HOST)
    (folder / WORDS).write_text(words_script(ENGLISH), encoding="utf-8")
    write_scripts_into(folder / PUBLISHED_SCRIPTS.name)
    write_buffers(stored_models(notebook), folder / PUBLISHED_BUFFERS.name)
    for cell in notebook.cells:
        for model in shown_models(cell) if cell.cell_type == "code" else ():
            page = page_of(notebook, model)
            (folder / frame_of(notebook, model).file).write_text(page, encoding="utf-8")


def write_buffers(models: Models, folder: Path) -> None:
    """Write the large buffers that models name."""
    files: dict[str, Any] = files_by_hash(ROOT)
    for sha256 in named_buffers(models):
        write_buffer(folder, sha256, files[sha256].read_bytes())
