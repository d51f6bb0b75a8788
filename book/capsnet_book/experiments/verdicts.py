"""Verdicts on the runs: of the primary questions, judged together, and of exploratory claims."""

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
    Numbers,
    Result,
    numbers,
    results_by_seed,
    results_of,
)

OTHER_WAY = "the opposite is seen"
PLAIN_CONTRARY = "plainly the opposite, asked later"
CONTRARY_HINT = "a hint of the opposite"
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
"""The words of verdicts, the contrary ones first.

Only a primary question can be "seen" or its opposite. A claim is plain if its p is below
`LEVEL` with all claims counted by Holm, a hint if only its own p is.
"""
LEVEL = 0.05
IMAGES = 10_000
"""Test images of every task: MNIST's test digits, or as many pictures made of them."""


class Verdict(NamedTuple):
    """A question or a claim, and the verdict on it."""

    question: Question | Claim
    word: str
    """One of `WORDS`."""
    sentence: str
    """Word, both sides' numbers, difference, interval and p, in a line of text."""
    difference: Difference | None
    """The second mean minus the first; None without an interval: too few seeds, or no spread."""
    by_seed: Sequence[float]
    """The difference by seed; without pairs, the second mean minus each seed of the first."""
    reference: float
    """The second mean, to which a difference is related; nan without any seed."""

    @property
    def text(self) -> str:
        """The question or the claim in words."""
        return self.question.text


# --- the primary questions


def answers(experiments: Experiments) -> list[Verdict]:
    """Return the verdict on every primary question, in the order of the file.

    Differences are in points of error. A question is judged when all its seeds were run, by Holm's
    p among all questions.
    """
    questions = experiments.questions
    arms = []
    for question in questions:
        smaller = _errors(experiments, question, question.smaller)
        larger = _errors(experiments, question, question.larger)
        arms.append((smaller, larger))
    return judge(questions, arms)


def judge(questions: Sequence[Question], arms: Sequence[Sequence[np.ndarray]]) -> list[Verdict]:
    """Return the verdicts on questions that are judged together.

    Args:
        questions: in the order of the verdicts.
        arms: of each question both sides' errors: 0 or 1 by seed and image [S, N], or a share by
            seed [S]; empty if a seed is missing.
    """
    differences = []
    for smaller, larger in arms:
        compare = two_way if smaller.ndim == 2 else paired
        differences.append(compare(smaller, larger))
    adjusted = holm([1.0 if one is None else one.p for one in differences])
    verdicts = []
    for question, sides, difference, p in zip(questions, arms, differences, adjusted, strict=True):
        verdicts.append(_answer(question, sides, difference, p))
    return verdicts


def _errors(experiments: Experiments, question: Question, side: dict[str, Any]) -> np.ndarray:
    """Return an arm's errors by seed and image, [S, 10000], or by seed of scenes, [S].

    It is empty if a seed is missing.
    """
    errors: dict[int, Any] = {}
    if "arm" in side:
        path = experiments.folder / f"{question.measure}.json"
        runs = records.read(path)["runs"] if path.exists() else []
        for run in runs:
            if run["arm"] == side["arm"]:
                after_rounds = run["errors"][side["view"]][f"{side['clutter']}"]
                errors[run["seed"]] = after_rounds[side["rounds"] - 1]
    else:
        for seed, record in results_by_seed(experiments, side["run"]).items():
            errors[seed] = wrong_after(record, question.measure, side["rounds"])
    if not errors.keys() >= set(question.seeds):
        return np.array([], dtype=float)
    return np.array([errors[seed] for seed in question.seeds], dtype=float)


