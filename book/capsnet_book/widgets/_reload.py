"""Widgets' sources that follow their files during development: an edit shows without a new kernel.

anywidget reloads a widget whose source is the path of a file, if the environment has
ANYWIDGET_HMR=1 and watchfiles is installed. A widget's script is joined from several files, so
anywidget gets the path of a joined copy, which is written anew when one of these files changes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread

WIDGETS = Path(__file__).parent

_copies: dict[Path, Callable[[], str]] = {}
"""The path of a joined copy -> a function that joins it."""


def is_developing() -> bool:
    """Return True if anywidget shall reload widgets whose files change."""
    return os.environ.get("ANYWIDGET_HMR") == "1" and find_spec("watchfiles") is not None


def joined_copy(name: str, join: Callable[[], str]) -> Path:
    """Write a joined source to a temporary file that follows the widgets' files."""
    path = _folder() / f"{len(_copies)}-{Path(name).name}"
    path.write_text(join(), encoding="utf-8")
    _copies[path] = join
    return path


def refresh_copies() -> None:
    """Write the copies anew whose sources have changed."""
    for path, join in list(_copies.items()):
        try:
            text = join()
        except (OSError, ValueError) as problem:  # a file half edited; the next change mends it
            print(problem, file=sys.stderr)
            continue
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")


@cache
def _folder() -> Path:
    """Return the folder of the copies, and start to watch the widgets' files."""
    Thread(target=_watch, daemon=True).start()
    return Path(mkdtemp(prefix="capsnet-widgets-"))


def _watch() -> None:
    """Refresh the copies whenever a file of the widgets changes."""
    from watchfiles import watch

    for _ in watch(WIDGETS):
        refresh_copies()
