"""What is measured of a trained network for its record, beside its errors.

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
"""Every CapsNet is read with 1, 2, … so many rounds, whatever it was trained with."""
BINS = 10
"""Of a capsule's length from 0 to 1, all of the same width."""
NOISE = 0.3
"""Standard deviation of the noise that `noisy` adds, on pixels from 0 to 1."""
LONG = 0.99
"""A primary capsule that is longer is counted as saturated."""
KEYS = {"test": "error", "test_bent": "bent", "test_noisy": "noisy"}
"""What the error on a split is called in ``rounds``."""


def evidence(network: CapsNet | ConvNet, data: Mapping[str, Labelled]) -> dict[str, Any]:
    """All of this module, ready for JSON.

    Args:
        network: that was trained.
        data: what it is measured on, by split; ``test`` is one of them.

    Returns:
        ``wrong``: for each split the positions of the images read wrongly, ascending. Of a CapsNet also ``rounds``
        and ``wrong_after`` (`measure_rounds`); ``calibration``: `calibrate` for each split of `KEYS`; and
        what `measure_inside` finds on the test images.
    """
    scores = {split: scores_of(network, each.images) for split, each in data.items()}
    wrong = {
        split: read_wrongly(each, data[split].labels).tolist() for split, each in scores.items()
    }
    if not isinstance(network, CapsNet):
        return {"wrong": wrong}
    test = data["test"]
    tests = {split: each for split, each in data.items() if split in KEYS}
    tests["test_noisy"] = Digits(noisy(test.images), test.labels, "test, in noise")
    scores["test_noisy"] = scores_of(network, tests["test_noisy"].images)
    rounds, wrong_after = measure_rounds(network, tests)
    calibration = {split: calibrate(scores[split], each.labels) for split, each in tests.items()}
    about = {
        "wrong": wrong,
        "rounds": rounds,
        "wrong_after": wrong_after,
        "calibration": calibration,
    }
    return about | measure_inside(network, test)


def noisy(images: Tensor, seed: int = 0) -> Tensor:
    """Images with normally distributed noise on every pixel, cut off at 0 and 1; the same for the same seed."""
    noise = torch.randn(images.shape, generator=torch.Generator().manual_seed(seed))
    return (images + NOISE * noise.to(images.device)).clamp(0, 1)


def pack_wrong(wrong: Sequence[int], images: int) -> str:
    """These positions among so many images as a short text: a bit an image, compressed."""
    bits = np.zeros(images, dtype=bool)
    bits[list(wrong)] = True
    return base64.b85encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode()


def unpack_wrong(text: str, images: int) -> np.ndarray:
    """The inverse of `pack_wrong`: bool [images], True where an image is read wrongly."""
    bits = np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype=np.uint8)
    return np.unpackbits(bits, count=images).astype(bool)


def measure_rounds(
    network: CapsNet, tests: Mapping[str, Labelled], batch_size: int = 50
) -> tuple[list[dict[str, float]], dict[str, list[str]]]:
    """Read images with one round, two and so on up to `ROUNDS`, in eval mode.

    Args:
        network: of any routing; one without rounds reads the same each time (a control: but for the first).
        tests: images by split, of `KEYS`; ``test`` is one of them.

    Returns:
        For each number of rounds, the errors from 0 to 1, named by `KEYS`, and of the paper's routing ``entropy``: of
        a capsule's couplings over the classes, the mean over all capsules and test images, from 0 (all to one class)
        to 1 (even shares). And by split, for each number of rounds, which images are read wrongly, by `pack_wrong`.
    """
    routed, even = network.routed, math.log2(network.config.classes)

    def measure(images: Tensor) -> tuple[Tensor, ...]:
        u_hat = prediction_vectors(network.primary_capsules(images), routed.weight)
        if not routed.routes_as_paper:
            return (
                torch.stack(
                    [capsule_lengths(routed.routing(u_hat, r)) for r in range(1, ROUNDS + 1)], dim=1
                ),
            )
        _, trace = route(u_hat, ROUNDS, return_trace=True)
        lengths = torch.stack([capsule_lengths(v) for v in trace.v], dim=1)  # [B, R, J]
        return lengths, (coupling_entropy(trace.c) / even).T

    rounds: list[dict[str, float]] = [{} for _ in range(ROUNDS)]
    wrong_after: dict[str, list[str]] = {}
    for split, each in tests.items():
        lengths, *entropy = over_batches(network, measure, each.images, batch_size=batch_size)
        wrong = [read_wrongly(after, each.labels) for after in lengths.unbind(dim=1)]
        wrong_after[split] = [
            pack_wrong(positions.tolist(), len(each.labels)) for positions in wrong
        ]
        for r, found in enumerate(rounds):
            if split == "test" and entropy:
                found["entropy"] = round(entropy[0][:, r].double().mean().item(), 6)
            found[KEYS[split]] = round(len(wrong[r]) / len(each.labels), 6)
    return rounds, wrong_after


