"""Even shares: no routing at all, the baseline that every routing has to beat."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from capsnet_tutorial.functional import squash


class EvenShares(nn.Module):
    """c_ij = 1/J and v_j = squash(Σ_i c_ij û_j|i), the first round of Procedure 1; ``iterations`` have no meaning.

    (u_hat [B, I, J, D], iterations) -> v [B, J, D].
    """

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """c: [B, I, J]."""
        return torch.full_like(u_hat[..., 0], 1 / u_hat.shape[2])

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return squash(u_hat.sum(dim=1) / u_hat.shape[2])
