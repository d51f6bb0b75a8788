"""Controls of the paper's routing: couplings without agreement, of another image, or stronger.

Each is (u_hat [B, I, J, D], iterations) -> v [B, J, D]. With one round all of them give even
shares, as the paper's routing does, so that a network can be measured with its couplings and
without them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from capsnet_tutorial.functional import capsule_lengths, squash


def _weighted(c: Tensor, u_hat: Tensor) -> Tensor:
    """Compute v_j = squash(Σ_i c_ij û_j|i)."""
    return squash(torch.einsum("bij,bije->bje", c, u_hat))


class _Shares(nn.Module):
    """Couplings c_ij = softmax over j of `logits`, from the second round on.

    No vote is compared with another.
    """

    def logits(self, u_hat: Tensor) -> Tensor:
        """Return logits that broadcast to [B, I, J]."""
        raise NotImplementedError

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c, [B, I, J]."""
        logits = self.logits(u_hat) if iterations > 1 else u_hat.new_zeros(1)
        return logits.expand(u_hat.shape[:3]).softmax(dim=2)

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return _weighted(self.couplings(u_hat, iterations), u_hat)


class SelfRouting(_Shares):
    """c_ij = softmax_j(g_ij · û_j|i), g learned: a capsule chooses by itself.

    After Hahn, Pyeon and Kim, 2019. Theirs is w_ij · u_i; û_j|i = W_ij u_i has more numbers than
    u_i, so that both can be any linear function of u_i.
    """

    def __init__(self, in_capsules: int, out_capsules: int, dim: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(in_capsules, out_capsules, dim))

    def logits(self, u_hat: Tensor) -> Tensor:
        return torch.einsum("bije,ije->bij", u_hat, self.gate)


class StaticShares(_Shares):
    """c_ij = softmax_j(b_ij), b learned: the paper's "log prior", the same for every image."""

    def __init__(self, in_capsules: int, out_capsules: int) -> None:
        super().__init__()
        self.prior = nn.Parameter(torch.zeros(in_capsules, out_capsules))

    def logits(self, u_hat: Tensor) -> Tensor:
        return self.prior


class LengthShares(_Shares):
    """c_ij = softmax_j(α ‖û_j|i‖): shares by the votes' lengths; α, 1 at first, is learned."""

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
        self.__name__ = f"{type(self).__name__}({beta:g})"  # its name in a weights file

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c of the last round, [B, I, J]."""
        b = u_hat.new_zeros(u_hat.shape[:3])
        for _ in range(iterations - 1):
            v = _weighted(b.softmax(dim=2), u_hat)
            b = b + self.beta * torch.einsum("bijd,bjd->bij", u_hat, v)
        return b.softmax(dim=2)

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return _weighted(self.couplings(u_hat, iterations), u_hat)


class _ForeignAgreement(ScaledAgreement):
    """In training an image gets other couplings than its own; in eval mode its own."""

    def __init__(self) -> None:
        super().__init__(beta=1.0)

    def foreign(self, c: Tensor, u_hat: Tensor) -> Tensor:
        """Return the couplings [B, I, J] to train with, given the images' own."""
        raise NotImplementedError

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        c = self.couplings(u_hat, iterations)
        if self.training:
            c = self.foreign(c, u_hat)
        return _weighted(c, u_hat)


class OthersAgreement(_ForeignAgreement):
    """Couplings of the neighbour in the batch.

    They are as uneven as the image's own, but nine in ten are of another class.
    """

    def foreign(self, c: Tensor, u_hat: Tensor) -> Tensor:
        return c.roll(1, dims=0)


class ClassmatesAgreement(_ForeignAgreement):
    """Couplings of another image in the batch that is read as the same class.

    Read: its longest class capsule is the same, with the image's own couplings.
    """

    def foreign(self, c: Tensor, u_hat: Tensor) -> Tensor:
        classes = capsule_lengths(_weighted(c, u_hat)).argmax(dim=1)
        return c[next_of_class(classes)]


class DealtAgreement(_ForeignAgreement):
    """The image's own couplings dealt out anew among its capsules below.

    What the capsules together give to each class stays; which capsule gives it does not.
    """

    def foreign(self, c: Tensor, u_hat: Tensor) -> Tensor:
        order = torch.rand(c.shape[:2], device=c.device).argsort(dim=1)  # [B, I]
        return c.gather(1, order.unsqueeze(2).expand_as(c))


def next_of_class(classes: Tensor) -> Tensor:
    """Return for every image the position of the next one of its class, int64 [B].

    After the last image of a class comes the first. An image alone in its class gets its own
    position.
    """
    batch = len(classes)
    positions = torch.arange(batch, device=classes.device)
    # [B, B]; batch − 1 steps lead to the image itself.
    steps = (positions - positions.unsqueeze(1) - 1) % batch
    is_same = classes == classes.unsqueeze(1)
    return steps.where(is_same, batch).argmin(dim=1)


class OutputCompetition(nn.Module):
    """b_j += γ ‖v_j‖, the same for every capsule below: the outputs compete.

    No vote is compared with anything. More rounds at inference never change the answer, since the
    longest v_j stays the longest.

    Args:
        gain: γ.
        learned: whether γ is learned; then `gain` is where it starts.
    """

    def __init__(self, gain: float = 2.0, *, learned: bool = False) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(gain)) if learned else gain
        self.__name__ = f"{type(self).__name__}({'learned' if learned else f'{gain:g}'})"

    def shares(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c_j of the last round, [B, J]."""
        total = u_hat.sum(dim=1)  # [B, J, D]
        b = total.new_zeros(total.shape[:2])
        for _ in range(iterations - 1):
            v = squash(b.softmax(dim=1).unsqueeze(2) * total)
            b = b + self.gain * capsule_lengths(v)
        return b.softmax(dim=1)

    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        """Return c of the last round, [B, I, J]: the same for every i."""
        return self.shares(u_hat, iterations).unsqueeze(1).expand(u_hat.shape[:3])

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return squash(self.shares(u_hat, iterations).unsqueeze(2) * u_hat.sum(dim=1))
