"""Execute the book's notebooks in place, and store nothing in them that changes by itself.

    python tools/refresh_notebooks.py [--sources] [notebook …]        (all of the book's when none is named)

A stored notebook carries its outputs and the state of its widgets, so that the book needs no kernel. Executed as they
come, two runs would differ in timings, model ids and versions, and the network's weights would be in every chapter.
After this script a second run changes no byte:

* models get ids made from the notebook's name and their order, and models that no output shows are dropped;
* buffers larger than 32 kB become the SHA-256 of the file that holds them (the build publishes that file once);
* figures get a palette of 256 colours, and with it a third of their size;
* timings, the interpreter's version and the kernel's display name are normalised.

With --sources nothing is executed: the widgets' JavaScript and styles, stored with each notebook, become today's.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ("book/chapters", "book/solutions", "book")
PUBLISHED = ("weights", "recordings")  # folders of the package with the large files that widgets show
STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
REFERENCE = re.compile(r"^(anywidget:|IPY_MODEL_)(\w+)$")  # how a model's state names another model
LARGE = 32_768  # bytes
COLOURS = 256  # of a figure; with 64, small text takes on the colour of what it stands on

Models = dict[str, dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Refresh the notebooks named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of the book's")
    parser.add_argument("--sources", action="store_true", help="execute nothing, store the widgets' source of today")
    parser.add_argument("--timeout", type=int, default=600, help="seconds a cell may take (default: 600)")
    options = parser.parse_args(arguments)
    for path in options.notebooks or all_notebooks(ROOT):
        changed = restock(path) if options.sources else refresh(path, options.timeout)
        print(f"{path}: {'refreshed' if changed else 'unchanged'}", flush=True)


def all_notebooks(root: Path) -> list[Path]:
    """Every notebook of the book, in order."""
    return [path for folder in NOTEBOOKS for path in sorted((root / folder).glob("*.ipynb"))]


def refresh(path: Path, timeout: int = 600) -> bool:
    """Execute a notebook and write it back if anything in it changed."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    notebook.metadata.pop("widgets", None)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.resolve().parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise SystemExit(f"{path}: a cell failed, the file is as it was\n{error}") from None
    normalise(notebook, path.stem)
    return store(notebook, path, before)


def restock(path: Path) -> bool:
    """Put today's source of its widgets into a notebook as it is; what they show is left alone."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    for model in notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {}).values():
        module, _, name = model["state"]["_anywidget_id"].rpartition(".")
        widget = getattr(importlib.import_module(module), name)
        model["state"].update({key: str(getattr(widget, key)) for key in ("_esm", "_css") if key in model["state"]})
    return store(notebook, path, before)


def store(notebook: nbformat.NotebookNode, path: Path, before: str) -> bool:
    """Write a notebook back if it is not as it was `before`."""
    after = nbformat.writes(notebook).rstrip("\n") + "\n"
    if after != before:
        path.write_text(after, encoding="utf-8", newline="\n")
    return after != before


def normalise(notebook: nbformat.NotebookNode, name: str) -> None:
    """Take out of an executed notebook what differs from run to run and from machine to machine."""
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = with_a_palette(output["data"]["image/png"])

    shown = views(notebook)
    widgets = notebook.metadata.pop("widgets", {}).get(STATE)
    if shown and widgets:
        needed = reachable([view["model_id"] for view in shown], widgets["state"])
        renamed = {old: stable_id(name, count) for count, old in enumerate(needed)}
        widgets["state"] = {new: stable_model(widgets["state"][old], renamed) for old, new in renamed.items()}
        notebook.metadata["widgets"] = {STATE: widgets}
        for view in shown:
            view["model_id"] = renamed[view["model_id"]]


def with_a_palette(png: str) -> str:
    """A figure with few colours: a third of the bytes to the reader, and no difference to see."""
    picture = Image.open(io.BytesIO(base64.b64decode(png)))
    if picture.mode == "P" and len(picture.getcolors() or ()) <= COLOURS:
        return png
    smaller = io.BytesIO()
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        smaller, "PNG", optimize=True, dpi=(200, 200)
    )
    return base64.b64encode(smaller.getvalue()).decode()


def views(notebook: nbformat.NotebookNode) -> list[dict[str, Any]]:
    """The outputs that show a widget, in reading order: `{"model_id": …, …}`."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output["data"][VIEW] for output in outputs if VIEW in output.get("data", {})]


def reachable(ids: list[str], models: Models) -> list[str]:
    """These models and all they refer to, each once, in order. Layouts are left out: an anywidget styles itself."""
    found: list[str] = []
    for key in ids:
        if key not in found and models[key]["model_name"] != "LayoutModel":
            found.append(key)
            named = [reference[2] for reference in references(models[key]).values()]
            found += [other for other in reachable(named, models) if other not in found]
    return found


def references(model: dict[str, Any]) -> dict[str, re.Match[str]]:
    """The entries of a model's state that name another model."""
    matches = {key: REFERENCE.match(value) for key, value in model["state"].items() if isinstance(value, str)}
    return {key: match for key, match in matches.items() if match}


def stable_id(name: str, count: int) -> str:
    """An id like Jupyter's, but the same in every run and different in every notebook."""
    return hashlib.sha256(f"{name}/{count}".encode()).hexdigest()[:32]


def stable_model(model: dict[str, Any], renamed: dict[str, str]) -> dict[str, Any]:
    """A model with the new ids in its state, and its large buffers named by hash."""
    state = dict(model["state"])
    for key, reference in references(model).items():
        if reference[2] in renamed:
            state[key] = reference[1] + renamed[reference[2]]
        else:
            del state[key]  # a layout
    stable = {**model, "state": state}
    if model.get("buffers"):
        stable["buffers"] = sorted(map(by_hash, model["buffers"]), key=lambda buffer: buffer["path"])
    return stable


def by_hash(buffer: dict[str, Any]) -> dict[str, Any]:
    """A buffer as it is stored: a large one as the SHA-256 of the file of weights that it is (if not so already)."""
    data = base64.b64decode(buffer["data"]) if buffer["encoding"] == "base64" else b""
    if len(data) <= LARGE:
        return buffer
    sha256 = hashlib.sha256(data).hexdigest()
    files = [
        file for folder in PUBLISHED for file in (ROOT / "capsnet_tutorial" / "assets" / folder).glob("*.safetensors")
    ]
    if all(hashlib.sha256(file.read_bytes()).hexdigest() != sha256 for file in files):
        raise SystemExit(
            f"The widget value {'.'.join(map(str, buffer['path']))} has {len(data):,} bytes and is no file of "
            f"capsnet_tutorial's {' and '.join(PUBLISHED)}. Make it smaller than {LARGE:,} bytes, or put it there."
        )
    return {"data": sha256, "encoding": "sha256", "path": buffer["path"]}


if __name__ == "__main__":
    main()
