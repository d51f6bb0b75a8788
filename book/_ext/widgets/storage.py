"""How the book's notebooks store their widgets, and how Jupyter does: `pack` and `unpack`.

Jupyter keeps the state of every model in `metadata.widgets`, and in the output that shows one a
reference to it. A client that opens such a notebook without running it tries to start the widgets
from there. Our large buffers are not in it (a network's weights would be in every chapter), so it
fails, and shows an error where a picture could be. Hence

* `pack` moves the state to `metadata.capsnet_tutorial.widgets`, where no client looks, and puts a
  still picture in the place of each reference. The output's own metadata names the model.
* `unpack` restores what Jupyter has: the build does so with each notebook that it reads.

Widgets' JavaScript and styles are not stored (`sources.py`). A buffer of more than 32 kB is stored
as the SHA-256 of the file that holds it. No file holds a network that the notebook itself has
trained: chapter 9's stands for it, which the same lines have trained.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from capsnet_book.stills import CLASS

from ..notebook import Notebook, outputs
from .buffers import PUBLISHED, files_by_hash
from .models import OURS, STATE, VIEW, Model, Models, class_name, look_of, reachable, references

LARGE = 32_768  # bytes
TRAINED = "chapter-9"  # the file of weights that stands for a notebook's own
SOURCES = ("_esm", "_css")
SENTENCE = "A still picture. Run this notebook to bring it alive."
VERSION = {"version_major": 2, "version_minor": 0}  # of Jupyter's format of widgets

Still = Callable[[str], str]  # the name of a widget's look -> PNG in base64


def pack(notebook: Notebook, name: str, assets: Path, still: Still) -> None:
    """Store an executed notebook's widgets the book's way, with the same bytes in every run.

    Models get ids made from the notebook's `name` and their order. Models that no output shows are
    dropped, and so are layouts, since an anywidget styles itself. `assets` is the folder of the
    checkout, whose files buffers may be.
    """
    models: Models = notebook["metadata"].pop("widgets", {}).get(STATE, {}).get("state", {})
    drop_stills_of_a_server(notebook)
    views = [output for output in outputs(notebook) if VIEW in output.get("data", {})]
    if not (views and models):
        return

    needed = reachable([view["data"][VIEW]["model_id"] for view in views], models)
    renamed = {old: stable_id(f"{name}/{number}") for number, old in enumerate(needed)}
    for view in views:
        model = view["data"].pop(VIEW)["model_id"]
        widget = class_name(models[model])
        view["metadata"] |= {
            OURS: {"model": renamed[model]},
            "image/png": {"alt": f"The widget {widget}. {SENTENCE}"},
        }
        if "image/png" not in view["data"]:  # the notebook was just executed
            view["data"]["image/png"] = still(look_of(models[model]))

    stored = {new: stable_model(models[old], renamed, assets) for old, new in renamed.items()}
    notebook["metadata"][OURS] = {"widgets": stored}


def drop_stills_of_a_server(notebook: Notebook) -> None:
    """Remove the stills that stand beneath the widgets of a notebook that JupyterLab has run."""
    for cell in notebook["cells"]:
        if "outputs" in cell:
            cell["outputs"] = [
                output
                for output in cell["outputs"]
                if f'class="{CLASS}"' not in output.get("data", {}).get("text/html", "")
            ]


def unpack(notebook: Notebook) -> None:
    """Move a stored notebook's widgets to where Jupyter has them."""
    stored = notebook["metadata"].pop(OURS, {})
    if stored:
        notebook["metadata"]["widgets"] = {STATE: {"state": stored["widgets"], **VERSION}}
    for output in outputs(notebook):
        if OURS in output.get("metadata", {}):
            model = output["metadata"][OURS]["model"]
            output["metadata"] = {}
            output["data"][VIEW] = {"model_id": model, **VERSION}


def stable_id(name: str) -> str:
    """Return an id like Jupyter's, made from a name: the same in every run."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def stable_model(model: Model, renamed: dict[str, str], assets: Path) -> Model:
    """Return a model with new ids in its state, no sources, and large buffers named by hash."""
    state = {
        trait: deepcopy(value) for trait, value in model["state"].items() if trait not in SOURCES
    }
    for (*outer, key), reference in references(model).items():
        holder = state[outer[0]] if outer else state
        if reference[2] in renamed:
            holder[key] = reference[1] + renamed[reference[2]]
        else:
            del holder[key]  # a layout

    stable = {**model, "state": state}
    if model.get("buffers"):
        buffers = [stored_buffer(buffer, assets) for buffer in model["buffers"]]
        stable["buffers"] = sorted(buffers, key=lambda buffer: buffer["path"])
    return stable


def stored_buffer(buffer: dict[str, Any], assets: Path) -> dict[str, Any]:
    """Return a buffer as a notebook stores it: a large one as the SHA-256 of its file.

    Raises:
        SystemExit: a large buffer is no published file.
    """
    data = base64.b64decode(buffer["data"]) if buffer["encoding"] == "base64" else b""
    if len(data) <= LARGE:
        return buffer

    files = files_by_hash(assets)
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 not in files and buffer["path"] == ["weights"]:
        substitutes = [key for key, file in files.items() if file.stem == TRAINED]
        sha256 = substitutes[0] if substitutes else sha256
    if sha256 not in files:
        raise SystemExit(
            f"The widget value {'.'.join(map(str, buffer['path']))} has {len(data):,} bytes and is "
            f"no file in a folder assets/{{{','.join(PUBLISHED)}}} of capsnet_tutorial or "
            f"capsnet_book. Make it smaller than {LARGE:,} bytes, or put it there."
        )
    return {"data": sha256, "encoding": "sha256", "path": buffer["path"]}
