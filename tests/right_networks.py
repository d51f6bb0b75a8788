"""Right capsule networks in the shapes that people give them, written without sight of the checker.

`RIGHT` lists their makers. Images of 28×28 pixels -> capsules, lengths, a reconstruction, or
several of these. No network has a mistake, so a ✗ for any of them is a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

TYPES, DIM = 4, 4
CAPSULES = TYPES * 2 * 2  # of the primary layer: maps of 2×2


def squash(s: Tensor, dim: int = -1) -> Tensor:
    square = s.square().sum(dim, keepdim=True)
    return square / (1 + square) * s / (square + 1e-9).sqrt()


class Primary(nn.Module):
    """Two convolutions, and their channels as capsules [B, 16, 4]."""

    def __init__(self, channels: int = 1, scale: float = 1.0) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 8, 9, stride=2)
        self.conv2 = nn.Conv2d(8, TYPES * DIM, 5, stride=3)
        self.scale = scale

    def forward(self, images: Tensor) -> Tensor:
        maps = self.conv2(self.conv1(images).relu()) * self.scale
        return squash(maps.unflatten(1, (TYPES, DIM)).permute(0, 1, 3, 4, 2).flatten(1, 3))


class Routed(nn.Module):
    """A layer of capsules [B, I, D_in] -> [B, J, D_out]."""

    def __init__(  # noqa: PLR0913 - the four sizes of W, and two options by keyword only
        self,
        below: int,
        dim: int,
        above: int,
        dim_above: int,
        *,
        rounds: int = 3,
        spread: float = 0.3,
    ) -> None:
        super().__init__()
        self.rounds = rounds
        self.W = nn.Parameter(spread * torch.randn(below, above, dim, dim_above))

    def votes(self, u: Tensor) -> Tensor:
        return torch.einsum("bid,ijde->bije", u, self.W)

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.rounds):
            s = (b.softmax(2).unsqueeze(3) * u_hat).sum(1)
            v = squash(self.finished(s))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v

    def finished(self, s: Tensor) -> Tensor:
        return s


class WithBias(Routed):
    """As in the authors' own code: a bias is added to s in every round."""

    def __init__(self, *sizes: int, start: float | None = 0.1) -> None:
        super().__init__(*sizes)
        shape = sizes[2], sizes[3]
        values = 0.2 * torch.randn(shape) if start is None else torch.full(shape, start)
        self.bias = nn.Parameter(values)

    def finished(self, s: Tensor) -> Tensor:
        return s + self.bias


class MadeLater(Routed):
    """W is made in the first call, when the number of capsules is known."""

    def __init__(self, above: int, dim_above: int) -> None:
        super().__init__(1, 1, above, dim_above)
        self.above, self.dim_above = above, dim_above
        del self.W

    def votes(self, u: Tensor) -> Tensor:
        if not hasattr(self, "W"):
            shape = u.shape[1], self.above, u.shape[2], self.dim_above
            self.W = nn.Parameter(0.3 * torch.randn(shape))
        return super().votes(u)


class LazyLinears(Routed):
    """One LazyLinear for all capsules."""

    def __init__(self, above: int, dim_above: int) -> None:
        super().__init__(1, 1, above, dim_above)
        del self.W
        self.linear = nn.LazyLinear(above * dim_above, bias=False)
        self.shape = above, dim_above

    def votes(self, u: Tensor) -> Tensor:
        return self.linear(u).unflatten(2, self.shape)


