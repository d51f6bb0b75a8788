"""Each piece of the network, right and with each bug that it can have."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_check import BUGS
from capsnet_tutorial.errors import expect

Piece = Callable[..., Tensor]

_MAKERS: dict[str, dict[str | None, Callable[[], Piece]]] = {}
"""A piece -> a bug, or None for the right function -> a function that makes the variant."""


def _register(piece: str, bug: str | None = None) -> Callable[[Piece], Piece]:
    """Decorate a function as the variant of a piece with a bug, or without any."""

    def register(function: Piece) -> Piece:
        _MAKERS.setdefault(piece, {})[bug] = lambda: function
        # The name in a weights file.
        function.__name__ = bug or piece  # type: ignore[attr-defined]
        return function

    return register


def piece_of(bug: str) -> str:
    """Return the piece that has a bug of the catalogue: routing, if it can be there.

    Raises:
        ValueError: no such bug.
    """
    expect(bug in BUGS, f"a bug, one of {', '.join(BUGS)}", repr(bug))
    pieces = [piece for piece, makers in _MAKERS.items() if bug in makers]
    return "routing" if "routing" in pieces else pieces[0]


def variant(piece: str, bug: str | None = None) -> Piece:
    """Return a piece with a bug, or without any; one with state is a fresh one.

    Args:
        piece: "squash", "primary_capsules", "routing", "margin_loss", "mask" or
            "reconstruction_loss".
        bug: an id of `BUGS` that this piece can have.

    Raises:
        ValueError: no such piece, or a bug that it cannot have.
    """
    expect(piece in _MAKERS, f"a piece, one of {', '.join(_MAKERS)}", repr(piece))
    makers = _MAKERS[piece]
    possible = ", ".join(name for name in makers if name)
    expect(bug in makers, f"a bug that {piece} can have, one of {possible}", repr(bug))
    return makers[bug]()


# --- squash: s [..., D] -> v


@_register("squash")
def squash(s: Tensor) -> Tensor:
    square = (s * s).sum(dim=-1, keepdim=True)  # ‖s‖²
    return square / (1 + square) * s / square.clamp_min(1e-16).sqrt()


@_register("squash", "squash-axis")
def squash_over_the_capsules(s: Tensor) -> Tensor:
    square = (s * s).sum(dim=1, keepdim=True)
    return square / (1 + square) * s / square.clamp_min(1e-16).sqrt()


@_register("squash", "squash-nan")
def bare_squash(s: Tensor) -> Tensor:
    square = (s * s).sum(dim=-1, keepdim=True)
    return square / (1 + square) * s / square.sqrt()


# --- primary capsules: features [B, types·dim, H, W] -> u [B, types·H·W, dim]


def _group_by_place(features: Tensor, dim: int) -> Tensor:
    return features.unflatten(1, (-1, dim)).permute(0, 1, 3, 4, 2).flatten(1, 3)


@_register("primary_capsules")
def primary_capsules(features: Tensor, dim: int) -> Tensor:
    return squash(_group_by_place(features, dim))


@_register("primary_capsules", "capsule-view")
def capsules_by_view(features: Tensor, dim: int) -> Tensor:
    return squash(features.reshape(len(features), -1, dim))


@_register("primary_capsules", "squash-axis")
def capsules_squashed_over_all_of_them(features: Tensor, dim: int) -> Tensor:
    return squash_over_the_capsules(_group_by_place(features, dim))


@_register("primary_capsules", "squash-nan")
def capsules_by_a_bare_squash(features: Tensor, dim: int) -> Tensor:
    return bare_squash(_group_by_place(features, dim))


# --- routing: û [B, I, J, D], rounds -> v [B, J, D]


@_register("routing")
def route(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])  # [B, I, J]
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


@_register("routing", "softmax-axis")
def route_softmax_over_i(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = b.softmax(dim=1)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


@_register("routing", "squash-nan")
def route_with_a_bare_squash(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = bare_squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


@_register("routing", "squash-axis")
def route_squashed_over_the_classes(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash_over_the_capsules((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


@_register("routing", "batch-agreement")
def route_by_the_batch(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1).mean(dim=0, keepdim=True)
    return v


@_register("routing", "no-update-rounds")
def route_a_round_too_few(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for r in range(iterations):
        c = b.softmax(dim=2)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        if r > 0:
            b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


class StaleRouting:
    """Routing that keeps b, so that the next call with votes of this shape goes on with it."""

    __name__ = "stale-logits"

    def __init__(self) -> None:
        self.kept: dict[torch.Size, Tensor] = {}

    def __call__(self, u_hat: Tensor, iterations: int) -> Tensor:
        b = self.kept.get(u_hat.shape[:3], torch.zeros_like(u_hat[..., 0]))
        for _ in range(iterations):
            c = b.softmax(dim=2)
            v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
            b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
        self.kept[u_hat.shape[:3]] = b.detach()
        return v


_MAKERS["routing"]["stale-logits"] = StaleRouting


# --- margin loss: lengths [B, J], labels [B] -> scalar


@_register("margin_loss")
def margin_loss(lengths: Tensor, labels: Tensor) -> Tensor:
    T = F.one_hot(labels, lengths.shape[1])
    L = T * (0.9 - lengths).relu() ** 2 + 0.5 * (1 - T) * (lengths - 0.1).relu() ** 2
    return L.sum(dim=1).mean()


@_register("margin_loss", "margin-not-squared")
def margin_not_squared(lengths: Tensor, labels: Tensor) -> Tensor:
    T = F.one_hot(labels, lengths.shape[1])
    L = T * (0.9 - lengths).relu() + 0.5 * (1 - T) * (lengths - 0.1).relu()
    return L.sum(dim=1).mean()


@_register("margin_loss", "lengths-softmax")
def margin_of_a_softmax(lengths: Tensor, labels: Tensor) -> Tensor:
    return margin_loss(lengths.softmax(dim=1), labels)


# --- mask: v [B, J, D], labels [B] or None -> [B, J, D]


@_register("mask")
def mask(v: Tensor, labels: Tensor | None = None) -> Tensor:
    keep = v.norm(dim=-1).argmax(dim=1) if labels is None else labels
    return v * F.one_hot(keep, v.shape[1]).unsqueeze(-1)


@_register("mask", "mask-prediction")
def mask_by_prediction(v: Tensor, labels: Tensor | None = None) -> Tensor:
    keep = v.norm(dim=-1).argmax(dim=1)
    return v * F.one_hot(keep, v.shape[1]).unsqueeze(-1)


# --- reconstruction loss: drawings [B, 784], images [B, 1, 28, 28] -> scalar


@_register("reconstruction_loss")
def reconstruction_loss(reconstruction: Tensor, images: Tensor) -> Tensor:
    return 0.0005 * (reconstruction - images.flatten(1)).square().sum(dim=1).mean()


@_register("reconstruction_loss", "recon-mean")
def reconstruction_mean(reconstruction: Tensor, images: Tensor) -> Tensor:
    return 0.0005 * F.mse_loss(reconstruction, images.flatten(1))
