"""Self-attention routing, an alternative to Procedure 1 without rounds.

Source: Mazzia, Salvetti and Chiaberge, "Efficient-CapsNet: Capsule Network with Self-Attention
Routing", 2021, https://arxiv.org/abs/2101.12491. Only the routing is theirs here: squash stays the
paper's equation 1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from capsnet_tutorial.errors import expect, expect_floating, expect_shape
from capsnet_tutorial.functional import at_least_float32, squash


def attention_couplings(u_hat: Tensor) -> Tensor:
    """Compute ``c_ij = softmax over j of Σ_k <û_j|i, û_j|k> / √D``: agreement with the sum of all.

    û [B, I, J, D] -> c [B, I, J], in float32 at least. The sum over k comes first, so that the cost
    grows with I, not with I².
    """
    expect_floating("u_hat", u_hat)
    expect_shape("u_hat", u_hat, "[B, I, J, D]")
    with torch.autocast(u_hat.device.type, enabled=False):
        votes = at_least_float32(u_hat)
        agreement = torch.einsum("bije,bje->bij", votes, votes.sum(dim=1))
        return (agreement / math.sqrt(votes.shape[3])).softmax(dim=2)


def route_by_attention(u_hat: Tensor, prior: Tensor | None = None) -> Tensor:
    """Compute ``v_j = squash(Σ_i (c_ij + prior_ij) û_j|i)`` with c of `attention_couplings`.

    û [B, I, J, D] -> v [B, J, D]. ``prior`` [I, J] is learned, and the same for every image.
    """
    c = attention_couplings(u_hat)  # [B, I, J]
    if prior is not None:
        expect_floating("prior", prior)
        expected = f"a prior of shape {list(c.shape[1:])}"
        expect(prior.shape == c.shape[1:], expected, f"shape {list(prior.shape)}")
        c = c + prior
    with torch.autocast(u_hat.device.type, enabled=False):
        return squash(torch.einsum("bij,bije->bje", c, at_least_float32(u_hat))).to(u_hat.dtype)


class SelfAttention(nn.Module):
    """`route_by_attention` with a prior, 0 at first.

    (u_hat [B, I, J, D], iterations) -> v [B, J, D]; the number of rounds has no meaning.
    """

    def __init__(self, in_capsules: int, out_capsules: int) -> None:
        super().__init__()
        self.prior = nn.Parameter(torch.zeros(in_capsules, out_capsules))  # [I, J]

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c + prior, [B, I, J]."""
        return attention_couplings(u_hat) + self.prior

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return route_by_attention(u_hat, self.prior)
