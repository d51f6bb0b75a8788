"""The book's exercises: blank they say so, and with the book's own solutions they pass."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import nbformat
import pytest
import torch

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


def run(sources: list[str], folder: Path, instead: dict[str, Any] | None = None) -> tuple[list[Any], dict[str, Any]]:
    """Run cells one after the other.

    Args:
        sources: the cells.
        folder: where they run.
        instead: what takes the place of what a cell defines by that name.

    Returns:
        The value of each cell's last expression, and the variables at the end.
    """
    module = ModuleType("a_notebook")  # a real one: what compiles a function looks for its module
    variables = module.__dict__
    variables["display"] = lambda *_: None
    values = []
    before = Path.cwd()
    os.chdir(folder)
    sys.modules[module.__name__] = module
    try:
        for source in sources:
            body = parsed(source).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), "cell", "exec"), variables)
            variables.update({name: instead[name] for name in defined(source) if name in (instead or {})})
            values.append(eval(compile(ast.Expression(last.value), "cell", "eval"), variables) if last else None)
    finally:
        os.chdir(before)
        del sys.modules[module.__name__]
        torch.set_grad_enabled(True)  # a notebook may switch it off for good
    return values, variables


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
    given = [name for cell in exercises(path) for name in defined(cell.source)]
    _, solved = run([cell.source for cell in code(BOOK / "solutions" / path.name)], path.parent)
    solutions = {
        name: solved[name] for name in given if name in solved and (callable(solved[name]) or name in blanks(path))
    }
    values, _ = run([cell.source for cell in code(path)], path.parent, solutions)
    reports = [value for value in values[-len(exercises(path)) :] if isinstance(value, Report)]
    assert len(reports) >= len(blanks(path))
    assert all(reports), "\n\n".join(str(report) for report in reports if not report)
