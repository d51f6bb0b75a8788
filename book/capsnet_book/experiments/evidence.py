"""Measurements for a run's record: wrongly read images, calibration, primary capsules' lengths, shares of the votes.

With the wrong images of two runs, their errors can be compared image by image.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from capsnet_book.experiments.cnn import ConvNet, Labelled, read_wrongly, scores_of
from capsnet_book.experiments.packing import pack
from capsnet_book.experiments.rounds import measure_rounds
from capsnet_tutorial.functional import prediction_vectors
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import over_batches

BINS = 10
"""Of a capsule's length from 0 to 1, all of the same width."""
NOISE = 0.3
"""Standard deviation of the noise that `noisy` adds, on pixels from 0 to 1."""
LEARNED = 100
"""So many numbers, or fewer, that a routing has learned are in the record."""
LONG = 0.99
"""A primary capsule that is longer is counted as saturated."""
ALL_SHARES = 200
"""Up to so many capsules below, a record holds the share of every one."""
LARGEST_SHARES = 20
"""How many it holds where there are more."""


def evidence(network: CapsNet | ConvNet, data: Mapping[str, Labelled]) -> dict[str, Any]:
    """All of this module, ready for JSON.

    Args:
        network: that was trained.
        data: what it is measured on, by split; ``test`` is one of them.

    Returns:
        ``wrong``: for each split the positions of the images read wrongly, ascending. Of a CapsNet also
        ``calibration``: `calibrate` for each split and for ``test_noisy``; ``saturated``: `measure_saturation` on
        the test images; and, where the routing is the paper's, ``vote_shares``: `measure_vote_shares` on them.
    """
    test = data["test"]
    with_noise = {**data, "test_noisy": Images(noisy(test.images), test.labels)}
    scores = {split: scores_of(network, each.images) for split, each in with_noise.items()}
    found: dict[str, Any] = {
        "wrong": {
            split: pack(read_wrongly(each, with_noise[split].labels).tolist(), len(each))
            for split, each in scores.items()
        }
    }
    if isinstance(network, CapsNet):
        found["calibration"] = {split: calibrate(each, with_noise[split].labels) for split, each in scores.items()}
        found["saturated"] = round(measure_saturation(network, test.images), 5)
        found["rounds"], found["wrong_after"] = measure_rounds(network, with_noise)
        learned = {name: each for name, each in own_parameters(network).items() if each.numel() <= LEARNED}
        if learned:
            found["learned"] = {name: [round(x, 5) for x in each.flatten().tolist()] for name, each in learned.items()}
        if network.routed.routes_as_paper:
            found["vote_shares"] = measure_vote_shares(network, test)
    return found


class Images(NamedTuple):
    """Images [N, 1, H, W] and their labels."""

    images: Tensor
    labels: Tensor


def own_parameters(network: CapsNet) -> dict[str, Tensor]:
    """What a routing has learned beside the matrices, by name."""
    routing = network.routed.routing
    return dict(routing.named_parameters()) if isinstance(routing, nn.Module) else {}


def noisy(images: Tensor, seed: int = 0) -> Tensor:
    """Images with normally distributed noise on every pixel, cut off at 0 and 1; the same for the same seed."""
    noise = torch.randn(images.shape, generator=torch.Generator().manual_seed(seed))
    return (images + NOISE * noise.to(images.device)).clamp(0, 1)


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
    longest = longest.flatten().double()
    place = (longest * BINS).long().clamp(0, BINS - 1)
    count = place.bincount(minlength=BINS)
    total = place.bincount(longest, minlength=BINS)
    return {
        "count": count.tolist(),
        "right": place[right].bincount(minlength=BINS).tolist(),
        "mean_length": [
            round(length / many, 5) if many else None
            for length, many in zip(total.tolist(), count.tolist(), strict=True)
        ],
    }


def measure_saturation(network: CapsNet, images: Tensor) -> float:
    """The share of the primary capsules that are longer than 0.99, from 0 to 1, in eval mode.

    Args:
        network: any CapsNet.
        images: [N, C, H, W].

    Raises:
        ValueError: there are no images.
    """

    def measure(batch: Tensor) -> tuple[Tensor]:
        lengths = network.primary_capsules(batch).norm(dim=2)  # ‖u‖, [B, I]
        return ((lengths > LONG).double().mean(dim=1),)

    (shares,) = over_batches(network, measure, images)  # [N]
    return shares.mean().item()


def measure_vote_shares(network: CapsNet, data: Labelled, batch_size: int = 50) -> dict[str, Any]:
    """How the capsules below share out the length of the votes for the true class, in eval mode.

    The share of capsule i in an image of class j is ‖û_j|i‖ / Σ_k ‖û_j|k‖; after routing, it is that of the vote
    times its coupling in the last round. Of a picture of two digits, both classes count.

    Returns:
        ``before`` and ``after`` routing, each with ``effective_capsules``: 1 / Σ_i share_i², the mean over the images
        (I if all votes are as long, 1 if only one has any length); ``shares``: of the capsules ``capsules``, the mean
        over the images. Up to 200 capsules these are all, in order; of more, the 20 with the largest shares.

    Raises:
        ValueError: there are no images.
    """
    wanted = data.labels if data.labels.dim() == 2 else data.labels.unsqueeze(1)  # [N, K]

    def measure(images: Tensor, classes: Tensor) -> tuple[Tensor, ...]:
        u = network.primary_capsules(images)
        votes = prediction_vectors(u, network.routed.weight).norm(dim=3)  # ‖û‖, [B, I, J]
        _, trace = network.routed.trace(u)
        asked = classes.unsqueeze(1).expand(-1, votes.shape[1], -1)  # [B, I, K]
        lengths = torch.stack([each.gather(2, asked) for each in (votes, trace.c[-1] * votes)], dim=1).double()
        shares = lengths / lengths.sum(dim=2, keepdim=True).clamp_min(1e-30)  # [B, 2, I, K]
        # Without any votes all shares are 0: then none counts for more than another.
        concentration = shares.square().sum(dim=2).clamp_min(1 / shares.shape[2])  # [B, 2, K]
        return shares.mean(dim=3), (1 / concentration).mean(dim=2)

    shares, effective = over_batches(network, measure, data.images, wanted, batch_size=batch_size)  # [N, 2, …]
    return {
        name: {"effective_capsules": round(each.item(), 5)} | _listed(share)
        for name, each, share in zip(("before", "after"), effective.mean(dim=0), shares.mean(dim=0), strict=True)
    }


def _listed(shares: Tensor) -> dict[str, list[Any]]:
    capsules = torch.arange(len(shares))
    if len(shares) > ALL_SHARES:
        capsules = shares.topk(LARGEST_SHARES).indices
    return {"capsules": capsules.tolist(), "shares": [round(share, 5) for share in shares[capsules].tolist()]}
