"""Still pictures of widgets, for a JupyterLab that cannot bring them alive.

A widget is drawn by an extension of the environment in which JupyterLab itself runs. Where the
kernel has another environment, as on many a JupyterHub, that extension may be missing: JupyterLab
then shows an error in the widget's place. So beneath every widget goes its still picture, with
styles that hide it as soon as the widget lives.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from capsnet_book.words import said

LOOKS = {
    "Choose": ("question", "bugs"),
    "TurnDial": ("thing", "digit"),
    "TurnDigit": ("mode", "turn"),
}
"""A widget that looks otherwise with other values of a trait: the trait, and its usual value."""

CLASS = "capsnet-still"
"""The class of the element that holds a still."""

WIDTH = 720
"""Pixels of a page that a still is wide at most."""

# JupyterLab and Notebook 7 alone have these classes; other clients bring anywidget with them.
STYLES = """
.jp-OutputArea:not(:has(.capsnet)) .capsnet-still { display: block !important; }
.jp-OutputArea:has(.capsnet-still) .jupyter-widgets-error-widget { display: none; }
.capsnet-still figcaption { display: none; }
.jp-OutputArea:has(.jupyter-widgets-error-widget) .capsnet-still figcaption { display: block; }
"""


def look(widget: str, traits: Mapping[str, Any]) -> str:
    """Return the name of a widget's still: its class, or such as "Choose-squash"."""
    trait, usual = LOOKS.get(widget, ("", ""))
    value = traits.get(trait, usual)
    return widget if value == usual else f"{widget}-{value}"


def still(name: str) -> bytes | None:
    """Return a still, a WebP; None for a widget that has none yet."""
    package = Path(__file__).parent
    installed = package / "assets" / "stills"
    folder = installed if installed.is_dir() else package.parent / "_static" / "stills"
    path = folder / f"{name}.webp"
    return path.read_bytes() if path.is_file() else None


def figure(name: str, picture: bytes) -> str:
    """Return a still as HTML, which shows where no widget of ours lives beside it."""
    alternative = escape(said(f"The widget {name}, a still picture."))
    remedy = escape(
        said(
            "A still picture: the JupyterLab that shows it lacks an extension. Install "
            "anywidget in the environment from which JupyterLab was started, and reload the page."
        )
    )
    source = f"data:image/webp;base64,{b64encode(picture).decode()}"
    return (
        f"<style>{STYLES}</style>"
        f'<figure class="{CLASS}" style="display: none; margin: 0">'
        f'<img src="{source}" alt="{alternative}" style="width: {WIDTH}px; max-width: 100%">'
        f"<figcaption>{remedy}</figcaption></figure>"
    )


def show_still(name: str) -> None:
    """Display a still in a notebook that a Jupyter server runs; elsewhere do nothing."""
    if "JPY_SESSION_NAME" not in os.environ:  # which the server gives to its kernels
        return
    picture = still(name)
    if picture is not None:
        from IPython.display import display  # here, because a page's build has no need of it

        display({"text/html": figure(name, picture)}, raw=True)
