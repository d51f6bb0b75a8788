"""Routing as textbooks and tutorials write it, to compare ours with.

A baseline takes u [B, I, D_in], W [I, J, D_in, D_out] and the number of rounds, and returns
v [B, J, D_out]. All are right: they compute the same as `capsnet_tutorial.fast.route_capsules`, to
rounding, with the gradient through every round.
"""

from __future__ import annotations

import torch
from capsnet_book.routings.messages import route_by_messages
from torch import Tensor

from capsnet_tutorial.functional import prediction_vectors


def squash(s: Tensor) -> Tensor:
    """Compute equation 1, written down from left to right."""
    square = s.square().sum(dim=-1, keepdim=True)
    return square / (1 + square) * s / (square + 1e-8).sqrt()


def by_einsum(u: Tensor, weight: Tensor, iterations: int = 3) -> Tensor:
    """Compute û and Procedure 1 by einsum, two a round: the fastest of the usual ways."""
    return rounds_by_einsum(torch.einsum("bid,ijde->bije", u, weight), iterations)


def rounds_by_einsum(u_hat: Tensor, iterations: int = 3) -> Tensor:
    """Compute Procedure 1 with two einsums a round; a part for a network.

    u_hat [B, I, J, D_out] -> v [B, J, D_out].
    """
    b = torch.zeros_like(u_hat[..., 0])  # [B, I, J]
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash(torch.einsum("bij,bije->bje", c, u_hat))
        b = b + torch.einsum("bije,bje->bij", u_hat, v)
    return v


def by_tiling(u: Tensor, weight: Tensor, iterations: int = 3) -> Tensor:
    """Route with tensors of five dimensions, as products of small matrices.

    W is tiled over the batch, u over the capsules above.
    """
    batch, above = len(u), weight.shape[1]
    tiled_weight = weight.mT.unsqueeze(0).tile(batch, 1, 1, 1, 1)  # [B, I, J, D_out, D_in]
    tiled_u = u[:, :, None, :, None].tile(1, 1, above, 1, 1)  # [B, I, J, D_in, 1]
    u_hat = tiled_weight @ tiled_u  # [B, I, J, D_out, 1]
    b = torch.zeros_like(u_hat[:, :, :, :1])  # [B, I, J, 1, 1]
    for _ in range(iterations):
        c = b.softmax(dim=2)
        s = (c * u_hat).sum(dim=1, keepdim=True).squeeze(-1)  # [B, 1, J, D_out]
        v = squash(s).unsqueeze(-1)  # [B, 1, J, D_out, 1]
        b = b + u_hat.mT @ v.tile(1, u.shape[1], 1, 1, 1)
    return v[:, 0, :, :, 0]


def by_messages(u: Tensor, weight: Tensor, iterations: int = 3) -> Tensor:
    """Route by messages along the edges of a graph, with PyTorch Geometric."""
    return route_by_messages(prediction_vectors(u, weight), iterations)


BASELINES = {"tiling": by_tiling, "messages": by_messages}
