"""The widgets of a notebook: as Jupyter keeps them, and as the book's notebooks store them.

Jupyter keeps the state of every model in `metadata.widgets`, and in the output that shows one a reference to it. A
client that opens such a notebook without running it tries to start the widgets from there. Our large buffers are not
in it (a network's weights would be in every chapter), so it fails, and shows an error where a picture could be. Hence

* `pack` moves the state to `metadata.capsnet_tutorial.widgets`, where no client looks, and puts a still picture in the
  place of each reference. The model that it shows is named in the output's own metadata;
* `unpack` puts all back as Jupyter has it: the build does so with each notebook that it reads.

Widgets' JavaScript and styles are not stored: `with_sources` adds today's in the build, from the name of the class.
The buffers of more than 32 kB are stored as the SHA-256 of the file that holds them. A network that the notebook itself
has trained is in none: chapter 9's stands for it, which the same lines have trained.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from capsnet_book import palette

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
OURS = "capsnet_tutorial"  # the key in a notebook's and in an output's metadata
PUBLISHED = (
    "weights",
    "zoo",
    "recordings",
    "digits",
)  # folders of the package with the large files that widgets show
REFERENCE = re.compile(r"^(anywidget:|IPY_MODEL_)(\w+)$")  # how a model's state names another model
LARGE = 32_768  # bytes
TRAINED = "chapter-9"  # the file of weights that stands for a notebook's own
SOURCES = ("_esm", "_css")
SENTENCE = "A still picture. Run this notebook to bring it alive."
WIDGETS = Path(palette.__file__).parent / "widgets"

Models = dict[str, dict[str, Any]]  # model id -> what a notebook stores about the model
Still = Callable[[str], str]  # a widget's class -> PNG in base64


def pack(notebook: dict[str, Any], name: str, assets: Path, still: Still) -> None:
    """Store an executed notebook's widgets the book's way: the same bytes in every run.

    Models get ids made from the notebook's `name` and their order. Those that no output shows are dropped, and so are
    layouts, since an anywidget styles itself. `assets` is the folder with the files that buffers may be.
    """
    models: Models = notebook["metadata"].pop("widgets", {}).get(STATE, {}).get("state", {})
    shown = [output for output in outputs(notebook) if VIEW in output.get("data", {})]
    if not (shown and models):
        return
    needed = reachable([output["data"][VIEW]["model_id"] for output in shown], models)
    renamed = {old: stable_id(name, count) for count, old in enumerate(needed)}
    for output in shown:
        model = output["data"].pop(VIEW)["model_id"]
        name = class_name(models[model])
        output["metadata"] |= {
            OURS: {"model": renamed[model]},
            "image/png": {"alt": f"The widget {name}. {SENTENCE}"},
        }
        if "image/png" not in output["data"]:  # of a notebook just executed
            output["data"]["image/png"] = still(name)
    stored = {new: stable_model(models[old], renamed, assets) for old, new in renamed.items()}
    notebook["metadata"][OURS] = {"widgets": stored}


def unpack(notebook: dict[str, Any]) -> None:
    """Put a stored notebook's widgets where Jupyter has them; a notebook that has no stored ones stays as it is."""
    if stored := notebook["metadata"].pop(OURS, {}):
        state = {"state": stored["widgets"], "version_major": 2, "version_minor": 0}
        notebook["metadata"]["widgets"] = {STATE: state}
    for output in outputs(notebook):
        if OURS in output.get("metadata", {}):
            view = {
                "model_id": output["metadata"][OURS]["model"],
                "version_major": 2,
                "version_minor": 0,
            }
            output["metadata"] = {}
            output["data"][VIEW] = view


def with_sources(models: Models) -> Models:
    """These models with today's JavaScript and styles, as their classes have them."""
    added = {}
    for key, model in models.items():
        file = (
            model["state"].get("_anywidget_id", "..").split(".")[-2]
        )  # capsnet_book.widgets.pose_sliders.PoseSliders
        if (WIDGETS / f"{file}.js").exists():
            found = {
                "_esm": sources().module(f"{file}.js"),
                "_css": sources().stylesheet(f"{file}.css"),
            }
        else:  # nothing to look at
            found = {"_esm": "export default {};\n"}
        added[key] = {**model, "state": model["state"] | found}
    return added


