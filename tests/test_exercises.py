"""The book's exercises: blank they say so, and with the book's own solutions they pass."""

from __future__ import annotations

import ast
import os
import re
import symtable
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import nbformat
import pytest
import torch
import yaml

from capsnet_check import Report

pytestmark = pytest.mark.slow

BOOK = Path(__file__).resolve().parent.parent / "book"
CHAPTERS = sorted((BOOK / "chapters").glob("*.ipynb"))
HEADING = "## Exercises"
HOLE = "your-turn"  # the tag of a hole in a chapter, and of the cells that check it

ANSWERS = yaml.safe_load(
    Path(__file__).with_name("exercise_answers.yml").read_text(encoding="utf-8")
)


def code(path: Path) -> list[Any]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def exercises(path: Path) -> list[Any]:
    """The code cells after the heading, and the holes before it."""
    cells = nbformat.read(path, as_version=4).cells
    start = next((k for k, cell in enumerate(cells) if HEADING in cell.source), len(cells))
    asked = [
        cell for k, cell in enumerate(cells) if k > start or HOLE in cell.metadata.get("tags", [])
    ]
    return [cell for cell in asked if cell.cell_type == "code"]


def answers_to(path: Path) -> list[tuple[str, str]]:
    """Answers to a chapter's exercises as cells, and what its checks must say of each."""
    blank = {
        node.name: node
        for cell in exercises(path)
        for node in parsed(cell.source).body
        if hasattr(node, "args")
    }
    found = []
    for name, answers in ANSWERS.get(path.stem, {}).items():
        for said, answer in (pair for each in answers for pair in each.items()):
            if name in blank:
                body = textwrap.indent(answer.replace("; ", "\n"), "    ")
                answer = f"def {name}({ast.unparse(blank[name].args)}):\n{body}"
            found.append((f"{name} {answer}" if answer.startswith("=") else answer, said))
    return found


def own_lines(path: Path) -> dict[str, str]:
    """What a chapter shows as its own filling of its holes, folded: name -> code."""
    texts = [
        cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
    ]
    shown = [
        code
        for text in texts
        for code in re.findall(r"<details>.*?```python\n(.*?)```", text, re.DOTALL)
    ]
    return {defined(each)[0]: each for each in shown}


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
    return ast.parse(re.sub(r"^(\s*)[%!].*", r"\1pass", source, flags=re.MULTILINE))


def bound(source: str) -> set[str]:
    """The names that a cell imports, defines or assigns."""
    symbols = symtable.symtable(ast.unparse(parsed(source)), "cell", "exec").get_symbols()
    return {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}


def asked_for(source: str) -> set[str]:
    """The names that a cell takes from elsewhere, in its functions, too; not their own variables."""
    names, tables = set(), [symtable.symtable(ast.unparse(parsed(source)), "cell", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names |= {
            each.get_name()
            for each in table.get_symbols()
            if each.is_referenced() and (table.get_type() == "module" or each.is_global())
        }
    return names


def needed(path: Path) -> list[str]:
    """The cells that exercises and answers build on, directly or not, and the exercises; nbval has run all others."""
    asked = [cell.source for cell in exercises(path)]
    order = [cell.source for cell in code(path)]
    answers = [answer for answer, _ in answers_to(path)]
    before = [source for source in order if source not in asked]
    names = set().union(*map(asked_for, [*asked, *answers]))
    kept: list[str] = []
    for source in reversed(before):
        if bound(source) & names:
            kept.append(source)
            names |= asked_for(source)
    return [source for source in order if source in kept or source in asked]


def blanks(path: Path) -> list[str]:
    """What an exercise leaves to the reader: functions and classes that return `...`, variables that are `...`."""
    names = []
    for cell in exercises(path):
        for node in parsed(cell.source).body:
            if isinstance(node, ast.Assign):
                parts: list[Any] = [node.value]
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                parts = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)][-1:]
            else:
                continue
            if any(isinstance(part, ast.Constant) and part.value is ... for part in parts):
                names += defined(ast.unparse(node))
    return names


def run(
    sources: list[str], folder: Path, instead: dict[str, dict[str, Any]] | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """The value of each cell's last expression, and the variables in the end; `instead`: cell -> name -> its value."""
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
            variables.update((instead or {}).get(source, {}))
            values.append(
                eval(compile(ast.Expression(last.value), "cell", "eval"), variables)
                if last
                else None
            )
    finally:
        os.chdir(before)
        del sys.modules[module.__name__]
        torch.set_grad_enabled(True)  # a notebook may switch it off for good
    return values, variables


@pytest.mark.parametrize(
    "path", [path for path in CHAPTERS if exercises(path)], ids=lambda path: path.stem
)
def test_with_the_solutions_filled_in_every_check_passes_and_wrong_answers_do_not(path):
    texts = [
        cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
    ]
    assert any("<details>" in text and f"../solutions/{path.name}" in text for text in texts), (
        "linked when collapsed"
    )
    assert blanks(path), "an exercise has a blank"
    mpl.use("agg")
    _, solved = run([cell.source for cell in code(BOOK / "solutions" / path.name)], path.parent)
    solutions = {
        cell.source: {
            name: solved[name]
            for name in defined(cell.source)
            if name in solved and (callable(solved[name]) or name in blanks(path))
        }
        for cell in exercises(path)
    }
    lines = own_lines(path)
    ours = {
        cell.source: lines[name]
        for cell in exercises(path)
        for name in defined(cell.source)
        if name in lines
    }
    values, variables = run(
        [ours.get(source, source) for source in needed(path)], path.parent, solutions
    )
    reports = [value for value in values if isinstance(value, Report)]
    assert len(reports) >= len(blanks(path))
    assert all(reports), "\n\n".join(str(report) for report in reports if not report)
    for answer, said in answers_to(path):
        reports = judged(answer, path, variables)
        assert all(report.written for report in reports), answer
        told = " ".join(map(str, reports))
        assert all(reports) == (said == "RIGHT"), f"{told}\n{answer}"
        assert said in ("RIGHT", "WRONG") or said in told, f"{told}\n{answer}"
        assert "The line: " not in told or " cannot be tested" not in told, (
            f"the check's own error: {told}"
        )


def judged(answer: str, path: Path, variables: dict[str, Any]) -> list[Report]:
    """What the chapter's checks say of an answer, a cell's source."""
    (name,) = defined(answer)
    exec(answer, variables)
    names = {name}
    reports = []
    for cell in exercises(path):
        if not names & asked_for(cell.source):
            continue
        *before, last = parsed(cell.source).body
        names |= {
            each for each in defined(cell.source) if "check_" not in cell.source
        }  # it may be used by another
        if "check_" in cell.source and isinstance(last, ast.Expr):
            exec(compile(ast.Module(before, []), "cell", "exec"), variables)
            reports.append(eval(compile(ast.Expression(last.value), "cell", "eval"), variables))
    assert reports, f"no check of {name}"
    return reports
