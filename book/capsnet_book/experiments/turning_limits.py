"""What bounds capsules that turn on handwritten digits: which digits they confuse, at which angles,
in which strokes, and whether they read the digits of training better.

Measured of the networks that `turning_variants` left in runs/turning_variants, and of the one that
the book's pages use. `python -m capsnet_book.experiments.turning_limits VARIANT --seeds 40` adds
what results/turning_limits.json lacks; the pages' network is `digits-long` with seed 20.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from capsnet_book.experiments import arms, records
from capsnet_book.experiments.arms import between
from capsnet_book.experiments.cnn import scores_of
from capsnet_book.experiments.turning import (
    ARMS,
    DIGITS,
    NEW,
    measure_changes,
    share_of,
    wrong_among,
)
from capsnet_book.experiments.turning_variants import (
    VARIANTS,
    VIEWS,
    WEIGHTS,
    moved,
    validation_digits,
)
from capsnet_book.turning import AngleReader, trained_reader
from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.train import over_batches

SHIPPED = ("digits-long", 20)
"""Arm and seed of `trained_reader`."""
MEASURED = {SHIPPED[0]: ARMS[SHIPPED[0]], **VARIANTS}
"""Every network that can be measured, by its name."""
ANGLES = tuple(range(0, 360, 36))
"""Degrees by which validation digits are turned for the curve."""
ON_THE_CURVE = 1000
"""Validation digits at each angle, the same at all of them."""
SEED = 51_000
QUARTERS = 4
UPRIGHT = (6, 7, 9)
"""Classes of the two pairs that are confused most: a 6 and a 9, a 6 and a 7, of which one is upside
down.
"""
HALF = 90.0
"""Degrees: a digit that is turned by more is upside down."""


@cache
def digits_of_training() -> Digits:
    """Return as many digits of training as there are validation digits, turned to new angles."""
    data = digits("train", "mnist")
    count = digits("validation", "mnist").count
    generator = torch.Generator().manual_seed(SEED)
    some = data._replace(images=data.images[:count], labels=data.labels[:count])
    return moved(some, between(NEW, count, generator), generator)


def quarters_by_ink(images: Tensor, labels: Tensor) -> Tensor:
    """Return in which quarter of its class each digit lies, 0 to 3: 0 has the least ink.

    Args:
        images: [N, 1, H, W].
        labels: int64 [N].
    """
    ink = images.flatten(1).sum(dim=1)
    quarters = torch.empty_like(labels)
    for label in labels.unique():
        of_class = (labels == label).nonzero().flatten()
        rank = ink[of_class].argsort().argsort()
        quarters[of_class] = QUARTERS * rank // len(of_class)
    return quarters


def confusion(scores: Tensor, labels: Tensor) -> list[list[int]]:
    """Count answers: the row is the true class, the column the answer.

    Args:
        scores: [N, J].
        labels: int64 [N].
    """
    classes = scores.shape[1]
    pairs = classes * labels + scores.argmax(dim=1)
    return torch.bincount(pairs, minlength=classes**2).view(classes, classes).tolist()


def _errors(network: nn.Module, data: Digits) -> dict[str, float]:
    """Measure error rates, 0 to 1: of ``all`` classes, and of those ``apart`` from 6 and 9."""
    scores = scores_of(network, data.images)
    errors = {}
    for name, classes in (("all", range(10)), ("apart", DIGITS.apart)):
        wrong = wrong_among(scores, data.labels, classes)
        errors[name] = share_of(wrong, data.labels, classes)
    return errors


def _round_the_circle(network: nn.Module) -> dict[str, list[float]]:
    """Measure the errors of `_errors` at each of `ANGLES`."""
    data = digits("validation", "mnist")
    some = data._replace(images=data.images[:ON_THE_CURVE], labels=data.labels[:ON_THE_CURVE])
    curve: dict[str, list[float]] = {"all": [], "apart": []}
    for angle in ANGLES:
        generator = torch.Generator().manual_seed(SEED + 1)
        turned = moved(some, torch.full((ON_THE_CURVE,), float(angle)), generator)
        for name, error in _errors(network, turned).items():
            curve[name].append(error)
    return curve


def measure(network: nn.Module) -> dict[str, Any]:
    """Measure what bounds a network.

    Returns:
        ``confusion`` of validation digits by view, as the function; ``quarters``, their errors at
        new angles by `quarters_by_ink`; ``training``, the errors of as many digits of training at
        new angles; ``by_angle``, errors at each of `ANGLES`; ``changes``, as
        `turning.measure_changes`. Errors are 0 to 1.
    """
    upright = digits("validation", "mnist")
    scores = {view: scores_of(network, validation_digits(view).images) for view in VIEWS}
    wrong = wrong_among(scores["new"], upright.labels, range(10)).double()
    quarter = quarters_by_ink(upright.images, upright.labels)
    return {
        "confusion": {view: confusion(scores[view], upright.labels) for view in VIEWS},
        "quarters": [round(wrong[quarter == k].mean().item(), 6) for k in range(QUARTERS)],
        "training": _errors(network, digits_of_training()),
        "by_angle": _round_the_circle(network),
        "changes": measure_changes(network),
    }


@torch.no_grad()
def measure_told_upright(reader: AngleReader) -> dict[str, Any]:
    """Measure a reader that is told, at inference alone, that no digit is upside down.

    A class of `UPRIGHT` is ruled out where the turn that is believed of it is beyond `HALF`.

    Returns:
        ``error`` of upright validation digits, 0 to 1, and their ``confusion``.
    """
    images, labels, _ = validation_digits("straight")
    scores = scores_of(reader, images)
    for label in UPRIGHT:
        same = torch.full_like(labels, label)
        _, turn = over_batches(reader, reader.scores_and_turn, images, same)
        angle = torch.rad2deg(torch.atan2(turn[:, 1], turn[:, 0]))
        scores[angle.abs() > HALF, label] = -math.inf
    wrong = wrong_among(scores, labels, range(10))
    return {
        "error": share_of(wrong, labels, range(10)),
        "confusion": confusion(scores, labels),
    }


def run(name: str, seed: int) -> dict[str, Any]:
    """Measure the stored network of a variant and seed, or the pages' network."""
    commit = records.code_version()
    if (name, seed) == SHIPPED:
        reader = trained_reader()
        return {"commit": commit, **measure(reader), "told_upright": measure_told_upright(reader)}
    network = VARIANTS[name].build()
    network.load_state_dict(load_file(WEIGHTS / f"{name}-{seed}.safetensors"))
    return {"commit": commit, **measure(network.eval())}


