"""The table of a race, paired differences, and what they say, in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

from capsnet_book.experiments.records import RunRecord
from capsnet_book.experiments.statistics import Difference, paired
from capsnet_book.race.cost import Cost


def _drawn(record: RunRecord) -> float | None:
    return None if record.test is None else record.test.get("reconstruction_mse")


def _entropy(record: RunRecord) -> float | None:
    return record.rounds[-1]["entropy"] if record.rounds else record.entropy


class Measure(NamedTuple):
    """A number of a run; the smaller the better, unless it says neither."""

    title: str
    value: Callable[[RunRecord], float | None]
    digits: int = 2
    better: str = "smaller"


MEASURES = {
    "error": Measure("error, %", lambda record: None if record.test is None else 100 * record.test["error"]),
    "bent": Measure("bent, %", lambda record: None if record.test_bent is None else 100 * record.test_bent["error"]),
    "drawn": Measure("drawing, MSE", _drawn, 4),
    "entropy": Measure("entropy", _entropy, 2, better=""),
}
"""By name, in the order of the table. Of pairs, ``error`` is that of pairs, and none is bent."""


FEWEST = 3
"""Seeds that an interval is worth having of: with two, a lucky coincidence makes it as short as you like."""


class Compared(NamedTuple):
    """A measure of one arm of the race less that of the paper's, seed by seed."""

    measure: str
    seeds: int
    mean: float
    difference: Difference | None
    """None with fewer than `FEWEST` seeds, or where there is no spread to judge by."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self._asdict() | {"difference": self.difference and self.difference._asdict()}


def compare(own: Sequence[RunRecord], other: Sequence[RunRecord]) -> list[Compared]:
    """Own less other, on the seeds that both have."""
    by_seed = {record.recipe.seed: record for record in other}
    pairs = [(record, by_seed[record.recipe.seed]) for record in own if record.recipe.seed in by_seed]
    found = []
    for name, measure in MEASURES.items():
        values = [(measure.value(theirs), measure.value(ours)) for ours, theirs in pairs]
        both = [(theirs, ours) for theirs, ours in values if theirs is not None and ours is not None]
        if both and measure.better:
            theirs, ours = zip(*both, strict=True)
            mean = fmean(ours) - fmean(theirs)
            difference = paired(theirs, ours) if len(both) >= FEWEST else None
            found.append(Compared(name, len(both), mean, difference))
    return found


def table(arms: Mapping[str, Sequence[RunRecord]], costs: Mapping[str, Cost]) -> str:
    """One line a routing: means ± standard deviations over the seeds, and what a step costs, where that is known."""
    shown = [name for name, measure in MEASURES.items() if any(_values(measure, each) for each in arms.values())]
    titles = ["step, ms", "step, MB"] if costs else []
    lines = [["routing", *(MEASURES[name].title for name in shown), *titles, "seeds"]]
    for arm, records in arms.items():
        cost = costs.get(arm)
        spent = ["–" for _ in titles] if cost is None else [f"{cost.milliseconds:.0f}", f"{cost.megabytes:.0f}"]
        diverged = sum(record.diverged is not None for record in records)
        seeds = f"{len(records)}" + (f", {diverged} diverged" if diverged else "")
        lines.append([arm, *(_cell(MEASURES[name], records) for name in shown), *spent, seeds])
    widths = [max(map(len, each)) for each in zip(*lines, strict=True)]
    rows = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
    return "\n".join([rows[0], "-" * len(rows[0]), *rows[1:]])


def differences(name: str, other: str, compared: Sequence[Compared]) -> str:
    """Lines with the paired differences and their intervals."""
    lines = []
    for each in compared:
        measure = MEASURES[each.measure]
        shown = f"{each.mean:+.{measure.digits}f}"
        if each.difference is not None:
            low, high = each.difference.low, each.difference.high
            interval = f"{low:+.{measure.digits}f} to {high:+.{measure.digits}f}"
            shown += f"  (95 % interval {interval}, p = {each.difference.p:.2g})"
        elif each.seeds < FEWEST:
            shown += f"  ({_seeds(each.seeds)}: no interval)"
        lines.append(f"{measure.title:<14}{shown}")
    return f"{name} less {other}, seed by seed:\n" + "\n".join(lines)


def verdict(name: str, arms: Mapping[str, Sequence[RunRecord]], costs: Mapping[str, Cost], epochs: float) -> list[str]:
    """What the race says, sentence by sentence."""
    own = [record for record in arms[name] if record.diverged is None]
    lost = len(arms[name]) - len(own)
    said = [f"{lost} of {len(arms[name])} seeds diverged: it does not train stably with this recipe."] if lost else []
    if not own:
        return said
    rivals = [rival for rival in ("paper", "even") if rival in arms and rival != name]
    for rival in rivals:
        words = "the paper's routing" if rival == "paper" else "even shares (no routing)"
        by_name = {each.measure: each for each in compare(own, arms[rival])}
        said += [_judged(by_name[key], words) for key in ("error", "bent") if key in by_name]
    if rivals and len(own) < FEWEST:
        said.append(f"{_seeds(len(own)).capitalize()} cannot tell a difference from luck: race {FEWEST} or more.")
    if name in costs and "paper" in costs and name != "paper":
        slower = costs[name].milliseconds / costs["paper"].milliseconds
        larger = costs[name].megabytes / costs["paper"].megabytes
        said.append(
            f"A step takes {slower:.1f} times as long as with the paper's routing, which is computed without û, "
            f"and {larger:.1f} times the memory."
        )
    if epochs < 12:
        said.append(
            f"A race of {epochs:g} epoch{'s' * (epochs != 1)} tells how fast it learns, not how good it becomes; "
            "more minutes make it longer."
        )
    return said


def _judged(each: Compared, rival: str) -> str:
    what = {"error": "error", "bent": "error on bent digits"}[each.measure]
    difference = each.difference
    if difference is None:
        if each.seeds < FEWEST:
            return f"Against {rival}: {what} {each.mean:+.2f} points."
        return f"Against {rival}: {what} {each.mean:+.2f} points with each of {each.seeds} seeds."
    between = f"{difference.value:+.2f} points, {difference.low:+.2f} to {difference.high:+.2f}"
    if difference.low > 0:
        return f"Worse than {rival}, seen in these {each.seeds} seeds: {what} {between}."
    if difference.high < 0:
        return f"Better than {rival}, seen in these {each.seeds} seeds: {what} {between}."
    return f"No difference from {rival} seen: {what} {between}. It could be as large as {difference.reach:.2f} points."


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def _values(measure: Measure, records: Sequence[RunRecord]) -> list[float]:
    return [value for record in records if (value := measure.value(record)) is not None]


def _cell(measure: Measure, records: Sequence[RunRecord]) -> str:
    values = _values(measure, records)
    if not values or math.isnan(sum(values)):
        return "–"
    spread = f" ± {stdev(values):.{measure.digits}f}" if len(values) > 1 else ""
    return f"{fmean(values):.{measure.digits}f}{spread}"
