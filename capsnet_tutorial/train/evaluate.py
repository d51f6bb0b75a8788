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
    reconstruction_mse: float
    """Mean squared difference a pixel, decoded from the longest capsule."""


def evaluate(network: nn.Module, data: Digits, batch_size: int = 500) -> Evaluation:
    """Return the errors of a network on digits, at least one, in eval mode."""
    warn_of_bytes(data.images)
    measure = partial(_errors, network)
    measured = over_batches(network, measure, data.images, data.labels, batch_size=batch_size)
    # Averaged in float64 on the CPU: not every device has it.
    return Evaluation(*(values.double().mean().item() for values in measured))


def _errors(network: nn.Module, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return of each image: is it misread, the batch's mean margin loss, the drawing's error."""
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
    measured = []
    with in_eval_mode(network), torch.no_grad():
        for batch in batches:
            values = measure(*(tensor.to(device) for tensor in batch))
            measured.append([value.cpu() for value in values])
    return tuple(torch.cat(values) for values in zip(*measured, strict=True))
