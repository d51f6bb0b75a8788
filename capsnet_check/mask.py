"""Does this function mask the capsules by the label, and without labels by length?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_check.calls import CHANGED, Subject, Trouble
from capsnet_check.examination import examine
from capsnet_check.gradients import gradient_findings
from capsnet_check.recognition import close, difference, expected
from capsnet_check.report import Finding, Report


def check_mask(function: Any, *, strict: bool = False) -> Report:
    """Check that a function keeps the labelled capsule, and without labels the longest.

    Args:
        function: ``mask(v [B, J, D], labels [B] or None) -> [B, J, D]``, a function or a module.
        strict: refuse one that writes into v, or that holds for ten capsules and not for seven: for
            exercises, whose v is used again and has other sizes.

    Returns:
        A `Report`; the bug that it knows: mask-prediction.
    """
    agrees = (
        "With labels it keeps theirs, without it keeps the longest, and only what is kept learns."
    )

    def steps() -> Iterator[Finding]:
        subject = Subject(function, "mask(v, labels)")
        findings = list(_examine(subject))
        yield from findings
        if strict and all(finding.convention for finding in findings):
            yield from _examine_fewer_capsules(subject)

    return examine("mask", steps, agrees, strict=strict)


def _examine(subject: Subject) -> Iterator[Finding]:
    generator = torch.Generator().manual_seed(5)
    v = torch.randn(4, 10, 16, generator=generator) * torch.rand(4, 10, 1, generator=generator) / 4
    longest = v.norm(dim=-1).argmax(dim=1)
    labels = (longest + 3) % 10
    other_labels = (longest + 5) % 10
    if getattr(subject(v, labels), "shape", None) == v[:, 0].shape:
        wanted = f"expected {list(v.shape)}, the others' numbers being 0"
        raise Trouble(f"It returns the kept capsule alone; {wanted}.")

    labelled = subject.tensor(v.shape, v, labels)
    right = close(labelled, expected("mask", (v, labels)))
    masks = bool((labelled == 0).any())
    if not right and masks and close(labelled, subject.tensor(v.shape, v, other_labels)):
        yield Finding("mask-prediction", "The labels change nothing.")
    elif not right:
        yield _slip(v, labels, labelled) or difference("mask", (v, labels), labelled)
    if subject.wrote:
        yield Finding(None, CHANGED, convention=True)

    try:
        unlabelled = subject.tensor(v.shape, v, None)
    except Trouble as trouble:
        text = (
            "It needs labels: without them, for images that are read, it should keep the longest "
            f"capsule. {trouble}"
        )
        yield Finding(None, text, failed_call=True)
        return
    if not close(unlabelled, expected("mask", (v, None))):
        text = "Without labels it should keep the longest capsule of each image."
        slip = (
            _slip_without_labels(v, unlabelled)
            or _slip(v, longest, unlabelled)
            or difference("mask", (v, None), unlabelled)
        )
        yield Finding(None, f"{text} {slip.text}")
    elif right:
        yield from gradient_findings(subject, "mask", (v, labels))


def _slip(v: Tensor, labels: Tensor, output: Tensor) -> Finding | None:
    """Return the finding for an output that a usual slip gives, or None.

    Args:
        v: [B, J, D].
        labels: the capsules to keep, [B].
        output: [B, J, D].
    """
    kept = expected("mask", (v, labels))
    shortest = v.norm(dim=-1).argmin(dim=1)
    slips = {
        "The mask is upside down: it zeroes the capsule that should stay.": v.double() - kept,
        "It returns the mask itself, not the capsules under it.": kept.ne(0).double(),
        "It keeps the shortest capsule.": expected("mask", (v, shortest)),
        "It keeps every capsule.": v.double(),
        "It keeps the capsule after the one of the label.": expected(
            "mask", (v, (labels + 1) % 10)
        ),
        "In each image it keeps the capsules of all images' labels.": (
            v.double() * F.one_hot(labels, 10).amax(dim=0)[:, None]
        ),
        "The mask runs along the 16 numbers, not along the 10 capsules.": (
            v.double() * F.one_hot(labels, 16)[:, None]
        ),
        "The kept capsule is made 1 long.": F.normalize(kept, dim=2),
        "The kept capsule has lost its signs.": kept.abs(),
        "The kept capsule is multiplied by its length.": kept * kept.norm(dim=2, keepdim=True),
    }
    return _matching(slips, output) or _half_right(kept, output)


def _half_right(kept: Tensor, output: Tensor) -> Finding | None:
    """Return the finding for an output that is right in the kept capsules alone, or beside them."""
    is_kept = kept.ne(0)
    if close(output[is_kept], kept[is_kept]):
        return Finding(None, "The kept capsule is right; the numbers of the others are not 0.")
    if not output[~is_kept].any():
        return Finding(None, "The others are 0, and the kept capsule is changed.")
    return None


def _slip_without_labels(v: Tensor, output: Tensor) -> Finding | None:
    """Return the finding for a capsule that was chosen by another rule than its length."""
    lengths = v.norm(dim=-1)
    longest_of_all = lengths.flatten().argmax() // v.shape[1]
    slips = {
        "It keeps the capsule whose numbers have the largest sum.": v.sum(dim=-1).argmax(dim=1),
        "It keeps the capsule with the largest number.": v.amax(dim=-1).argmax(dim=1),
        "It keeps the capsule whose numbers have the largest sum without their signs.": (
            v.abs().sum(dim=-1).argmax(dim=1)
        ),
        "It keeps the capsule with the largest number without its sign.": (
            v.abs().amax(dim=-1).argmax(dim=1)
        ),
        "It keeps the capsule whose first number is the largest.": v[:, :, 0].argmax(dim=1),
        "It keeps class 0 in every image.": torch.zeros(len(v), dtype=torch.long),
        "It keeps the same class in every image, that of the longest capsule of all.": (
            lengths[longest_of_all].argmax().expand(len(v))
        ),
    }
    outputs = {sentence: expected("mask", (v, chosen)) for sentence, chosen in slips.items()}
    return _matching(outputs, output)


def _matching(slips: dict[str, Tensor], output: Tensor) -> Finding | None:
    """Return the finding of the slip that gives the output, or None."""
    for sentence, wanted in slips.items():
        if close(output, wanted):
            return Finding(None, sentence)
    return None


def _examine_fewer_capsules(subject: Subject) -> Iterator[Finding]:
    """Try seven capsules and labels that lack the last: a batch seldom has every class."""
    v = torch.randn(3, 7, 16, generator=torch.Generator().manual_seed(6))
    labels = torch.tensor([0, 4, 2])
    try:
        labelled = subject.tensor(v.shape, v, labels)
    except Trouble as trouble:
        text = (
            "With 7 capsules and the labels 0, 4 and 2 it fails: take the number of classes from "
            f"v, since neither 10 nor the largest label tells it. {trouble}"
        )
        yield Finding(None, text, failed_call=True)
        return
    if not close(labelled, expected("mask", (v, labels))):
        yield difference("mask", (v, labels), labelled)