def limit_table(record: dict[str, Any], names: Sequence[str]) -> str:
    """Return a table in Markdown of per cent misread at new angles, the mean over the seeds.

    The columns are digits of training, validation digits, and of these the quarters of each class
    with the least and with the most ink.

    Args:
        record: results/turning_limits.json.
        names: the rows, names of networks that were measured.
    """
    titles = ["digits of training", "validation digits", "with least ink", "with most ink"]
    return arms.table_of_errors(
        record, {name: MEASURED[name] for name in names}, titles, _errors_in_columns
    )


def _errors_in_columns(run: arms.Run) -> list[float]:
    """Return the errors of a run, 0 to 1, in the order of `limit_table`'s columns."""
    counts = run["confusion"]["new"]
    right = sum(row[label] for label, row in enumerate(counts))
    validation = 1 - right / sum(map(sum, counts))
    return [run["training"]["all"], validation, run["quarters"][0], run["quarters"][-1]]


Pair = tuple[int, int]
"""Two classes, the smaller first."""


def most_confused(counts: Sequence[Sequence[int]], count: int = 5) -> list[Pair]:
    """Return the pairs of classes that are most often taken for one another, the first most often.

    Args:
        counts: of `confusion`.
        count: how many pairs.
    """
    pairs = list(combinations(range(len(counts)), 2))
    pairs.sort(key=lambda pair: -_taken_for_one_another(counts, pair))
    return pairs[:count]


def digits_confused(counts: Sequence[Sequence[int]], pairs: Sequence[Pair]) -> dict[str, float]:
    """Return how many of 1,000 digits are misread within these pairs of classes, and outside them.

    Args:
        counts: of `confusion`.
        pairs: of `most_confused`.
    """
    total = sum(map(sum, counts))
    right = sum(row[label] for label, row in enumerate(counts))
    confused = {}
    for pair in pairs:
        confused[f"{pair[0]} and {pair[1]}"] = _taken_for_one_another(counts, pair)
    confused["all other pairs"] = total - right - sum(confused.values())
    return {name: 1000 * digits / total for name, digits in confused.items()}


def _taken_for_one_another(counts: Sequence[Sequence[int]], pair: Pair) -> int:
    first, second = pair
    return counts[first][second] + counts[second][first]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the file lacks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="+", metavar="VARIANT")
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    options = parser.parse_args(arguments)
    about = {"angles": list(ANGLES), "on_the_curve": ON_THE_CURVE}
    jobs = list(product(options.seeds, options.names))
    arms.do_missing("turning_limits", MEASURED, about, run, jobs)


if __name__ == "__main__":
    main()
