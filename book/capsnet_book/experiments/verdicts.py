"""What the runs' numbers say of the claims: difference, interval, p, and how much is left of it among all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from capsnet_book.experiments.plan import Claim, Experiments
from capsnet_book.experiments.statistics import Difference, holm, over_images, paired, unpaired
from capsnet_book.experiments.tables import (
    Column,
    Numbers,
    Result,
    column_of,
    not_run,
    numbers,
    results_by_seed,
    results_of,
    table_text,
)
from capsnet_tutorial.errors import expect

OTHER_WAY = "the other way round in these seeds"
NO_DIFFERENCE = "no difference seen"
CONTRARY_HINT = "a hint of the other way round"
HINT = "a hint"
SEEN = "seen in these seeds"
NO_INTERVAL = "no interval"
WORDS = (OTHER_WAY, CONTRARY_HINT, NO_DIFFERENCE, HINT, SEEN, NO_INTERVAL)
"""What did not come out first."""
LEVEL = 0.05
TEST_IMAGES = 10_000
"""Of every task: MNIST's test digits, or a picture made of each."""

Compare = Callable[[Sequence[float], Sequence[float]], Difference | None]


class Verdict(NamedTuple):
    """A claim, both sides' numbers, and what they say."""

    claim: Claim
    column: Column
    smaller: Numbers
    larger: Numbers
    """Of the seeds that are compared."""
    difference: Difference | None
    """By how much the second is larger; None without an interval: too few seeds, or the same difference in each."""
    seeds: str
    """What the difference rests on."""
    images: Difference | None
    """The same networks, other images; None where the records do not say which ones were read wrongly."""
    p: float
    """Holm's, among all claims that could be judged; 1 without a difference."""

    @property
    def word(self) -> str:
        """One of `WORDS`."""
        if self.difference is None:
            return NO_INTERVAL
        if self.difference.p >= LEVEL:
            return NO_DIFFERENCE
        as_claimed = self.difference.value > 0
        if self.p < LEVEL:
            return SEEN if as_claimed else OTHER_WAY
        return HINT if as_claimed else CONTRARY_HINT

    @property
    def sentence(self) -> str:
        """Verdict, both means, difference, interval and p, in a line of plain words."""
        unit, digits = self.column.title, self.column.digits
        found = f"{unit}: {self.smaller.show(digits)} against {self.larger.show(digits)}"
        if self.difference is None:
            return f"{self.word} ({self.seeds}). {found}"
        each = self.difference
        word = self.word
        if word == NO_DIFFERENCE:
            word += f", could be as large as {each.reach:,.{digits}f}"
        said = f"{word}. {found}; difference {_signed(each, digits)}; p {_p(each.p)} (Holm {_p(self.p)})"
        other = f"; with other images {_between(self.images, digits)}" if self.images else ""
        return f"{said}; {self.seeds}{other}"


def verdicts(experiments: Experiments) -> list[Verdict]:
    """The verdict on every claim of which both sides were run, what did not come out first."""
    judged = [found for claim in experiments.claims if (found := _compare(experiments, claim))]
    able = [place for place, each in enumerate(judged) if each.difference]
    for place, p in zip(able, holm([d.p for each in judged if (d := each.difference)]), strict=True):
        judged[place] = judged[place]._replace(p=p)
    return sorted(judged, key=lambda each: WORDS.index(each.word))


def verdict_list(found: Sequence[Verdict]) -> str:
    """A line for each, in Markdown: the verdict first, in bold, so that nobody takes a claim for what was found."""
    lines = []
    for each in found:
        verdict, _, numbers = each.sentence.partition(". ")
        lines.append(f"- **{verdict[0].upper()}{verdict[1:]}.** {each.claim.text}. {numbers}.\n")
    return "".join(lines)


def report(experiments: Experiments, names: Sequence[str] = ()) -> str:
    """The verdicts, every table, and what was not run; or only these tables."""
    for name in names:
        expect(name in experiments.tables, f"a table, one of {', '.join(experiments.tables)}", repr(name))
    shown = [
        text for name in names or experiments.tables if (text := table_text(experiments, experiments.tables[name]))
    ]
    if names:
        return "\n".join(shown)
    missing = not_run(experiments)
    last = [f"## Not run\n\n{missing}"] if missing else []
    return "\n".join([f"## What came out\n\n{verdict_list(verdicts(experiments))}", *shown, *last])


def _compare(experiments: Experiments, claim: Claim) -> Verdict | None:
    """Everything but Holm's p; None where a side was not run."""
    column = column_of(claim.column)
    arms = [results_by_seed(experiments, _chosen(experiments, side)) for side in (claim.smaller, claim.larger)]
    arms = [{seed: each for seed, each in arm.items() if column.value(each) is not None} for arm in arms]
    used, compare, seeds = _matched(arms)
    smaller, larger = (numbers(column, each) for each in used)
    if smaller is None or larger is None:
        return None
    difference = compare(smaller.values, larger.values)
    if difference is None and min(len(smaller.values), len(larger.values)) > 1:
        seeds += f", all {larger.mean - smaller.mean:+.{column.digits}f}, no spread to judge by"
    images = _over_images(column, used) if difference else None
    return Verdict(claim, column, smaller, larger, difference, seeds, images, 1.0)


def _chosen(experiments: Experiments, side: str | Sequence[str]) -> str:
    """Of several runs, the one with the smallest error on the validation digits."""
    if isinstance(side, str):
        return side
    errors = {run: numbers(column_of("validation"), results_of(experiments, run)) for run in side}
    return min(side, key=lambda run: error.mean if (error := errors[run]) else 2.0e9)


def _matched(arms: Sequence[dict[int, Result]]) -> tuple[Sequence[Sequence[Result]], Compare, str]:
    """The results to compare, how, and a word on the seeds.

    Two CapsNets of one seed begin with the same weights and see the same batches: they are compared in pairs. A CNN
    has other weights, so with it all seeds of both sides count, each by itself.
    """
    shared = sorted(arms[0].keys() & arms[1].keys())
    kinds = {result.get("network") for arm in arms for result in arm.values()}
    if shared and kinds == {"capsnet"}:
        seeds = "1 seed" if len(shared) == 1 else f"{len(shared)} seeds, paired"
        return [[arm[seed] for seed in shared] for arm in arms], paired, seeds
    return [list(arm.values()) for arm in arms], unpaired, f"{len(arms[0])} and {len(arms[1])} seeds"


def _over_images(column: Column, used: Sequence[Sequence[Result]]) -> Difference | None:
    """In per cent, as the columns are."""
    wrong = [[each["wrong"][column.split] for each in arm if column.split in each.get("wrong", {})] for arm in used]
    if not column.split or [len(arm) for arm in wrong] != [len(arm) for arm in used]:
        return None
    found = over_images(wrong[0], wrong[1], TEST_IMAGES)
    return found and Difference(100 * found.value, 100 * found.low, 100 * found.high, found.p)


def _signed(each: Difference, digits: int) -> str:
    return f"{each.value:+,.{digits}f} (95 %: {_between(each, digits)})".replace("-", "−")


def _between(each: Difference, digits: int) -> str:
    return f"{each.low:+,.{digits}f} to {each.high:+,.{digits}f}".replace("-", "−")


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"
