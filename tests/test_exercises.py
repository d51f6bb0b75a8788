"""The book's exercises: blank they say so, and with the book's own solutions they pass."""

from __future__ import annotations

import ast
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import pytest
import torch
import yaml
from exercise_cells import (
    blanks,
    cells_to_run,
    code_cells,
    defined_names,
    exercise_cells,
    folded_answers,
    last_expression,
    markdown_cells,
    needed_names,
    parsed,
)

from capsnet_check import Report

pytestmark = pytest.mark.slow

BOOK = Path(__file__).resolve().parent.parent / "book"
CHAPTERS = [path for path in sorted((BOOK / "chapters").glob("*.ipynb")) if exercise_cells(path)]
ANSWERS = yaml.safe_load(
    Path(__file__).with_name("exercise_answers.yml").read_text(encoding="utf-8")
)
RIGHT = "RIGHT"
WRONG = "WRONG"


def answers_to(path: Path) -> list[tuple[str, str]]:
    """Return the stored answers to a chapter's exercises as cells, each with what is expected."""
    functions = {}
    for source in exercise_cells(path):
        for node in parsed(source).body:
            if isinstance(node, ast.FunctionDef):
                functions[node.name] = ast.unparse(node.args)
    answers = []
    for name, stored in ANSWERS.get(path.stem, {}).items():
        for pair in stored:
            for expected, answer in pair.items():
                answers.append((_as_cell(name, answer, functions), expected))
    return answers


def _as_cell(name: str, answer: str, functions: dict[str, str]) -> str:
    """Return the cell that holds an answer: a function's body, ``= value``, or a definition."""
    if name in functions and not answer.startswith("def "):
        body = textwrap.indent(answer.replace("; ", "\n"), "    ")
        return f"def {name}({functions[name]}):\n{body}"
    if answer.startswith("="):
        return f"{name} {answer}"
    return answer


@contextmanager
def as_notebook(folder: Path) -> Iterator[dict[str, Any]]:
    """Run cells in a folder, as a kernel does; yield their variables."""
    module = ModuleType("a_notebook")  # a real one: what compiles a function looks for its module
    module.__dict__["display"] = lambda *_: None
    before = Path.cwd()
    os.chdir(folder)
    sys.modules[module.__name__] = module
    try:
        yield module.__dict__
    finally:
        os.chdir(before)
        del sys.modules[module.__name__]
        torch.set_grad_enabled(True)  # a notebook may switch it off for good


def run_cell(source: str, variables: dict[str, Any]) -> Any:
    """Run a cell and return the value of its last expression."""
    statements, expression = last_expression(source)
    exec(compile(statements, "cell", "exec"), variables)
    if expression is None:
        return None
    return eval(compile(expression, "cell", "eval"), variables)


def solutions_of(path: Path) -> dict[str, Any]:
    """Return what the chapter's solution notebook defines, by name."""
    with as_notebook(path.parent) as variables:
        for source in code_cells(BOOK / "solutions" / path.name):
            run_cell(source, variables)
    return variables


def run_with_solutions(path: Path) -> tuple[list[Report], dict[str, Any]]:
    """Run a chapter's exercises with holes and blanks filled in.

    Returns:
        The reports of all checks, and the variables in the end.
    """
    solutions = solutions_of(path)
    empty = blanks(path)
    exercises = exercise_cells(path)
    folded = folded_answers(path)
    answers = [answer for answer, _ in answers_to(path)]
    reports = []
    with as_notebook(path.parent) as variables:
        for source in cells_to_run(path, answers):
            names = defined_names(source) if source in exercises else []
            filled = [folded[name] for name in names if name in folded]
            value = run_cell(filled[-1] if filled else source, variables)
            for name in names:
                solved = solutions.get(name)
                if name in solutions and (callable(solved) or name in empty):
                    variables[name] = solved
            if isinstance(value, Report):
                reports.append(value)
    return reports, variables


def reports_on(answer: str, path: Path, variables: dict[str, Any]) -> list[Report]:
    """Return what the chapter's checks say of an answer, given as a cell."""
    (name,) = defined_names(answer)
    exec(answer, variables)
    names = {name}
    reports = []
    for source in exercise_cells(path):
        if not names & needed_names(source):
            continue
        if "check_" not in source:
            names |= set(defined_names(source))  # another exercise may use them
            continue
        if isinstance(parsed(source).body[-1], ast.Expr):
            reports.append(run_cell(source, variables))
    assert reports, f"no check of {name}"
    return reports


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_has_a_blank_and_links_its_solutions(path):
    assert blanks(path), "an exercise has a blank"
    solution = f"../solutions/{path.name}"
    texts = markdown_cells(path)
    assert any("<details>" in text and solution in text for text in texts), "linked when collapsed"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_right_answers_pass_and_wrong_answers_are_named(path):
    mpl.use("agg")
    reports, variables = run_with_solutions(path)
    assert len(reports) >= len(blanks(path))
    assert all(reports), "\n\n".join(str(report) for report in reports if not report)
    for answer, expected in answers_to(path):
        reports = reports_on(answer, path, variables)
        text = " ".join(str(report) for report in reports)
        context = f"{text}\n{answer}"
        assert all(report.written for report in reports), context
        assert all(reports) == (expected == RIGHT), context
        assert expected in (RIGHT, WRONG) or expected in text, context
        is_own_error = "The line: " in text and " cannot be tested" in text
        assert not is_own_error, f"the check's own error: {context}"
