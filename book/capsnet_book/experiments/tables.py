"""Tables of the runs in results/runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

from capsnet_book.experiments.plan import Experiments, Table
from capsnet_book.experiments.records import read

Result = dict[str, Any]


class Column(NamedTuple):
    """A column of a table: how to read it from a run's record, and how to format it."""

    title: str
    read: Callable[[Result], float | list[float] | None]
    """Returns a number from a record, or one for each round; None, or a KeyError, without any."""
    digits: int = 2
    """After the decimal point."""
    split: str = ""
    """Of an error rate: its images, a key of the record's ``wrong``."""

    def value(self, result: Result) -> float | list[float] | None:
        """Return the number of a record, or one for each round; None without any."""
        try:
            return self.read(result)
        except KeyError:
            return None


def _reconstruction_error(run: Result) -> float | None:
    """Return the error of the reconstructions; None of a decoder that was not trained."""
    if not run["recipe"]["reconstruction_weight"]:
        return None
    return run["test"]["reconstruction_mse"]


def _noisy(run: Result) -> float:
    """Return the error in noise, in per cent: the share of the longest capsules that are wrong."""
    bins = run["calibration"]["test_noisy"]
    return 100 * (1 - sum(bins["right"]) / sum(bins["count"]))


def _by_rounds(run: Result, key: str) -> list[float]:
    """Return an error after each number of rounds, in per cent."""
    return [100 * point[key] for point in run["rounds"]]


COLUMNS = {
    "error": Column("error, %", lambda run: 100 * run["test"]["error"], split="test"),
    "validation": Column(
        "error on validation digits, %", lambda run: 100 * run["validation"]["error"]
    ),
    "bent": Column(
        "error on bent digits, %", lambda run: 100 * run["test_bent"]["error"], split="test_bent"
    ),
    "noisy": Column("error in noise, %", _noisy, 1),
    "drawn": Column("reconstruction, MSE a pixel", _reconstruction_error, 4),
    "ink": Column("ink of a digit", lambda run: run["test"]["ink"], 0),
    "ink_present": Column("drawn, if there", lambda run: run["test"]["ink_present"], 0),
    "ink_absent": Column("drawn, if not there", lambda run: run["test"]["ink_absent"], 0),
    "first": Column("loss after the first epoch", lambda run: run["curve"][0]["loss"], 3),
    "epochs": Column("epochs", lambda run: run["curve"][-1]["epoch"], 1),
    "parameters": Column("parameters", lambda run: run["parameters"], 0),
    "recognising": Column("of them recognise", lambda run: run["recognising_parameters"], 0),
    "entropy": Column(
        "entropy, round by round", lambda run: [point["entropy"] for point in run["rounds"]]
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
    "stopped": Column("error after each round, %", lambda run: _by_rounds(run, "error")),
    "stopped_bent": Column("bent: error after each round, %", lambda run: _by_rounds(run, "bent")),
    "stopped_noisy": Column(
        "noise: error after each round, %", lambda run: _by_rounds(run, "noisy"), 1
    ),
}
"""A name -> a column that a table can have."""


def results_by_seed(experiments: Experiments, run: str) -> dict[int, Result]:
    """Return the records of a run by seed, as far as they exist."""
    paths = {seed: experiments.result(f"{run}-{seed}") for seed in experiments.seeds_of(run)}
    return {seed: read(path) for seed, path in paths.items() if path.exists()}


def results_of(experiments: Experiments, run: str) -> list[Result]:
    """Return the records of a run, seed by seed, as far as they exist."""
    return list(results_by_seed(experiments, run).values())


class Numbers(NamedTuple):
    """The numbers of one column and one run, a seed each."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def spread(self) -> float:
        """The standard deviation over the seeds; 0 of a single one."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    def show(self, digits: int) -> str:
        """Format the mean, and the standard deviation with one digit more if it is not 0."""
        mean = f"{self.mean:,.{digits}f}"
        spread_digits = digits + 1 if digits else 0
        spread = f"{self.spread:,.{spread_digits}f}"
        is_zero = not spread.strip("0.")
        return mean if is_zero else f"{mean} ± {spread}"


def numbers(column: Column, results: Sequence[Result]) -> Numbers | None:
    """Return a column's numbers of the records that have one; None if none has."""
    values = [column.value(result) for result in results]
    single = [value for value in values if isinstance(value, (int, float))]
    return Numbers(single) if single else None


def cell(column: Column, results: Sequence[Result]) -> str:
    """Format a cell: mean ± standard deviation over the seeds, or a mean for each round."""
    values = [column.value(result) for result in results]
    by_seed = [value for value in values if isinstance(value, list)]
    if by_seed:
        means = [fmean(seeds) for seeds in zip(*by_seed, strict=True)]
        return " → ".join(f"{mean:.{column.digits}f}" for mean in means)
    single = numbers(column, results)
    return single.show(column.digits) if single else "–"


def table_rows(experiments: Experiments, table: Table) -> str:
    """Return a table in Markdown, its columns padded, with the rows that were run.

    Columns without an entry are left out; without any row the text is empty.
    """
    columns = [COLUMNS[name] for name in table.columns]
    first, *others = columns
    head = ["", first.title, "the paper", *(column.title for column in others), "seeds"]
    body = []
    for row in table.rows:
        results = results_of(experiments, row.run)
        if results:
            seeds = _count(len(results), len(experiments.seeds_of(row.run)))
            cells = [cell(column, results) for column in others]
            body.append([row.label, cell(first, results), row.paper, *cells, seeds])
    if not body:
        return ""
    filled = [k for k in range(len(head)) if any(line[k] not in ("", "–") for line in body)]
    return _aligned([[line[k] for k in filled] for line in (head, *body)])


def _count(seeds: int, planned: int) -> str:
    """Format the number of seeds, with that of the planned ones if some are missing."""
    return f"{seeds} of {planned}" if seeds < planned else f"{seeds}"


def _aligned(lines: list[list[str]]) -> str:
    """Return the lines of a table in Markdown, the first its head, every cell padded."""
    widths = [max(len(text) for text in column) for column in zip(*lines, strict=True)]
    head, *body = lines
    text = ""
    for line in (head, ["-" * width for width in widths], *body):
        cells = [part.ljust(width) for part, width in zip(line, widths, strict=True)]
        text += f"| {' | '.join(cells)} |\n"
    return text


def not_run(experiments: Experiments) -> str:
    """List the rows that no table shows, in Markdown, by the reason why they were not run."""
    by_reason: dict[str, dict[str, str]] = {}
    for table in experiments.tables.values():
        for row in table.rows:
            if not results_of(experiments, row.run):
                reason = experiments.runs[row.run].get("not_run", "planned, not done yet")
                by_reason.setdefault(reason, {}).setdefault(row.run, row.label)
    text = ""
    for reason, labels in by_reason.items():
        rows = "; ".join(f"{label} (`{run}`)" for run, label in labels.items())
        text += f"- {reason[:1].upper()}{reason[1:]}: {rows}.\n"
    return text or "Every row of the tables was run."
