"""What the runs say: the primary questions, judged once and together, and the claims, which are exploratory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from capsnet_book.experiments import records
from capsnet_book.experiments.evidence import unpack_wrong
from capsnet_book.experiments.plan import Claim, Experiments, Question
from capsnet_book.experiments.statistics import (
    FEW,
    Difference,
    carried_p,
    holm,
    paired,
    two_way,
    unpaired,
)
from capsnet_book.experiments.tables import (
    COLUMNS,
    Column,
    Result,
    numbers,
    results_by_seed,
    results_of,
)

OTHER_WAY = "the other way round"
PLAIN_CONTRARY = "plainly the other way round, asked later"
CONTRARY_HINT = "a hint of the other way round"
NO_DIFFERENCE = "no difference seen"
HINT = "a hint"
PLAIN = "plain, asked later"
SEEN = "seen"
NO_INTERVAL = "no interval"
NOT_RUN = "not run"
WORDS = (
    OTHER_WAY,
    PLAIN_CONTRARY,
    CONTRARY_HINT,
    NO_DIFFERENCE,
    HINT,
    PLAIN,
    SEEN,
    NO_INTERVAL,
    NOT_RUN,
)
"""What did not come out first. Only a primary question can be "seen" or "the other way round".

A claim is plain where its p, with all claims counted by Holm, is below `LEVEL`; a hint where only its own p is.
"""
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
    by_seed: Sequence[float]
    """The difference with each seed; where no pairs are compared, of each of the first from the second's mean."""
    reference: float
    """What a difference is a part of: the second's mean; nan without any seed."""

    @property
    def text(self) -> str:
        return self.question.text


# --- the primary questions


def answers(experiments: Experiments) -> list[Verdict]:
    """The answer to every primary question, in the order in which they were written down, in per cent and points.

    A question is judged when all its seeds are there. The p that judges is Holm's, among all of them.
    """
    questions = experiments.questions
    arms = [
        [_errors(experiments, each, side) for side in (each.smaller, each.larger)]
        for each in questions
    ]
    return judge(questions, arms)


def judge(questions: Sequence[Question], arms: Sequence[Sequence[np.ndarray]]) -> list[Verdict]:
    """Return the answers, judged together.

    Args:
        questions: in the order in which they were written down.
        arms: of each both sides' errors, 0 or 1 for a seed and an image [S, N], or a share for a seed [S]; empty where
            a seed lacks.
    """
    differences = [(two_way if two[0].ndim == 2 else paired)(*two) for two in arms]
    adjusted = holm([each.p if each else 1.0 for each in differences])
    return [_answer(*each) for each in zip(questions, arms, differences, adjusted, strict=True)]


def _errors(experiments: Experiments, question: Question, side: dict[str, Any]) -> np.ndarray:
    """What an arm misreads, seed by seed: images [S, 10000], of scenes shares [S]; nothing if a seed lacks."""
    if "arm" in side:
        path = experiments.folder / f"{question.measure}.json"
        runs = records.read(path)["runs"] if path.exists() else []
        errors = {run["seed"]: run["errors"] for run in runs if run["arm"] == side["arm"]}
        found = {
            seed: each[side["view"]][f"{side['clutter']}"][side["rounds"] - 1]
            for seed, each in errors.items()
        }
    else:
        by_seed = results_by_seed(experiments, side["run"])
        found = {
            seed: wrong_after(each, question.measure, side["rounds"])
            for seed, each in by_seed.items()
        }
    whole = found.keys() >= {*question.seeds}
    return np.array([found[seed] for seed in question.seeds] if whole else [], dtype=float)


def _answer(
    question: Question, arms: Sequence[np.ndarray], difference: Difference | None, p: float
) -> Verdict:
    if difference is None:
        return Verdict(question, NOT_RUN, NOT_RUN, None, (), math.nan)
    smaller, larger = (100 * arm.reshape(len(arm), -1).mean(axis=1) for arm in arms)
    difference = difference.times(100)
    word = NO_DIFFERENCE if p >= LEVEL else SEEN if difference.value > 0 else OTHER_WAY
    found = f"error, %: {smaller.mean():.2f} against {larger.mean():.2f}"
    many = len(smaller)
    sentence = _sentence(
        word, found, difference, 2, f"{many} seeds", many, f" (Holm {_p(p, many)})"
    )
    return Verdict(question, word, sentence, difference, (larger - smaller).tolist(), larger.mean())


def wrong_after(record: Result, split: str, rounds: int) -> np.ndarray:
    """Which of a split's images a network misreads when it is read with so many rounds: bool [10000]."""
    return unpack_wrong(record["wrong_after"][split][rounds - 1], IMAGES)


