"""What the runs say: the primary questions, judged once and together, and the claims, which are exploratory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from capsnet_book.experiments import records
from capsnet_book.experiments.evidence import unpack_wrong
from capsnet_book.experiments.plan import Claim, Experiments, Question
from capsnet_book.experiments.statistics import Difference, holm, paired, two_way, unpaired
from capsnet_book.experiments.tables import (
    Column,
    Numbers,
    Result,
    column_of,
    numbers,
    results_by_seed,
    results_of,
)

OTHER_WAY = "the other way round"
CONTRARY_HINT = "a hint of the other way round"
NO_DIFFERENCE = "no difference seen"
HINT = "a hint"
SEEN = "seen"
NO_INTERVAL = "no interval"
NOT_RUN = "not run"
WORDS = (OTHER_WAY, CONTRARY_HINT, NO_DIFFERENCE, HINT, SEEN, NO_INTERVAL, NOT_RUN)
"""What did not come out first. Only a primary question can be "seen" or "the other way round"."""
LEVEL = 0.05
IMAGES = 10_000
"""Of every task: MNIST's test digits, or a picture made of each."""


class Answer(NamedTuple):
    """A primary question and what its runs say."""

    question: Question
    seeds: int
    """How many of its seeds both arms have."""
    smaller: float
    """Error of the first arm on these, in per cent; nan without any."""
    larger: float
    difference: Difference | None
    """In points; None until all seeds are there."""
    p: float
    """Holm's, among all primary questions; 1 of one that is not judged yet."""
    apart: Sequence[float] = ()
    """The difference with each of the seeds, in points."""

    @property
    def text(self) -> str:
        return self.question.text

    @property
    def whole(self) -> float:
        """What a difference is a part of: the second arm's error."""
        return self.larger

    @property
    def word(self) -> str:
        """One of `WORDS`, or how many seeds are there."""
        if self.difference is None:
            return f"not judged yet, {self.seeds} of {len(self.question.seeds)} seeds" if self.seeds else NOT_RUN
        if self.p >= LEVEL:
            return NO_DIFFERENCE
        return SEEN if self.difference.value > 0 else OTHER_WAY

    @property
    def sentence(self) -> str:
        """Word, both errors, difference, interval and p, in a line of plain words."""
        if not self.seeds:
            return self.word
        found = f"error, %: {self.smaller:.2f} against {self.larger:.2f}"
        return _sentence(
            self.word, found, self.difference, 2, f"{self.seeds} seed{'s' * (self.seeds > 1)}", f" (Holm {_p(self.p)})"
        )


def answers(experiments: Experiments) -> list[Answer]:
    """The answer to every primary question, in the order in which they were written down."""
    found = [_answer(experiments, question) for question in experiments.questions]
    adjusted = holm([each.difference.p if each.difference else 1.0 for each in found])
    return [each._replace(p=p) for each, p in zip(found, adjusted, strict=True)]


def wrong_after(record: Result, split: str, rounds: int) -> np.ndarray:
    """Which of a split's images a network misreads when it is read with so many rounds: bool [10000]."""
    return unpack_wrong(record["wrong_after"][split][rounds - 1], IMAGES)


def _answer(experiments: Experiments, question: Question) -> Answer:
    """Everything but Holm's p."""
    sides = question.smaller, question.larger
    arms = [_viewpoints(experiments, side) if question.measure == "viewpoints" else
            {seed: wrong_after(each, question.measure, side["rounds"])
             for seed, each in results_by_seed(experiments, side["run"]).items()}
            for side in sides]  # fmt: skip
    seeds = [seed for seed in question.seeds if all(seed in arm for arm in arms)]
    smaller, larger = (np.array([arm[seed] for seed in seeds], dtype=float) for arm in arms)
    difference = None
    if len(seeds) == len(question.seeds):
        judge: Any = paired if question.measure == "viewpoints" else two_way
        found: Difference | None = judge(smaller, larger)
        difference = found and found.times(100)
    first, second = (100 * float(each.mean()) if seeds else float("nan") for each in (smaller, larger))
    apart = [100 * float(there.mean() - here.mean()) for here, there in zip(smaller, larger, strict=True)]
    return Answer(question, len(seeds), first, second, difference, 1.0, apart)


def _viewpoints(experiments: Experiments, side: dict[str, Any]) -> dict[int, Any]:
    """Error of an arm of `viewpoints`, by seed."""
    path = experiments.folder / "viewpoints.json"
    runs = records.read(path)["runs"] if path.exists() else []
    return {
        run["seed"]: run["errors"][side["view"]][str(side["clutter"])][side["rounds"] - 1]
        for run in runs
        if run["arm"] == side["arm"]
    }


