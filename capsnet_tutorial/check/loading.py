"""Functions, classes and expressions out of Python files, packages and notebooks.

Of a file its imports, definitions and assignments are run, one by one; loops, bare calls and what stands under
``if __name__ == "__main__"`` are not, so that nothing trains. What fails is left out and remembered.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

_WORDS = {
    "squash": r"squash",
    "primary_capsules": r"primary|group_into",
    "routing": r"rout|agreement",
    "margin_loss": r"margin",
    "mask": r"mask",
    "reconstruction_loss": r"recon",
}
_CAPSULES = re.compile("caps|rout|squash|margin|recon|mask", re.I)
_OTHERS = re.compile(r"decod|^(show|plot|draw|save|load|train|test|main|get|print)(_|$)|dataset|loader", re.I)
_RUN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.If, ast.Try)


class CannotLoad(ValueError):
    """Why nothing can be had from a place, in a sentence."""


class Found(NamedTuple):
    """Something to check, or something that looks like a piece and could not be had."""

    name: str
    value: Any
    problem: str = ""


class Loaded(NamedTuple):
    """What a file defines."""

    module: types.ModuleType
    tree: ast.Module
    failed: list[str]
    """Statements that could not be run, and why."""

    def value(self, expression: str) -> Any:
        """What an expression gives; of a class an instance.

        Raises:
            CannotLoad: it fails.
        """
        try:
            value = eval(expression, vars(self.module))
            return value() if inspect.isclass(value) else value
        except (Exception, SystemExit) as problem:
            hint = f'; with arguments: FILE:"{expression}(…)"' if "(" not in expression else ""
            more = f"; not run: {self.failed[0]}" if self.failed else ""
            text = f"{expression} cannot be made: {type(problem).__name__}: {problem}{hint}{more}"
            raise CannotLoad(text) from problem


def found_in(place: str) -> list[Found]:
    """What ``path/to/file.py:name`` names, or what ``path/to/file.py:Name(arguments)`` makes; without a name,
    everything in the file that its name says to be a piece, made as the file itself makes it.

    Raises:
        CannotLoad: no such file, no such name, an expression that fails, or nothing in the file.
    """
    path, _, name = re.match(r"((?:[A-Za-z]:\\)?[^:]*)(:?)(.*)", place, re.DOTALL).groups()  # type: ignore[union-attr]
    loaded = _loaded(Path(path))
    own = [
        each
        for each, value in vars(loaded.module).items()
        if callable(value) and getattr(value, "__module__", "") == loaded.module.__name__
    ]
    if name:
        if not hasattr(loaded.module, re.match(r"\w*", name).group()):  # type: ignore[union-attr]
            raise CannotLoad(f"expected something named {name} in {path}; got only {', '.join(own) or 'nothing'}")
        return [Found(name, loaded.value(name))]
    found = [thing for each in own if (thing := _piece(loaded, each)) is not None]
    if not found:
        raise CannotLoad(f"expected a piece of a capsule network in {path}; got {', '.join(own) or 'nothing'}")
    return found


def _piece(loaded: Loaded, name: str) -> Found | None:
    """A function or class of the file, if it may be a piece; a class as the file makes it somewhere, if it can be."""
    thing = getattr(loaded.module, name)
    module = inspect.isclass(thing) and hasattr(thing, "forward")
    if _OTHERS.search(name) or not (_CAPSULES.search(name) and (module or not inspect.isclass(thing))):
        return None
    if not module:
        return Found(name, thing) if fits(name) else None
    calls = [each for each in ast.walk(loaded.tree) if isinstance(each, ast.Call) and ast.unparse(each.func) == name]
    first = ""
    for expression in dict.fromkeys([f"{name}()", *(ast.unparse(each) for each in calls)]):
        try:
            return Found(expression if calls and expression != f"{name}()" else name, loaded.value(expression))
        except CannotLoad as problem:
            first = first or str(problem.__cause__)
    return Found(name, None, f'{first}; with arguments: FILE:"{name}(…)"')


def fits(name: str) -> list[str]:
    """Which pieces something may be, by the last part of its name."""
    last = re.sub(r"\(.*", "", name, flags=re.DOTALL).rpartition(".")[2]
    return [piece for piece, words in _WORDS.items() if re.search(words, last, re.IGNORECASE)]


def _loaded(path: Path) -> Loaded:
    if not path.is_file():
        raise CannotLoad(f"expected a Python file before the colon; got no file {path}")
    if path.suffix not in (".py", ".ipynb"):
        raise CannotLoad(f"expected a file whose name ends in .py or .ipynb; got {path.name}")
    try:
        tree = ast.parse(_source(path), str(path))
    except SyntaxError as problem:
        raise CannotLoad(f"{path} cannot be read: {problem}") from problem
    module = _module(path)
    failed: list[str] = []
    for statement in tree.body:
        names = statement.names if isinstance(statement, ast.Import) else [None]
        for name in names:  # one that is missing leaves the others
            _run(ast.copy_location(ast.Import([name]), statement) if name else statement, module, path, failed)
    return Loaded(module, tree, failed)


def _run(statement: ast.stmt, module: types.ModuleType, path: Path, failed: list[str]) -> None:
    call = statement.value if isinstance(statement, ast.Expr) else None
    of_arguments = isinstance(call, ast.Call) and ast.unparse(call.func).endswith((".add_argument", "sys.path.append"))
    guarded = isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)
    if guarded or not (isinstance(statement, _RUN) or of_arguments):
        return
    try:
        exec(compile(ast.Module([statement], []), str(path), "exec"), vars(module))
    except (Exception, SystemExit) as problem:
        first = ast.unparse(statement).splitlines()[0]
        failed.append(f"{first[:60]} ({type(problem).__name__}: {problem})")


def _source(path: Path) -> str:
    """A file's code; of a notebook its cells', without the lines for IPython and without cells that are not Python."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError) as problem:
        raise CannotLoad(f"{path} is no notebook: {problem}") from problem
    parts = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or source.lstrip().startswith("%%"):
            continue
        plain = "\n".join("" if re.match(r"\s*[%!?]", line) else line for line in source.splitlines())
        try:
            ast.parse(plain)
        except SyntaxError:
            continue
        parts.append(plain)
    return "\n".join(parts)


def _module(path: Path) -> types.ModuleType:
    """An empty module by the file's name in its package, so that relative imports and those of neighbours work."""
    path, names = path.resolve(), [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    package = ".".join(names[:-1])
    if package:
        try:
            importlib.import_module(package)
        except (Exception, SystemExit) as problem:
            raise CannotLoad(f"{package} cannot be imported: {type(problem).__name__}: {problem}") from problem
    module = types.ModuleType(".".join(names) if package else f"_checked_{path.stem}")
    module.__file__, module.__package__ = str(path), package
    sys.modules[module.__name__] = module
    return module
