"""Measurements of a trained network for its record, beside its errors.

With the wrong images of two runs, their errors can be compared image by image.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from capsnet_book.experiments.cnn import ConvNet, Labelled, read_wrongly, scores_of
from capsnet_book.routings.entropy import coupling_entropy
from capsnet_tutorial.data import Digits
from capsnet_tutorial.functional import capsule_lengths, prediction_vectors, route
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import over_batches

ROUNDS = 5
"""The largest number of rounds at inference; every CapsNet is measured with 1, 2, … of them."""
BINS = 10
"""Of a capsule's length from 0 to 1, all of the same width."""
NOISE = 0.3
"""Standard deviation of the noise that `noisy` adds, on pixels from 0 to 1."""
LONG = 0.99
"""The length above which a primary capsule is counted as saturated."""
KEYS = {"test": "error", "test_bent": "bent", "test_noisy": "noisy"}
"""A split -> the name of its error in ``rounds``."""


def evidence(network: CapsNet | ConvNet, data: Mapping[str, Labelled]) -> dict[str, Any]:
    """Return all measurements of this module, ready for JSON.

    Args:
        network: a trained one.
        data: a split's name -> its images; ``test`` is one of them.

    Returns:
        ``wrong``: for each split the positions of the images that are misread, ascending. Of a
        CapsNet also ``rounds`` and ``wrong_after`` (`measure_rounds`); ``calibration``: `calibrate`
        for each split of `KEYS`; and the measurements of `measure_inside` on the test images.
    """
    scores, wrong = {}, {}
    for split, examples in data.items():
        scores[split] = scores_of(network, examples.images)
        wrong[split] = read_wrongly(scores[split], examples.labels).tolist()
    if not isinstance(network, CapsNet):
        return {"wrong": wrong}

    test = data["test"]
    tests = {split: examples for split, examples in data.items() if split in KEYS}
    tests["test_noisy"] = Digits(noisy(test.images), test.labels, "test, in noise")
    scores["test_noisy"] = scores_of(network, tests["test_noisy"].images)
    calibration = {}
    for split, examples in tests.items():
        calibration[split] = calibrate(scores[split], examples.labels)
    rounds, wrong_after = measure_rounds(network, tests)
    return {
        "wrong": wrong,
        "rounds": rounds,
        "wrong_after": wrong_after,
        "calibration": calibration,
        **measure_inside(network, test),
    }


def noisy(images: Tensor, seed: int = 0) -> Tensor:
    """Add normally distributed noise to every pixel, and clip to [0, 1]; a seed fixes the noise."""
    noise = torch.randn(images.shape, generator=torch.Generator().manual_seed(seed))
    return (images + NOISE * noise.to(images.device)).clamp(0, 1)


def pack_wrong(wrong: Sequence[int], images: int) -> str:
    """Return positions among so many images as a short text: a bit an image, compressed."""
    bits = np.zeros(images, dtype=bool)
    bits[list(wrong)] = True
    return base64.b85encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode()


def unpack_wrong(text: str, images: int) -> np.ndarray:
    """Invert `pack_wrong`: bool [images], True where an image is misread."""
    bits = np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype=np.uint8)
    return np.unpackbits(bits, count=images).astype(bool)


def measure_rounds(
    network: CapsNet, tests: Mapping[str, Labelled], batch_size: int = 50
) -> tuple[list[dict[str, float]], dict[str, list[str]]]:
    """Measure a network with 1, 2, … `ROUNDS` rounds at inference, in eval mode.

    Args:
        network: of any routing; one without rounds gives the same answers each time (a control:
            but for the first).
        tests: a split of `KEYS` -> its images; ``test`` is one of them.
        batch_size: of the images that are measured at once.

    Returns:
        rounds: for each number of rounds the errors from 0 to 1, named by `KEYS`. Of the paper's
            routing also ``entropy``, from 0 (all to one class) to 1 (even shares): of a capsule's
            couplings over the classes, the mean over all capsules and test images.
        wrong_after: for each split, and each number of rounds, the misread images (`pack_wrong`).
    """
    routed = network.routed
    even = math.log2(network.config.classes)

    def measure(images: Tensor) -> tuple[Tensor, ...]:
        u_hat = prediction_vectors(network.primary_capsules(images), routed.weight)
        if not routed.routes_as_paper:
            outputs = [routed.routing(u_hat, r) for r in range(1, ROUNDS + 1)]
            return (torch.stack([capsule_lengths(v) for v in outputs], dim=1),)
        _, trace = route(u_hat, ROUNDS, return_trace=True)
        lengths = torch.stack([capsule_lengths(v) for v in trace.v], dim=1)  # [B, R, J]
        return lengths, (coupling_entropy(trace.c) / even).T  # [B, R]

    rounds: list[dict[str, float]] = [{} for _ in range(ROUNDS)]
    wrong_after: dict[str, list[str]] = {}
    for split, examples in tests.items():
        lengths, *entropies = over_batches(network, measure, examples.images, batch_size=batch_size)
        count = len(examples.labels)
        wrong_after[split] = []
        for r, point in enumerate(rounds):
            wrong = read_wrongly(lengths[:, r], examples.labels)
            wrong_after[split].append(pack_wrong(wrong.tolist(), count))
            if split == "test" and entropies:
                point["entropy"] = round(entropies[0][:, r].double().mean().item(), 6)
            point[KEYS[split]] = round(len(wrong) / count, 6)
    return rounds, wrong_after


