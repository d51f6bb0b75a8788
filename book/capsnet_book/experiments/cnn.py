"""Convolutional networks to compare capsules with: the paper's baseline, and ones as large as our small preset."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import over_batches


@dataclass(frozen=True)
class ConvNetConfig:
    """Every size in a baseline. The defaults are the paper's for single digits."""

    image_size: int = 28
    in_channels: int = 1
    channels: tuple[int, ...] = (256, 256, 128)
    kernels: tuple[int, ...] = (5, 5, 5)
    """One for each convolution, odd. Padding keeps the size of the image ('same')."""
    stride: int = 1
    """Of every convolution."""
    pool: int = 1
    """Side of the max-pooling after every convolution. 1: none."""
    hidden: tuple[int, ...] = (328, 192)
    """Widths of the fully connected layers before the last."""
    classes: int = 10
    dropout: float = 0.5
    """After each of them."""

    def __post_init__(self) -> None:
        for name in ("channels", "kernels", "hidden"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # a list when it was JSON

    @classmethod
    def paper(cls) -> ConvNetConfig:
        """Section 5: three convolutions of 5×5, 35,445,522 parameters."""
        return cls()

    @classmethod
    def paper_pairs(cls) -> ConvNetConfig:
        """Section 6, for pairs of digits: two convolutions with pooling, 24,563,978 parameters."""
        return cls(image_size=36, channels=(512, 256), kernels=(9, 5), pool=2, hidden=(1024,))

    @classmethod
    def small(cls, image_size: int = 28, *, recognising: bool = False) -> ConvNetConfig:
        """As many parameters as the small CapsNet for such images has, to 0.2 %; cheap on a CPU.

        The paper's structure (three convolutions of 5×5, two hidden layers, dropout), but with few channels and
        stride 2. The first hidden layer is as wide as the number of parameters allows.

        Args:
            image_size: 28, 36 or 40.
            recognising: as many parameters as that recognises with, its decoder left out. With three quarters of the
                channels: with all of them, the first hidden layer would be a bottleneck.
        """
        channels, widths = (32, 64, 64), {28: 245, 36: 331, 40: 438}
        if recognising:
            channels, widths = (24, 48, 48), {28: 115, 36: 197, 40: 278}
        return cls(
            image_size=image_size, channels=channels, stride=2, hidden=(widths[image_size], 192)
        )

    @property
    def sides(self) -> tuple[int, ...]:
        """Height and width of the image, then of each convolution's maps, pooled."""
        sides = [self.image_size]
        for _ in self.channels:
            sides.append(((sides[-1] - 1) // self.stride + 1) // self.pool)
        return tuple(sides)


class ConvNet(nn.Module):
    """Convolutions with ReLU, fully connected layers with ReLU and dropout, one score for each class. Section 5."""

    def __init__(self, config: ConvNetConfig) -> None:
        super().__init__()
        self.config = config
        layers: list[nn.Module] = []
        widths = (config.in_channels, *config.channels)
        for (before, after), kernel in zip(pairwise(widths), config.kernels, strict=True):
            layers += [
                nn.Conv2d(before, after, kernel, config.stride, padding=kernel // 2),
                nn.ReLU(),
            ]
            if config.pool > 1:
                layers.append(nn.MaxPool2d(config.pool))
        layers.append(nn.Flatten())
        widths = (config.channels[-1] * config.sides[-1] ** 2, *config.hidden)
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(config.dropout)]
        self.layers = nn.Sequential(*layers, nn.Linear(widths[-1], config.classes))

    def forward(self, images: Tensor, labels: Tensor | None = None) -> Tensor:
        """Scores [B, classes] (logits) of images [B, 1, H, W]. The labels are of no use here."""
        return self.layers(images)


def cross_entropy(scores: Tensor, images: Tensor, targets: Tensor) -> Tensor:
    """The baseline's loss, an objective for `fit`: softmax for one label an image [B], sigmoids for multi-hot [B, J].

    Several classes may be present in a picture of two digits, so there each score is its own yes or no (section 6).
    """
    if targets.dim() == 1:
        return F.cross_entropy(scores, targets)
    return (
        F.binary_cross_entropy_with_logits(scores, targets.to(scores.dtype), reduction="none")
        .sum(dim=1)
        .mean()
    )


def recognising_and_drawing(network: CapsNet | ConvNet) -> tuple[int, int]:
    """How many numbers a network learns to recognise with, and how many to draw with: those of its decoder."""
    every = sum(parameter.numel() for parameter in network.parameters())
    drawing = sum(
        parameter.numel()
        for name, parameter in network.named_parameters()
        if name.startswith("decoder.")
    )
    return every - drawing, drawing


def class_scores(network: nn.Module, images: Tensor) -> Tensor:
    """How sure a network of either kind is of each class, the higher the surer: capsules' lengths or scores, [B, J]."""
    output = network(images)
    return output if isinstance(output, Tensor) else output.lengths


class Labelled(Protocol):
    """Images and what they show; `Digits` and `PairSet` are two."""

    @property
    def images(self) -> Tensor:
        """[N, 1, H, W]."""

    @property
    def labels(self) -> Tensor:
        """int64 [N], or [N, K], ascending."""


def error_of(network: nn.Module, data: Labelled) -> float:
    """How often a network of either kind reads an image wrongly, in eval mode: 0 to 1. See `read_wrongly`."""
    return len(read_wrongly(scores_of(network, data.images), data.labels)) / len(data.labels)


def scores_of(network: nn.Module, images: Tensor) -> Tensor:
    """`class_scores` of many images [N, 1, H, W], in eval mode: [N, J], on the CPU."""
    (scores,) = over_batches(network, lambda batch: (class_scores(network, batch),), images)
    return scores


def read_wrongly(scores: Tensor, labels: Tensor) -> Tensor:
    """Which images are read wrongly: their positions, ascending, int64.

    Args:
        scores: [N, J].
        labels: int64 [N]; or [N, K], ascending: then an image is right if the K best scores are those.
    """
    wanted = labels.view(len(labels), -1)
    best = scores.topk(wanted.shape[1], dim=1).indices.sort(dim=1).values
    return (best != wanted).any(dim=1).nonzero().flatten()