class OneRoundDetached(Routed):
    """The gradient flows through the last round alone."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        fixed = u_hat.detach()
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.rounds - 1):
            v = squash((b.softmax(2).unsqueeze(3) * fixed).sum(1))
            b = b + (fixed * v.unsqueeze(1)).sum(3)
        return squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))


class Network(nn.Module):
    """Primary capsules and layers: returns v."""

    def __init__(self, *layers: nn.Module, primary: nn.Module | None = None) -> None:
        super().__init__()
        self.primary = primary or Primary()
        self.layers = nn.ModuleList(layers)

    def capsules(self, images: Tensor) -> Tensor:
        u = self.primary(images)
        for layer in self.layers:
            u = layer(u)
        return u

    def forward(self, images: Tensor) -> Any:
        return self.capsules(images)


class Lengths(Network):
    def forward(self, images: Tensor) -> Any:
        return self.capsules(images).norm(dim=2)


class LengthsAndTheirSoftmax(Network):
    def forward(self, images: Tensor) -> Any:
        lengths = self.capsules(images).norm(dim=2)
        return lengths.softmax(1), lengths


class Residual(Network):
    """Each layer's capsules are added to the next one's."""

    def capsules(self, images: Tensor) -> Tensor:
        u = self.layers[0](self.primary(images))
        for layer in self.layers[1:]:
            u = squash(u + layer(u))
        return u


class Decoded(Network):
    """With a decoder, and labels in one of several forms."""

    def __init__(self, *layers: nn.Module, classes: int, pixels: int = 784) -> None:
        super().__init__(*layers)
        self.decoder = nn.Sequential(nn.Linear(classes * 4, 12), nn.ReLU(), nn.Linear(12, pixels))
        self.classes = classes

    def decoded(self, v: Tensor, one_hot: Tensor) -> Tensor:
        return self.decoder((v * one_hot.unsqueeze(2)).flatten(1)).sigmoid()

    def longest(self, v: Tensor) -> Tensor:
        return F.one_hot(v.norm(dim=2).argmax(1), self.classes)


class NumbersIfGiven(Decoded):
    def forward(self, images: Tensor, labels: Tensor | None = None) -> Any:
        v = self.capsules(images)
        one_hot = self.longest(v) if labels is None else F.one_hot(labels, self.classes)
        return v.norm(dim=2), self.decoded(v, one_hot)


class NumbersNeeded(Decoded):
    def forward(self, images: Tensor, labels: Tensor) -> Any:
        v = self.capsules(images)
        return v, self.decoded(v, F.one_hot(labels, self.classes))


class OneHotIfGiven(Decoded):
    def forward(self, images: Tensor, target: Tensor | None = None) -> Any:
        v = self.capsules(images)
        one_hot = self.longest(v) if target is None else target
        return {"lengths": v.norm(dim=2), "image": self.decoded(v, one_hot)}


class OneHotNeeded(Decoded):
    def forward(self, images: Tensor, target: Tensor) -> Any:
        v = self.capsules(images)
        return v.norm(dim=2), self.decoded(v, target)


class OneHotAttribute(Decoded):
    target: Tensor | None = None

    def __init__(self, *layers: nn.Module, classes: int) -> None:
        super().__init__(*layers, classes=classes)
        self.target = None

    def forward(self, images: Tensor) -> Any:
        v = self.capsules(images)
        one_hot = self.longest(v) if self.target is None else self.target
        return v.norm(dim=2), self.decoded(v, one_hot)


class InTrainingAlone(Decoded):
    def forward(self, images: Tensor, labels: Tensor | None = None) -> Any:
        v = self.capsules(images)
        given = self.training and labels is not None
        one_hot = F.one_hot(labels, self.classes) if given else self.longest(v)
        return v.norm(dim=2), self.decoded(v, one_hot)


class Columns(Network):
    """Capsules as columns [B, J, D, 1], as several public networks return them."""

    def forward(self, images: Tensor) -> Any:
        return self.capsules(images).unsqueeze(3)


class OfOneDevice(Routed):
    """An attribute of -1, as of "no GPU"."""

    gpu_id = -1

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.gpu_id = -1


class ByMatmul(Routed):
    """Votes by a product of matrices and columns, W [1, I, J, D_out, D_in]."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.W = nn.Parameter(self.W.detach().mT.unsqueeze(0).clone())

    def votes(self, u: Tensor) -> Tensor:
        tiled = u[:, :, None, :, None].repeat(1, 1, self.W.shape[2], 1, 1)
        return (self.W @ tiled).squeeze(4)


class AboveFirst(Routed):
    """The capsules above come first: votes [J, B, I, D_out], and a softmax written by hand."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u).permute(2, 0, 1, 3)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.rounds):
            power = (b - b.amax(0)).exp()
            c = power / power.sum(0)
            v = squash((c.unsqueeze(3) * u_hat).sum(2, keepdim=True), dim=3)
            b = b + (u_hat * v).sum(3)
        return v.squeeze(2).transpose(0, 1)


class Recursive(Routed):
    """A round calls the next one."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        return self.routed(u_hat, torch.zeros(u_hat.shape[:3]), self.rounds)

    def routed(self, u_hat: Tensor, b: Tensor, rounds: int) -> Tensor:
        v = squash(torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat))
        if rounds == 1:
            return v
        return self.routed(u_hat, b + torch.einsum("bijd,bjd->bij", u_hat, v), rounds - 1)


class NormedAndDropped(Network):
    """Batch norm and dropout before the capsules."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__(*layers)
        self.before = nn.Sequential(nn.BatchNorm2d(1), nn.Dropout(0.2))

    def forward(self, images: Tensor) -> Any:
        return self.capsules(self.before(images)).norm(dim=2)


class WithClassifier(Network):
    """A linear layer reads the capsules as well."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__(*layers)
        self.linear = nn.Linear(40, 10)

    def forward(self, images: Tensor) -> Any:
        v = self.capsules(images)
        return v, self.linear(v.flatten(1))


