"""The experiments as data: the runs that there are, those that are missing, and doing these one after another.

They stand in ``results/experiments.toml``. What a run found is ``results/runs/NAME-SEED.json``; it is written when the
run is over, so whatever interrupts the work, calling `run_jobs` again goes on where it stopped.
"""

from __future__ import annotations

import shlex
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from capsnet_book.experiments import records
from capsnet_tutorial.errors import InputError, expect
from capsnet_tutorial.weights import write_whole


class Row(NamedTuple):
    """A line of a table."""

    label: str
    run: str
    paper: str = ""
    """What the paper says of the table's first column."""


class Table(NamedTuple):
    """Runs side by side."""

    title: str
    columns: Sequence[str]
    """Names of `tables.COLUMNS`."""
    rows: Sequence[Row]
    note: str = ""


class Claim(NamedTuple):
    """A statement that one run has a smaller value than another.

    Where a side names several runs, it is the one with the smallest error on the validation digits.
    """

    text: str
    smaller: str | Sequence[str]
    larger: str | Sequence[str]
    column: str

    @property
    def runs(self) -> list[str]:
        """All of both sides."""
        sides = (self.smaller, self.larger)
        return [run for side in sides for run in ([side] if isinstance(side, str) else side)]


class Job(NamedTuple):
    """One run with one seed."""

    name: str
    """As in ``small-r3-0``."""
    arguments: Sequence[str]
    """Of `capsnet train`."""


@dataclass(frozen=True)
class Experiments:
    """Contents of ``experiments.toml``."""

    folder: Path
    """Where it lies; what the runs found is in its folder ``runs``."""
    seeds: Sequence[int]
    common: str
    """Arguments of every run that does not have a ``common`` of its own."""
    order: Sequence[Sequence[str]]
    """Tables by stages."""
    runs: dict[str, dict[str, Any]]
    """``arguments``; where a run has them, ``common`` and ``seeds`` (a list, or how many from 0 on) for those above;
    ``large``, if it runs only when asked for by name; ``not_run``, why there is no record of it."""
    tables: dict[str, Table]
    claims: Sequence[Claim]
    questions: Sequence[dict[str, Any]]
    """The primary ones, written down before their runs."""

    @classmethod
    def read(cls, folder: str | Path | None = None) -> Experiments:
        """The contents of ``folder/experiments.toml``; without a folder, the project's own.

        Raises:
            FileNotFoundError: there is none.
            ValueError: it is no TOML, or names a run or table that it does not have.
        """
        folder = records.folder() if folder is None else Path(folder)
        path = folder / "experiments.toml"
        if not path.is_file():
            raise FileNotFoundError(
                f"expected the experiments in {path}; there is no such file. "
                "Call this in a checkout of the project, or name another folder of results"
            )
        try:
            contents = tomllib.loads(path.read_text(encoding="utf-8"))
            tables = {
                name: Table(**table | {"rows": [Row(**row) for row in table["rows"]]})
                for name, table in contents.pop("tables").items()
            }
            claims = [Claim(**claim) for claim in contents.pop("claims")]
            experiments = cls(folder=folder, tables=tables, claims=claims, **contents)
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as problem:
            raise InputError(f"expected experiments in {path}; got {problem}") from problem
        named = {row.run for table in tables.values() for row in table.rows}
        named |= {run for claim in claims for run in claim.runs}
        for run in sorted(named):
            expect(run in experiments.runs, f"a run in {path}, one of {', '.join(experiments.runs)}", repr(run))
        for run in experiments.runs:
            experiments.seeds_of(run)
        for table in (name for stage in experiments.order for name in stage):
            expect(table in tables, f"a table in {path}, one of {', '.join(tables)}", repr(table))
        return experiments

    def seeds_of(self, run: str) -> Sequence[int]:
        """The seeds that a run is done with.

        Raises:
            ValueError: they are no number above 0 and no list of different integers from 0 on.
        """
        seeds = self.runs[run].get("seeds", self.seeds)
        if type(seeds) is int and seeds > 0:
            return range(seeds)
        listed = isinstance(seeds, list) and all(type(seed) is int and seed >= 0 for seed in seeds)
        expect(
            listed and 0 < len(seeds) == len(set(seeds)),
            f"seeds of {run} in {self.folder}, a number above 0 or a list of different integers from 0 on",
            repr(seeds),
        )
        return seeds

    def result(self, name: str) -> Path:
        """Path of a job's record."""
        return self.folder / "runs" / f"{name}.json"

    def jobs(self, wanted: Sequence[str] = ()) -> list[Job]:
        """Every job, the most telling first: stage by stage, seed by seed, row by row.

        Args:
            wanted: names of tables, of runs or of jobs; none: all tables by stages, without the runs that are too
                large to do unless they, or their table, are asked for by name.
        """
        stages = list(self.order)
        names: list[str] = []
        if wanted:
            tables = [name for name in wanted if name in self.tables]
            names = [name for name in wanted if name not in self.tables]
            known = {*self.tables, *self.runs, *(f"{run}-{seed}" for run in self.runs for seed in self.seeds_of(run))}
            for name in names:
                expect(name in known, f"a table or a run, one of {', '.join([*self.tables, *self.runs])}", repr(name))
            stages = [tables]
        found = {
            f"{row.run}-{seed}": self._job(row.run, seed)
            for stage in stages
            for seed in sorted({seed for run in self.runs for seed in self.seeds_of(run)})
            for table in stage
            for row in self.tables[table].rows
            if seed in self.seeds_of(row.run) and (wanted or not self.runs[row.run].get("large"))
        }
        for run in self.runs:
            for seed in self.seeds_of(run):
                if run in names or f"{run}-{seed}" in names:
                    found[f"{run}-{seed}"] = self._job(run, seed)
        return list(found.values())

    def _job(self, run: str, seed: int) -> Job:
        about = self.runs[run]
        common = about.get("common", self.common)
        return Job(f"{run}-{seed}", [*shlex.split(common), *shlex.split(about["arguments"]), "--seed", str(seed)])


Train = Callable[[Sequence[str]], int]
"""The command with these arguments; its exit status."""


def run_jobs(
    experiments: Experiments,
    jobs: Sequence[Job],
    train: Train,
    *,
    work: Path = Path("runs"),
    limit_minutes: float | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Do the jobs that have no record yet, one after another.

    A run that diverges has that for its result. One that is interrupted goes on from its checkpoint the next time.

    Args:
        experiments: where results go.
        jobs: to be done, in this order.
        train: does one.
        work: a folder for checkpoints and weights.
        limit_minutes: begin no job after so long.
        say: called with a line about each job.

    Returns:
        The exit status: 0 when no job is left, else that of the run that was stopped or could not be done.
    """
    end = None if limit_minutes is None else time.monotonic() + 60 * limit_minutes
    missing = list(missing_jobs(experiments, jobs))
    for number, job in enumerate(missing, start=1):
        output = work / job.name
        arguments = ["train", *job.arguments, "--output", str(output), "--resume"]
        if end is not None and time.monotonic() >= end:
            return 3
        say(f"{number} of {len(missing)}: {job.name}")
        status = train(arguments)
        result = output / "result.json"
        diverged = status == 1
        if status != 0 and not (diverged and result.exists()):
            return status
        target = experiments.result(job.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, result.read_bytes())
    return 0


def missing_jobs(experiments: Experiments, jobs: Sequence[Job]) -> Iterator[Job]:
    """Jobs that have no record yet."""
    return (job for job in jobs if not experiments.result(job.name).exists())
