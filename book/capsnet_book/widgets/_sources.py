"""The widgets' JavaScript and CSS, each put together from its files.

The build of the book loads this file by its path, with neither anywidget nor NumPy installed.
"""

from __future__ import annotations

import json
import posixpath
import re
from importlib.resources import files

from capsnet_book.palette import css_variables

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[\w./]+)";\n', re.MULTILINE)


def module(*names: str) -> str:
    """One ES module made of these files and of all that they import, each after those that it imports."""
    texts: dict[str, str] = {}

    def take(name: str) -> None:
        if name in texts:
            return
        text = _read(name)

        def include(match: re.Match[str]) -> str:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))
            if target.endswith(".worker.js"):  # what runs in a worker comes as its text
                return f"const {match[1].strip()} = {json.dumps(script(target))};\n"
            take(target)
            return ""

        texts[name] = _IMPORT.sub(include, text)

    for name in names:
        take(name)
    return "\n".join(texts.values())


def script(name: str) -> str:
    """The same of one file, as a classic script."""
    return f"(() => {{\n{re.sub('^export ', '', module(name), flags=re.MULTILINE)}\n}})()"


def stylesheet(*names: str) -> str:
    """The palette, the rules that all widgets share, and those of one widget alone."""
    return css_variables() + "".join(map(_read, ("shared/widgets.css", *names)))


def _read(name: str) -> str:
    return files("capsnet_book").joinpath("widgets", name).read_text(encoding="utf-8")
