"""Today's JavaScript and styles of the widgets: files of the built book, which its pages name.

Notebooks store none. A file is a classic script, since a page opened from the disk may load no
module: `_static/widgets/<name>.js` has a widget's module and its styles as two texts, of which
`live-host.js` makes the module.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from capsnet_book import palette
from sphinx.application import Sphinx

from .models import Models

WIDGETS = Path(palette.__file__).parent / "widgets"
FOLDER = Path("_static", "widgets")  # in the built book
VERSION_LENGTH = 8


def with_sources(models: Models) -> Models:
    """Return these models, each with the file of its class as the trait `_esm`."""
    return {
        key: {**model, "state": model["state"] | {"_esm": file_of(model)}}
        for key, model in models.items()
    }


def file_of(model: dict[str, Any]) -> str:
    """Return the file of a model's class, with its version; "" for a model without a view."""
    identifier = model["state"].get("_anywidget_id", "")
    parts = identifier.split(".")  # capsnet_book.widgets.bend_capsule.BendCapsule
    if len(parts) < 2 or not (WIDGETS / f"{parts[-2]}.js").exists():
        return ""
    name = parts[-2]
    version = hashlib.sha256(script_of(name).encode()).hexdigest()[:VERSION_LENGTH]
    return f"{name}.js?v={version}"


@cache
def script_of(name: str) -> str:
    """Return the script of the widget in `<name>.py`: it adds the widget's sources to the page."""
    sources = {
        "module": joined_sources().module(f"{name}.js"),
        "styles": joined_sources().stylesheet(f"{name}.css"),
    }
    return f'capsnetWidgets["{name}"] = {json.dumps(sources, ensure_ascii=False)};\n'


def write_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Write the scripts of all widgets into the built book."""
    if exception or app.builder.format != "html":
        return
    write_scripts_into(Path(app.outdir, FOLDER))


def write_scripts_into(folder: Path) -> None:
    """Write the scripts of all widgets into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(WIDGETS.glob("*.css")):  # each widget has one
        folder.joinpath(f"{file.stem}.js").write_text(script_of(file.stem), encoding="utf-8")


@cache
def joined_sources() -> ModuleType:
    """Return the module `capsnet_book.widgets._sources`, loaded by its path.

    The package around it imports anywidget and NumPy, which the build of the book does not need.
    """
    spec = importlib.util.spec_from_file_location("widget_sources", WIDGETS / "_sources.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def note_sources(env: Any) -> None:
    """Tell Sphinx to read the current page again when a widget's source changes."""
    for file in sorted(WIDGETS.glob("**/*.[jc]s*")):
        env.note_dependency(str(file))


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("build-finished", write_scripts)
