"""Entropy of the couplings of a network's routing; of the paper's, after each round, and the error there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from capsnet_book.experiments.cnn import Labelled
from capsnet_book.routings.entropy import coupling_entropy
from capsnet_tutorial.functional import capsule_lengths, prediction_vectors, route, route_last
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import over_batches


def couplings(routing: Callable[..., Any], u_hat: Tensor, iterations: int) -> Tensor | None:
    """Couplings c [B, I, J] of the last round, where a routing offers them: its method ``couplings``, or `route`."""
    if routing is route or routing is route_last:
        return route(u_hat, iterations, return_trace=True)[1].c[-1]
    offered = getattr(routing, "couplings", None)
    return offered(u_hat, iterations) if callable(offered) else None


def measure_entropy(network: CapsNet, data: Labelled, batch_size: int = 100) -> float | None:
    """Entropy of a capsule's couplings over the classes, as in `measure_rounds`, of the last round, in eval mode.

    Returns:
        None where the routing offers no couplings, or such that do not share out a capsule below.
    """
    routed = network.routed

    def measure(images: Tensor) -> tuple[Tensor, ...]:
        c = couplings(
            routed.routing, prediction_vectors(network.primary_capsules(images), routed.weight), routed.iterations
        )
        is_shared = c is not None and bool((c >= 0).all()) and bool(((c.sum(dim=2) - 1).abs() < 1e-3).all())
        found = coupling_entropy(c) if c is not None and is_shared else images.new_full((len(images),), math.nan)
        return (found / math.log2(network.config.classes),)

    (entropy,) = over_batches(network, measure, data.images, batch_size=batch_size)
    mean = entropy.double().mean().item()
    return None if math.isnan(mean) else round(mean, 6)


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