def calibrate(lengths: Tensor, labels: Tensor) -> dict[str, list[Any]]:
    """Count how often a capsule of a length is right: an image's longest, or of a pair both.

    Args:
        lengths: [N, J], of the class capsules, from 0 to 1.
        labels: int64 [N] or [N, K]. The K longest capsules count, each as right if its class is
            one of the labels.

    Returns:
        Lists with an entry for each bin of length, 0 to 0.1 first: ``count``, of capsules;
        ``right``, how many of them are; ``mean_length``, None for an empty bin.
    """
    targets = labels.view(len(labels), -1)
    longest, classes = lengths.cpu().topk(targets.shape[1], dim=1)  # [N, K]
    is_right = (classes.unsqueeze(2) == targets.cpu().unsqueeze(1)).any(dim=2).flatten()
    longest = longest.flatten().double()
    place = (longest * BINS).long().clamp(0, BINS - 1)
    counts = place.bincount(minlength=BINS).tolist()
    totals = place.bincount(longest, minlength=BINS).tolist()
    means = []
    for total, count in zip(totals, counts, strict=True):
        means.append(round(total / count, 5) if count else None)
    return {
        "count": counts,
        "right": place[is_right].bincount(minlength=BINS).tolist(),
        "mean_length": means,
    }


def measure_inside(network: CapsNet, data: Labelled, batch_size: int = 50) -> dict[str, Any]:
    """Measure the capsules of a network, in eval mode; every number is a mean over all images.

    Returns:
        ``saturated``: the share of the primary capsules that are longer than `LONG`.
        ``entropy`` of the last round's couplings, as in `measure_rounds`: of the paper's routing,
            or of one with a method ``couplings(u_hat, iterations)``, if these share out a capsule.
        ``vote_shares``, of the paper's routing: ``effective_capsules`` (`effective_number`) by the
            lengths of the votes for the true class (or both of a pair), ``before`` routing and
            ``after`` it, where each vote counts times its coupling.
    """
    routed = network.routed
    even = math.log2(network.config.classes)
    targets = data.labels.view(len(data.labels), -1)  # [N, K]

    def measure(images: Tensor, classes: Tensor) -> tuple[Tensor, ...]:
        u = network.primary_capsules(images)
        u_hat = prediction_vectors(u, routed.weight)  # [B, I, J, D_out]
        c = _couplings_of_last_round(network, u_hat)
        is_shared = (c >= 0).all() and ((c.sum(dim=2) - 1).abs() < 1e-3).all()
        entropy = coupling_entropy(c if is_shared else c * math.nan)
        votes = u_hat.norm(dim=3)  # [B, I, J]
        places = classes.unsqueeze(1).expand(-1, u.shape[1], -1)  # [B, I, K]
        before = effective_number(votes.gather(2, places))  # [B, K]
        after = effective_number((c * votes).gather(2, places))
        effective = torch.stack([before.mean(dim=1), after.mean(dim=1)], dim=1)  # [B, 2]
        return u.norm(dim=2) > LONG, entropy, effective

    # Only the processor is asked for float64: some devices have none.
    measured = over_batches(network, measure, data.images, targets, batch_size=batch_size)
    is_long, entropy, effective = (values.double() for values in measured)
    inside: dict[str, Any] = {"saturated": round(is_long.mean(dim=1).mean().item(), 5)}
    mean_entropy = entropy.mean().item()
    if math.isfinite(mean_entropy):
        inside["entropy"] = round(mean_entropy / even, 6)
    if routed.routes_as_paper:
        before, after = effective.mean(dim=0).tolist()
        inside["vote_shares"] = {
            "before": {"effective_capsules": round(before, 5)},
            "after": {"effective_capsules": round(after, 5)},
        }
    return inside


def _couplings_of_last_round(network: CapsNet, u_hat: Tensor) -> Tensor:
    """Return the couplings [B, I, J] of a network's routing; nan where it offers none."""
    routed = network.routed
    if routed.routes_as_paper:
        return route(u_hat, routed.iterations, return_trace=True)[1].c[-1]
    couplings = getattr(routed.routing, "couplings", None)
    if couplings is None:
        return u_hat.new_full(u_hat.shape[:3], math.nan)
    return couplings(u_hat, routed.iterations)


def effective_number(lengths: Tensor) -> Tensor:
    """Return how many equally long votes a set of votes amounts to: 1 / Σ_i share_i².

    The share of vote i is its length divided by the sum over i. The number is I if all votes are
    equally long, or have no length, and 1 if only one has any.

    Args:
        lengths: [B, I, K], at least 0.

    Returns:
        [B, K].
    """
    shares = lengths / lengths.sum(dim=1, keepdim=True).clamp_min(1e-30)
    concentration = shares.square().sum(dim=1)
    return 1 / concentration.clamp_min(1 / shares.shape[1])
