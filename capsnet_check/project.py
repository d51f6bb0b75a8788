"""A project's plan and results, as the page *Projects* asks for them: what a command can see.

    capsnet project check project.toml

Of the rubric's ten points five can be seen so: the plan is older than its results and was followed,
own parts pass `capsnet-check`, and there are three pairs of seeds with an interval.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from capsnet_check.report import NOT_ALL_EXAMINED, RIGHT, WRONG
from capsnet_check.worker import check_in_a_process
from capsnet_tutorial.errors import InputError, expect

FEWEST_SEEDS = 3
_TEXTS = ("question", "smaller", "larger", "measure", "counts", "stops")
"""Keys of a plan that are sentences or names."""
_PROMISES = (*_TEXTS, "seeds")
"""Keys of a plan that stay as they were when it was first committed."""
_FOR_PEOPLE = """\
Five more points are for people: could the question have had either answer (1), does a test fail for
a planted bug (1), has every mechanism that is named its control (1), can the figure be read alone
(1), does it say what was not run and what would change your mind (1)?"""
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045,
)  # fmt: skip
"""Student's t that 95 of 100 stay below, on both sides, for 1, 2, … degrees of freedom."""

_RECORD = '{"arm": "…", "seed": 11, "errors": {"test": 0.397}}'

Numbers = dict[tuple[str, int], float]
"""Arm and seed of a run -> what was measured."""


