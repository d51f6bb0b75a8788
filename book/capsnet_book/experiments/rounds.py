"""Entropy of the couplings of a network's routing; of the paper's, after each round, and the error there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from capsnet_book.experiments.cnn import Labelled, read_wrongly
from capsnet_book.experiments.packing import pack
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


ROUNDS = 5
"""Every CapsNet is read with 1, 2, … so many rounds, whatever it was trained with."""


def measure_rounds(
    network: CapsNet, data: Mapping[str, Labelled], batch_size: int = 50
) -> tuple[list[dict[str, float]], dict[str, list[str]]]:
    """Read images with one round, two and so on up to `ROUNDS`, in eval mode.

    Args:
        network: of any routing; one without rounds reads the same each time, but for a control's first.
        data: images by split; ``test`` is one of them.

    Returns:
        For each number of rounds, the error by split, from 0 to 1, and for the paper's routing ``entropy`` of a
        capsule's couplings over the classes, the mean over all capsules and test images, from 0 (all to one class)
        to 1 (even shares). And by split, for each number of rounds, which images are read wrongly, packed by
        `packing.pack`.
    """
    routed, even = network.routed, math.log2(network.config.classes)

    def measure(images: Tensor) -> tuple[Tensor, ...]:
        u_hat = prediction_vectors(network.primary_capsules(images), routed.weight)
        if not routed.routes_as_paper:
            return (torch.stack([capsule_lengths(routed.routing(u_hat, r)) for r in range(1, ROUNDS + 1)], dim=1),)
        _, trace = route(u_hat, ROUNDS, return_trace=True)
        lengths = torch.stack([capsule_lengths(v) for v in trace.v], dim=1)  # [B, R, J]
        return lengths, (coupling_entropy(trace.c) / even).T

    rounds: list[dict[str, float]] = [{} for _ in range(ROUNDS)]
    wrong: dict[str, list[str]] = {}
    for split, each in data.items():
        lengths, *entropy = over_batches(network, measure, each.images, batch_size=batch_size)
        read = [read_wrongly(after, each.labels) for after in lengths.unbind(dim=1)]
        wrong[split] = [pack(positions.tolist(), len(each.labels)) for positions in read]
        for found, positions in zip(rounds, read, strict=True):
            found[split] = round(len(positions) / len(each.labels), 6)
        if split == "test" and entropy:
            for found, value in zip(rounds, entropy[0].double().mean(dim=0).tolist(), strict=True):
                found["entropy"] = round(value, 6)
    return rounds, wrong
