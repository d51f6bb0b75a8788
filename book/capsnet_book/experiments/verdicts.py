"""What the runs say: the primary questions, judged once and together, and the claims, which are exploratory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from capsnet_book.experiments import records
from capsnet_book.experiments.evidence import unpack_wrong
from capsnet_book.experiments.plan import Claim, Experiments, Question
from capsnet_book.experiments.statistics import Difference, holm, paired, two_way, unpaired
from capsnet_book.experiments.tables import COLUMNS, Column, Result, numbers, results_by_seed, results_of

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


class Verdict(NamedTuple):
    """A question or a claim, and what its runs say."""

    question: Question | Claim
    word: str
    """One of `WORDS`, or how many seeds are there."""
    sentence: str
    """Word, both sides' numbers, difference, interval and p, in a line of plain words."""
    difference: Difference | None
    """By how much the second is larger; None without an interval: too few seeds, or the same difference in each."""
    apart: Sequence[float]
    """The difference with each seed; where no pairs are compared, of each of the first from the second's mean."""
    whole: float
    """What a difference is a part of: the second's mean; nan without any seed."""

    @property
    def text(self) -> str:
        return self.question.text


# --- the primary questions


def answers(experiments: Experiments) -> list[Verdict]:
    """The answer to every primary question, in the order in which they were written down, in per cent and points.

    A question is judged when all its seeds are there. The p that judges is Holm's, among all of them.
    """
    found = [_errors(experiments, question) for question in experiments.questions]
    adjusted = holm([difference.p if difference else 1.0 for *_, difference in found])
    return [_answer(*each) for each in zip(experiments.questions, found, adjusted, strict=True)]


def _errors(experiments: Experiments, question: Question) -> tuple[list[float], list[float], Difference | None]:
    """Per cent that each arm misreads with each of the seeds that both have; and the difference of the arms."""
    sides = question.smaller, question.larger
    arms = [_viewpoints(experiments, side) if question.measure == "viewpoints" else
            {seed: wrong_after(each, question.measure, side["rounds"])
             for seed, each in results_by_seed(experiments, side["run"]).items()}
            for side in sides]  # fmt: skip
    seeds = [seed for seed in question.seeds if all(seed in arm for arm in arms)]
    smaller, larger = (np.array([arm[seed] for seed in seeds], dtype=float) for arm in arms)
    judge: Any = paired if question.measure == "viewpoints" else two_way
    difference = judge(smaller, larger) if len(seeds) == len(question.seeds) else None
    first, second = ([100 * float(each.mean()) for each in arm] for arm in (smaller, larger))
    return first, second, difference and difference.times(100)


def _answer(question: Question, errors: tuple[list[float], list[float], Difference | None], p: float) -> Verdict:
    smaller, larger, difference = errors
    if not smaller:
        return Verdict(question, NOT_RUN, NOT_RUN, None, (), math.nan)
    if difference is None:
        word = f"not judged yet, {len(smaller)} of {len(question.seeds)} seeds"
    else:
        word = NO_DIFFERENCE if p >= LEVEL else SEEN if difference.value > 0 else OTHER_WAY
    found = f"error, %: {fmean(smaller):.2f} against {fmean(larger):.2f}"
    basis = f"{len(smaller)} seed{'s' * (len(smaller) > 1)}"
    sentence = _sentence(word, found, difference, 2, basis, f" (Holm {_p(p)})")
    return Verdict(question, word, sentence, difference, np.subtract(larger, smaller).tolist(), fmean(larger))


def wrong_after(record: Result, split: str, rounds: int) -> np.ndarray:
    """Which of a split's images a network misreads when it is read with so many rounds: bool [10000]."""
    return unpack_wrong(record["wrong_after"][split][rounds - 1], IMAGES)


def _viewpoints(experiments: Experiments, side: dict[str, Any]) -> dict[int, Any]:
    """Error of an arm of `viewpoints`, by seed."""
    path = experiments.folder / "viewpoints.json"
    runs = records.read(path)["runs"] if path.exists() else []
    return {
        run["seed"]: run["errors"][side["view"]][str(side["clutter"])][side["rounds"] - 1]
        for run in runs
        if run["arm"] == side["arm"]
    }


# --- the claims


def verdicts(experiments: Experiments) -> list[Verdict]:
    """The verdict on every claim of which both sides were run, what did not come out first."""
    judged = [found for claim in experiments.claims if (found := _compare(experiments, claim))]
    return sorted(judged, key=lambda each: WORDS.index(each.word))


def _compare(experiments: Experiments, claim: Claim) -> Verdict | None:
    """The verdict; None where a side was not run.

    Two CapsNets of one seed begin with the same weights and see the same batches: they are compared in pairs, unless
    that would leave out a third of an arm's seeds or more. Then, and with a CNN, all seeds of both sides count.
    """
    column = COLUMNS[claim.column]
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
        basis += ", and all images"
        difference = two_way(*(_wrong(column, arm) for arm in used), in_pairs=in_pairs)
        difference = difference and difference.times(100)
    else:
        difference = (paired if in_pairs else unpaired)(smaller.values, larger.values)
    word = NO_INTERVAL
    if difference is not None:
        word = NO_DIFFERENCE if difference.p >= LEVEL else HINT if difference.value > 0 else CONTRARY_HINT
    found = f"{column.title}: {smaller.show(column.digits)} against {larger.show(column.digits)}"
    return Verdict(
        claim, word, _sentence(word, found, difference, column.digits, basis), difference, apart, larger.mean
    )


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
    errors = {run: numbers(COLUMNS["validation"], results_of(experiments, run)) for run in side}
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
