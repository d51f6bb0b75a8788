"""Entropy of the couplings, and error, after each round of a network's routing."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from capsnet_tutorial.experiments.cnn import Labelled
from capsnet_tutorial.functional import capsule_lengths
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.routings.entropy import coupling_entropy
from capsnet_tutorial.training.evaluation import over_batches


def measure_rounds(network: CapsNet, digits: Labelled, batch_size: int = 100) -> list[dict[str, float]]:
    """Measure every round of a network's routing, in eval mode.

    Returns:
        For each round, ``entropy``: of a capsule's couplings over the classes, the mean over all capsules and digits,
        from 0 (all to one class) to 1 (even shares, as in the first round); and ``error``: the share of digits that
        are wrong by the lengths after this round.
    """
    even = math.log2(network.config.classes)

    def measure(images: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        _, trace = network.trace(images)
        entropy = coupling_entropy(trace.c) / even  # [R, B]
        wrong = torch.stack([capsule_lengths(v).argmax(dim=1) != labels for v in trace.v])
        return entropy.T, wrong.T

    entropy, wrong = over_batches(network, measure, digits.images, digits.labels, batch_size=batch_size)  # [N, R]
    rounds = zip(entropy.double().mean(dim=0).tolist(), wrong.double().mean(dim=0).tolist(), strict=True)
    return [{"entropy": round(each, 6), "error": round(error, 6)} for each, error in rounds]
