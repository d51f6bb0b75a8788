"""The book's exercises: blank they say so, and with the book's own solutions they pass."""

from __future__ import annotations

import ast
import os
import re
import symtable
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import nbformat
import pytest
import torch

from capsnet_tutorial.check import Report

pytestmark = pytest.mark.slow

BOOK = Path(__file__).resolve().parent.parent / "book"
CHAPTERS = sorted((BOOK / "chapters").glob("*.ipynb"))
HEADING = "## Exercises"
HOLE = "your-turn"  # the tag of a hole in a chapter, and of the cells that check it

# Other ways of writing it than the book's solution.
RIGHT = {
    "03-primary-capsules": [
        """
class MyPrimaryCapsules(nn.Module):  # the convolution in a Sequential
    def __init__(self, in_channels, types, dim, kernel, stride):
        super().__init__()
        self.dim = dim
        self.layers = nn.Sequential(nn.Conv2d(in_channels, types * dim, kernel, stride))

    def forward(self, maps):
        return self.layers(maps).permute(0, 2, 3, 1).reshape(len(maps), -1, self.dim)
""",
        """
class MyPrimaryCapsules(nn.Module):  # a convolution for each type
    def __init__(self, in_channels, types, dim, kernel, stride):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(in_channels, dim, kernel, stride) for _ in range(types)])

    def forward(self, maps):
        return torch.cat([conv(maps).flatten(2).mT for conv in self.convs], dim=1)
""",
    ],
}