class Large(nn.Module):
    """Many faint capsules: W is so small that a round changes little."""

    def __init__(self, below: int, spread: float, rounds: int = 3) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8 * (below // 36), 9, stride=4, padding=1)  # maps of 6×6
        self.layer = Routed(below, 8, 10, 16, rounds=rounds, spread=spread)
        self.below = below

    def forward(self, images: Tensor) -> Any:
        u = squash(self.conv(images).unflatten(1, (-1, 8)).permute(0, 1, 3, 4, 2).flatten(1, 3))
        return self.layer(u).norm(dim=2)


class Right(NamedTuple):
    """A right network."""

    name: str
    make: Callable[[], Any]
    status: int = 0
    """Of its report: 0, or 3 where not all of it can be examined, 2 where it cannot be called."""
    image: tuple[int, ...] = (1, 28, 28)
    """Channels, height and width."""
    classes: int = 10
    """Labels are below this number."""


def last(classes: int = 10, **options: Any) -> Routed:
    return Routed(CAPSULES, DIM, classes, 4, **options)


def equal(count: int) -> list[Routed]:
    """So many layers of 16 capsules of 4, as the primary capsules are."""
    return [Routed(16, 4, 16, 4) for _ in range(count)]


def equal_alone(count: int) -> Network:
    """A network of so many equal layers."""
    return Network(*equal(count))


def equal_then_classes(count: int) -> Network:
    """A network of so many equal layers, and the classes above them."""
    return Network(*equal(count), last())


def biased_twice() -> Network:
    """A network with a bias on s in both of its layers."""
    return Network(WithBias(16, 4, 16, 4), WithBias(16, 4, 10, 8))


RIGHT = [
    Right("one layer", lambda: Network(last())),
    Right("lengths alone", lambda: Lengths(last())),
    Right("columns", lambda: Columns(last())),
    *(
        Right(f"{count} equal layers, then the classes", partial(equal_then_classes, count))
        for count in (1, 2, 3, 4)
    ),
    *(Right(f"{count} equal layers", partial(equal_alone, count)) for count in (2, 3)),
    Right("3 equal layers, lengths", lambda: Lengths(*equal(3))),
    Right("a wide layer between", lambda: Network(Routed(16, 4, 32, 4), Routed(32, 4, 10, 8))),
    Right("3 equal layers with sums", lambda: Residual(*equal(3))),
    Right("rounds 1, 2, 3", lambda: Network(*(Routed(16, 4, 16, 4, rounds=n) for n in (1, 2, 3)))),
    *(Right(f"{n} classes", partial(lambda n: Lengths(last(n)), n)) for n in (2, 3, 5, 7, 43, 100)),
    *(
        Right(f"{kind.__name__}, {n} classes", partial(lambda k, n: k(last(n), classes=n), kind, n))
        for kind in (NumbersIfGiven, NumbersNeeded, OneHotIfGiven, OneHotNeeded, OneHotAttribute)
        for n in (2, 5, 7, 43)
    ),
    Right("masked in training alone", lambda: InTrainingAlone(last(), classes=10)),
    Right("two layers and a decoder", lambda: NumbersIfGiven(*equal(2), last(5), classes=5)),
    Right("W made in the first call", lambda: Network(MadeLater(10, 8))),
    Right("W made in the first call, twice", lambda: Network(MadeLater(16, 4), MadeLater(10, 8))),
    Right("a LazyLinear", lambda: Lengths(LazyLinears(10, 8))),
    Right("a lazy convolution", lambda: Network(last(), primary=_lazy_primary())),
    Right("an attribute of -1", lambda: Network(OfOneDevice(16, 4, 10, 8))),
    Right("a bias of 0 on s", lambda: Network(WithBias(16, 4, 10, 8, start=0.0))),
    Right("a bias of 0.1 on s", lambda: Network(WithBias(16, 4, 10, 8))),
    Right("a random bias on s", lambda: Lengths(WithBias(16, 4, 10, 8, start=None))),
    Right("a bias on s in both layers", biased_twice),
    Right("votes by a product of matrices", lambda: Network(ByMatmul(16, 4, 10, 8))),
    Right("capsules above first", lambda: Lengths(AboveFirst(16, 4, 10, 8))),
    Right("a recursion", lambda: Network(Recursive(16, 4, 10, 8))),
    Right("norm and dropout before", lambda: NormedAndDropped(last())),
    Right("a linear layer on the capsules", lambda: WithClassifier(last())),
    Right("lengths and their softmax", lambda: LengthsAndTheirSoftmax(last())),
    Right("the last round learns", lambda: Network(OneRoundDetached(16, 4, 10, 8))),
    *(Right(f"{n} rounds", partial(lambda n: Network(last(rounds=n)), n)) for n in (1, 2, 4, 5)),
    *(
        Right(f"{below} capsules below, W of {spread}", partial(Large, below, spread))
        for below in (72, 1152)
        for spread in (0.01, 0.1, 1.0)
    ),
]  # fmt: skip


def _lazy_primary() -> Primary:
    primary = Primary()
    primary.conv1 = nn.LazyConv2d(8, 9, stride=2)
    return primary
