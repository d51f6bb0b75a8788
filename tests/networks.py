"""Shared by many tests: a network small enough for loops, one to train, a few digits, noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from capsnet_tutorial.data import Digits, Split, digits
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts

PARTS = Parts()
"""What both are made of."""
TINY = CapsNetConfig(
    image_size=9,
    conv_channels=4,
    conv_kernel=3,
    primary_types=2,
    primary_dim=3,
    primary_kernel=3,
    classes=4,
    class_dim=5,
    decoder_hidden=(6, 7),
)
"""18 primary capsules of 3 numbers."""


def tiny() -> CapsNet:
    """Return a CapsNet on 9×9 images, in float64: 18 primary capsules of 3, 4 classes of 5."""
    torch.manual_seed(0)
    network = CapsNet(TINY, PARTS).double()
    network.routed.weight.data *= 10  # strong enough for routing to matter
    return network


def learner() -> CapsNet:
    """On 28×28 images, a few milliseconds a step: the same one at every call."""
    torch.manual_seed(0)
    config = CapsNetConfig(
        conv_channels=8,
        conv_stride=2,
        primary_types=2,
        primary_dim=4,
        primary_kernel=5,
        class_dim=8,
        decoder_hidden=(16,),
    )
    return CapsNet(config, PARTS)


def few(count: int = 64, split: Split = "train") -> Digits:
    """The first digits of a split of the sample."""
    images, labels, source = digits(split, source="sample")
    return Digits(images[:count], labels[:count], source)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def noise(
    *shape: int, seed: int = 0, dtype: torch.dtype = torch.float64, scale: float = 1.0
) -> torch.Tensor:
    """Normally distributed numbers."""
    return scale * torch.randn(shape, generator=generator(seed), dtype=torch.float64).to(dtype)


class NoFloat64(TorchDispatchMode):
    """A device without float64, as Apple's MPS: it refuses tensors of that type."""

    moved = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor) and leaf.dtype == torch.float64 and not self.moved:
                raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        return result


@contextmanager
def device_without_float64() -> Iterator[NoFloat64]:
    """Compute as if on such a device, up to the first `Tensor.cpu`."""
    device = NoFloat64()
    to_cpu = Tensor.cpu

    def cpu(tensor: Tensor) -> Tensor:
        device.moved = True
        return to_cpu(tensor)

    with patch.object(Tensor, "cpu", cpu), device:
        yield device
