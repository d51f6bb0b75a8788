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
    value: Callable[[Result], float | list[float] | None]
    """From a run's JSON; None where it has no such number."""
    digits: int = 2
    split: str = ""
    """Of an error rate: the images that it counts, a key of the record's ``wrong``."""


def _of(*path: str, factor: float = 1) -> Callable[[Result], float | None]:
    def value(result: Result) -> float | None:
        for key in path[:-1]:
            result = result.get(key, {})
        number = result.get(path[-1])
        return None if number is None else factor * number

    return value


def _rounds(key: str, factor: float = 1) -> Callable[[Result], list[float] | None]:
    def value(result: Result) -> list[float] | None:
        found = [factor * each[key] for each in result.get("rounds", []) if key in each]
        return found or None

    return value


def _drawn(result: Result) -> float | None:
    """Of a decoder that was trained; another draws noise."""
    return _of("test", "reconstruction_mse")(result) if result["recipe"]["reconstruction_weight"] else None


def _noisy(result: Result) -> float | None:
    """Of the longest capsules in noise, those that are wrong, in per cent."""
    found = result.get("calibration", {}).get("test_noisy")
    return 100 * (1 - sum(found["right"]) / sum(found["count"])) if found else None


COLUMNS = {
    "error": Column("error, %", _of("test", "error", factor=100), split="test"),
    "validation": Column("error on validation digits, %", _of("validation", "error", factor=100)),
    "bent": Column("error on bent digits, %", _of("test_bent", "error", factor=100), split="test_bent"),
    "noisy": Column("error in noise, %", _noisy, 1),
    "drawn": Column("reconstruction, MSE a pixel", _drawn, 4),
    "ink": Column("ink of a digit", _of("test", "ink"), 0),
    "ink_present": Column("drawn, if there", _of("test", "ink_present"), 0),
    "ink_absent": Column("drawn, if not there", _of("test", "ink_absent"), 0),
    "first": Column("loss after the first epoch", lambda result: result["curve"][0]["loss"], 3),
    "epochs": Column("epochs", lambda result: result["curve"][-1]["epoch"], 1),
    "parameters": Column("parameters", _of("parameters"), 0),
    "recognising": Column("of them recognise", _of("recognising_parameters"), 0),
    "entropy": Column("entropy, round by round", _rounds("entropy")),
    "entropy_last": Column("entropy of the couplings", _of("entropy")),
    "saturated": Column("primary capsules longer than 0.99, %", _of("saturated", factor=100), 1),
    "voting": Column("capsules whose votes count", _of("vote_shares", "before", "effective_capsules"), 1),
    "heard": Column("… after routing", _of("vote_shares", "after", "effective_capsules"), 1),
    "stopped": Column("error after each round, %", _rounds("error", factor=100)),
    "stopped_bent": Column("bent: error after each round, %", _rounds("bent", factor=100)),
    "stopped_noisy": Column("noise: error after each round, %", _rounds("noisy", factor=100), 1),
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
    def spread(self) -> float | None:
        """Standard deviation over the seeds; None of a single one."""
        return stdev(self.values) if len(self.values) > 1 else None

    def show(self, digits: int) -> str:
        shown, spread = f"{self.mean:,.{digits}f}", f"{self.spread or 0:,.{digits + (digits > 0)}f}"
        return f"{shown} ± {spread}" if spread.strip("0.") else shown


def numbers(column: Column, results: Sequence[Result]) -> Numbers | None:
    """Of those runs that have such a number."""
    values = [column.value(result) for result in results]
    single = [value for value in values if isinstance(value, (int, float))]
    return Numbers(single) if single else None


def cell(column: Column, results: Sequence[Result]) -> str:
    """What a table shows of a column: mean ± standard deviation over the seeds, or a mean for each round."""
    if not results:
        return ""
    lists = [value for result in results if isinstance(value := column.value(result), list)]
    if lists:
        longest = max(map(len, lists))  # the first records stop at the round that was trained with
        whole = [each for each in lists if len(each) == longest]
        return " → ".join(f"{fmean(each):.{column.digits}f}" for each in zip(*whole, strict=True))
    found = numbers(column, results)
    return "–" if found is None else found.show(column.digits)


def table_rows(experiments: Experiments, table: Table) -> str:
    """A table in Markdown, aligned to be read as it is: rows that were run, columns in which there is something.

    Nothing at all if no row was run.
    """
    columns = [COLUMNS[name] for name in table.columns]
    lines = [["", columns[0].title, "the paper", *(each.title for each in columns[1:]), "seeds"]]
    for row in table.rows:
        results = results_of(experiments, row.run)
        if results:
            first, *others = (cell(each, results) for each in columns)
            lines.append([row.label, first, row.paper, *others, _seeds(experiments, row.run, results)])
    if len(lines) == 1:
        return ""
    kept = [place for place, each in enumerate(zip(*lines[1:], strict=True)) if set(each) - {"", "–"}]
    lines = [[line[place] for place in kept] for line in lines]
    widths = [max(map(len, each)) for each in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines) + "\n"


def _seeds(experiments: Experiments, run: str, results: Sequence[Result]) -> str:
    planned = len(experiments.seeds_of(run))
    return f"{len(results)}" if len(results) == planned else f"{len(results)} of {planned}"


def not_run(experiments: Experiments) -> str:
    """The rows that no table shows, in Markdown, by the reason why nothing was run of them."""
    labels: dict[str, dict[str, str]] = {}
    for table in experiments.tables.values():
        for row in table.rows:
            if not results_of(experiments, row.run):
                reason = experiments.runs[row.run].get("not_run", "planned, not done yet")
                labels.setdefault(reason, {}).setdefault(row.run, row.label)
    return "".join(
        f"- {reason[:1].upper()}{reason[1:]}: {'; '.join(f'{label} (`{run}`)' for run, label in runs.items())}.\n"
        for reason, runs in labels.items()
    )
