"""`capsnet project check`: plans and results, right and with each of the faults that it names."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from capsnet_book.experiments.statistics import paired

from capsnet_check.project import check_project, interval, main
from capsnet_tutorial import cli
from capsnet_tutorial.errors import InputError

ROOT = Path(__file__).parent.parent
PLAN = """
question = "Does it read better?"
smaller = "new"
larger = "old"
measure = "error"
seeds = [11, 12, 13]
pilots = [10]
counts = "an interval above 0"
stops = "after six runs"
"""
RUNS = [
    {"arm": arm, "seed": seed, "errors": {"test": error + seed / 1000 * (arm == "old")}}
    for arm, error in (("new", 0.10), ("old", 0.12))
    for seed in (11, 12, 13)
]
RIGHT_LAYER = (Path(__file__).parent / "right_networks.py").read_text(encoding="utf-8")
LAYER = """
class OverI(Routed):
    def forward(self, u):
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(3):
            v = squash((b.softmax(1).unsqueeze(3) * u_hat).sum(1))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v
"""


class Project:
    """A folder under git, with a plan and results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan = folder / "project.toml"
        self.git("init", "-q")
        self.git("config", "user.name", "a reader")
        self.git("config", "user.email", "reader@example.org")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", self.folder, *arguments], check=True)

    def write(self, *, plan: str | None = None, runs: list | None = None) -> Project:
        """Write what is given, and commit all."""
        if plan is not None:
            self.plan.write_text(plan, encoding="utf-8")
        if runs is not None:
            (self.folder / "results.json").write_text(json.dumps({"runs": runs}), encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "a step")
        return self

    def problems(self) -> str:
        """Return all that is found to be wrong."""
        lines = check_project(self.plan)
        return "; ".join(problem for line in lines for problem in line.problems)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_the_worked_project_has_the_points_that_its_page_gives_it(capsys):
    status = main([str(ROOT / "results" / "animals.toml")])
    printed = capsys.readouterr().out
    if "git fetch --unshallow" in printed:
        pytest.skip("the history is cut off in this checkout")
    assert status == 0 and "5 of 5 points" in printed
    assert "capsnet less capsnet-16: +0.0047, from -0.0300 to +0.0394" in printed


def test_a_plan_that_was_followed(project):
    project.write(plan=PLAN).write(runs=RUNS)
    assert project.problems() == ""
    assert main([str(project.plan)]) == 0


def test_what_is_added_to_a_plan_later_is_no_change(project):
    project.write(plan=PLAN).write(plan=PLAN + 'errors = ["test"]', runs=RUNS)
    assert project.problems() == ""


def test_results_may_be_a_folder_of_files(project):
    folder = project.folder / "runs"
    folder.mkdir()
    project.write(plan=PLAN + 'results = "runs"')
    for number, run in enumerate(RUNS):
        (folder / f"{number}.json").write_text(json.dumps(run), encoding="utf-8")
    assert project.write().problems() == ""


@pytest.mark.parametrize(
    ("plan", "runs", "problem"),
    [
        (PLAN, RUNS[1:], "not run: new, seed 11"),
        (PLAN, RUNS[1:], "2 pairs; expected 3 or more"),
        (PLAN, [*RUNS, {**RUNS[0], "seed": 14}], "run without being planned: new, seed 14"),
        (PLAN, [*RUNS, {**RUNS[0], "seed": 10}], ""),
        (PLAN, [*RUNS, {**RUNS[0], "arm": "a third", "seed": 14}], ""),
        (PLAN.replace("after six", "after ten"), RUNS, "changed since its first commit"),
        (PLAN, [{**run, "errors": {"test": 0.1}} for run in RUNS], "the same difference"),
    ],
)
def test_a_fault_is_named(project, plan, runs, problem):
    project.write(plan=PLAN).write(plan=plan, runs=runs)
    assert problem in project.problems()
    assert bool(project.problems()) == bool(problem)


def test_results_that_were_there_before_the_plan(project):
    project.write(runs=RUNS).write(plan=PLAN)
    assert "seed 12 of both arms was there when the plan was committed" in project.problems()


def test_one_arm_may_be_known_before_the_plan(project):
    project.write(runs=RUNS[:3]).write(plan=PLAN).write(runs=RUNS)
    assert project.problems() == ""


def test_a_plan_that_was_not_committed(project):
    project.write(runs=RUNS)
    project.plan.write_text(PLAN, encoding="utf-8")
    assert "never committed" in project.problems()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layer", "more", "problem"),
    [
        ("Routed(16, 4, 10, 8)", "", ""),
        ("OverI(16, 4, 10, 8)", "", "OverI(16, 4, 10, 8): ✗ layer: 1 known mistake"),
        ("OverI(16, 4, 10, 8)", 'differences = "Over i is wanted: the question."', ""),
        ("Absent()", "", "expected something named Absent()"),
    ],
)
def test_own_parts_are_checked(project, layer, more, problem):
    (project.folder / "layers.py").write_text(RIGHT_LAYER + LAYER, encoding="utf-8")
    project.write(plan=f"{PLAN}parts = ['layers.py:{layer}']\n{more}").write(runs=RUNS)
    assert problem in project.problems()
    assert bool(project.problems()) == bool(problem)


@pytest.mark.parametrize(
    ("plan", "runs", "expected"),
    [
        (PLAN.replace('stops = "after six runs"', ""), RUNS, 'stops = "…" in project.toml'),
        (PLAN.replace("[11, 12, 13]", "3"), RUNS, "seeds = [11, 12, 13]"),
        (PLAN.replace("=", ""), RUNS, "is no TOML"),
        (PLAN + 'errors = ["train"]', RUNS, "numbers for ['train'] in every run"),
        (PLAN, [{"arm": "new", "seed": 11}], "errors in every run"),
        (PLAN, [{"arm": "new", "errors": {"test": 0.1}}], "a seed in every run"),
        (PLAN, RUNS + RUNS[:1], "one run an arm and seed"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(project, plan, runs, expected, capsys):
    project.write(plan=plan, runs=runs)
    with pytest.raises(InputError) as problem:
        check_project(project.plan)
    assert expected in str(problem.value)
    assert main([str(project.plan)]) == 2
    assert expected in capsys.readouterr().err


def test_the_interval_is_the_books():
    for smaller, larger in (([0.1, 0.2, 0.4], [0.2, 0.2, 0.1]), ([1, 2, 3, 4, 7], [2, 3, 3, 5, 1])):
        wanted = paired(smaller, larger)
        differences = [b - a for a, b in zip(smaller, larger, strict=True)]
        assert interval(differences) == pytest.approx(
            (wanted.value, wanted.low, wanted.high), abs=2e-3
        )


@pytest.mark.slow
def test_the_command_is_a_part_of_capsnet(project, capfd):
    project.write(plan=PLAN).write(runs=RUNS)
    assert cli.main(["project", "check", str(project.plan)]) == 0
    assert "5 of 5 points" in capfd.readouterr().out
