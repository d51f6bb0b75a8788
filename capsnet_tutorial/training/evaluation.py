"""Evaluation: one loop over batches in eval mode, and the three numbers that a CapsNet is measured by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect
from capsnet_tutorial.functional import margin_loss
from capsnet_tutorial.model import CapsNet


@contextmanager
def in_eval_mode(network: nn.Module) -> Iterator[None]:
    """Examine a network in eval mode; afterwards every module in it is in the mode that was its own."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


def over_batches(
    network: nn.Module, measure: Callable[..., tuple[Tensor, ...]], *examples: Tensor, batch_size: int = 500
) -> tuple[Tensor, ...]:
    """Measurements of every example, in eval mode and without gradients.

    Args:
        network: its device is where batches are measured; its mode is what it was, afterwards.
        measure: (a batch of each of the examples' tensors) -> some tensors [B, …].
        examples: tensors [N, …], images and labels, say.
        batch_size: B, of all batches but the last.

    Returns:
        What ``measure`` gave, [N, …] each, on the CPU.

    Raises:
        ValueError: there are no examples.
    """
    expect(len(examples[0]) > 0, "at least one image", "none")
    device = next(network.parameters()).device
    batches = zip(*(tensor.split(batch_size) for tensor in examples), strict=True)
    with in_eval_mode(network), torch.no_grad():
        found = [
            tuple(values.cpu() for values in measure(*(tensor.to(device) for tensor in batch))) for batch in batches
        ]
    return tuple(torch.cat(values) for values in zip(*found, strict=True))


class Evaluation(NamedTuple):
    """Errors of a CapsNet on a set of digits."""

    error: float
    """Share of digits whose longest capsule is the wrong one, 0 to 1."""
    margin_loss: float
    reconstruction_mse: float
    """Mean squared difference a pixel, decoded from the longest capsule."""


def evaluate(network: CapsNet | nn.Module, data: Digits, batch_size: int = 500) -> Evaluation:
    """Test error, margin loss and reconstruction error of a network, in eval mode.

    Raises:
        ValueError: there are no digits.
    """

    def measure(images: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        output = network(images)
        margin = margin_loss(output.lengths, labels).expand(len(images))  # the batch's mean, for each of its images
        drawn = (output.reconstruction - images.flatten(1)).square().mean(dim=1)
        return output.lengths.argmax(dim=1) != labels, margin, drawn

    return Evaluation(*means(over_batches(network, measure, data.images, data.labels, batch_size=batch_size)))


def means(values: tuple[Tensor, ...]) -> list[float]:
    """Means over the examples, of tensors [N]."""
    return [each.double().mean().item() for each in values]