def calibrate(lengths: Tensor, labels: Tensor) -> dict[str, list[Any]]:
    """How often a capsule that is so long is right: the longest of each image; in a picture of two digits, both.

    Args:
        lengths: [N, J], of the class capsules, from 0 to 1.
        labels: int64 [N] or [N, K]: what is there. The K longest capsules count, each as right if it is among them.

    Returns:
        Three lists with an entry for each bin of length, 0 to 0.1 first: ``count``; ``right``, how many of them are;
        ``mean_length``, None for an empty bin.
    """
    wanted = labels.view(len(labels), -1)
    longest, classes = lengths.topk(wanted.shape[1], dim=1)  # [N, K]
    right = (classes.unsqueeze(2) == wanted.unsqueeze(1)).any(dim=2).flatten()
    longest = longest.flatten().cpu().double()
    place = (longest * BINS).long().clamp(0, BINS - 1)
    count = place.bincount(minlength=BINS)
    total = place.bincount(longest, minlength=BINS)
    return {
        "count": count.tolist(),
        "right": place[right.cpu()].bincount(minlength=BINS).tolist(),
        "mean_length": [
            round(length / many, 5) if many else None
            for length, many in zip(total.tolist(), count.tolist(), strict=True)
        ],
    }


def measure_inside(network: CapsNet, data: Labelled, batch_size: int = 50) -> dict[str, Any]:
    """What the capsules of a network are like, in eval mode; a mean over all images each.

    Returns:
        ``saturated``: the share of the primary capsules that are longer than `LONG`.
        ``entropy`` of the last round's couplings, as in `measure_rounds`: of the paper's routing, or of one that offers
        some by its method ``couplings(u_hat, iterations)``, if they share out a capsule.
        ``vote_shares``, of the paper's routing: how the capsules below share out the length of the votes for the true
        class (or both of a picture of two digits), ``before`` and ``after`` routing. The share of capsule i is
        ‖û_j|i‖ / Σ_k ‖û_j|k‖; after routing, each vote counts times its coupling. ``effective_capsules`` is
        1 / Σ_i share_i²: I if all votes are as long, 1 if only one has any length.
    """
    routed, even = network.routed, math.log2(network.config.classes)
    offered = getattr(routed.routing, "couplings", None)
    wanted = data.labels.view(len(data.labels), -1)  # [N, K]

    def measure(images: Tensor, classes: Tensor) -> tuple[Tensor, ...]:
        u = network.primary_capsules(images)
        u_hat = prediction_vectors(u, routed.weight)  # [B, I, J, D_out]
        saturated = (u.norm(dim=2) > LONG).double().mean(dim=1)
        c = u_hat.new_full(u_hat.shape[:3], math.nan)
        if routed.routes_as_paper:
            c = route(u_hat, routed.iterations, return_trace=True)[1].c[-1]
        elif offered is not None:
            c = offered(u_hat, routed.iterations)
        is_shared = (c >= 0).all() and ((c.sum(dim=2) - 1).abs() < 1e-3).all()
        entropy = coupling_entropy(c if is_shared else c * math.nan)
        votes, asked = (
            u_hat.norm(dim=3),
            classes.unsqueeze(1).expand(-1, u.shape[1], -1),
        )  # [B, I, J], [B, I, K]
        lengths = torch.stack([each.gather(2, asked) for each in (votes, c * votes)], dim=1)
        shares = lengths / lengths.sum(dim=2, keepdim=True).clamp_min(1e-30)  # [B, 2, I, K]
        # Without any votes all shares are 0: then none counts for more than another.
        concentration = shares.square().sum(dim=2).clamp_min(1 / shares.shape[2])  # [B, 2, K]
        return saturated, entropy, (1 / concentration).mean(dim=2)

    measured = over_batches(network, measure, data.images, wanted, batch_size=batch_size)
    saturated, entropy, effective = (each.double().mean(dim=0) for each in measured)
    found: dict[str, Any] = {"saturated": round(saturated.item(), 5)}
    if entropy.isfinite():
        found["entropy"] = round(entropy.item() / even, 6)
    if routed.routes_as_paper:
        before, after = ({"effective_capsules": round(each, 5)} for each in effective.tolist())
        found["vote_shares"] = {"before": before, "after": after}
    return found
