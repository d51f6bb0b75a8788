"""The widgets' JavaScript and CSS, each put together from its files.

The build of the book loads this file by its path, with neither anywidget nor NumPy installed.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import PurePosixPath

from capsnet_book.palette import css_variables

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w./]+)";\n', re.MULTILINE)


def module(*names: str) -> str:
    """One ES module made of these files and of all that they import, each after those that it imports."""
    texts: dict[str, str] = {}

    def take(name: str) -> None:
        if name in texts:
            return
        text = _read(name)
        for imported in _IMPORT.findall(text):
            take((PurePosixPath(name).parent / imported).as_posix())
        texts[name] = _IMPORT.sub("", text)

    for name in names:
        take(name)
    return "\n".join(texts.values())


def stylesheet(*names: str) -> str:
    """The palette, the rules that all widgets share, and those of one widget alone."""
    return css_variables() + "".join(map(_read, ("shared/widgets.css", *names)))


def _read(name: str) -> str:
    return files("capsnet_book").joinpath("widgets", name).read_text(encoding="utf-8")
