"""What each round of routing adds: how decided the couplings are, and how well the network would do if it stopped."""

from __future__ import annotations

import math

import torch

from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect
from capsnet_tutorial.functional import capsule_lengths
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.routings.entropy import coupling_entropy
from capsnet_tutorial.training.evaluation import in_eval_mode


@torch.no_grad()
def measure_rounds(network: CapsNet, digits: Digits, batch_size: int = 100) -> list[dict[str, float]]:
    """Measure every round of a network's routing, in eval mode.

    Returns:
        For each round, ``entropy``: of a capsule's couplings over the classes, the mean over all capsules and digits,
        from 0 (all to one class) to 1 (even shares, as in the first round); and ``error``: the share of digits that
        are wrong by the lengths after this round.
    """
    expect(len(digits.images) > 0, "at least one digit", "none")
    device = next(network.parameters()).device
    even = math.log2(network.config.classes)
    entropy, wrong = torch.zeros(2, network.config.iterations, dtype=torch.float64)
    with in_eval_mode(network):
        for images, labels in zip(digits.images.split(batch_size), digits.labels.split(batch_size), strict=True):
            _, trace = network.trace(images.to(device))
            entropy += coupling_entropy(trace.c).sum(dim=1).cpu() / even
            for r, v in enumerate(trace.v):
                wrong[r] += int((capsule_lengths(v).argmax(dim=1).cpu() != labels).sum())
    count = len(digits.images)
    return [
        {"entropy": round(each.item() / count, 6), "error": round(missed.item() / count, 6)}
        for each, missed in zip(entropy, wrong, strict=True)
    ]
