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

# Answers that look right at a glance, and that a check must not let pass.
WRONG = {
    "03-primary-capsules": [
        """
class MyPrimaryCapsules(nn.Module):  # keeps no convolution, so there is nothing that could learn
    def __init__(self, in_channels, types, dim, kernel, stride):
        super().__init__()
        self.sizes = torch.Size([types * 12, dim])

    def forward(self, maps):
        return torch.zeros(len(maps), *self.sizes)
"""
    ],
    "05-prediction-vectors": [
        """
def my_prediction_vectors(u, weight):
    return torch.einsum("bid,ijde->bije", u, weight)
""",
        """
def my_prediction_vectors(u, weight):
    return (u[:, :, None, None, :] @ weight.reshape(*weight.shape[:2], u.shape[2], -1)).squeeze(3)
""",
    ],
    "13-message-passing": [
        """
def loudest_links(u_hat, k):
    links = torch.zeros(I, J, dtype=torch.bool)
    links[loudness.topk(8).indices] = True
    return links
"""
    ],
    "10-sixteen-numbers": [
        """
def between(first, last, steps):
    t = torch.linspace(0, 1, steps)[:, None]
    return first + (3 * t**2 - 2 * t**3) * (last - first)
"""
    ],
    "15-two-digits-at-once": [
        """
def partners(labels, chosen, generator):
    others = (labels != labels[0]).nonzero().flatten()
    return others[torch.randint(len(others), chosen.shape, generator=generator)]
""",
        """
def read_twice(images):
    return lengths.topk(3, dim=1).indices[:, [0, 2]]
""",
        """
def read_twice(images):
    return lengths.topk(2, dim=1).indices
""",
    ],
    "18-bugs-in-the-wild": [
        """
def minds_its_own_image(route):
    together, again, alone = route(votes, 3), route(votes, 3), route(votes[:1], 3)
    same = torch.equal(together, again) and torch.allclose(together[:1], alone, atol=1e-5)
    return same and bool((together.norm(dim=-1) < 1).all())
"""
    ],
    "21-where-next": [
        "loudest = 1.0",
        "loudest = attention_couplings(u_hat / 72).max()  # the root of 72 divides each product by 72",
        "loudest = torch.einsum('bijd,bjd->bij', u_hat, u_hat.mean(dim=1)).softmax(dim=2).max()  # no root of D_out",
    ],
}


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


def imported(source: str) -> set[str]:
    """The names that a cell imports."""
    statements = [node for node in ast.walk(parsed(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {(alias.asname or alias.name).partition(".")[0] for node in statements for alias in node.names}


def changed(source: str) -> set[str]:
    """The names that a cell binds, or whose values it may change: `for x`, `x[0] = …`, `x.train()`, `f(x)`."""
    names = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            names.add(next((inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)), ""))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            touched = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            names |= {each.id for each in [*touched, *call.args] if isinstance(each, ast.Name)}
    return names


def needed(path: Path) -> list[str]:
    """The cells that the exercises build on, directly or not, and the exercises; nbval has run all the others."""
    asked = [cell.source for cell in exercises(path)]
    before = [cell.source for cell in code(path)][: -len(asked)]
    modules = set().union(*map(imported, before))
    names = set().union(*map(names_in, asked))
    kept: list[str] = []
    for source in reversed(before):
        if (changed(source) - modules | imported(source)) & names:
            kept.insert(0, source)
            names |= names_in(source)
    return kept + asked


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
    assert any("<details>" in text and f"../solutions/{path.name}" in text for text in texts), "linked when collapsed"


@each_chapter
def test_blank_it_runs_through_and_says_not_written_yet(path):
    """nbval runs the chapter as it is and compares; this is what it must have said."""
    unwritten = [
        cell for cell in exercises(path) if "not written yet" in str([output.get("data") for output in cell.outputs])
    ]
    assert len(unwritten) >= len(blanks(path))


@each_chapter
def test_with_the_solutions_filled_in_every_check_passes_and_wrong_answers_do_not(path):
    mpl.use("agg")
    given = [name for cell in exercises(path) for name in defined(cell.source)]
    _, solved = run([cell.source for cell in code(BOOK / "solutions" / path.name)], path.parent)
    solutions = {
        name: solved[name] for name in given if name in solved and (callable(solved[name]) or name in blanks(path))
    }
    values, variables = run(needed(path), path.parent, solutions)
    reports = [value for value in values[-len(exercises(path)) :] if isinstance(value, Report)]
    assert len(reports) >= len(blanks(path))
    assert all(reports), "\n\n".join(str(report) for report in reports if not report)
    for answer in WRONG.get(path.stem, ()):
        report = judged(answer, path, variables)
        assert report.written, answer
        assert not report, f"passed: {answer}"


def judged(answer: str, path: Path, variables: dict[str, Any]) -> Report:
    """What the chapter's check says of an answer, a cell's source."""
    (name,) = defined(answer)
    check = next(cell for cell in exercises(path) if "check_" in cell.source and name in names_in(cell.source))
    *before, last = parsed(check.source).body
    assert isinstance(last, ast.Expr)
    exec(answer, variables)
    exec(compile(ast.Module(before, []), "cell", "exec"), variables)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), variables)


def names_in(source: str) -> set[str]:
    return {node.id for node in ast.walk(parsed(source)) if isinstance(node, ast.Name)}
