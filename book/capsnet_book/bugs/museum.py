"""Each piece of the network, right and with each bug that it can have."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_check import BUGS
from capsnet_tutorial.errors import expect

Piece = Callable[..., Tensor]

_MADE: dict[str, dict[str | None, Callable[[], Piece]]] = {}
"""Piece, then bug: what makes the function."""


def _shown(piece: str, bug: str | None = None) -> Callable[[Piece], Piece]:
    """Put a function into the museum."""

    def put(function: Piece) -> Piece:
        _MADE.setdefault(piece, {})[bug] = lambda: function
        function.__name__ = bug or piece  # type: ignore[attr-defined]  # what a weights file calls it
        return function

    return put


def piece_of(bug: str) -> str:
    """The piece that a bug of the catalogue is in: routing, if it can be there.

    Raises:
        ValueError: no such bug.
    """
    expect(bug in BUGS, f"a bug, one of {', '.join(BUGS)}", repr(bug))
    found = [piece for piece, made in _MADE.items() if bug in made]
    return "routing" if "routing" in found else found[0]


def variant(piece: str, bug: str | None = None) -> Piece:
    """A piece with this bug, or right; what it keeps from call to call is its own.

    Args:
        piece: "squash", "primary_capsules", "routing", "margin_loss", "mask" or "reconstruction_loss".
        bug: an id of `BUGS` that this piece can have.

    Raises:
        ValueError: no such piece, or a bug that it cannot have.
    """
    expect(piece in _MADE, f"a piece, one of {', '.join(_MADE)}", repr(piece))
    can = ", ".join(each for each in _MADE[piece] if each)
    expect(bug in _MADE[piece], f"a bug that {piece} can have, one of {can}", repr(bug))
    return _MADE[piece][bug]()


# --- squash: s [..., D] -> v


@_shown("squash")
def squash(s: Tensor) -> Tensor:
    square = (s * s).sum(dim=-1, keepdim=True)  # ‖s‖²
    return square / (1 + square) * s / square.clamp_min(1e-16).sqrt()


@_shown("squash", "squash-axis")
def squash_over_the_capsules(s: Tensor) -> Tensor:
    square = (s * s).sum(dim=1, keepdim=True)
    return square / (1 + square) * s / square.clamp_min(1e-16).sqrt()


@_shown("squash", "squash-nan")
def bare_squash(s: Tensor) -> Tensor:
    square = (s * s).sum(dim=-1, keepdim=True)
    return square / (1 + square) * s / square.sqrt()


# --- primary capsules: features [B, types·dim, H, W] -> u [B, types·H·W, dim]


def _of_one_place(features: Tensor, dim: int) -> Tensor:
    return features.unflatten(1, (-1, dim)).permute(0, 1, 3, 4, 2).flatten(1, 3)


@_shown("primary_capsules")
def primary_capsules(features: Tensor, dim: int) -> Tensor:
    return squash(_of_one_place(features, dim))


@_shown("primary_capsules", "capsule-view")
def capsules_by_view(features: Tensor, dim: int) -> Tensor:
    return squash(features.reshape(len(features), -1, dim))


@_shown("primary_capsules", "squash-axis")
def capsules_squashed_over_all_of_them(features: Tensor, dim: int) -> Tensor:
    return squash_over_the_capsules(_of_one_place(features, dim))


@_shown("primary_capsules", "squash-nan")
def capsules_by_a_bare_squash(features: Tensor, dim: int) -> Tensor:
    return bare_squash(_of_one_place(features, dim))


# --- routing: û [B, I, J, D], rounds -> v [B, J, D]


@_shown("routing")
def route(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])  # [B, I, J]
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


@_shown("routing", "softmax-axis")
def route_softmax_over_i(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = b.softmax(dim=1)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


@_shown("routing", "squash-nan")
def route_with_a_bare_squash(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = bare_squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


@_shown("routing", "squash-axis")
def route_squashed_over_the_classes(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash_over_the_capsules((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


@_shown("routing", "batch-agreement")
def route_by_the_batch(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1).mean(dim=0, keepdim=True)
    return v


@_shown("routing", "no-update-rounds")
def route_a_round_too_few(u_hat: Tensor, iterations: int) -> Tensor:
    b = torch.zeros_like(u_hat[..., 0])
    for r in range(iterations):
        c = b.softmax(dim=2)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        if r > 0:
            b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
    return v


class StaleRouting:
    """b is an attribute, and the next call goes on with it."""

    __name__ = "stale-logits"

    def __init__(self) -> None:
        self.b = torch.zeros(0)

    def __call__(self, u_hat: Tensor, iterations: int) -> Tensor:
        if self.b.shape != u_hat.shape[:3]:
            self.b = torch.zeros_like(u_hat[..., 0])
        for _ in range(iterations):
            c = self.b.softmax(dim=2)
            v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
            self.b = self.b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
        self.b = self.b.detach()
        return v


_MADE["routing"]["stale-logits"] = StaleRouting


# --- margin loss: lengths [B, J], labels [B] -> scalar


@_shown("margin_loss")
def margin_loss(lengths: Tensor, labels: Tensor) -> Tensor:
    T = F.one_hot(labels, lengths.shape[1])
    L = T * (0.9 - lengths).relu() ** 2 + 0.5 * (1 - T) * (lengths - 0.1).relu() ** 2
    return L.sum(dim=1).mean()


@_shown("margin_loss", "margin-not-squared")
def margin_not_squared(lengths: Tensor, labels: Tensor) -> Tensor:
    T = F.one_hot(labels, lengths.shape[1])
    L = T * (0.9 - lengths).relu() + 0.5 * (1 - T) * (lengths - 0.1).relu()
    return L.sum(dim=1).mean()


@_shown("margin_loss", "lengths-softmax")
def margin_of_a_softmax(lengths: Tensor, labels: Tensor) -> Tensor:
    return margin_loss(lengths.softmax(dim=1), labels)


# --- mask: v [B, J, D], labels [B] or None -> [B, J, D]


@_shown("mask")
def mask(v: Tensor, labels: Tensor | None = None) -> Tensor:
    keep = v.norm(dim=-1).argmax(dim=1) if labels is None else labels
    return v * F.one_hot(keep, v.shape[1]).unsqueeze(-1)


@_shown("mask", "mask-prediction")
def mask_by_prediction(v: Tensor, labels: Tensor | None = None) -> Tensor:
    keep = v.norm(dim=-1).argmax(dim=1)
    return v * F.one_hot(keep, v.shape[1]).unsqueeze(-1)


# --- reconstruction loss: drawings [B, 784], images [B, 1, 28, 28] -> scalar


@_shown("reconstruction_loss")
def reconstruction_loss(reconstruction: Tensor, images: Tensor) -> Tensor:
    return 0.0005 * (reconstruction - images.flatten(1)).square().sum(dim=1).mean()


@_shown("reconstruction_loss", "recon-mean")
def reconstruction_mean(reconstruction: Tensor, images: Tensor) -> Tensor:
    return 0.0005 * F.mse_loss(reconstruction, images.flatten(1))
