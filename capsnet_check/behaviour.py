"""What shows in a network's outputs: lengths, the mask, a batch of one, a second call."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence

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
    tensors = [tensor.squeeze() for tensor in network.returned]
    shape = (len(network.images), classes)
    all_scores = [tensor for tensor in tensors if tensor.shape == shape]
    for scores in all_scores:
        if not scores.isfinite().all():
            raise Trouble("Its lengths for these images are not finite numbers.")
        if scores.max() > 1 + _LENGTH_TOLERANCE:
            longest = float(scores.max())
            text = f"A class capsule is {longest:.3f} long; no squashed vector is longer than 1."
            yield Finding("squash-axis", text)
        elif _are_shares(scores):
            yield _finding_about_shares(scores, all_scores)


def _are_shares(scores: Tensor) -> bool:
    """Return True if the scores of every image sum to 1, and are not one-hot."""
    one_hot = bool(((scores == 0) | (scores == 1)).all())
    return not one_hot and bool(((scores.sum(1) - 1).abs() < _SUM_TOLERANCE).all())


def _finding_about_shares(shares: Tensor, all_scores: Sequence[Tensor]) -> Finding:
    """Return the finding about a softmax: a convention where the lengths are returned, too."""
    others = [scores for scores in all_scores if scores is not shares]
    for lengths in others:
        if torch.allclose(lengths.softmax(dim=1), shares, rtol=1e-3, atol=1e-5):
            text = (
                "Not as in the paper, and as good: beside the lengths it returns their softmax. "
                "The margin loss takes the lengths."
            )
            return Finding(None, text, convention=True)
    return Finding("lengths-softmax", "The lengths of every image sum to 1.")


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
        yield Finding("mask-prediction", "With other labels it reconstructs the very same.")


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
