"""Convolutional networks to compare with: the paper's baseline, and some of our small size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_tutorial.train import over_batches


@dataclass(frozen=True)
class ConvNetConfig:
    """The sizes of a baseline; the defaults are the paper's for single digits."""

    image_size: int = 28
    in_channels: int = 1
    channels: tuple[int, ...] = (256, 256, 128)
    kernels: tuple[int, ...] = (5, 5, 5)
    """One for each convolution, odd; padding keeps the size of the image ('same')."""
    stride: int = 1
    """Of every convolution."""
    pool: int = 1
    """Side of the max-pooling after every convolution. 1: none."""
    hidden: tuple[int, ...] = (328, 192)
    """Widths of the fully connected layers before the last."""
    classes: int = 10
    dropout: float = 0.5
    """After each of these layers."""

    def __post_init__(self) -> None:
        for name in ("channels", "kernels", "hidden"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # from JSON it is a list

    @classmethod
    def paper(cls) -> ConvNetConfig:
        """Return the sizes of section 5: three convolutions of 5×5, 35,445,522 parameters."""
        return cls()

    @classmethod
    def paper_pairs(cls) -> ConvNetConfig:
        """Return the sizes of section 6, for pairs: 24,563,978 parameters, with pooling."""
        return cls(image_size=36, channels=(512, 256), kernels=(9, 5), pool=2, hidden=(1024,))

    @classmethod
    def small(cls, image_size: int = 28, *, recognising: bool = False) -> ConvNetConfig:
        """Return sizes with as many parameters as the small CapsNet, to 0.2 %; cheap on a CPU.

        The structure is the paper's (three convolutions of 5×5, two hidden layers, dropout), with
        few channels and stride 2. The first hidden layer is as wide as the number of parameters
        allows.

        Args:
            image_size: 28, 36 or 40.
            recognising: whether the CapsNet's decoder does not count. Then there are three quarters
                of the channels: with all of them, the first hidden layer would be a bottleneck.
        """
        if recognising:
            channels = (24, 48, 48)
            width = {28: 115, 36: 197, 40: 278}[image_size]
        else:
            channels = (32, 64, 64)
            width = {28: 245, 36: 331, 40: 438}[image_size]
        return cls(image_size=image_size, channels=channels, stride=2, hidden=(width, 192))

    @property
    def sides(self) -> tuple[int, ...]:
        """The side of the image, then of the pooled maps of each convolution."""
        sides = [self.image_size]
        for _ in self.channels:
            sides.append(((sides[-1] - 1) // self.stride + 1) // self.pool)
        return tuple(sides)


class ConvNet(nn.Module):
    """Convolutions with ReLU, then fully connected layers with ReLU and dropout. Section 5.

    It returns one score for each class.
    """

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
        """Return scores [B, classes] (logits) of images [B, 1, H, W]; the labels are not used."""
        return self.layers(images)


def cross_entropy(scores: Tensor, images: Tensor, targets: Tensor) -> Tensor:
    """Compute the baseline's loss, an objective for `fit`.

    Softmax for one label an image, int64 [B]; sigmoids for multi-hot targets [B, J], since several
    classes may be present in an image of two digits (section 6).
    """
    if targets.dim() == 1:
        return F.cross_entropy(scores, targets)
    targets = targets.to(scores.dtype)
    losses = F.binary_cross_entropy_with_logits(scores, targets, reduction="none")  # [B, J]
    return losses.sum(dim=1).mean()


def recognising_and_drawing(network: nn.Module) -> tuple[int, int]:
    """Count a network's parameters: those that it recognises with, and those of its decoder."""
    recognising = drawing = 0
    for name, parameter in network.named_parameters():
        if name.startswith("decoder."):
            drawing += parameter.numel()
        else:
            recognising += parameter.numel()
    return recognising, drawing


def class_scores(network: nn.Module, images: Tensor) -> Tensor:
    """Return a score for each class, [B, J]: lengths of a CapsNet's capsules, a CNN's logits."""
    output = network(images)
    return output if isinstance(output, Tensor) else output.lengths


class Labelled(Protocol):
    """Labelled images, such as `Digits` and `PairSet`."""

    @property
    def images(self) -> Tensor:
        """[N, 1, H, W]."""

    @property
    def labels(self) -> Tensor:
        """int64 [N], or [N, K], ascending."""


def error_of(network: nn.Module, data: Labelled) -> float:
    """Return a network's error rate, 0 to 1, in eval mode; see `read_wrongly`."""
    wrong = read_wrongly(scores_of(network, data.images), data.labels)
    return len(wrong) / len(data.labels)


def scores_of(network: nn.Module, images: Tensor) -> Tensor:
    """Return `class_scores` of many images [N, 1, H, W], in eval mode: [N, J], on the CPU."""
    (scores,) = over_batches(network, lambda batch: (class_scores(network, batch),), images)
    return scores


def read_wrongly(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the positions of misread images, ascending, int64.

    Args:
        scores: [N, J].
        labels: int64 [N]; or [N, K], ascending: then an image is right if its K best scores are
            those of its labels.
    """
    targets = labels.view(len(labels), -1)
    best = scores.topk(targets.shape[1], dim=1).indices.sort(dim=1).values
    return (best != targets).any(dim=1).nonzero().flatten()
