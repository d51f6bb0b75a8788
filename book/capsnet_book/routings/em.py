"""EM routing: a capsule above is a Gaussian that some of the votes come from.

Source: Hinton, Sabour and Frosst, "Matrix capsules with EM routing", ICLR 2018,
https://openreview.net/forum?id=HJWLfGWRb. There a capsule is a 4×4 matrix with an activation beside
it. Adapted to vectors: a_i is the length of all votes of i, with mean 1 over the capsules below;
votes are measured in units of their root mean square in an image; the cost is a mean over votes and
numbers, no sum; and v_j is a_j long, along μ_j.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class EMRouting(nn.Module):
    """Expectation-maximisation of a mixture of J Gaussians with diagonal covariance.

    At first r_ij = 1/J; then in turn
    M: w_ij = r_ij a_i;  μ_j and σ_j², mean and variance of û_j|i over i with weights w_ij;
    cost_j = (β_u + mean of log σ_j) · Σ_i w_ij · J/I;  a_j = sigmoid(λ (β_j - cost_j)).
    E: r_ij = softmax over j of log a_j + log N(û_j|i; μ_j, σ_j²).
    (u_hat [B, I, J, D], iterations) -> v [B, J, D].

    Args:
        capsules: J.
        inverse_temperature: λ.
        least_variance: added to σ².
    """

    def __init__(
        self, capsules: int, inverse_temperature: float = 4.0, least_variance: float = 1e-2
    ) -> None:
        super().__init__()
        self.cost = nn.Parameter(torch.zeros(()))  # β_u
        self.benefit = nn.Parameter(torch.zeros(capsules))  # β_j
        self.inverse_temperature = inverse_temperature
        self.least_variance = least_variance

    def clusters(self, u_hat: Tensor, iterations: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return r [B, I, J], the means [B, J, D] and log a [B, J] of the last M-step."""
        B, I, J, D = u_hat.shape
        active = u_hat.flatten(2).norm(dim=2)  # a_i, [B, I]
        active = active / active.mean(dim=1, keepdim=True).clamp_min(1e-12)
        votes = F.normalize(u_hat.flatten(1), dim=1).view_as(u_hat) * (I * J * D) ** 0.5
        squares = votes.square()
        r = u_hat.new_full((B, I, J), 1 / J)
        for step in range(iterations):
            w = r * active.unsqueeze(2)  # [B, I, J]
            total = w.sum(dim=1).unsqueeze(2).clamp_min(1e-12)  # [B, J, 1]
            mean = torch.einsum("bij,bije->bje", w, votes) / total
            spread = torch.einsum("bij,bije->bje", w, squares) / total - mean.square()
            variance = spread.clamp_min(0) + self.least_variance  # [B, J, D]
            cost = (self.cost + variance.log() / 2).mean(dim=2) * total.squeeze(2) * J / I
            log_a = F.logsigmoid(self.inverse_temperature * (self.benefit - cost))  # [B, J]
            if step < iterations - 1:
                distance = torch.einsum("bije,bje->bij", squares, 1 / variance)
                distance = distance - 2 * torch.einsum("bije,bje->bij", votes, mean / variance)
                constant = (mean.square() / variance + variance.log()).sum(dim=2)
                r = (log_a.unsqueeze(1) - (distance + constant.unsqueeze(1)) / 2).softmax(dim=2)
        return r, mean, log_a

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return r of the last round, [B, I, J]; over j they sum to 1."""
        return self.clusters(u_hat, iterations)[0]

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        _, mean, log_a = self.clusters(u_hat, iterations)
        return log_a.exp().unsqueeze(2) * F.normalize(mean, dim=2)