@cache
def sources() -> ModuleType:
    """`capsnet_book.widgets._sources` by its path: the package around it wants more than the book's build has."""
    spec = importlib.util.spec_from_file_location("widget_sources", WIDGETS / "_sources.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored_models(notebook: dict[str, Any]) -> Models:
    """The models that a stored notebook has."""
    found: Models = notebook["metadata"].get(OURS, {}).get("widgets", {})
    return found


def shown_models(notebook: dict[str, Any]) -> Iterator[str]:
    """The ids of the models that a stored notebook shows, in reading order."""
    for output in outputs(notebook):
        if OURS in output.get("metadata", {}):
            yield output["metadata"][OURS]["model"]


def outputs(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All outputs of a notebook, in reading order."""
    for cell in notebook["cells"]:
        yield from cell.get("outputs", [])


def class_name(model: dict[str, Any]) -> str:
    """The Python class of an anywidget's model: `PoseSliders`. Empty for anything that is no anywidget."""
    return model.get("state", {}).get("_anywidget_id", "").rpartition(".")[2]


def reachable(ids: list[str], models: Models) -> list[str]:
    """These models and all that they refer to, each once, in order; no layouts."""
    found: list[str] = []
    for key in ids:
        if key in models and key not in found and models[key]["model_name"] != "LayoutModel":
            found.append(key)
            named = [reference[2] for reference in references(models[key]).values()]
            found += [other for other in reachable(named, models) if other not in found]
    return found


def references(model: dict[str, Any]) -> dict[tuple[str, ...], re.Match[str]]:
    """Where a model's state names another model: (trait,), or (trait, key) in a trait that is a dictionary.

    The page wakes a widget with the models of the first kind; those of the second are loaded when they are asked for.
    """
    state = sorted(
        model["state"].items()
    )  # as in a file; a kernel sends them in the order of Python's dictionaries
    texts = {(trait,): value for trait, value in state}
    for trait, value in state:
        texts |= (
            {(trait, key): inner for key, inner in sorted(value.items())}
            if isinstance(value, dict)
            else {}
        )
    matches = {path: REFERENCE.match(text) for path, text in texts.items() if isinstance(text, str)}
    return {path: match for path, match in matches.items() if match}


def stable_id(name: str, count: int) -> str:
    """An id like Jupyter's, but the same in every run and different in every notebook."""
    return hashlib.sha256(f"{name}/{count}".encode()).hexdigest()[:32]


def stable_model(model: dict[str, Any], renamed: dict[str, str], assets: Path) -> dict[str, Any]:
    """A model with the new ids in its state, no sources, and its large buffers named by hash."""
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
        stable["buffers"] = sorted(
            (by_hash(each, assets) for each in model["buffers"]), key=lambda each: each["path"]
        )
    return stable


def by_hash(buffer: dict[str, Any], assets: Path) -> dict[str, Any]:
    """A buffer as it is stored: a large one as the SHA-256 of the file that it is (if not so already)."""
    data = base64.b64decode(buffer["data"]) if buffer["encoding"] == "base64" else b""
    if len(data) <= LARGE:
        return buffer
    sha256, known = hashlib.sha256(data).hexdigest(), files_by_hash(assets)
    if sha256 not in known and buffer["path"] == ["weights"]:
        sha256 = next((each for each, file in known.items() if file.stem == TRAINED), sha256)
    if sha256 not in known:
        raise SystemExit(
            f"The widget value {'.'.join(map(str, buffer['path']))} has {len(data):,} bytes and is no file of "
            f"capsnet_tutorial's {', '.join(PUBLISHED)}. Make it smaller than {LARGE:,} bytes, or put it there."
        )
    return {"data": sha256, "encoding": "sha256", "path": buffer["path"]}


@cache
def files_by_hash(root: Path) -> dict[str, Path]:
    """SHA-256 -> file, for what the folders of both packages publish."""
    assets = [root / "capsnet_tutorial" / "assets", root / "book" / "capsnet_book" / "assets"]
    files = sorted(
        file
        for place in assets
        for folder in PUBLISHED
        for file in (place / folder).glob("*.safetensors")
    )
    return {hashlib.sha256(file.read_bytes()).hexdigest(): file for file in files}