def _answer(
    question: Question, arms: Sequence[np.ndarray], difference: Difference | None, p: float
) -> Verdict:
    """Return the verdict on a question, given Holm's p."""
    if difference is None:
        return Verdict(question, NOT_RUN, NOT_RUN, None, (), math.nan)
    smaller, larger = (100 * arm.reshape(len(arm), -1).mean(axis=1) for arm in arms)
    difference = difference.times(100)
    if p >= LEVEL:
        word = NO_DIFFERENCE
    elif difference.value > 0:
        word = SEEN
    else:
        word = OTHER_WAY
    seeds = len(smaller)
    sentence = _sentence(
        word,
        f"error, %: {smaller.mean():.2f} against {larger.mean():.2f}",
        difference,
        digits=2,
        basis=f"{seeds} seeds",
        seeds=seeds,
        adjusted=f" (Holm {_p(p, seeds)})",
    )
    return Verdict(question, word, sentence, difference, (larger - smaller).tolist(), larger.mean())


def wrong_after(record: Result, split: str, rounds: int) -> np.ndarray:
    """Return which of a split's images a network misreads with some rounds: bool [10000]."""
    return unpack_wrong(record["wrong_after"][split][rounds - 1], IMAGES)


# --- the claims


class _Comparison(NamedTuple):
    """The comparison of a claim's sides, before all claims are judged together."""

    claim: Claim
    column: Column
    sides: str
    """Both sides' numbers, in words."""
    difference: Difference | None
    by_seed: Sequence[float]
    reference: float
    basis: str
    """Seeds, pairs and images of the comparison, in words."""
    seeds: int
    """The number of seeds of the side that has fewer."""

    @property
    def p(self) -> float:
        """The p that so many seeds can carry; 1 without an interval."""
        if self.difference is None:
            return 1.0
        return carried_p(self.difference.p, self.seeds)


def verdicts(experiments: Experiments) -> list[Verdict]:
    """Return the verdict on every claim of which both sides were run, contrary ones first.

    Holm's p among all claims distinguishes a plain difference from a hint.
    """
    compared = [_compare(experiments, claim) for claim in experiments.claims]
    comparisons = [comparison for comparison in compared if comparison is not None]
    adjusted = holm([comparison.p for comparison in comparisons])
    judged = [_judge(*pair) for pair in zip(comparisons, adjusted, strict=True)]
    return sorted(judged, key=lambda verdict: WORDS.index(verdict.word))


def _judge(comparison: _Comparison, adjusted: float) -> Verdict:
    """Return the verdict on a claim, given Holm's p."""
    word = _word(comparison.difference, adjusted)
    among = "" if word == NO_DIFFERENCE else f" (Holm {_p(adjusted, comparison.seeds)})"
    sentence = _sentence(
        word,
        comparison.sides,
        comparison.difference,
        digits=comparison.column.digits,
        basis=comparison.basis,
        seeds=comparison.seeds,
        adjusted=among,
    )
    return Verdict(
        comparison.claim,
        word,
        sentence,
        comparison.difference,
        comparison.by_seed,
        comparison.reference,
    )


def _word(difference: Difference | None, adjusted: float) -> str:
    """Return the word for a claim."""
    if difference is None:
        return NO_INTERVAL
    if difference.p >= LEVEL:
        return NO_DIFFERENCE
    if adjusted >= LEVEL:
        return HINT if difference.value > 0 else CONTRARY_HINT
    return PLAIN if difference.value > 0 else PLAIN_CONTRARY


def _compare(experiments: Experiments, claim: Claim) -> _Comparison | None:
    """Return the comparison of a claim's sides; None if a side was not run."""
    column = COLUMNS[claim.column]
    first = results_by_seed(experiments, _chosen(experiments, claim.smaller))
    second = results_by_seed(experiments, _chosen(experiments, claim.larger))
    in_pairs = _can_be_paired(first, second)
    if in_pairs:
        seeds = sorted(first.keys() & second.keys())
        arms = ([first[seed] for seed in seeds], [second[seed] for seed in seeds])
    else:
        arms = (list(first.values()), list(second.values()))
    smaller, larger = numbers(column, arms[0]), numbers(column, arms[1])
    if smaller is None or larger is None:
        return None

    if in_pairs:
        basis = _paired_basis(smaller, larger, len(arms[0]))
    else:
        basis = f"{len(arms[0])} and {len(arms[1])} seeds"
    if all(column.split in result.get("wrong", {}) for result in (*arms[0], *arms[1])):
        basis += ", and all images"
        wrong = _wrong(column, arms[0]), _wrong(column, arms[1])
        difference = two_way(*wrong, in_pairs=in_pairs)
        difference = None if difference is None else difference.times(100)
    elif in_pairs:
        difference = paired(smaller.values, larger.values)
    else:
        difference = unpaired(smaller.values, larger.values)
    references = larger.values if in_pairs else [larger.mean] * len(smaller.values)
    return _Comparison(
        claim,
        column,
        sides=f"{column.title}: {smaller.show(column.digits)} against {larger.show(column.digits)}",
        difference=difference,
        by_seed=[other - own for own, other in zip(smaller.values, references, strict=True)],
        reference=larger.mean,
        basis=basis,
        seeds=min(len(arms[0]), len(arms[1])),
    )