# Answers with a mistake that the check names, and a word or two by which.
NAMED = {
    "01-try-it": {
        "def bend(pose, slider, by):\n    moved = pose.clone()\n    moved[slider - 1] += by": "`return`",
        "def bend(pose, slider, by):\n    return [pose] * 28": "a list of 28",
        "def bend(pose, slider, by):\n    return draw(model, pose, 4)": "Nothing moved",
        """
def bend(pose, slider, by):
    moved = pose.clone()
    moved[slider - 1] = by
    return draw(model, moved, 4)
""": "instead of 0.2 more",
        """
def bend(pose, slider, by):
    moved = pose.clone()
    moved[slider] += by
    return draw(model, moved, 4)
""": "it moved 6",
        """
def bend(pose, slider, by):
    return draw(model, pose + by, 4)
""": "No single slider",
    },
    "03-primary-capsules": {
        """
class MyPrimaryCapsules(nn.Module):
    def __init__(self, in_channels, types, dim, kernel, stride):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, types * dim, kernel, stride)

    def forward(self, maps):
        self.conv(maps)
""": "`return`",
    },
    "02-why-capsules": {
        "def more_ink():\n    return four": "It needs more ink; it has 1.00 times",
        "def more_ink():\n    return (2 * four).clamp(0, 1)": "The bag notices",
        "def more_ink():\n    F.unfold(four, 7, stride=7)": "`return`",
    },
    "04-squash": {
        """
def squash(s, dim=-1, eps=1e-8):
    squared = (s * s).sum(dim, keepdim=True)
    length = squared.sqrt().clamp_min(eps)
    return squared / (1 + squared) * s / length
""": "squash-nan",
        "def unsquash(v):\n    return v": "The lengths are wrong",
        """
def unsquash(v):
    r = v.norm(dim=-1, keepdim=True)
    return v / (r * (1 - r)).sqrt()
""": "zeros becomes nan",
        """
def unsquash(v):
    r = v.norm(dim=1, keepdim=True)
    return v / (r * (1 - r)).abs().clamp_min(1e-16).sqrt()
""": "directions",
    },
    "05-prediction-vectors": {
        """
def prediction_vectors(u, weight):
    return torch.einsum("bid,ijed->bije", u, weight)
""": "It sums over D_out",
        """
def prediction_vectors(u, weight):
    return torch.einsum("bid,ijde->bjie", u, weight)
""": "Expected [3, 2, 5, 4]",
        """
def prediction_vectors(u, weight):
    return 2 * torch.einsum("bid,ijde->bije", u, weight)
""": "u_hat[0, 0, 0, 0]",
        """
def prediction_vectors(u, weight):
    return (u[:, :, None, None] @ weight).squeeze()
""": "Expected [1, 6, 1, 5]",
        "boat_from_sail = torch.eye(5)": "Expected a [4, 4]",
        "boat_from_sail = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [-0.3, 0, 1, 0], [-0.7, 0, 0, 1]])": "tilted",
        "boat_from_sail = torch.eye(4)": "0° is elsewhere",
    },
    "06-routing": {
        "def my_route(u_hat, iterations):\n    return route(u_hat, 3)": "written in: 3",
        """
def my_route(u_hat, iterations):
    b = u_hat.new_zeros(u_hat.shape[:3])
    for _ in range(iterations):
        s = torch.einsum("bij,bije->bje", b.softmax(dim=2), u_hat)
        b = b + torch.einsum("bije,bje->bij", u_hat, s)
    return squash(s)
""": "compared with s",
    },
    "07-margin-loss": {
        """
def margin_loss(lengths, T, m_plus=0.9, m_minus=0.1, lambda_=0.5):
    return (T * (m_plus - lengths) ** 2 + lambda_ * (1 - T) * (lengths - m_minus) ** 2).sum(dim=1).mean()
""": "at 0",
        """
def margin_loss(lengths, T, m_plus=0.9, m_minus=0.1, lambda_=0.5):
    return (T * (m_plus - lengths).relu() ** 2 + lambda_ * (1 - T) * (lengths - m_minus).relu() ** 2).sum()
""": "sum over the images",
        "def multi_hot(present):\n    return torch.zeros(3, 10)": "Expected ones at [[3, 8], [], [5]]",
        "def multi_hot(present):\n    return F.one_hot(torch.tensor([3, 0, 5]), 10)": "The empty sheet has a 1 at 0",
        """
def second_choice(lengths):
    lengths[torch.arange(len(lengths)), lengths.argmax(dim=1)] = -1
    return lengths.argmax(dim=1)
""": "It changed the lengths",
        "def second_choice(lengths):\n    return lengths.topk(2, dim=1).values[:, 1]": "These are lengths",
        "def second_choice(lengths):\n    return lengths.topk(2, dim=1).indices[:, 1].tolist()": "A list",
        "def second_choice(lengths):\n    return lengths.argmax(dim=1)": "the first choice",
    },
    "08-masking-and-decoder": {
        """
def mask_capsules(v, labels=None):
    return v[torch.arange(len(v)), capsule_lengths(v).argmax(dim=1) if labels is None else labels]
""": "the kept capsule alone",
        "def two_masks(v):\n    return mask_capsules(v)": "Expected [2, 7, 10, 16]",
        """
def two_masks(v):
    return torch.stack([mask_capsules(v, k) for k in capsule_lengths(v).topk(2, dim=1).indices.T.flip(0)])
""": "the second longest comes first",
        """
def my_reconstruction_loss(reconstruction, images):
    return 0.0005 * F.mse_loss(reconstruction, images.flatten(1), reduction="sum")
""": "sum over the images",
    },
    "11-what-the-numbers-mean": {
        """
def dressed_as(pose, label):
    capsules = torch.zeros(1, 10, 16)
    capsules[0, 4] = pose
    return capsules
""": "it filled another",
    },
    "09-training": {
        """
def my_step(network, optimizer, images, labels):
    optimizer.zero_grad()
    capsnet_loss(network(images, labels), images, labels).backward()
    optimizer.step()
""": "`return`",
        """
def my_step(network, optimizer, images, labels):
    optimizer.zero_grad()
    loss = capsnet_loss(network(images, labels), images, labels)
    loss.backward()
    optimizer.step()
    return loss
""": "this is a Tensor",
        """
def my_step(network, optimizer, images, labels):
    optimizer.zero_grad()
    capsnet_loss(network(images, labels), images, labels).backward()
    optimizer.step()
    return capsnet_loss(network(images, labels), images, labels).item()
""": "the loss after it",
        """
def my_step(network, optimizer, images, labels):
    loss = capsnet_loss(network(images), images, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
""": "The network got no labels",
        """
def my_step(network, optimizer, images, labels):
    loss = capsnet_loss(network(images, labels), images, labels)
    loss.backward()
    optimizer.step()
    return loss.item()
""": "still there in the second",
        """
def my_step(network, optimizer, images, labels):
    loss = capsnet_loss(network(images, labels), images, labels)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()
""": "The weights did not move",
        "def share_by_class(answers, labels):\n    return (answers == labels).float()": "the shape [14]",
        """
def share_by_class(answers, labels):
    right = (answers == labels).float()
    return torch.stack([right[answers == k].mean() for k in range(10)])
""": "Group by label",
    },
    "10-sixteen-numbers": {
        """
def between(first, last, steps):
    t = torch.linspace(0, 1, steps)[:, None]
    first + t * (last - first)
""": "`return`",
        """
def between(first, last, steps):
    return [first + t * (last - first) for t in torch.linspace(0, 1, steps)]
""": "A list",
        """
def strengths(pose, label):
    return (draw(pose + 0.25 * torch.eye(16), label) - draw(pose[None], label)).abs().sum(dim=(1, 2))
""": "Too little",
        """
def strengths(pose, label):
    steps = 0.25 * torch.eye(16)
    return (draw(pose + steps, label) - draw(pose - steps, label)).sum(dim=(1, 2)).abs()
""": "",
    },
}

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
    "06-routing": [
        "def agreement(u_hat, v):\n    return F.cosine_similarity(u_hat, v[:, None], dim=3)",
        "def agreement(u_hat, v):\n    return (u_hat * v[:, None]).mean(dim=3)",
    ],
    "12-who-votes-who-decides": [
        "for_pairs = 20",
        """
def turned_round(u_hat):
    return 0.0, 0.0, 0.0
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
    "14-two-digits-at-once": [
        """
def read_twice(images):
    return lengths.topk(3, dim=1).indices[:, [0, 2]]
""",
        """
def read_twice(images):
    return lengths.topk(2, dim=1).indices
""",
    ],
    "15-new-viewpoints": [
        "commutes = 2 * torch.eye(4)",
        "commutes = torch.diag(torch.tensor([1.0, 1.0, 2.0, 3.0]))",
    ],
    "17-bugs-in-the-wild": [
        """
def one_place_each(primary_capsules):
    features = torch.randn(2, 16, 3, 3)
    return torch.equal(primary_capsules(features, 8), variant("primary_capsules")(features, 8))
""",
        """
def minds_its_own_image(route):
    together, again, alone = route(votes, 3), route(votes, 3), route(votes[:1], 3)
    same = torch.equal(together, again) and torch.allclose(together[:1], alone, atol=1e-5)
    return same and bool((together.norm(dim=-1) < 1).all())
""",
    ],
    "18-when-it-does-not-learn": [
        """
def knows_only_the_odds(J, lambda_):
    return 0.2455
""",
        """
class MyRoutedCapsules(nn.Module):  # begins at zero, and stays there
    def __init__(self, I, J, D_in, D_out):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(I, J, D_in, D_out))

    def forward(self, u):
        return F.route(F.prediction_vectors(u, self.weight))
