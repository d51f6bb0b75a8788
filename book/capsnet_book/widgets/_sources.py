"""The widgets' JavaScript and CSS, each joined from its files into one text.

A page opened from the disk may load no module beside it, and a package installed with pip has no Node to bundle with;
so the files are joined here, when they are asked for. Each keeps a scope of its own, as a module has: it becomes a
function that is called once and returns what the file exports.

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
_OTHER = re.compile(r"^(?:import\b|export (?!default )).*$", re.MULTILINE)


def module(name: str) -> str:
    """A file of this folder and all that it imports, as one ES module with the exports of that file."""
    *imported, (_, body) = _files(name)
    return "\n".join([*(_scope(*each) for each in imported), body])


def script(name: str) -> str:
    """The same as a classic script: it ends in an expression, the object of what the file exports."""
    scopes = [_scope(*each) for each in _files(name)]
    return "\n".join(["(() => {", *scopes, f"return {_variable(name)};", "})()"])


def stylesheet(*names: str) -> str:
    """The palette, the rules that all widgets share, and those of one widget alone."""
    return css_variables() + "".join(map(_read, ("shared/widgets.css", *names)))


def _files(name: str) -> list[tuple[str, str]]:
    """(name, text) of a file and of all that it imports, each after those that it imports; imports are constants."""
    found: dict[str, str] = {}

    def take(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"expected modules without a circle; got {' → '.join((*above, name))}")
        if name in found:
            return
        text = _read(name)

        def constant(match: re.Match[str]) -> str:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))
            if target.endswith(".worker.js"):  # what runs in a worker comes as its text
                return f"const {match[1].strip()} = {json.dumps(script(target))};"
            take(target, (*above, name))
            return f"const {{{match[1].replace(' as ', ': ')}}} = {_variable(target)};"

        text = _IMPORT.sub(constant, text)
        if unknown := _OTHER.search(_EXPORT.sub("", text)):
            raise ValueError(
                f"expected exports of declarations, and imports of names; got in {name}: {unknown[0]}"
            )
        found[name] = text

    take(name, ())
    return list(found.items())


def _scope(name: str, text: str) -> str:
    exported = ", ".join(_EXPORT.findall(text))
    return f"const {_variable(name)} = (() => {{\n{_EXPORT.sub('', text)}return {{ {exported} }};\n}})();"


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _read(name: str) -> str:
    return files("capsnet_book").joinpath("widgets", name).read_text(encoding="utf-8")
