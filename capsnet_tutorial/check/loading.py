"""Functions, classes and expressions out of Python files, packages and notebooks."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

_WORDS = {
    "squash": r"squash",
    "primary_capsules": r"primary|group",
    "routing": r"rout|agreement",
    "margin_loss": r"margin",
    "mask": r"mask",
    "reconstruction_loss": r"recon|decod",
}


class CannotLoad(ValueError):
    """Why nothing can be had from a place, in a sentence."""


class Found(NamedTuple):
    """Something to check."""

    name: str
    value: Any


def found_in(place: str) -> list[Found]:
    """What ``path/to/file.py:name`` names, or what ``path/to/file.py:Name(arguments)`` makes. The file is run.

    Raises:
        CannotLoad: no such file, no such name, an expression that fails, or a file that cannot be run.
    """
    path_text, colon, name = _split(place)
    if not (colon and path_text and name):
        raise CannotLoad(f"expected path/to/file.py:function; got {place!r}")
    module = _module(path_text)
    if "(" not in name and not _has(module, name):
        raise CannotLoad(
            f"expected something named {name} in {path_text}; got only {', '.join(_own(module)) or 'nothing'}"
        )
    try:
        value = eval(name, vars(module))
        if inspect.isclass(value):
            value = value()
    except Exception as problem:
        hint = f'; with arguments: {path_text}:"{name}(…)"' if "(" not in name else ""
        raise CannotLoad(f"{name} cannot be made: {type(problem).__name__}: {problem}{hint}") from problem
    return [Found(name, value)]


def pieces_in(path_text: str) -> list[Found]:
    """Everything in a file whose name says what it is, and that needs no arguments to be made.

    Raises:
        CannotLoad: no such file, one that cannot be run, or nothing in it.
    """
    module, found = _module(path_text), []
    for name, value in _own(module).items():
        if inspect.isclass(value) and not hasattr(value, "forward"):
            continue
        try:
            made = value() if inspect.isclass(value) else value
            if not hasattr(made, "forward"):
                piece_of(name)
        except (Exception, SystemExit):
            continue
        found.append(Found(name, made))
    if not found:
        names = ", ".join(_own(module)) or "nothing"
        raise CannotLoad(f"expected functions whose names say what they are in {path_text}; got {names}")
    return found


def piece_of(name: str) -> str:
    """Which piece a function is, by its name.

    Raises:
        CannotLoad: its name does not say.
    """
    name = name.partition("(")[0]
    fitting = [piece for piece, words in _WORDS.items() if re.search(words, name, re.IGNORECASE)]
    if len(fitting) != 1:
        wanted = f"expected a name that says which piece {name} is, or --as with one of {', '.join(_WORDS)}"
        raise CannotLoad(f"{wanted}; got {' and '.join(fitting) or 'nothing'} from its name")
    return fitting[0]


def _split(place: str) -> tuple[str, str, str]:
    head, colon, tail = re.match(r"((?:[A-Za-z]:\\)?[^:]*)(:?)(.*)", place, re.DOTALL).groups()  # type: ignore[union-attr]
    return head, colon, tail


def _module(path_text: str) -> types.ModuleType:
    path = Path(path_text)
    if not path.is_file():
        raise CannotLoad(f"expected a Python file before the colon; got no file {path}")
    if path.suffix not in (".py", ".ipynb"):
        raise CannotLoad(f"expected a file whose name ends in .py or .ipynb; got {path.name}")
    folder, name = _package(path)
    sys.path.insert(0, str(folder))  # it may import what lies beside it
    try:
        return _notebook(path) if path.suffix == ".ipynb" else _imported(path, name)
    except CannotLoad:
        raise
    except (Exception, SystemExit) as problem:  # a file that exits says nothing about its function
        raise CannotLoad(f"{path} cannot be used: {type(problem).__name__}: {problem}") from problem


def _package(path: Path) -> tuple[Path, str]:
    """The folder above the outermost package, and the module's name from there: relative imports work."""
    path, names = path.resolve(), [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(names)


def _imported(path: Path, name: str) -> types.ModuleType:
    if "." in name:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"_checked_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _notebook(path: Path) -> types.ModuleType:
    """A module of a notebook's code cells, without the lines for IPython; the cells before one that fails count."""
    module = types.ModuleType(f"_checked_{path.stem}")
    sys.modules[module.__name__] = module
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        if source.lstrip().startswith("%%"):
            continue
        plain = "\n".join(line for line in source.splitlines() if not re.match(r"\s*[%!?]", line))
        try:
            exec(compile(plain, str(path), "exec"), vars(module))
        except (Exception, SystemExit) as problem:
            print(f"capsnet: a cell of {path} ends it: {type(problem).__name__}: {problem}", file=sys.stderr)
            break
    return module


def _has(module: types.ModuleType, name: str) -> bool:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def _own(module: types.ModuleType) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    }
