"""Functions, classes and expressions out of Python files and packages.

Of a file its imports, definitions and assignments are run, one by one; loops, bare calls and what stands under
``if __name__ == "__main__"`` are not, so that nothing trains. What fails is left out and remembered.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from capsnet_tutorial.errors import InputError

_WORDS = {
    "squash": r"squash",
    "primary_capsules": r"primary|group_into",
    "routing": r"rout|agreement",
    "margin_loss": r"margin",
    "mask": r"mask",
    "reconstruction_loss": r"recon",
}
_OTHERS = re.compile(
    r"decod|^(show|plot|draw|save|load|train|test|main|get|print)(_|$)|dataset|loader", re.I
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


class Source:
    """A Python file, as a module.

    Args:
        path: the file.

    Raises:
        InputError: it is none, or the package that it is in cannot be imported.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file() or path.suffix != ".py":
            raise InputError(
                f"expected a Python file before the colon; got no file {path} whose name ends in .py"
            )
        try:
            self.tree = ast.parse(path.read_bytes(), str(path))  # in any coding that it declares
        except (SyntaxError, ValueError) as problem:
            raise InputError(f"{path} cannot be read: {problem}") from problem
        self.failed: list[str] = []
        """Statements that could not be run, and why."""
        self.module = _empty_module(path.resolve())
        for statement in self.tree.body:
            self._run(statement)
        named = (
            (name, getattr(value, "__module__", ""), value)
            for name, value in vars(self.module).items()
        )
        self.defined = [
            name for name, of, value in named if callable(value) and of == self.module.__name__
        ]
        """The functions and classes of the file itself."""

    def _run(self, statement: ast.stmt) -> None:
        call = statement.value if isinstance(statement, ast.Expr) else None
        needed = isinstance(call, ast.Call) and ast.unparse(call.func).endswith(
            (".add_argument", "sys.path.append")
        )
        guarded = isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)
        if guarded or not (isinstance(statement, _RUN) or needed):
            return
        try:
            exec(
                compile(ast.Module([statement], []), str(self.module.__file__), "exec"),
                vars(self.module),
            )
        except (Exception, SystemExit) as problem:
            line = ast.unparse(statement).splitlines()[0]
            self.failed.append(f"{line[:60]} ({type(problem).__name__}: {problem})")

    def value(self, expression: str) -> Any:
        """What an expression gives; of a class an instance, made as the file itself makes it somewhere if it can be.

        Raises:
            InputError: it fails.
        """
        calls = [ast.unparse(each) for each in ast.walk(self.tree) if isinstance(each, ast.Call)]
        first: Exception | SystemExit | None = None
        for each in dict.fromkeys(
            [expression, *(call for call in calls if call.startswith(f"{expression}("))]
        ):
            try:
                value = eval(each, vars(self.module))
                return value() if inspect.isclass(value) else value
            except (Exception, SystemExit) as problem:
                first = first or problem
        hint = f'; with arguments: FILE:"{expression}(…)"' if "(" not in expression else ""
        more = f"; not run: {self.failed[0]}" if self.failed else ""
        raise InputError(
            f"{expression} cannot be made: {type(first).__name__}: {first}{hint}{more}"
        ) from first

    def pieces(self) -> list[str]:
        """The names that say that they are pieces of a capsule network."""
        named = [name for name in self.defined if "caps" in name.lower() or fits(name)]
        named = [name for name in named if not _OTHERS.search(name)]
        classes = [name for name in named if inspect.isclass(getattr(self.module, name))]
        others = [name for name in classes if not hasattr(getattr(self.module, name), "forward")]
        return [name for name in named if name not in others and (name in classes or fits(name))]


def fits(name: str) -> list[str]:
    """Which pieces something may be, by the last part of its name."""
    last = re.sub(r"\(.*", "", name, flags=re.DOTALL).rpartition(".")[2]
    return [piece for piece, words in _WORDS.items() if re.search(words, last, re.IGNORECASE)]


def _empty_module(path: Path) -> ModuleType:
    """A module by the file's name in its package, so that relative imports and those of neighbours work."""
    names, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    package = ".".join(names[:-1])
    try:
        importlib.import_module(package or "sys")
    except (Exception, SystemExit) as problem:
        raise InputError(
            f"{package} cannot be imported: {type(problem).__name__}: {problem}"
        ) from problem
    module = ModuleType(".".join(names) if package else f"_checked_{path.stem}")
    module.__file__, module.__package__ = str(path), package
    sys.modules[module.__name__] = module
    return module
