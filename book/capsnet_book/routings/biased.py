"""Routing with a bias on s_j, as in the authors' released code."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from capsnet_tutorial.functional import squash


class BiasedRouting(nn.Module):
    """Procedure 1 with s_j = Σ_i c_ij û_j|i + bias_j in every round.

    The bias is learned, 0.1 at first. (u_hat [B, I, J, D_out], iterations) -> v [B, J, D_out].
    """

    def __init__(self, capsules: int, dim: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.full((capsules, dim), 0.1))  # [J, D_out]

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        b = u_hat.new_zeros(u_hat.shape[:3])  # [B, I, J]
        for r in range(iterations):
            v = squash(torch.einsum("bij,bije->bje", b.softmax(dim=2), u_hat) + self.bias)
            if r < iterations - 1:
                b = b + torch.einsum("bije,bje->bij", u_hat, v)
        return v
