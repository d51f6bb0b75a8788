"""The widgets' JavaScript and CSS, each joined from its files into one text.

A page opened from the disk may load no module beside it, and a package installed with pip has no
Node to bundle with; so the files are joined here, on demand. A file keeps a scope of its own, as a
module has: it becomes a function that is called once and returns the exports of the file.

The build of the book loads this file by its path, with neither anywidget nor NumPy installed.
"""

from __future__ import annotations

import json
import posixpath
import re
from importlib.resources import files

from capsnet_book.palette import css_variables

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[\w./]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function|class) (\w+))", re.MULTILINE)
_UNSUPPORTED = re.compile(r"^(?:import\b|export (?!default )).*$", re.MULTILINE)

BUILT_UPON = {"glass.css": ("glass/signs.css",), "raise_one.css": ("glass/signs.css",)}
"""A widget's stylesheet -> those that stand before it, here and in the built book."""


def module(name: str) -> str:
    """Return a file of this folder, with its imports, as one ES module with its exports."""
    *imported, (_, body) = _files(name)
    return "\n".join([*(_scope(file, text) for file, text in imported), body])


def script(name: str) -> str:
    """Return the same as a classic script: an expression, the object of the file's exports."""
    scopes = [_scope(file, text) for file, text in _files(name)]
    return "\n".join(["(() => {", *scopes, f"return {_variable(name)};", "})()"])


def stylesheet(*names: str) -> str:
    """Return the palette, the rules that all widgets share, and those of these files.

    Before a file stand those whose rules it builds upon.
    """
    files = ["shared/widgets.css"]
    for name in names:
        files += [*BUILT_UPON.get(name, ()), name]
    return css_variables() + "".join(_read(file) for file in files)


def _files(name: str) -> list[tuple[str, str]]:
    """Return (name, text) of a file and all its imports, each after its own imports.

    In the texts imports are constants.

    Raises:
        ValueError: imports in a circle, or imports and exports of another form than ours.
    """
    texts: dict[str, str] = {}
    _collect(name, (), texts)
    return list(texts.items())


def _collect(name: str, importers: tuple[str, ...], texts: dict[str, str]) -> None:
    """Add a file's imports, then the file itself, to the texts."""
    if name in importers:
        circle = " → ".join((*importers, name))
        raise ValueError(f"expected modules without a circle; got {circle}")
    if name in texts:
        return

    def constant(match: re.Match[str]) -> str:
        names, address = match[1], match[2]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
        if target.endswith(".worker.js"):  # a worker is started from its text
            return f"const {names.strip()} = {json.dumps(script(target))};"
        _collect(target, (*importers, name), texts)
        return f"const {{{names.replace(' as ', ': ')}}} = {_variable(target)};"

    text = _IMPORT.sub(constant, _read(name))
    unsupported = _UNSUPPORTED.search(_EXPORT.sub("", text))
    if unsupported:
        raise ValueError(
            "expected exports of declarations, and imports of names; "
            f"got in {name}: {unsupported[0]}"
        )
    texts[name] = text


def _scope(name: str, text: str) -> str:
    """Return a file as a constant: the exports that its function returns."""
    exports = ", ".join(_EXPORT.findall(text))
    body = _EXPORT.sub("", text)
    return f"const {_variable(name)} = (() => {{\n{body}return {{ {exports} }};\n}})();"


def _variable(name: str) -> str:
    """Return the name of a file's constant."""
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _read(name: str) -> str:
    return files("capsnet_book").joinpath("widgets", name).read_text(encoding="utf-8")
