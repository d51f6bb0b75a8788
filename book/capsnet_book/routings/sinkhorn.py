"""Balanced couplings: Procedure 1 where every capsule above gets an equal share of the layer below.

Source: Cuturi, "Sinkhorn Distances: Lightspeed Computation of Optimal Transport", NIPS 2013,
https://arxiv.org/abs/1306.0895. Only the couplings differ from the paper's: rows and columns are
normalised in turn.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from capsnet_tutorial.functional import squash


class SinkhornRouting(nn.Module):
    """Procedure 1 with c_ij = exp(b_ij + p_i + q_j).

    p and q are such that Σ_j c_ij = 1 and Σ_i c_ij = I/J.
    (u_hat [B, I, J, D], iterations) -> v [B, J, D].

    Args:
        sweeps: normalisations of columns and rows; the rows come last, so that Σ_j c_ij = 1 holds
            exactly.
    """

    def __init__(self, sweeps: int = 5) -> None:
        super().__init__()
        self.sweeps = sweeps

    def balanced(self, b: Tensor) -> Tensor:
        """Return the balanced couplings c [B, I, J] of logits b [B, I, J]."""
        share = math.log(b.shape[1] / b.shape[2])  # of one capsule above: I/J
        for _ in range(self.sweeps):
            b = b - b.logsumexp(dim=1, keepdim=True) + share
            b = b.log_softmax(dim=2)
        return b.exp()

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c of the last round, [B, I, J]."""
        b = torch.zeros_like(u_hat[..., 0])
        for _ in range(iterations - 1):
            v = squash(torch.einsum("bij,bije->bje", self.balanced(b), u_hat))
            b = b + torch.einsum("bije,bje->bij", u_hat, v)
        return self.balanced(b)

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return squash(torch.einsum("bij,bije->bje", self.couplings(u_hat, iterations), u_hat))
