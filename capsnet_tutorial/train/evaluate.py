"""Errors of a trained network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.functional import margin_loss
from capsnet_tutorial.model import in_eval_mode, named_output, warn_of_bytes


class Evaluation(NamedTuple):
    """Errors of a CapsNet on a set of digits."""

    error: float
    """Share of digits whose longest capsule is the wrong one, 0 to 1."""
    margin_loss: float
    """Mean margin loss of a digit."""
    reconstruction_mse: float
    """Mean squared difference a pixel, decoded from the longest capsule."""


def evaluate(network: nn.Module, data: Digits, batch_size: int = 500) -> Evaluation:
    """Return the errors of a network in eval mode on digits, at least one."""
    warn_of_bytes(data.images)
    measure = partial(_errors, network)
    measurements = over_batches(network, measure, data.images, data.labels, batch_size=batch_size)
    # Averaged in float64, therefore on the CPU: not every device has float64.
    return Evaluation(*(values.double().mean().item() for values in measurements))


def _errors(network: nn.Module, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return three numbers of each image, [B] each.

    They are whether it is misread, the margin loss, and the mean squared error of a pixel of its
    reconstruction. The margin loss is the batch's mean for each of its images, so that an average
    over batches of different sizes is right.
    """
    output = named_output(network(images))
    is_wrong = output.lengths.argmax(dim=1) != labels  # [B]
    margin = margin_loss(output.lengths, labels).expand(len(images))  # [B]
    difference = output.reconstruction - images.flatten(1)  # [B, pixels]
    return is_wrong, margin, difference.square().mean(dim=1)


def over_batches(
    network: nn.Module,
    measure: Callable[..., tuple[Tensor, ...]],
    *examples: Tensor,
    batch_size: int = 500,
) -> tuple[Tensor, ...]:
    """Return measurements of every example, in eval mode, without gradients.

    Args:
        network: whose device is computed on; each module's mode is restored afterwards.
        measure: (a batch of each of the examples' tensors) -> some tensors [B, …].
        examples: tensors [N, …], at least one long: images and labels, say.
        batch_size: B, of all batches but the last.

    Returns:
        The measurements, [N, …] each, on the CPU.

    Raises:
        ValueError: no examples; a batch size that is no whole number above 0.
    """
    expect_count("batch_size", batch_size)
    expect(len(examples[0]) > 0, "at least one image", "none")
    device = next(network.parameters()).device
    batches = zip(*(tensor.split(batch_size) for tensor in examples), strict=True)
    measurements = []
    with in_eval_mode(network), torch.no_grad():
        for batch in batches:
            values = measure(*(tensor.to(device) for tensor in batch))
            measurements.append([value.cpu() for value in values])
    return tuple(torch.cat(values) for values in zip(*measurements, strict=True))
