"""The experiments as data: the runs that there are, those that are missing, and doing these one after another.

They stand in ``results/experiments.toml``. What a run found is ``results/runs/NAME-SEED.json``; it is written when the
run is over, so whatever interrupts the work, calling `Experiments.run_missing` again goes on where it stopped.
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


class Row(NamedTuple):
    """A line of a table."""

    label: str
    run: str
    paper: str = ""
    """What the paper says of the table's first column."""


class Table(NamedTuple):
    """Runs side by side."""

    columns: Sequence[str]
    """Names of `tables.COLUMNS`."""
    rows: Sequence[Row]
    note: str = ""


class Claim(NamedTuple):
    """A statement that one run has a smaller value than another, of the paper or by hearsay: exploratory.

    Where a side names several runs, it is the one with the smallest error on the validation digits.
    """

    text: str
    smaller: str | Sequence[str]
    larger: str | Sequence[str]
    column: str


class Question(NamedTuple):
    """A primary question, written down before its runs: does one arm err less than another?"""

    name: str
    text: str
    smaller: dict[str, Any]
    """``run`` and the ``rounds`` that it is read with; of viewpoints ``arm``, ``rounds``, ``view``, ``clutter``."""
    larger: dict[str, Any]
    measure: str
    """A key of the records' ``wrong_after``, or of scenes the file of results/: "viewpoints" or "coincidence"."""
    seeds: Sequence[int]


@dataclass(frozen=True)
class Experiments:
    """Contents of ``experiments.toml``."""

    folder: Path
    """Where it lies; what the runs found is in its folder ``runs``."""
    seeds: Sequence[int]
    common: str
    """Arguments of every run that does not have a ``common`` of its own."""
    runs: dict[str, dict[str, Any]]
    """``arguments``; where a run has them, ``common`` and ``seeds`` (a list, or how many from 0 on) for those above;
    ``large``, if it runs only when asked for by name; ``not_run``, why there is no record of it."""
    tables: dict[str, Table]
    claims: Sequence[Claim]
    questions: Sequence[Question]

    @classmethod
    def read(cls, folder: str | Path | None = None) -> Experiments:
        """The contents of ``folder/experiments.toml``; without a folder, the project's own.

        Raises:
            FileNotFoundError: there is none.
        """
        folder = records.folder() if folder is None else Path(folder)
        contents = tomllib.loads((folder / "experiments.toml").read_text(encoding="utf-8"))
        tables = {
            name: Table(**table | {"rows": [Row(**row) for row in table["rows"]]})
            for name, table in contents.pop("tables").items()
        }
        claims = [Claim(**claim) for claim in contents.pop("claims")]
        questions = [Question(**question) for question in contents.pop("questions")]
        return cls(folder=folder, tables=tables, claims=claims, questions=questions, **contents)

    def seeds_of(self, run: str) -> Sequence[int]:
        """The seeds that a run is done with."""
        seeds = self.runs[run].get("seeds", self.seeds)
        return range(seeds) if isinstance(seeds, int) else seeds

    def result(self, name: str) -> Path:
        """Path of a job's record."""
        return self.folder / "runs" / f"{name}.json"

    def jobs(self, wanted: Sequence[str] = ()) -> dict[str, list[str]]:
        """Every run with each of its seeds, as in small-r3-0; and its arguments of ``train``.

        Args:
            wanted: names of tables, of runs or of jobs; none: all but those of large runs.
        """
        rows = {name: [row.run for row in table.rows] for name, table in self.tables.items()}
        wanted = wanted or [run for run, about in self.runs.items() if not about.get("large")]
        wanted = [each for name in wanted for each in rows.get(name, [name])]
        found: dict[str, list[str]] = {}
        for run, about in self.runs.items():
            arguments = shlex.split(f"{about.get('common', self.common)} {about['arguments']}")
            jobs = {
                f"{run}-{seed}": [*arguments, "--seed", f"{seed}"] for seed in self.seeds_of(run)
            }
            found |= {job: each for job, each in jobs.items() if run in wanted or job in wanted}
        known = {*self.runs, *found}
        for name in wanted:
            expect(
                name in known,
                f"a table or a run, one of {', '.join([*rows, *self.runs])}",
                repr(name),
            )
        return found

    def run_missing(
        self, wanted: Sequence[str], train: Callable[[Sequence[str]], None], work: Path
    ) -> None:
        """Do the jobs that have no record yet, one after another; one that was interrupted, from its checkpoint on.

        Args:
            wanted: as for `jobs`.
            train: does one: the command with its arguments.
            work: a folder for checkpoints and weights.
        """
        missing = {
            job: each for job, each in self.jobs(wanted).items() if not self.result(job).exists()
        }
        for number, (job, arguments) in enumerate(missing.items(), start=1):
            print(f"{number} of {len(missing)}: {job}")
            train(["train", *arguments, "--output", str(work / job), "--resume"])
            self.result(job).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.result(job), (work / job / "result.json").read_bytes())
