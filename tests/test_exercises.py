"""The book's exercises: blank they say so, and with the book's own solutions they pass."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat
import pytest

from capsnet_tutorial.check import Report

BOOK = Path(__file__).resolve().parent.parent / "book"
CHAPTERS = sorted((BOOK / "chapters").glob("*.ipynb"))
HEADING = "## Exercises"


def code(path: Path) -> list[Any]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def exercises(path: Path) -> list[Any]:
    """The code cells after the heading."""
    cells = nbformat.read(path, as_version=4).cells
    start = next((k for k, cell in enumerate(cells) if HEADING in cell.source), len(cells))
    return [cell for cell in cells[start:] if cell.cell_type == "code"]


def defined(source: str) -> list[str]:
    """The functions, classes and variables that a cell defines at its top level."""
    names = []
    for node in parsed(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return names


def parsed(source: str) -> ast.Module:
    """A cell without its magics."""
    lines = ("pass" if line.lstrip().startswith(("%", "!")) else None for line in source.splitlines())
    kept = [
        line if new is None else line[: len(line) - len(line.lstrip())] + new
        for line, new in zip(source.splitlines(), lines, strict=True)
    ]
    return ast.parse("\n".join(kept))


def blanks(path: Path) -> list[str]:
    """What an exercise leaves to the reader: functions that return `...`, variables that are `...`."""
    names = []
    for cell in exercises(path):
        for node in parsed(cell.source).body:
            if isinstance(node, ast.Assign):
                parts: list[Any] = [node.value]
            elif isinstance(node, ast.FunctionDef):
                parts = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)][-1:]
            else:
                continue
            if any(isinstance(part, ast.Constant) and part.value is ... for part in parts):
                names += defined(ast.unparse(node))
    return names


def run(sources: list[str], folder: Path) -> list[Any]:
    """Run cells one after the other; the value of each cell's last expression."""
    namespace: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
    values = []
    before = Path.cwd()
    os.chdir(folder)
    try:
        for source in sources:
            body = parsed(source).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), "cell", "exec"), namespace)
            shown = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace) if last else None
            values.append(shown)
    finally:
        os.chdir(before)
    return values


def with_exercises() -> list[Path]:
    return [path for path in CHAPTERS if exercises(path)]


each_chapter = pytest.mark.parametrize("path", with_exercises(), ids=lambda path: path.stem)


def test_there_are_chapters_with_exercises():
    assert len(with_exercises()) >= 2


@each_chapter
def test_every_exercise_has_a_check_and_a_solution(path):
    solutions = BOOK / "solutions" / path.name
    known = [name for cell in code(solutions) for name in defined(cell.source)]
    assert blanks(path), "an exercise has a blank"
    assert [name for name in blanks(path) if name not in known] == [], "not solved"
    checks = [cell for cell in exercises(path) if "check_" in cell.source]
    assert len(checks) >= len(blanks(path))
    texts = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    assert any("{dropdown}" in text and f"../solutions/{path.stem}" in text for text in texts), "linked when collapsed"


@each_chapter
def test_blank_it_runs_through_and_says_not_written_yet(path):
    """nbval runs the chapter as it is and compares; this is what it must have said."""
    unwritten = [
        cell for cell in exercises(path) if "not written yet" in str([output.get("data") for output in cell.outputs])
    ]
    assert len(unwritten) >= len(blanks(path))


@each_chapter
def test_with_the_solutions_filled_in_every_check_passes(path):
    mpl.use("agg")
    cells, solved = code(path), {}
    for cell in code(BOOK / "solutions" / path.name):
        solved |= dict.fromkeys(defined(cell.source), cell.source)
    filled = [cell.source for cell in cells[: len(cells) - len(exercises(path))]]
    for cell in exercises(path):
        names = [name for name in defined(cell.source) if name in solved]
        filled.append(only(solved[names[0]], names) if names else cell.source)
    reports = [value for value in run(filled, path.parent) if isinstance(value, Report)]
    exercised = reports[-len([cell for cell in exercises(path) if "check_" in cell.source]) :]
    assert len(exercised) >= len(blanks(path))
    assert all(exercised), "\n\n".join(str(report) for report in exercised if not report)


def only(source: str, names: list[str]) -> str:
    """Of a solution's cell, its imports and definitions; not what it goes on to show."""
    kept = [
        node
        for node in parsed(source).body
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))
        or (isinstance(node, ast.Assign) and set(defined(ast.unparse(node))) & set(names))
    ]
    return "\n".join(ast.unparse(node) for node in kept)