# --- the claims


class _Comparison(NamedTuple):
    """A claim's two sides, compared, before all claims are judged together."""

    claim: Claim
    column: Column
    sides: str
    """Both sides' numbers, in words."""
    difference: Difference | None
    apart: Sequence[float]
    whole: float
    basis: str
    """What is compared with what, in words."""
    seeds: int
    """Of the side that has fewer."""

    @property
    def p(self) -> float:
        """As far as the seeds can carry it; 1 without an interval."""
        return carried_p(self.difference.p, self.seeds) if self.difference else 1.0


def verdicts(experiments: Experiments) -> list[Verdict]:
    """The verdict on every claim of which both sides were run, what did not come out first.

    The p that tells what is plain from a hint is Holm's, among all of them.
    """
    compared = [
        comparison for claim in experiments.claims if (comparison := _compare(experiments, claim))
    ]
    adjusted = holm([comparison.p for comparison in compared])
    judged = [_judge(*pair) for pair in zip(compared, adjusted, strict=True)]
    return sorted(judged, key=lambda each: WORDS.index(each.word))


def _judge(comparison: _Comparison, adjusted: float) -> Verdict:
    claim, column, sides, difference, apart, whole, basis, seeds = comparison
    word = _word(difference, adjusted)
    among = "" if word == NO_DIFFERENCE else f" (Holm {_p(adjusted, seeds)})"
    sentence = _sentence(word, sides, difference, column.digits, basis, seeds, among)
    return Verdict(claim, word, sentence, difference, apart, whole)


def _word(difference: Difference | None, adjusted: float) -> str:
    """One of `WORDS` for a claim."""
    if difference is None:
        return NO_INTERVAL
    if difference.p >= LEVEL:
        return NO_DIFFERENCE
    if adjusted >= LEVEL:
        return HINT if difference.value > 0 else CONTRARY_HINT
    return PLAIN if difference.value > 0 else PLAIN_CONTRARY


def _compare(experiments: Experiments, claim: Claim) -> _Comparison | None:
    """The comparison; None where a side was not run.

    Two CapsNets of one seed begin with the same weights and see the same batches: they are compared in pairs, unless
    that would leave out a third of an arm's seeds or more. Then, and with a CNN, all seeds of both sides count.
    """
    column = COLUMNS[claim.column]
    arms = [
        results_by_seed(experiments, _chosen(experiments, side))
        for side in (claim.smaller, claim.larger)
    ]
    shared = sorted(arms[0].keys() & arms[1].keys())
    capsnets = all(result["network"] == "capsnet" for arm in arms for result in arm.values())
    in_pairs = capsnets and 3 * len(shared) > 2 * max(map(len, arms))
    used = [[arm[seed] for seed in shared] if in_pairs else list(arm.values()) for arm in arms]
    smaller, larger = (numbers(column, each) for each in used)
    if smaller is None or larger is None:
        return None
    basis = f"{len(used[0])} and {len(used[1])} seeds"
    if in_pairs:
        basis = f"{len(shared)} seeds, paired"
        if smaller.spread and larger.spread and len(shared) > 2:
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
    sides = f"{column.title}: {smaller.show(column.digits)} against {larger.show(column.digits)}"
    seeds = min(map(len, used))
    return _Comparison(claim, column, sides, difference, apart, larger.mean, basis, seeds)


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
    return min(side, key=lambda run: error.mean if (error := errors[run]) else math.inf)


def _sentence(
    word: str,
    found: str,
    each: Difference | None,
    digits: int,
    basis: str,
    seeds: int,
    adjusted: str = "",
) -> str:
    if each is None:
        return f"{word}. {found}; {basis}."

    def show(number: float, form: str = "+") -> str:
        return f"{number:{form},.{digits}f}".replace("-", "−")

    interval = f"{show(each.value)} (95 %: {show(each.low)} to {show(each.high)})"
    hidden = ""
    if word == NO_DIFFERENCE:
        could, seen = show(max(-each.low, each.high), ""), show(each.detectable, "")
        hidden = (
            f"; it could be as large as {could}, and one of {seen}, alone, would most likely have "
            "been seen"
        )
    return (
        f"{word}. {found}; difference {interval}; p {_p(each.p, seeds)}{adjusted}; {basis}{hidden}."
    )


def _p(p: float, seeds: int) -> str:
    """A p in words; of few seeds none is printed that is smaller than 0.01."""
    least = 0.01 if seeds < FEW else 0.001
    if p < least:
        return f"< {least:g}"
    return f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"
