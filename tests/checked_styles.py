"""Capsule networks in people's styles, each right or with one of the bugs of `LOOP`.

A style says how û is computed and how the layer is called; the loop is the same in all styles.
Images have 28×28 pixels; 72 capsules of 8 numbers are below, 10 of 16 above.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

I, J, D_IN, D_OUT = 72, 10, 8, 16


def squash(s: Tensor, dim: int = -1, floor: float = 1e-9) -> Tensor:
    n2 = (s * s).sum(dim, keepdim=True)
    return n2 / (1 + n2) * s / (n2 + floor).sqrt()


def loop(  # noqa: PLR0913 - an option for each line that people get wrong
    u_hat: Tensor,
    *,
    axis: int = 2,
    rounds: int = 3,
    dim: int = -1,
    floor: float = 1e-9,
    shared: bool = False,
    sign: int = 1,
) -> Tensor:
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(rounds):
        s = (b.softmax(axis)[..., None] * u_hat).sum(1)
        v = squash(s, dim, floor)
        a = sign * (u_hat * v[:, None]).sum(-1)
        b = b + (a.mean(0, keepdim=True) if shared else a)
    return v


def never_updated(u_hat: Tensor) -> Tensor:
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(3):
        v = squash((b.softmax(2)[..., None] * u_hat).sum(1))
        b.add((u_hat * v[:, None]).sum(-1))
    return v


def gated(u_hat: Tensor) -> Tensor:
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(3):
        v = squash((b.sigmoid()[..., None] * u_hat).sum(1))
        b = b + (u_hat * v[:, None]).sum(-1)
    return v


LOOPS: dict[str, Callable[[Tensor], Tensor]] = {
    "": loop,
    "softmax-axis": partial(loop, axis=1),
    "squash-axis": partial(loop, dim=1),
    "squash-nan": partial(loop, floor=0.0),
    "batch-agreement": partial(loop, shared=True),
    "no-update-rounds": never_updated,
    "softmax-axis squash-axis batch-agreement squash-nan": partial(
        loop, axis=1, dim=1, shared=True, floor=0.0
    ),
}
"""By the ids that have to be named."""

UNNAMED: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid couplings": gated,
    "minus the agreement": partial(loop, sign=-1),
}
"""Wrong in ways that the catalogue does not list."""


class Votes(nn.Module):
    """W as the paper has it: [I, J, D_out, D_in]."""

    def __init__(self) -> None:
        super().__init__()
        self.W = nn.Parameter(0.1 * torch.randn(I, J, D_OUT, D_IN))

    def forward(self, u: Tensor) -> Tensor:
        return torch.einsum("ijod,bid->bijo", self.W, u)


class Biased(Votes):
    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(I, J, D_OUT))

    def forward(self, u: Tensor) -> Tensor:
        return super().forward(u) + self.bias


class OneLinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(D_IN, J * D_OUT)

    def forward(self, u: Tensor) -> Tensor:
        return self.linear(u).view(len(u), I, J, D_OUT)


class LinearEach(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(D_IN, J * D_OUT, bias=False) for _ in range(I)])

    def forward(self, u: Tensor) -> Tensor:
        return torch.stack([linear(u[:, k]) for k, linear in enumerate(self.linears)], 1).view(
            -1, I, J, D_OUT
        )


class MatrixEach(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.matrices = nn.ParameterList([0.1 * torch.randn(I, D_IN, D_OUT) for _ in range(J)])

    def forward(self, u: Tensor) -> Tensor:
        return torch.stack(
            [torch.einsum("bid,ido->bio", u, matrix) for matrix in self.matrices], dim=2
        )


class Grouped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(I * D_IN, I * J * D_OUT, 1, groups=I)

    def forward(self, u: Tensor) -> Tensor:
        return self.conv(u.reshape(len(u), -1, 1, 1)).view(len(u), I, J, D_OUT)


class TwoAxes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.W = nn.Parameter(0.1 * torch.randn(I * D_IN, J * D_OUT))

    def forward(self, u: Tensor) -> Tensor:
        W = self.W.view(I, D_IN, J * D_OUT)
        return torch.bmm(u.transpose(0, 1), W).transpose(0, 1).reshape(len(u), I, J, D_OUT)


class Layer(nn.Module):
    """A layer of capsules."""

    def __init__(self, route: Callable[[Tensor], Tensor], votes: type[nn.Module] = Votes) -> None:
        super().__init__()
        self.votes, self.route = votes(), route

    def forward(self, u: Tensor) -> Tensor:
        return self.route(self.votes(u))


class Net(nn.Module):
    """A network; its layer is called in one of several ways."""

    def __init__(
        self, route: Callable[[Tensor], Tensor], call: str = "", votes: type[nn.Module] = Votes
    ) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 16, 9, stride=2), nn.Conv2d(16, 64, 5, stride=2)
        self.layer, self.call = Layer(route, votes), call

    def capsules(self, x: Tensor) -> Tensor:
        maps = self.conv2(self.conv1(x).relu())
        return squash(maps.view(len(x), 8, D_IN, -1).transpose(2, 3).reshape(len(x), I, D_IN))

    def forward(self, x: Tensor) -> Tensor:
        u = self.capsules(x)
        if self.call == "keyword":
            return self.layer(u=u)
        return self.layer.forward(u) if self.call == "forward" else self.layer(u)


class Own(Net):
    """W and the loop belong to the network itself."""

    def __init__(self, route: Callable[[Tensor], Tensor]) -> None:
        super().__init__(route)
        del self.layer
        self.W, self.route = nn.Parameter(0.1 * torch.randn(I, J, D_OUT, D_IN)), route

    def forward(self, x: Tensor) -> Tensor:
        return self.route(torch.einsum("ijod,bid->bijo", self.W, self.capsules(x))).norm(dim=-1)


def plain_function(route: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    network = Own(route)
    return lambda x: network.route(torch.einsum("ijod,bid->bijo", network.W, network.capsules(x)))


STYLES: dict[str, Callable[[Callable[[Tensor], Tensor]], Callable[[Tensor], Tensor]]] = {
    "a layer": Net,
    "W in the network": Own,
    "by keyword": partial(Net, call="keyword"),
    "by forward": partial(Net, call="forward"),
    "one Linear": partial(Net, votes=OneLinear),
    "a Linear each": partial(Net, votes=LinearEach),
    "a ParameterList": partial(Net, votes=MatrixEach),
    "a grouped convolution": partial(Net, votes=Grouped),
    "W of two axes": partial(Net, votes=TwoAxes),
    "a bias on û": partial(Net, votes=Biased),
    "a plain function": plain_function,
    "torch.compile": lambda route: torch.compile(Net(route), backend="eager"),
}
"""From a routing û -> v to a network images -> v or lengths."""


class CapsulesFirst(Net):
    """W [J, I, D_in, D_out], votes [J, B, I, 1, D_out], logits as large as the votes.

    The softmax over axis 0 is right.
    """

    def __init__(self, axis: int = 0, floor: float = 1e-9) -> None:
        super().__init__(loop)
        self.axis, self.floor, self.num_iterations = axis, floor, 3
        self.W = nn.Parameter(0.1 * torch.randn(J, I, D_IN, D_OUT))

    def forward(self, x: Tensor) -> Tensor:
        votes = self.capsules(x)[None, :, :, None, :] @ self.W[:, None]
        logits = torch.zeros(votes.shape)
        for r in range(self.num_iterations):
            outputs = squash(
                (F.softmax(logits, dim=self.axis) * votes).sum(dim=2, keepdim=True),
                floor=self.floor,
            )
            if r < self.num_iterations - 1:
                logits = logits + (votes * outputs).sum(dim=-1, keepdim=True)
        return outputs[:, :, 0, 0].transpose(0, 1)


class NumbersFirst(Net):
    """u [B, D_in, I], W [D_in, D_out, I, J], votes [B, D_out, I, J]; logits that are learned."""

    def __init__(self, axis: int = 2) -> None:
        super().__init__(loop)
        self.axis, self.b = axis, nn.Parameter(torch.zeros(1, I, J))
        self.W = nn.Parameter(0.1 * torch.randn(D_IN, D_OUT, I, J))

    def forward(self, x: Tensor) -> Tensor:
        votes, b = torch.einsum("bki,kdij->bdij", self.capsules(x).transpose(1, 2), self.W), self.b
        for _ in range(3):
            v = squash((b.softmax(self.axis).unsqueeze(1) * votes).sum(2), dim=1)
            b = b + (votes * v.unsqueeze(2)).sum(1)
        return v.transpose(1, 2).norm(dim=2)


class Decoded(Net):
    """With a decoder."""

    def __init__(
        self,
        takes: str = "numbers",
        lengths: Callable[[Tensor], Tensor] = lambda v: v.norm(dim=-1),
        keep: bool = False,
        batch: int = 0,
    ) -> None:
        super().__init__(loop)
        self.takes, self.lengths, self.keep, self.batch_size = takes, lengths, keep, batch
        self.kept: Tensor | float = 0.0
        self.decoder = nn.Sequential(
            nn.Linear(J * D_OUT, 32), nn.ReLU(), nn.Linear(32, 784), nn.Sigmoid()
        )
        if takes == "attribute":
            self.target = None
        if takes in ("attribute", "prediction"):
            self.forward = self.without_labels  # type: ignore[method-assign]

    def forward(self, x: Tensor, y: Tensor | None = None) -> tuple[Tensor, ...]:
        assert self.batch_size in (0, len(x))
        u_hat = self.layer.votes(self.capsules(x))
        v = loop(u_hat + 0.1 * self.kept) if self.keep else loop(u_hat)
        self.kept = u_hat.detach()
        if (
            y is None
            or self.takes == "ignored"
            or (self.takes == "labels in training" and not self.training)
        ):
            y = v.norm(dim=-1).argmax(1)
        T = F.one_hot(y, J) if self.takes != "one-hot" or y.dim() == 1 else y
        return self.lengths(v), self.decoder((v * T.unsqueeze(-1)).flatten(1))

    def without_labels(self, x: Tensor) -> tuple[Tensor, ...]:
        return Decoded.forward(self, x, getattr(self, "target", None))
