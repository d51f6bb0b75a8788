"""Controls: what of the paper's routing is needed? Couplings without agreement, or with another image's, or with more.

Each is (u_hat [B, I, J, D], iterations) -> v [B, J, D]. With one round all of them give even shares, as the paper's
routing does: so a network can be read with its couplings and without them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from capsnet_tutorial.functional import squash


def _weighted(c: Tensor, u_hat: Tensor) -> Tensor:
    """v_j = squash(Σ_i c_ij û_j|i)."""
    return squash(torch.einsum("bij,bijd->bjd", c, u_hat))


class _Shares(nn.Module):
    """Couplings c_ij = softmax over j of `logits`, from the second round on; no vote is compared with another."""

    def logits(self, u_hat: Tensor) -> Tensor:
        """[B, I, J], or what broadcasts to it."""
        raise NotImplementedError

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """c: [B, I, J]."""
        logits = self.logits(u_hat) if iterations > 1 else u_hat.new_zeros(1)
        return logits.expand(u_hat.shape[:3]).softmax(dim=2)

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return _weighted(self.couplings(u_hat, iterations), u_hat)


class SelfRouting(_Shares):
    """c_ij = softmax_j(g_ij · û_j|i), g learned: a capsule chooses by itself (Hahn, Pyeon and Kim, 2019).

    Theirs is w_ij · u_i; û_j|i = W_ij u_i has more numbers than u_i, so that both can be any linear function of u_i.
    """

    def __init__(self, in_capsules: int, out_capsules: int, dim: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(in_capsules, out_capsules, dim))

    def logits(self, u_hat: Tensor) -> Tensor:
        return torch.einsum("bijd,ijd->bij", u_hat, self.gate)


class StaticShares(_Shares):
    """c_ij = softmax_j(b_ij), b learned: the paper's "log prior", the same for every image."""

    def __init__(self, in_capsules: int, out_capsules: int) -> None:
        super().__init__()
        self.prior = nn.Parameter(torch.zeros(in_capsules, out_capsules))

    def logits(self, u_hat: Tensor) -> Tensor:
        return self.prior


class LengthShares(_Shares):
    """c_ij = softmax_j(α ‖û_j|i‖): shares by the length of a vote alone; α is learned, 1 at first."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(1))

    def logits(self, u_hat: Tensor) -> Tensor:
        return self.gain * torch.linalg.vector_norm(u_hat, dim=3)


class ScaledAgreement(nn.Module):
    """Procedure 1 with b_ij += β û_j|i · v_j: β = 1 is the paper's, β = 0 even shares."""

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.beta = beta
        self.__name__ = f"{type(self).__name__}({beta:g})"  # what a weights file calls it

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """c of the last round: [B, I, J]."""
        b = u_hat.new_zeros(u_hat.shape[:3])
        for _ in range(iterations - 1):
            b = b + self.beta * torch.einsum(
                "bijd,bjd->bij", u_hat, _weighted(b.softmax(dim=2), u_hat)
            )
        return b.softmax(dim=2)

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return _weighted(self.couplings(u_hat, iterations), u_hat)


class OthersAgreement(ScaledAgreement):
    """In training an image is read with the couplings of its neighbour in the batch; in eval mode with its own.

    Couplings are as uneven as the paper's, and change from image to image, but say nothing of the image.
    """

    def __init__(self) -> None:
        super().__init__(beta=1.0)

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        c = self.couplings(u_hat, iterations)
        return _weighted(c.roll(1, dims=0) if self.training else c, u_hat)
