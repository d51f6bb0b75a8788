"""Today's JavaScript and styles of the widgets: notebooks store none, the build adds them."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from capsnet_book import palette

from .models import Models

WIDGETS = Path(palette.__file__).parent / "widgets"
NOTHING_TO_SHOW = "export default {};\n"  # the script of a model without a view, such as a network


def with_sources(models: Models) -> Models:
    """Return these models with the script and styles of their classes."""
    return {
        key: {**model, "state": model["state"] | sources_of(model)} for key, model in models.items()
    }


def sources_of(model: dict[str, Any]) -> dict[str, str]:
    """Return the traits `_esm` and `_css` of a model."""
    identifier = model["state"].get("_anywidget_id", "")
    parts = identifier.split(".")  # capsnet_book.widgets.bend_capsule.BendCapsule
    if len(parts) < 2 or not (WIDGETS / f"{parts[-2]}.js").exists():
        return {"_esm": NOTHING_TO_SHOW}
    return {
        "_esm": joined_sources().module(f"{parts[-2]}.js"),
        "_css": joined_sources().stylesheet(f"{parts[-2]}.css"),
    }


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
