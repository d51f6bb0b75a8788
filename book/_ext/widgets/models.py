"""The models of a notebook's widgets, as the book's notebooks store them.

A model is what Jupyter keeps of one widget: its class, the values of its traits, and its buffers.
A trait may name another model, such as the network that a widget shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capsnet_book.stills import look

from ..notebook import Notebook, outputs
from .buffers import files_by_hash

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
OURS = "capsnet_tutorial"  # the key in a notebook's and in an output's metadata
REFERENCE = re.compile(r"^(anywidget:|IPY_MODEL_)(\w+)$")  # how a trait names another model

Model = dict[str, Any]
Models = dict[str, Model]  # by the id of each


def stored_models(notebook: Notebook) -> Models:
    """Return the models that a stored notebook has."""
    return notebook["metadata"].get(OURS, {}).get("widgets", {})


def shown_models(notebook: Notebook) -> Iterator[str]:
    """Yield the ids of the models that a stored notebook shows, in reading order."""
    for output in outputs(notebook):
        if OURS in output.get("metadata", {}):
            yield output["metadata"][OURS]["model"]


def class_name(model: Model) -> str:
    """Return the Python class of an anywidget's model (`BendCapsule`), or "" for other models."""
    return model.get("state", {}).get("_anywidget_id", "").rpartition(".")[2]


def look_of(model: Model) -> str:
    """Return the name of a model's still picture: its class, or such as "Choose-squash"."""
    return look(class_name(model), model["state"])


def reachable(ids: list[str], models: Models) -> list[str]:
    """Return the ids of these models and of all that they refer to, each once; without layouts."""
    reached: list[str] = []
    for key in ids:
        if key not in models or key in reached or models[key]["model_name"] == "LayoutModel":
            continue
        reached.append(key)
        named = [reference[2] for reference in references(models[key]).values()]
        reached += [other for other in reachable(named, models) if other not in reached]
    return reached


def references(model: Model) -> dict[tuple[str, ...], re.Match[str]]:
    """Return where a model's state names another model: path -> match of `REFERENCE`.

    A path is (trait,), or (trait, key) for a trait that is a dictionary. The page wakes a widget
    together with the models of the first kind; those of the second are loaded on demand.
    """
    traits = sorted(model["state"].items())  # as in a file: a kernel sends them in another order
    values: dict[tuple[str, ...], Any] = {(trait,): value for trait, value in traits}
    for trait, value in traits:
        if isinstance(value, dict):
            values |= {(trait, key): inner for key, inner in sorted(value.items())}

    matches = {}
    for path, value in values.items():
        match = REFERENCE.match(value) if isinstance(value, str) else None
        if match:
            matches[path] = match
    return matches


def network_of(model: str, models: Models, root: Path) -> str:
    """Return the stem of the file whose weights a widget shows; "" for none, or a reader's own."""
    reference = REFERENCE.match(str(models[model]["state"].get("network")))
    if not reference:
        return ""
    buffers = models[reference[2]].get("buffers", [])
    file = files_by_hash(root).get(buffers[0]["data"]) if buffers else None
    return file.stem if file else ""
