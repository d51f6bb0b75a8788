"""What shows in a network's outputs: lengths, the mask, a batch of one, a second call."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import torch
from torch import Tensor, nn

from capsnet_check.calling import CallStyle, Network
from capsnet_check.calls import Trouble
from capsnet_check.report import Coverage, Finding
from capsnet_check.target import Target
from capsnet_check.trace import Replacements, Trace, tensors_in

_SUM_TOLERANCE = 1e-4
_LENGTH_TOLERANCE = 1e-3


def length_findings(network: Network, classes: int) -> Iterator[Finding]:
    """Yield findings about scores [B, J] that are no lengths: too long, or shares of 1."""
    all_scores = _scores(network, network.returned, classes)
    in_training = []
    if isinstance(network.thing, nn.Module) and any(map(_are_shares, all_scores)):
        with suppress(Trouble):
            in_training = _scores(network, network.run(train=True), classes)
    for scores in all_scores:
        if not scores.isfinite().all():
            raise Trouble("Its lengths for these images are not finite numbers.")
        if scores.max() > 1 + _LENGTH_TOLERANCE:
            longest = float(scores.max())
            text = f"A class capsule is {longest:.3f} long; no squashed vector is longer than 1."
            yield Finding("squash-axis", text)
        elif _are_shares(scores):
            others = [other for other in all_scores if other is not scores]
            yield _finding_about_shares(others, in_training)


def _scores(network: Network, tensors: Sequence[Tensor], classes: int) -> list[Tensor]:
    """Return those of the tensors that are scores [B, J]."""
    shape = (len(network.images), classes)
    squeezed = [tensor.squeeze() for tensor in tensors]
    return [tensor for tensor in squeezed if tensor.shape == shape]


def _are_shares(scores: Tensor) -> bool:
    """Return True if the scores of every image sum to 1, and are not one-hot."""
    one_hot = bool(((scores == 0) | (scores == 1)).all())
    return not one_hot and bool(((scores.sum(1) - 1).abs() < _SUM_TOLERANCE).all())


def _may_be_lengths(scores: Tensor) -> bool:
    """Return True for numbers from 0 to 1 that do not sum to 1, and are not one-hot."""
    in_range = bool(((scores >= 0) & (scores <= 1 + _LENGTH_TOLERANCE)).all())
    return in_range and not bool(((scores.sum(1) - 1).abs() < _SUM_TOLERANCE).all())


def _finding_about_shares(others: Sequence[Tensor], in_training: Sequence[Tensor]) -> Finding:
    """Return the finding about scores that sum to 1: a convention where there are lengths, too.

    Args:
        others: the other scores that the network returns.
        in_training: the scores that it returns in training.
    """
    if any(map(_may_be_lengths, others)):
        where = "beside the lengths"
    elif any(map(_may_be_lengths, in_training)):
        where = "after training, in place of the lengths,"
    else:
        return Finding("lengths-softmax", "The lengths of every image sum to 1.")
    text = (
        f"Not as in the paper, and as good: {where} it returns numbers that sum to 1. "
        "The margin loss takes the lengths."
    )
    return Finding(None, text, convention=True)


def batch_of_one_findings(network: Network) -> Iterator[Finding | Coverage]:
    """Examine whether the output for a single image keeps the axis of the batch."""
    if len(network.images) != 3:  # it takes batches of its own size only
        return
    yield Coverage("batch of one")
    alone = copy.copy(network)
    alone.images = network.images[:1]
    alone.labels = network.labels[:1]
    for output, output_alone in zip(network.returned, alone.run(), strict=False):
        shape = (1, *output.shape[1:])
        if output.shape[:1] == (3,) and output_alone.shape != shape:
            text = (
                "With a batch of one image it returns a tensor of shape "
                f"{list(output_alone.shape)}."
            )
            yield Finding(None, text)


def is_stateful(target: Target, replacements: Replacements | None = None) -> bool:
    """Return True if two calls of one copy with the same input differ."""
    thing = target.fresh()
    first, second = (
        tensors_in(target.run(Trace(replacements, keep=()), thing=thing)) for _ in range(2)
    )
    return any(not _agree(*pair) for pair in zip(first, second, strict=False))


def _agree(first: Tensor, second: Tensor) -> bool:
    if first.shape != second.shape:
        return False
    return torch.allclose(first.double(), second.double(), rtol=1e-3, atol=1e-5, equal_nan=True)


def mask_findings(
    network: Network, classes: int, long: Mapping[int, Tensor]
) -> Iterator[Finding | Coverage]:
    """Examine whether a network's reconstruction depends on the labels.

    Args:
        network: the network.
        classes: J.
        long: replacements with which its capsules are long enough to show it.
    """
    pixels = network.images.numel()
    if not any(tensor.numel() == pixels for tensor in network.returned):
        yield Coverage("mask (it redraws nothing)")
        return
    if network.style == CallStyle.NO_LABELS and network.may_take_labels:
        yield Coverage("mask", "its labels could not be given")
        return
    yield Coverage("mask")
    if network.style == CallStyle.NO_LABELS:
        text = "It reconstructs and is given no label: it can only mask by its prediction."
        yield Finding("mask-prediction", text)
        return
    modes = [False]
    if isinstance(network.thing, nn.Module):
        modes.append(True)  # many mask by labels in training alone
    if not any(_depends_on_labels(network, classes, long, train) for train in modes):
        yield Finding("mask-prediction", "With other labels its reconstruction stays the same.")


def _depends_on_labels(
    network: Network, classes: int, long: Mapping[int, Tensor], train: bool
) -> bool:
    pixels = network.images.numel()

    def reconstructions(step: int) -> list[Tensor]:
        labels = (network.labels + step) % classes
        output = network.run(long, labels, train=train)
        return [tensor for tensor in output if tensor.numel() == pixels]

    first = reconstructions(0)
    for step in (1, 3):
        pairs = zip(first, reconstructions(step), strict=False)
        if not all(torch.equal(*pair) for pair in pairs):
            return True
    return False