""",
        """
class MyRoutedCapsules(nn.Module):  # of one sign
    def __init__(self, I, J, D_in, D_out):
        super().__init__()
        self.weight = nn.Parameter(0.1 * torch.rand(I, J, D_in, D_out))

    def forward(self, u):
        return F.route(F.prediction_vectors(u, self.weight))
""",
    ],
    "19-where-next": [
        "loudest = 1.0",
        "loudest = attention_couplings(u_hat / 72).max()  # the root of 72 divides each product by 72",
        "loudest = torch.einsum('bijd,bjd->bij', u_hat, u_hat.mean(dim=1)).softmax(dim=2).max()  # no root of D_out",
    ],
}


def code(path: Path) -> list[Any]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def exercises(path: Path) -> list[Any]:
    """The code cells after the heading, and the holes before it."""
    cells = nbformat.read(path, as_version=4).cells
    start = next((k for k, cell in enumerate(cells) if HEADING in cell.source), len(cells))
    asked = [cell for k, cell in enumerate(cells) if k > start or HOLE in cell.metadata.get("tags", [])]
    return [cell for cell in asked if cell.cell_type == "code"]


def own_lines(path: Path) -> dict[str, str]:
    """What a chapter shows as its own filling of its holes, folded: name -> code."""
    texts = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    shown = [code for text in texts for code in re.findall(r"<details>.*?```python\n(.*?)```", text, re.DOTALL)]
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
    names, left = set(), list(parsed(source).body)
    while left:
        node: ast.AST = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue  # what stands in it changes nothing before it is called
        left += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            names.add(next((inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)), ""))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            touched = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            names |= {each.id for each in [*touched, *call.args] if isinstance(each, ast.Name)}
    return names


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
    answers = [answer for each in (RIGHT, WRONG, NAMED) for answer in each.get(path.stem, ())]
    before = [source for source in order if source not in asked]
    modules = set().union(*map(imported, before))
    names = set().union(*map(asked_for, [*asked, *answers]))
    kept: list[str] = []
    for source in reversed(before):
        if (changed(source) - modules | imported(source)) & names:
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
    """Run cells one after the other.

    Args:
        sources: the cells.
        folder: where they run.
        instead: cell -> name -> what takes the place of what that cell defines by the name.

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
            variables.update((instead or {}).get(source, {}))
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
    known = [name for cell in code(solutions) for name in defined(cell.source)] + [*own_lines(path)]
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
    ours = {cell.source: lines[name] for cell in exercises(path) for name in defined(cell.source) if name in lines}
    values, variables = run([ours.get(source, source) for source in needed(path)], path.parent, solutions)
    reports = [value for value in values if isinstance(value, Report)]
    assert len(reports) >= len(blanks(path))
    assert all(reports), "\n\n".join(str(report) for report in reports if not report)
    for answer in RIGHT.get(path.stem, ()):
        for report in judged(answer, path, variables):
            assert report, f"{report}\n{answer}"
    named = NAMED.get(path.stem, {})
    for answer in (*WRONG.get(path.stem, ()), *named):
        reports = judged(answer, path, variables)
        assert all(report.written for report in reports), answer
        assert not all(reports), f"passed: {answer}"
        said = " ".join(map(str, reports))
        assert named.get(answer, "") in said, f"{said}\n{answer}"
        assert "The line: " not in said or " cannot be tested" not in said, f"the check's own error: {said}"


def judged(answer: str, path: Path, variables: dict[str, Any]) -> list[Report]:
    """What the chapter's checks say of an answer, a cell's source."""
    (name,) = defined(answer)
    exec(answer, variables)
    names = {name}
    reports = []
    for cell in exercises(path):
        if not names & names_in(cell.source):
            continue
        *before, last = parsed(cell.source).body
        names |= {each for each in defined(cell.source) if "check_" not in cell.source}  # it may be used by another
        if "check_" in cell.source and isinstance(last, ast.Expr):
            exec(compile(ast.Module(before, []), "cell", "exec"), variables)
            reports.append(eval(compile(ast.Expression(last.value), "cell", "eval"), variables))
    assert reports, f"no check of {name}"
    return reports


def names_in(source: str) -> set[str]:
    return {node.id for node in ast.walk(parsed(source)) if isinstance(node, ast.Name)}