@dataclass(frozen=True)
class Plan:
    """A plan: a file in TOML."""

    path: Path
    text: Mapping[str, Any]
    """Its keys and values."""

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Return the plan in a file.

        Raises:
            InputError: there is none, or it lacks what a plan has to say.
        """
        expect(path.is_file(), "a plan such as project.toml", f"no file {path}")
        try:
            text = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise InputError(f"{path} is no TOML: {problem}") from problem
        for key in _TEXTS:
            expect(_is_said(text.get(key)), f'{key} = "…" in {path.name}', repr(text.get(key)))
        seeds = text.get("seeds")
        are_numbers = isinstance(seeds, list) and all(type(seed) is int for seed in seeds)
        expect(are_numbers, f"seeds = [11, 12, 13] in {path.name}", repr(seeds))
        for key in ("pilots", "errors", "parts"):
            value = text.get(key, [])
            expect(isinstance(value, list), f"{key} = […] in {path.name}", repr(value))
        return cls(path, text)

    @property
    def arms(self) -> tuple[str, str]:
        """The two arms: the first shall measure less than the second."""
        return self.text["smaller"], self.text["larger"]

    @property
    def seeds(self) -> list[int]:
        """The seeds that count, each once."""
        return list(dict.fromkeys(self.text["seeds"]))

    @property
    def pilots(self) -> list[int]:
        """Seeds that were known before, and do not count."""
        return self.text.get("pilots", [])

    @property
    def results(self) -> Path:
        """The file with the runs, or a folder with a file for each."""
        return self.path.parent / self.text.get("results", "results.json")

    def numbers(self, records: Iterable[Any]) -> Numbers:
        """Return what was measured in each run of the two arms.

        Raises:
            InputError: a record is not as the page says.
        """
        numbers: Numbers = {}
        for record in records:
            if not isinstance(record, dict) or record.get("arm") not in self.arms:
                continue
            seed: Any = record.get("seed")
            expect(type(seed) is int, f"a seed in every run, as in {_RECORD}", repr(seed))
            key = record["arm"], seed
            expect(key not in numbers, "one run an arm and seed", f"two of {key}")
            numbers[key] = _mean_error(record.get("errors"), self.text.get("errors"))
        return numbers


def _mean_error(errors: Any, names: list[str] | None) -> float:
    """Return the mean of the errors of these names, None: of all.

    Raises:
        InputError: a run lacks one of them.
    """
    expect(
        isinstance(errors, dict) and bool(errors), f"errors in every run: {_RECORD}", f"{errors}"
    )
    numbers = [errors.get(name) for name in (names or errors)]
    are_there = all(isinstance(number, int | float) for number in numbers)
    expect(are_there, f"numbers for {names or list(errors)} in every run", f"{errors}")
    return float(np.mean(numbers))


class Line(NamedTuple):
    """A line of the rubric, and whether it holds."""

    points: int
    text: str
    problems: list[str]
    """Why it does not hold; empty if it does."""
    note: str = ""
    """What was seen."""


def check_project(path: Path) -> list[Line]:
    """Return the lines of the rubric that a command can see.

    Raises:
        InputError: the plan or its results cannot be read.
    """
    plan = Plan.read(path)
    expect(plan.results.exists(), f"results in {plan.results}", "no such file or folder")
    numbers = plan.numbers(_records(plan.results))
    return [_history(plan, numbers), _parts(plan), _interval(plan, numbers)]


def _records(results: Path) -> list[Any]:
    """Return the records of a file, or of the files of a folder.

    Raises:
        InputError: one of them is no JSON.
    """
    files = sorted(results.glob("*.json")) if results.is_dir() else [results]
    return [record for file in files for record in _runs(file.read_text(encoding="utf-8"), file)]


def _runs(text: str, file: Path) -> list[Any]:
    """Return the runs of a file: of its list `runs`, or the one that it is."""
    try:
        content = json.loads(text)
    except ValueError as problem:
        raise InputError(f"{file} is no JSON: {problem}") from problem
    return content["runs"] if isinstance(content, dict) and "runs" in content else [content]


# --- the plan is older than its results, and was followed


def _history(plan: Plan, numbers: Numbers) -> Line:
    text = "the plan is older than its results, and was followed"
    problems = []
    missing = [
        f"{arm}, seed {seed}"
        for arm in plan.arms
        for seed in plan.seeds
        if (arm, seed) not in numbers
    ]
    if missing:
        problems.append(f"not run: {'; '.join(missing)}")
    first = _first_commit(plan.path)
    if first is None:
        problems.append(f"{plan.path.name} was never committed: do it before the first run")
        return Line(2, text, problems)
    commit, date = first
    if _git(plan.path.parent, "rev-parse", "--is-shallow-repository").strip() == "true":
        problems.append("the history is cut off here: git fetch --unshallow")
        return Line(2, text, problems)

    before = tomllib.loads(_at(commit, plan.path))
    changed = [key for key in _PROMISES if before.get(key) != plan.text[key]]
    if changed:
        problems.append(f"changed since its first commit, {date}: {', '.join(changed)}")
    known = plan.numbers(_records_at(commit, plan.results))
    for seed in plan.seeds:
        if all((arm, seed) in known for arm in plan.arms):
            problems.append(f"seed {seed} of both arms was there when the plan was committed")
    planned = {*plan.seeds, *plan.pilots}
    more = [key for key in numbers if key[1] not in planned and key not in known]
    if more:
        runs = "; ".join(f"{arm}, seed {seed}" for arm, seed in more)
        problems.append(f"run without being planned: {runs}")
    return Line(2, text, problems, f"committed on {date}")


def _first_commit(path: Path) -> tuple[str, str] | None:
    """Return hash and date of the first commit of a file; None if there is none."""
    lines = _git(path.parent, "log", "--reverse", "--format=%H %as", "--", path.name).splitlines()
    if not lines:
        return None
    commit, _, date = lines[0].partition(" ")
    return commit, date


def _records_at(commit: str, results: Path) -> list[Any]:
    """Return the records as they were at a commit; none where there were none."""
    listing = _git(results.parent, "ls-tree", "-r", "--name-only", commit, "--", results.name)
    files = [results.parent / name for name in listing.splitlines() if name.endswith(".json")]
    return [record for file in files for record in _runs(_at(commit, file), file)]


def _at(commit: str, file: Path) -> str:
    """Return a file's text at a commit."""
    return _git(file.parent, "show", f"{commit}:./{file.name}")


