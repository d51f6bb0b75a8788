"""Functions, classes and expressions out of Python files, notebooks and packages.

Of a file its imports, definitions and assignments are run, one by one; loops, bare calls and what
stands under ``if __name__ == "__main__"`` are not, so that nothing trains. Statements that fail are
left out and remembered. Of a notebook its code cells are run so, without magics.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import linecache
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from capsnet_check.kinds import pieces_named
from capsnet_tutorial.errors import InputError

_NO_PIECES = re.compile(
    r"decod|^(show|plot|draw|save|load|train|test|main|get|print)(_|$)|dataset|loader",
    re.IGNORECASE,
)
_RUN = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
    ast.If,
    ast.Try,
)
_CALLS_TO_RUN = (".add_argument", "sys.path.append")


class Source:
    """A Python file or a notebook, as a module.

    Args:
        path: the file.

    Raises:
        InputError: it is neither, or its package cannot be imported.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file() or path.suffix not in (".py", ".ipynb"):
            wanted = "a Python file or a notebook before the colon"
            raise InputError(
                f"expected {wanted}; got no file {path} whose name ends in .py or .ipynb"
            )
        self.failed: list[str] = []
        """Statements that could not be run, and why."""
        self.missing: list[str] = []
        """Modules that its imports did not find."""
        self.trees = dict(self._parsed(path))
        """The code by the name of its file: one file, or a cell each."""
        self.module = _empty_module(path.resolve())
        for name, tree in self.trees.items():
            for statement in tree.body:
                self._run(statement, name)
        self.defined = [
            name
            for name, value in vars(self.module).items()
            if callable(value) and getattr(value, "__module__", "") == self.module.__name__
        ]
        """The functions and classes of the file itself."""

    def _parsed(self, path: Path) -> Iterator[tuple[str, ast.Module]]:
        """Yield the name and the tree of each part of a file."""
        if path.suffix == ".py":
            try:
                tree = ast.parse(path.read_bytes(), str(path))  # in any coding that it declares
            except (SyntaxError, ValueError) as problem:
                raise InputError(f"{path} cannot be read: {problem}") from problem
            yield str(path.resolve()), tree
            return
        for number, code in enumerate(_code_cells(path), start=1):
            name = f"{path.resolve()}, cell {number}"
            linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
            try:
                yield name, ast.parse(code, name)
            except (SyntaxError, ValueError) as problem:
                self.failed.append(f"cell {number} ({type(problem).__name__}: {problem})")

    def _run(self, statement: ast.stmt, name: str) -> None:
        if not _is_run(statement):
            return
        try:
            exec(compile(ast.Module([statement], []), name, "exec"), vars(self.module))
        except (Exception, SystemExit) as problem:
            line = ast.unparse(statement).splitlines()[0]
            self.failed.append(f"{line[:60]} ({type(problem).__name__}: {problem})")
            if isinstance(problem, ModuleNotFoundError) and problem.name:
                self.missing.append(problem.name)

    def value(self, expression: str) -> Any:
        """Return what an expression gives; of a class an instance.

        A class that takes arguments is made as the file itself makes it somewhere.

        Raises:
            InputError: it fails.
        """
        first_problem: Exception | SystemExit | None = None
        for call in (expression, *self._calls_of(expression)):
            try:
                value = eval(call, vars(self.module))
                return value() if inspect.isclass(value) else value
            except (Exception, SystemExit) as problem:
                first_problem = first_problem or problem
        hint = f'; with arguments: FILE:"{expression}(…)"' if "(" not in expression else ""
        problem_text = f"{type(first_problem).__name__}: {first_problem}"
        raise InputError(
            f"{expression} cannot be made: {problem_text}{hint}{self.first_failure}"
        ) from first_problem

    @property
    def first_failure(self) -> str:
        """The first statement that could not be run, as the end of a sentence; empty if none.

        An import that failed comes first: what follows it fails because of it.
        """
        if self.missing:
            return f"; {missing_module(self.missing[0])}"
        return f"; not run: {self.failed[0]}" if self.failed else ""

    def _calls_of(self, name: str) -> list[str]:
        """Return the calls of a name in the file, as code, each once."""
        calls = [
            ast.unparse(node)
            for tree in self.trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
        ]
        return [call for call in dict.fromkeys(calls) if call.startswith(f"{name}(")]

    def pieces(self) -> list[str]:
        """Return the names that say that they are pieces of a capsule network."""
        return [name for name in self.defined if self._is_piece(name)]

    def _is_piece(self, name: str) -> bool:
        if _NO_PIECES.search(name):
            return False
        value = getattr(self.module, name)
        if inspect.isclass(value):
            is_named_so = "caps" in name.lower() or bool(pieces_named(name))
            return is_named_so and hasattr(value, "forward")
        return bool(pieces_named(name))


def missing_module(name: str) -> str:
    """Return a sentence about a module that an import did not find."""
    return f"its import of {name} failed: install {name}, or put it beside the file"


def _is_run(statement: ast.stmt) -> bool:
    """Return True for imports, definitions and assignments, and for calls that these need."""
    if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func).endswith(_CALLS_TO_RUN)
    return isinstance(statement, _RUN)


def _code_cells(path: Path) -> list[str]:
    """Return the code of a notebook's cells; lines that only Jupyter understands are empty.

    Raises:
        InputError: it is no notebook.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as problem:
        raise InputError(f"{path} is no notebook: {type(problem).__name__}: {problem}") from problem
    return [_without_magics(source) for source in sources]


def _without_magics(code: str) -> str:
    """Return a cell's code with `pass` for each line of magics or of the shell.

    A cell in another language, such as %%bash, is empty.
    """
    if re.match(r"\s*%%(?!time|timeit|capture)", code):
        return ""
    return re.sub(r"^([ \t]*)[%!].*$", r"\1pass", code, flags=re.MULTILINE)


def _empty_module(path: Path) -> ModuleType:
    """Return a module by the file's name in its package, so that imports of neighbours work.

    Raises:
        InputError: the package cannot be imported.
    """
    names = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    _search_after_the_standard_library(folder)
    package = ".".join(names[:-1])
    if package:
        try:
            importlib.import_module(package)
        except (Exception, SystemExit) as problem:
            advice = ""
            if isinstance(problem, ModuleNotFoundError) and problem.name:
                advice = f"; {missing_module(problem.name)}"
            raise InputError(
                f"{package} cannot be imported: {type(problem).__name__}: {problem}{advice}"
            ) from problem
    module = ModuleType(".".join(names) if package else f"_checked_{path.stem}")
    module.__file__ = str(path)
    module.__package__ = package
    sys.modules[module.__name__] = module
    return module


def _search_after_the_standard_library(folder: Path) -> None:
    """Put a folder before installed packages on the path, and after Python's own modules.

    A `json.py` in the folder is not what torch gets when it imports json later.
    """
    installed = ("site-packages", "dist-packages")
    position = next(
        (index for index, entry in enumerate(sys.path) if Path(entry).name in installed),
        len(sys.path),
    )
    sys.path.insert(position, str(folder))
