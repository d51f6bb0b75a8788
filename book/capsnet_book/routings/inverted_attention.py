"""Inverted dot-product attention: the capsules above compete for every capsule below.

Source: Tsai, Srivastava, Goh and Salakhutdinov, "Capsules with Inverted Dot-Product Attention
Routing", ICLR 2020, https://arxiv.org/abs/2002.04764. Adapted: there a classifier reads the
classes, and layer normalisation gives all capsules the same length. Here a length is the answer, so
squash takes the place of layer normalisation in the last round.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_tutorial.functional import squash


class InvertedAttention(nn.Module):
    """Rounds of c_ij = softmax over j of ⟨û_j|i, v_j⟩ and v_j = LayerNorm(Σ_i c_ij û_j|i).

    At first v_j = 0. Unlike Procedure 1, the agreement replaces that of the round before and is not
    added to it. (u_hat [B, I, J, D], iterations) -> v [B, J, D].

    Args:
        dim: D.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        # Of the layer normalisation, one for all capsules above.
        self.gain = nn.Parameter(torch.ones(dim))
        self.offset = nn.Parameter(torch.zeros(dim))

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c of the last round, [B, I, J]; over j they sum to 1."""
        c = torch.zeros_like(u_hat[..., 0]).softmax(dim=2)
        for _ in range(iterations - 1):
            s = torch.einsum("bij,bije->bje", c, u_hat)
            v = F.layer_norm(s, s.shape[2:]) * self.gain + self.offset
            c = torch.einsum("bije,bje->bij", u_hat, v).softmax(dim=2)
        return c

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return squash(torch.einsum("bij,bije->bje", self.couplings(u_hat, iterations), u_hat))