def _git(folder: Path, *arguments: str) -> str:
    """Return what git prints; nothing where it fails, as outside of a repository.

    Raises:
        InputError: there is no git.
    """
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError as problem:
        raise InputError(f"the history of a plan is read by git: {problem}") from problem


# --- own parts are checked


def _parts(plan: Plan) -> Line:
    text = "own parts pass capsnet-check"
    parts = plan.text.get("parts", [])
    are_places = isinstance(parts, list) and all(_is_said(part) for part in parts)
    expect(are_places, 'parts = ["layers.py:MyLayer(72, 8)"]', repr(parts))
    if not parts:
        return Line(1, text, [], "it names none")
    if _is_said(plan.text.get("differences")):
        return Line(1, text, [], f"they differ, and the plan says why: {plan.text['differences']}")
    problems = [problem for part in parts for problem in _problems_of(part, plan.path.parent)]
    return Line(1, text, problems, ", ".join(parts))


def _problems_of(part: str, folder: Path) -> list[str]:
    """Return what `capsnet-check` says of a part that is wrong, or cannot be judged."""
    options = {"kind": None, "image_size": None, "time_limit": 300, "memory_limit": 16}
    outcome = check_in_a_process({"place": str(folder / part), **options})
    said = [
        judgement["text"].splitlines()[0]
        for judgement in outcome.judgements
        if judgement["status"] not in (RIGHT, NOT_ALL_EXAMINED)
    ]
    return [f"{part}: {text}" for text in [*said, outcome.problem] if text]


# --- three seeds an arm or more, paired, with an interval


def _interval(plan: Plan, numbers: Numbers) -> Line:
    text = "three seeds an arm or more, paired, with an interval"
    smaller, larger = plan.arms
    seeds = [
        seed for seed in plan.seeds if (smaller, seed) in numbers and (larger, seed) in numbers
    ]
    if len(seeds) < FEWEST_SEEDS:
        return Line(2, text, [f"{len(seeds)} pairs; expected {FEWEST_SEEDS} or more"])
    differences = [numbers[larger, seed] - numbers[smaller, seed] for seed in seeds]
    value, low, high = interval(differences)
    if low == high:
        return Line(2, text, ["every pair has the same difference: are these different runs?"])
    return Line(
        2,
        text,
        [],
        f"{len(seeds)} pairs; {larger} less {smaller}: {value:+.4f}, from {low:+.4f} to "
        f"{high:+.4f} (95 %)",
    )


def interval(differences: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of paired differences, and its 95 % interval by Student's t."""
    count = len(differences)
    value = float(np.mean(differences))
    error = float(np.std(differences, ddof=1)) / count**0.5
    half_width = _T[min(count - 1, len(_T)) - 1] * error
    return value, value - half_width, value + half_width


def _is_said(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


# --- the command


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the lines of the rubric that a command can see.

    Returns:
        The exit status: 0 if all hold, 1 if not, 2 if plan or results cannot be read.
    """
    parser = argparse.ArgumentParser(prog="capsnet project check", description=__doc__)
    parser.add_argument("plan", type=Path, metavar="PLAN", help="such as project.toml")
    path = parser.parse_args(arguments).plan
    try:
        lines = check_project(path)
    except (InputError, OSError) as problem:
        print(f"capsnet project: {problem}", file=sys.stderr)
        return 2
    for line in lines:
        points = 0 if line.problems else line.points
        sign = "✗" if line.problems else "✓"
        print(f"{sign} {points} of {line.points}  {line.text}")
        for text in (line.note, *line.problems):
            if text:
                print(f"          {text}")
    reached = sum(line.points for line in lines if not line.problems)
    print(f"\n{reached} of {sum(line.points for line in lines)} points that a command can see.")
    print(_FOR_PEOPLE)
    return WRONG if any(line.problems for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
