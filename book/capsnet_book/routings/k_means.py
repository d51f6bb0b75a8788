"""Routing as soft k-means on the sphere: a capsule above is the centre of a cluster of votes.

Source: Wang and Liu, "An Optimization View on Dynamic Routing Between Capsules", ICLR workshop
2018, https://openreview.net/forum?id=HJjtFYJDf. Adapted: votes are not divided by the norm of W_ij,
and squash gives v its length.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_tutorial.functional import squash


class KMeansRouting(nn.Module):
    """Minimisation of -Σ_ij c_ij ⟨û_j|i, s_j⟩ + α Σ_ij c_ij log c_ij over s and c in turn.

    Here Σ_j c_ij = 1 and ‖s_j‖ = 1. At first c_ij = 1/J. Each round: s_j = Σ_i c_ij û_j|i, divided
    by its length; c_ij = softmax over j of ⟨û_j|i, s_j⟩ / α. At the end
    v_j = squash(Σ_i c_ij û_j|i).
    (u_hat [B, I, J, D], iterations) -> v [B, J, D].

    Args:
        alpha: α, the weight of the couplings' entropy: the smaller, the harder the clusters.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c of the last round, [B, I, J]; over j they sum to 1."""
        c = torch.zeros_like(u_hat[..., 0]).softmax(dim=2)
        for _ in range(iterations - 1):
            s = F.normalize(torch.einsum("bij,bije->bje", c, u_hat), dim=2)
            c = (torch.einsum("bije,bje->bij", u_hat, s) / self.alpha).softmax(dim=2)
        return c

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return squash(torch.einsum("bij,bije->bje", self.couplings(u_hat, iterations), u_hat))
