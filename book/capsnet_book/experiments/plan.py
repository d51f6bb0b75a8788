"""The experiments as data: runs, tables, claims and questions, and doing the runs that are missing.

They stand in ``results/experiments.toml``. The record of a run is ``results/runs/NAME-SEED.json``;
it is written when the run is over, so that `Experiments.run_missing` continues where an
interruption stopped it.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from capsnet_book.experiments import records
from capsnet_tutorial.errors import expect
from capsnet_tutorial.files import write_whole

GROUPS: dict[str, str] = {
    "training": "Routing in training: three rounds or one?",
    "inference": "Routing at inference",
    "agreement": "Does it take agreement?",
    "cnn": "Against networks without capsules",
    "released code": "What released code does differently",
    "other parts": "Reconstruction and shared matrices",
}
"""What claims and questions are about, in the order of the landscape: name -> heading."""


class Row(NamedTuple):
    """A line of a table."""

    label: str
    run: str
    paper: str = ""
    """The paper's value of the table's first column."""


class Table(NamedTuple):
    """Runs side by side."""

    columns: Sequence[str]
    """Names of `tables.COLUMNS`."""
    rows: Sequence[Row]
    note: str = ""


class Claim(NamedTuple):
    """An exploratory statement, of the paper or others: one run has a smaller value than another.

    A side that names several runs is the one with the smallest error on the validation digits.
    """

    text: str
    smaller: str | Sequence[str]
    larger: str | Sequence[str]
    column: str
    group: str
    """One of `GROUPS`."""


class Question(NamedTuple):
    """A primary question, written down before its runs: is one arm's error below another's?"""

    name: str
    text: str
    smaller: dict[str, Any]
    """``run``, ``rounds`` at inference; of scenes ``arm``, ``rounds``, ``view``, ``clutter``."""
    larger: dict[str, Any]
    measure: str
    """A key of the records' ``wrong_after``; of scenes a file of results/, such as "viewpoints"."""
    seeds: Sequence[int]
    group: str = ""
    """One of `GROUPS`; "" of a question that no landscape shows."""


@dataclass(frozen=True)
class Experiments:
    """The contents of ``experiments.toml``."""

    folder: Path
    """Of the file; the records are in its folder ``runs``."""
    seeds: Sequence[int]
    common: str
    """Arguments of every run without a ``common`` of its own."""
    runs: dict[str, dict[str, Any]]
    """A name -> ``arguments``; optionally ``common`` and ``seeds`` (a list, or a number of them) in
    place of those above; ``large``, if it runs by name only; ``not_run``, why it has no record."""
    tables: dict[str, Table]
    claims: Sequence[Claim]
    questions: Sequence[Question]

    @classmethod
    def read(cls, folder: str | Path | None = None) -> Experiments:
        """Read ``folder/experiments.toml``; without a folder, the project's own.

        Raises:
            FileNotFoundError: there is none.
            ValueError: a claim or a question is in no known group.
        """
        folder = records.folder() if folder is None else Path(folder)
        contents = tomllib.loads((folder / "experiments.toml").read_text(encoding="utf-8"))
        tables = {}
        for name, table in contents.pop("tables").items():
            rows = [Row(**row) for row in table.pop("rows")]
            tables[name] = Table(rows=rows, **table)
        claims = [Claim(**claim) for claim in contents.pop("claims")]
        questions = [Question(**question) for question in contents.pop("questions")]
        for entry in (*claims, *questions):
            expect(entry.group in GROUPS, f"a group, one of {', '.join(GROUPS)}", repr(entry.group))
        return cls(folder=folder, tables=tables, claims=claims, questions=questions, **contents)

    def seeds_of(self, run: str) -> Sequence[int]:
        """Return the seeds of a run."""
        seeds = self.runs[run].get("seeds", self.seeds)
        return range(seeds) if isinstance(seeds, int) else seeds

    def result(self, name: str) -> Path:
        """Return the path of a job's record."""
        return self.folder / "runs" / f"{name}.json"

    def jobs(self, names: Sequence[str] = ()) -> dict[str, list[str]]:
        """Return the arguments of ``train`` for runs with each of their seeds, as in small-r3-0.

        Args:
            names: of tables, runs or jobs; none: of all runs but the large ones.

        Raises:
            ValueError: no such table, run or job.
        """
        if not names:
            names = [run for run, about in self.runs.items() if not about.get("large")]
        wanted = [run_or_job for name in names for run_or_job in self._runs_in(name)]
        jobs: dict[str, list[str]] = {}
        known = set(self.runs)
        for run, about in self.runs.items():
            arguments = shlex.split(f"{about.get('common', self.common)} {about['arguments']}")
            for seed in self.seeds_of(run):
                job = f"{run}-{seed}"
                if run in wanted or job in wanted:
                    jobs[job] = [*arguments, "--seed", f"{seed}"]
                known.add(job)
        expected = f"a table or a run, one of {', '.join([*self.tables, *self.runs])}"
        for name in wanted:
            expect(name in known, expected, repr(name))
        return jobs

    def _runs_in(self, name: str) -> list[str]:
        """Return the runs of a table; of any other name the name itself."""
        if name not in self.tables:
            return [name]
        return [row.run for row in self.tables[name].rows]

    def run_missing(
        self, names: Sequence[str], train: Callable[[Sequence[str]], None], work: Path
    ) -> None:
        """Do the jobs without a record, one after another; continue an interrupted one.

        Args:
            names: as for `jobs`.
            train: does one job: the command with its arguments.
            work: a folder for checkpoints and weights.
        """
        jobs = self.jobs(names)
        missing = [job for job in jobs if not self.result(job).exists()]
        for number, job in enumerate(missing, start=1):
            print(f"{number} of {len(missing)}: {job}")
            train(["train", *jobs[job], "--output", str(work / job), "--resume"])
            self.result(job).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.result(job), (work / job / "result.json").read_bytes())
