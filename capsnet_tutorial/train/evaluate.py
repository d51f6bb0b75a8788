"""Errors of a trained network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect, expect_count, expect_number
from capsnet_tutorial.functional import margin_loss
from capsnet_tutorial.images import Examples, TrainingData, training_data
from capsnet_tutorial.model import in_eval_mode, named_output, warn_of_range


class Evaluation(NamedTuple):
    """Errors of a CapsNet on images."""

    error: float
    """Share of images that are misread, 0 to 1.

    With class numbers as labels: whose longest capsule is the wrong one. With rows of zeros and
    ones: whose capsules of at least the threshold are not exactly those of the classes present.
    """
    margin_loss: float
    """Mean margin loss of an image."""
    reconstruction_mse: float | None
    """Mean squared difference a pixel, decoded from the longest capsule, or from all of at least
    the threshold; None without a reconstruction."""


def evaluate(
    network: nn.Module, data: Examples, batch_size: int = 500, *, threshold: float = 0.5
) -> Evaluation:
    """Return the errors of a network in eval mode on images, at least one.

    Args:
        network: a `CapsNet`, or another that returns capsules, lengths and a reconstruction.
        data: `Digits`; a ``Dataset`` of (image, label); or a pair of tensors, images [N, C, H, W]
            from 0 to 1 and labels, see `training_data`.
        batch_size: images that are computed together; the result is the same for all.
        threshold: the length from which on a class counts as present, where the labels are rows of
            zeros and ones, for several classes in an image, or none.

    Raises:
        ValueError: other data, or none.
    """
    examples = training_data(data)
    if isinstance(examples, Digits):
        warn_of_range(examples.images)
    expect_number("threshold", threshold)
    measure = partial(_errors, network, examples, threshold)
    positions = torch.arange(examples.count)
    measurements = over_batches(network, measure, positions, batch_size=batch_size)
    # Averaged in float64, therefore on the CPU: not every device has float64.
    means = [values.double().mean().item() for values in measurements]
    error, margin, *mse = means
    return Evaluation(error, margin, mse[0] if mse else None)


def _errors(
    network: nn.Module, examples: TrainingData, threshold: float, positions: Tensor
) -> tuple[Tensor, ...]:
    """Return three numbers of each image at these positions, [B] each; two without a drawing.

    They are whether it is misread, the margin loss, and the mean squared error of a pixel of its
    reconstruction. The margin loss is the batch's mean for each of its images, so that an average
    over batches of different sizes is right.
    """
    batch = examples.batch(positions.cpu(), Augmentation(shift=0), torch.Generator())
    images, labels = (tensor.to(positions.device) for tensor in batch)
    output = named_output(network(images))
    margin = margin_loss(output.lengths, labels).expand(len(images))  # [B]
    if labels.dim() == 1:
        is_wrong = output.lengths.argmax(dim=1) != labels  # [B]
    else:
        present = output.lengths >= threshold  # [B, J]
        is_wrong = (present != labels.bool()).any(dim=1)
        output = named_output(network(images, present))  # draws all of them
    if output.reconstruction is None:
        return is_wrong, margin
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
