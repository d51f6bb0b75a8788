"""Tables of the runs in results/runs, and the verdicts on the claims."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

from capsnet_tutorial.errors import expect
from capsnet_tutorial.experiments.plan import Claim, Experiments, Table

Result = dict[str, Any]
NOT_RUN = "not run"


class Column(NamedTuple):
    """A number, or several, of a run."""

    title: str
    value: Callable[[Result], float | list[float] | None]
    """From a run's JSON; None where it has no such number."""
    digits: int = 2


def _of(*path: str, factor: float = 1) -> Callable[[Result], float | None]:
    def value(result: Result) -> float | None:
        for key in path[:-1]:
            result = result.get(key, {})
        number = result.get(path[-1])
        return None if number is None else factor * number

    return value


def _rounds(key: str, factor: float = 1) -> Callable[[Result], list[float] | None]:
    return lambda result: [factor * each[key] for each in result["rounds"]] if "rounds" in result else None


def _drawn(result: Result) -> float | None:
    """Of a decoder that was trained; another draws noise."""
    return _of("test", "reconstruction_mse")(result) if result["recipe"]["reconstruction_weight"] else None


COLUMNS = {
    "error": Column("error, %", _of("test", "error", factor=100)),
    "validation": Column("error on validation digits, %", _of("validation", "error", factor=100)),
    "bent": Column("error on bent digits, %", _of("test_bent", "error", factor=100)),
    "drawn": Column("reconstruction, MSE a pixel", _drawn, 4),
    "ink": Column("ink of a digit", _of("test", "ink"), 0),
    "ink_present": Column("drawn, if there", _of("test", "ink_present"), 0),
    "ink_absent": Column("drawn, if not there", _of("test", "ink_absent"), 0),
    "first": Column(
        "loss after the first epoch", lambda result: result["curve"][0]["loss"] if result["curve"] else None, 3
    ),
    "epochs": Column("epochs", lambda result: result["curve"][-1]["epoch"] if result["curve"] else None, 1),
    "minutes": Column("minutes", _of("training_seconds", factor=1 / 60), 1),
    "parameters": Column("parameters", _of("parameters"), 0),
    "recognising": Column("of them recognise", _of("recognising_parameters"), 0),
    "entropy": Column("entropy, round by round", _rounds("entropy")),
    "stopped": Column("error after each round, %", _rounds("error", factor=100)),
}
"""Every column that a table can have, by its name."""


def results_of(experiments: Experiments, run: str) -> list[Result]:
    """What a run found, seed by seed, as far as it was done."""
    paths = [experiments.result(f"{run}-{seed}") for seed in experiments.seeds_of(run)]
    found = []
    for path in paths:
        if path.exists():
            try:
                found.append(json.loads(path.read_text(encoding="utf-8")))
            except ValueError as problem:
                raise ValueError(f"expected a run's result in {path}; got {problem}") from problem
    return found


class Numbers(NamedTuple):
    """One column of one run: a number for each seed."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def spread(self) -> float | None:
        """Standard deviation over the seeds; None of a single one."""
        return stdev(self.values) if len(self.values) > 1 else None

    def show(self, digits: int) -> str:
        shown = f"{self.mean:,.{digits}f}"
        return shown if not self.spread else f"{shown} ± {self.spread:,.{digits + (digits > 0)}f}"


def numbers(column: Column, results: Sequence[Result]) -> Numbers | None:
    """Of those runs that came to an end and have such a number."""
    values = [column.value(result) for result in results if "diverged" not in result]
    single = [value for value in values if isinstance(value, (int, float))]
    return Numbers(single) if single else None


def cell(column: Column, results: Sequence[Result]) -> str:
    """What a table shows of a column: mean ± standard deviation over the seeds, or a mean for each round."""
    if not results:
        return ""
    lists = [value for result in results if isinstance(value := column.value(result), list)]
    if lists:
        return " → ".join(f"{fmean(each):.{column.digits}f}" for each in zip(*lists, strict=True))
    found = numbers(column, results)
    return "–" if found is None else found.show(column.digits)


def _column(name: str) -> Column:
    expect(name in COLUMNS, f"a column, one of {', '.join(COLUMNS)}", repr(name))
    return COLUMNS[name]


def table_rows(experiments: Experiments, table: Table) -> str:
    """A table in Markdown, aligned to be read as it is."""
    columns = [_column(name) for name in table.columns]
    has_paper = any(row.paper for row in table.rows)
    first, *others = columns
    lines = [["", first.title, *(["the paper"] if has_paper else []), *(each.title for each in others), "seeds"]]
    for row in table.rows:
        results = results_of(experiments, row.run)
        diverged = sum("diverged" in result for result in results)
        seeds = f"{len(results)}" + (f", {diverged} diverged" if diverged else "")
        paper = [row.paper] if has_paper else []
        shown = cell(first, results) if results else NOT_RUN
        lines.append([row.label, shown, *paper, *(cell(each, results) for each in others), seeds if results else ""])
    widths = [max(map(len, each)) for each in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines) + "\n"


def table_text(experiments: Experiments, table: Table) -> str:
    """A table with its title above and its note below."""
    note = f"\n{table.note}\n" if table.note else ""
    return f"## {table.title}\n\n{table_rows(experiments, table)}{note}"


class Verdict(NamedTuple):
    """What the numbers say of a claim."""

    rank: int
    """What does not hold comes first."""
    word: str
    evidence: str


def judge(experiments: Experiments, claim: Claim) -> Verdict:
    """Compare the two means with the spread over the seeds.

    A difference counts if it is more than twice its standard error, √(s₁²/n₁ + s₂²/n₂). With three seeds that is a
    hint, and no proof.
    """
    column = _column(claim.column)
    smaller, larger = (numbers(column, results_of(experiments, run)) for run in (claim.smaller, claim.larger))
    if smaller is None or larger is None:
        lacking = [run for run, found in ((claim.smaller, smaller), (claim.larger, larger)) if found is None]
        return Verdict(4, NOT_RUN, f"no number of {' and '.join(lacking)}")
    evidence = f"{column.title}: {smaller.show(column.digits)} against {larger.show(column.digits)}"
    evidence += f" ({len(smaller.values)} and {len(larger.values)} seeds)"
    if smaller.spread is None or larger.spread is None:
        return Verdict(2, "too few seeds to tell", evidence)
    error = math.sqrt(smaller.spread**2 / len(smaller.values) + larger.spread**2 / len(larger.values))
    difference = larger.mean - smaller.mean
    if difference < -2 * error:
        return Verdict(0, "the other way round", evidence)
    if difference <= 2 * error:
        return Verdict(1, "no difference seen", evidence)
    return Verdict(3, "holds", evidence)


def verdicts(experiments: Experiments) -> str:
    """Every claim with its verdict, a line each, what does not hold first."""
    judged = sorted(
        ((judge(experiments, claim), claim.text) for claim in experiments.claims), key=lambda each: each[0].rank
    )
    return "".join(f"- {verdict.word.upper()}: {says}. {verdict.evidence}\n" for verdict, says in judged)


def report(experiments: Experiments, names: Sequence[str] = ()) -> str:
    """The summary and every table, or only these tables."""
    for name in names:
        expect(name in experiments.tables, f"a table, one of {', '.join(experiments.tables)}", repr(name))
    shown = [table_text(experiments, experiments.tables[name]) for name in names or experiments.tables]
    return "\n".join([*([] if names else [f"## What holds, what does not\n\n{verdicts(experiments)}"]), *shown])
