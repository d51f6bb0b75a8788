"""Tables of the runs in results/runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

from capsnet_book.experiments.plan import Experiments, Table
from capsnet_book.experiments.records import read

Result = dict[str, Any]


class Column(NamedTuple):
    """A number, or several, of a run."""

    title: str
    of: Callable[[Result], float | list[float] | None]
    """From a run's JSON; None, or a KeyError, where it has no such number."""
    digits: int = 2
    split: str = ""
    """Of an error rate: the images that it counts, a key of the record's ``wrong``."""

    def value(self, result: Result) -> float | list[float] | None:
        """From a run's JSON; None where it has no such number."""
        try:
            return self.of(result)
        except KeyError:
            return None


def _drawn(run: Result) -> float | None:
    """Of a decoder that was trained; another draws noise."""
    return run["test"]["reconstruction_mse"] if run["recipe"]["reconstruction_weight"] else None


def _noisy(run: Result) -> float:
    """Of the longest capsules in noise, those that are wrong, in per cent."""
    found = run["calibration"]["test_noisy"]
    return 100 * (1 - sum(found["right"]) / sum(found["count"]))


def _rounds(run: Result, key: str) -> list[float]:
    return [100 * each[key] for each in run["rounds"]]


COLUMNS = {
    "error": Column("error, %", lambda run: 100 * run["test"]["error"], split="test"),
    "validation": Column(
        "error on validation digits, %", lambda run: 100 * run["validation"]["error"]
    ),
    "bent": Column(
        "error on bent digits, %", lambda run: 100 * run["test_bent"]["error"], split="test_bent"
    ),
    "noisy": Column("error in noise, %", _noisy, 1),
    "drawn": Column("reconstruction, MSE a pixel", _drawn, 4),
    "ink": Column("ink of a digit", lambda run: run["test"]["ink"], 0),
    "ink_present": Column("drawn, if there", lambda run: run["test"]["ink_present"], 0),
    "ink_absent": Column("drawn, if not there", lambda run: run["test"]["ink_absent"], 0),
    "first": Column("loss after the first epoch", lambda run: run["curve"][0]["loss"], 3),
    "epochs": Column("epochs", lambda run: run["curve"][-1]["epoch"], 1),
    "parameters": Column("parameters", lambda run: run["parameters"], 0),
    "recognising": Column("of them recognise", lambda run: run["recognising_parameters"], 0),
    "entropy": Column(
        "entropy, round by round", lambda run: [each["entropy"] for each in run["rounds"]]
    ),
    "entropy_last": Column("entropy of the couplings", lambda run: run["entropy"]),
    "saturated": Column(
        "primary capsules longer than 0.99, %", lambda run: 100 * run["saturated"], 1
    ),
    "voting": Column(
        "capsules whose votes count",
        lambda run: run["vote_shares"]["before"]["effective_capsules"],
        1,
    ),
    "heard": Column(
        "… after routing", lambda run: run["vote_shares"]["after"]["effective_capsules"], 1
    ),
    "stopped": Column("error after each round, %", lambda run: _rounds(run, "error")),
    "stopped_bent": Column("bent: error after each round, %", lambda run: _rounds(run, "bent")),
    "stopped_noisy": Column(
        "noise: error after each round, %", lambda run: _rounds(run, "noisy"), 1
    ),
}
"""Every column that a table can have, by its name."""


def results_by_seed(experiments: Experiments, run: str) -> dict[int, Result]:
    """What a run found, by seed, as far as it was done."""
    paths = {seed: experiments.result(f"{run}-{seed}") for seed in experiments.seeds_of(run)}
    return {seed: read(path) for seed, path in paths.items() if path.exists()}


def results_of(experiments: Experiments, run: str) -> list[Result]:
    """What a run found, seed by seed, as far as it was done."""
    return list(results_by_seed(experiments, run).values())


class Numbers(NamedTuple):
    """One column of one run: a number for each seed."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def spread(self) -> float:
        """Standard deviation over the seeds; 0 of a single one."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    def show(self, digits: int) -> str:
        shown, spread = f"{self.mean:,.{digits}f}", f"{self.spread:,.{digits + (digits > 0)}f}"
        return f"{shown} ± {spread}" if spread.strip("0.") else shown


def numbers(column: Column, results: Sequence[Result]) -> Numbers | None:
    """Of those runs that have such a number."""
    values = [
        value for result in results if isinstance(value := column.value(result), (int, float))
    ]
    return Numbers(values) if values else None


def cell(column: Column, results: Sequence[Result]) -> str:
    """What a table shows of a column: mean ± standard deviation over the seeds, or a mean for each round."""
    rounds = [value for result in results if isinstance(value := column.value(result), list)]
    if rounds:
        return " → ".join(f"{fmean(each):.{column.digits}f}" for each in zip(*rounds, strict=True))
    found = numbers(column, results)
    return found.show(column.digits) if found else "–"


def table_rows(experiments: Experiments, table: Table) -> str:
    """A table in Markdown, aligned to be read as it is: rows that were run, columns in which there is something.

    Nothing at all if no row was run.
    """
    columns = [COLUMNS[name] for name in table.columns]
    lines = [["", columns[0].title, "the paper", *(each.title for each in columns[1:]), "seeds"]]
    for row in table.rows:
        results, planned = results_of(experiments, row.run), len(experiments.seeds_of(row.run))
        if results:
            first, *others = (cell(each, results) for each in columns)
            seeds = f"{len(results)}" + f" of {planned}" * (len(results) < planned)
            lines.append([row.label, first, row.paper, *others, seeds])
    if len(lines) == 1:
        return ""
    kept = [
        place for place, each in enumerate(zip(*lines[1:], strict=True)) if set(each) - {"", "–"}
    ]
    lines = [[line[place] for place in kept] for line in lines]
    widths = [max(map(len, each)) for each in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return (
        "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines) + "\n"
    )


def not_run(experiments: Experiments) -> str:
    """The rows that no table shows, in Markdown, by the reason why nothing was run of them."""
    labels: dict[str, dict[str, str]] = {}
    for row in (row for table in experiments.tables.values() for row in table.rows):
        if not results_of(experiments, row.run):
            reason = experiments.runs[row.run].get("not_run", "planned, not done yet")
            labels.setdefault(reason, {}).setdefault(f"(`{row.run}`)", row.label)
    lines = (
        f"- {reason[:1].upper()}{reason[1:]}: {'; '.join(f'{label} {run}' for run, label in rows.items())}.\n"
        for reason, rows in labels.items()
    )
    return "".join(lines) or "Every row of the tables was run."
