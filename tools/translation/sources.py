"""The sentences that Python says in reports: of the checker, of the book's checks, of notebooks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from _ext.notebook import SUFFIX, read_notebook, source
from capsnet_book.words import VALUE

from .code import without_commands
from .messages import has_words
from .paths import ROOT, pages

PROGRAMS = (
    "capsnet_check/*.py",
    "book/capsnet_book/answers.py",
    "book/capsnet_book/diagnosis.py",
    "book/capsnet_book/stills.py",
)
# The commands speak to a terminal, in English like their options.
NOT_IN_REPORTS = {"command.py", "files.py", "kinds.py", "loading.py", "project.py", "worker.py"}
# What a reader who calls wrongly is told is an error in English, as Python's are.
NAMING_CALLS = {"Coverage", "examine"}  # their first argument is shown, a single word too
ERROR = re.compile(r"expect(_\w+)?|\w*Error")
# Markup, a colour, a call.
NO_SENTENCE = re.compile(r"[<>\n]|->|--caps|^\w+\([\w, ]*\)$")


def report_sentences() -> Iterator[tuple[str, str]]:
    """Yield (file, message) for each sentence of a report; a value in it is `VALUE`."""
    for path in sorted(path for pattern in PROGRAMS for path in ROOT.glob(pattern)):
        if path.name not in NOT_IN_REPORTS:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for text in sentences_in(tree):
                yield path.relative_to(ROOT).as_posix(), text
    for path in pages().values():
        if path.suffix == SUFFIX:
            for text in answer_sentences(path):
                yield path.relative_to(ROOT).as_posix(), text


def answer_sentences(path: Path) -> Iterator[str]:
    """Yield the sentences with which a notebook's own checks answer."""
    for cell in read_notebook(path)["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse(without_commands(source(cell)))
        yield from (text for text in sentences_in(tree) if text.endswith((".", "?")))
        for node in ast.walk(tree):
            if isinstance(node, ast.Return):
                yield from sentences_in(node)


def sentences_in(tree: ast.AST) -> Iterator[str]:
    """Yield the strings of a program that are sentences or parts of some, without docstrings."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if is_docstring(node) or is_error(node) or isinstance(node, ast.Compare):
            skipped.update(id(part) for part in ast.walk(node))
            continue
        if name := name_of_checked(node):
            yield name
        text = template(node)
        if text is not None:
            skipped.update(id(part) for part in ast.walk(node) if template(part) is not None)
            if is_sentence(text):
                yield text.strip()


def is_docstring(node: ast.AST) -> bool:
    """Return True for a string that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_error(node: ast.AST) -> bool:
    """Return True for a call that makes or raises an error, or takes a pattern."""
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return bool(ERROR.fullmatch(name)) or name == "re.compile"


def name_of_checked(node: ast.AST) -> str | None:
    """Return the name that a call gives to what a report is about, or None."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    name = node.args[0]
    is_naming = ast.unparse(node.func) in NAMING_CALLS and isinstance(name, ast.Constant)
    return str(name.value) if is_naming else None


def template(node: ast.AST) -> str | None:
    """Return a string or an f-string with `VALUE` for each value; None for another node."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else VALUE for part in node.values]
        return "".join(map(str, parts))
    return None


def is_sentence(text: str) -> bool:
    """Return True if a string is more than a name, and no code."""
    return " " in text.strip() and has_words(text) and not NO_SENTENCE.search(text)
