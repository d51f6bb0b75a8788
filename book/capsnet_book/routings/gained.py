"""The paper's routing of votes that a learned gain makes longer or shorter."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from capsnet_tutorial.functional import route


class GainedRouting(nn.Module):
    """`route` of g_j û_j|i, with a learned gain g_j for each capsule above, 1 at first.

    With one round v_j = squash(g_j Σ_i û_j|i / J): even shares that can be as long as routed ones.
    (u_hat [B, I, J, D_out], iterations) -> v [B, J, D_out].
    """

    def __init__(self, capsules: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(capsules, 1))  # [J, 1]

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c of the last round, [B, I, J]."""
        return route(self.gain * u_hat, iterations, return_trace=True)[1].c[-1]

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return route(self.gain * u_hat, iterations)