class Verdict(NamedTuple):
    """A claim, both sides' numbers, and what they say."""

    claim: Claim
    column: Column
    smaller: Numbers
    larger: Numbers
    """Of the seeds that are compared."""
    difference: Difference | None
    """By how much the second is larger; None without an interval: too few seeds, or the same difference in each."""
    basis: str
    """What the interval is over."""
    apart: Sequence[float]
    """The difference with each seed; where no pairs are compared, of each of the first from the second's mean."""

    @property
    def text(self) -> str:
        return self.claim.text

    @property
    def whole(self) -> float:
        """What a difference is a part of: the second's mean."""
        return self.larger.mean

    @property
    def word(self) -> str:
        """One of `WORDS`."""
        if self.difference is None:
            return NO_INTERVAL
        if self.difference.p >= LEVEL:
            return NO_DIFFERENCE
        return HINT if self.difference.value > 0 else CONTRARY_HINT

    @property
    def sentence(self) -> str:
        """Word, both means, difference, interval and p, in a line of plain words."""
        digits = self.column.digits
        found = f"{self.column.title}: {self.smaller.show(digits)} against {self.larger.show(digits)}"
        return _sentence(self.word, found, self.difference, digits, self.basis)


def verdicts(experiments: Experiments) -> list[Verdict]:
    """The verdict on every claim of which both sides were run, what did not come out first."""
    judged = [found for claim in experiments.claims if (found := _compare(experiments, claim))]
    return sorted(judged, key=lambda each: WORDS.index(each.word))


def _compare(experiments: Experiments, claim: Claim) -> Verdict | None:
    """The verdict; None where a side was not run.

    Two CapsNets of one seed begin with the same weights and see the same batches: they are compared in pairs, unless
    that would leave out a third of an arm's seeds or more. Then, and with a CNN, all seeds of both sides count.
    """
    column = column_of(claim.column)
    arms = [results_by_seed(experiments, _chosen(experiments, side)) for side in (claim.smaller, claim.larger)]
    arms = [{seed: each for seed, each in arm.items() if column.value(each) is not None} for arm in arms]
    if not all(arms):
        return None
    shared = sorted(arms[0].keys() & arms[1].keys())
    capsnets = all(result["network"] == "capsnet" for arm in arms for result in arm.values())
    in_pairs = capsnets and 3 * len(shared) > 2 * max(map(len, arms))
    used = [[arm[seed] for seed in shared] if in_pairs else list(arm.values()) for arm in arms]
    smaller, larger = (numbers(column, each) for each in used)
    assert smaller is not None and larger is not None
    basis = f"{len(used[0])} and {len(used[1])} seeds"
    if in_pairs:
        basis = f"{len(shared)} seeds, paired"
        if min(smaller.spread or 0, larger.spread or 0) > 0 and len(shared) > 2:
            alike = float(np.corrcoef(smaller.values, larger.values)[0, 1])
            basis += f" (correlation {alike:+.2f})".replace("-", "−")
    others = larger.values if in_pairs else [larger.mean] * len(smaller.values)
    apart = [there - here for here, there in zip(smaller.values, others, strict=True)]
    if all(column.split in result.get("wrong", {}) for arm in used for result in arm):
        found = two_way(*(_wrong(column, arm) for arm in used), in_pairs=in_pairs)
        return Verdict(claim, column, smaller, larger, found and found.times(100), f"{basis}, and all images", apart)
    found = (paired if in_pairs else unpaired)(smaller.values, larger.values)
    return Verdict(claim, column, smaller, larger, found, basis, apart)


def _wrong(column: Column, results: Sequence[Result]) -> np.ndarray:
    """[seeds, images], 1 where an image is misread."""
    table = np.zeros((len(results), IMAGES), dtype=np.int8)
    for row, result in zip(table, results, strict=True):
        row[result["wrong"][column.split]] = 1
    return table


def _chosen(experiments: Experiments, side: str | Sequence[str]) -> str:
    """Of several runs, the one with the smallest error on the validation digits."""
    if isinstance(side, str):
        return side
    errors = {run: numbers(column_of("validation"), results_of(experiments, run)) for run in side}
    return min(side, key=lambda run: error.mean if (error := errors[run]) else 2.0e9)


def _sentence(word: str, found: str, each: Difference | None, digits: int, basis: str, adjusted: str = "") -> str:
    if each is None:
        return f"{word}. {found}; {basis}."
    could = f"; it could be as large as {each.reach:,.{digits}f}, and one of {each.detectable:,.{digits}f} would "
    could = could + "most likely have been seen" if word == NO_DIFFERENCE else ""
    value = f"{each.value:+,.{digits}f} (95 %: {each.low:+,.{digits}f} to {each.high:+,.{digits}f})".replace("-", "−")
    return f"{word}. {found}; difference {value}; p {_p(each.p)}{adjusted}; {basis}{could}."


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"