def _can_be_paired(first: dict[int, Result], second: dict[int, Result]) -> bool:
    """Return True if two runs are compared seed by seed.

    Two CapsNets of one seed start from the same weights and train on the same batches. They are
    compared in pairs, unless that would leave out a third of an arm's seeds or more; then, and with
    a CNN, all seeds of both sides count.
    """
    shared = first.keys() & second.keys()
    results = [*first.values(), *second.values()]
    are_capsnets = all(result["network"] == "capsnet" for result in results)
    return are_capsnets and 3 * len(shared) > 2 * max(len(first), len(second))


def _paired_basis(smaller: Numbers, larger: Numbers, seeds: int) -> str:
    """Return the number of pairs in words, with the correlation of both sides over the seeds."""
    if not (smaller.spread and larger.spread and seeds > 2):
        return f"{seeds} seeds, paired"
    correlation = float(np.corrcoef(smaller.values, larger.values)[0, 1])
    return f"{seeds} seeds, paired (correlation {correlation:+.2f})".replace("-", "−")


def _wrong(column: Column, results: Sequence[Result]) -> np.ndarray:
    """Return the misread images, int8 [seeds, images]: 1 where an image is misread."""
    table = np.zeros((len(results), IMAGES), dtype=np.int8)
    for row, result in zip(table, results, strict=True):
        row[result["wrong"][column.split]] = 1
    return table


def _chosen(experiments: Experiments, side: str | Sequence[str]) -> str:
    """Return a side's run: of several the one with the smallest error on the validation digits."""
    if isinstance(side, str):
        return side

    def validation_error(run: str) -> float:
        errors = numbers(COLUMNS["validation"], results_of(experiments, run))
        return math.inf if errors is None else errors.mean

    return min(side, key=validation_error)


def _sentence(  # noqa: PLR0913 - the parts of a sentence, all named in calls
    word: str,
    sides: str,
    difference: Difference | None,
    *,
    digits: int,
    basis: str,
    seeds: int,
    adjusted: str,
) -> str:
    """Return a verdict in words: both sides, difference, interval, p, and the basis of all."""
    if difference is None:
        return f"{word}. {sides}; {basis}."

    def signed(number: float) -> str:
        return f"{number:+.{digits}f}".replace("-", "−")

    interval = f"95 %: {signed(difference.low)} to {signed(difference.high)}"
    sentence = (
        f"{word}. {sides}; difference {signed(difference.value)} ({interval}); "
        f"p {_p(difference.p, seeds)}{adjusted}; {basis}"
    )
    if word == NO_DIFFERENCE:
        largest = f"{max(-difference.low, difference.high):.{digits}f}"
        detectable = f"{difference.detectable:.{digits}f}"
        sentence += (
            f"; it could be as large as {largest}, and one of {detectable}, alone, would most "
            "likely have been seen"
        )
    return f"{sentence}."


def _p(p: float, seeds: int) -> str:
    """Format a p; of few seeds none is printed that is smaller than 0.01."""
    least = 0.01 if seeds < FEW else 0.001
    if p < least:
        return f"< {least:g}"
    return f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"
