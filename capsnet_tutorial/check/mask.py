"""Does this mask keep the right capsule?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble, examined
from capsnet_tutorial.check.compare import Small, differs, shortest_example
from capsnet_tutorial.check.report import Finding, Report
from capsnet_tutorial.check.variants import close, expected

_V = torch.tensor([[[0.3, 0.4], [0.0, 0.9], *[[0.1, 0.0]] * 8]])
_PAPERS = torch.cat([_V, torch.zeros(1, 10, 14)], dim=2)  # as many numbers as in the paper, where 16 is written in


def _smalls(given: str, labels: Tensor | None) -> tuple[Small, ...]:
    return tuple(Small(given, (v, labels), "kept", lambda out: out[0, :, :2]) for v in (_V, _PAPERS))


_LABELLED = _smalls("one image of class 0 whose longest capsule is 1", torch.tensor([0]))
_UNLABELLED = _smalls("one image without a label whose longest capsule is 1", None)


def check_mask(function: Any, *, strict: bool = False) -> Report:
    """Does this function keep the labelled capsule, and without labels the longest? Names what is wrong.

    Args:
        function: ``mask(v [B, J, D], labels [B] or None) -> [B, J, D]``, a function or a module.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they ask for.

    Returns:
        A `Report`; the bug that it knows: mask-prediction.
    """
    agrees = "With labels it keeps theirs, without it keeps the longest, and only what is kept learns."
    return examined("mask", "mask(v, labels)", function, agrees, _examine, strict=strict)


def _examine(subject: Subject) -> Iterator[Finding]:
    generator = torch.Generator().manual_seed(5)
    v = torch.randn(4, 10, 16, generator=generator) * torch.rand(4, 10, 1, generator=generator) / 4
    longest = v.norm(dim=-1).argmax(dim=1)
    labels, others = (longest + 3) % 10, (longest + 5) % 10
    yield from _as_it_wants(subject, v, labels)

    labelled = subject.tensor(v.shape, v, labels)
    right_with_labels = close(labelled, expected("mask", (v, labels)))
    if not right_with_labels:
        ignored = close(labelled, subject.tensor(v.shape, v, others)) and _keeps_one(labelled, v)
        if ignored or close(labelled, expected("mask", (v, None))):
            example = shortest_example(subject, "mask", _LABELLED)
            yield Finding("mask-prediction", "The labels change nothing.", example)
        else:
            yield differs(subject, "mask", (v, labels), labelled, _LABELLED)
    try:
        free = subject.tensor(v.shape, v, None)
    except Trouble as trouble:
        text = "It needs labels: without them, for images that are read, it should keep the longest capsule."
        yield Finding(None, f"{text} {trouble}", failed_call=True)
        return
    if not close(free, expected("mask", (v, None))):
        yield _not_the_longest(subject, v, free)
        return
    if not right_with_labels:
        return
    for given in (labels[:1], None):
        alone = subject.tensor((1, 10, 16), v[:1], given)
        if not close(alone, expected("mask", (v[:1], given))):
            yield differs(subject, "mask", (v[:1], given), alone, (*_LABELLED, *_UNLABELLED))
            return
    gradient = subject.gradient(v.shape, v, labels)[1]
    kept = torch.nn.functional.one_hot(labels, 10).bool()
    if not gradient.isfinite().all() or gradient[~kept].abs().max() > 0 or not (gradient[kept] == 1).all():
        yield Finding(None, "Its values are right and its gradient is not: the kept capsule's should pass unchanged.")


def _as_it_wants(subject: Subject, v: Tensor, labels: Tensor) -> Iterator[Finding]:
    """One-hot labels, [B, J, D, 1] for v, and [B, J·D] or [B, D] given back: the function is called as it wants."""
    function = subject.function
    returned: set[str] = set()

    def called_as(v: Tensor, labels: Tensor | None, hot: bool, trailing: bool) -> Any:
        given = labels if labels is None or not hot else torch.nn.functional.one_hot(labels, v.shape[1]).to(v)
        out = function(v.unsqueeze(-1) if trailing else v, given)
        if not isinstance(out, Tensor) or out.shape == v.shape:
            return out
        if out.numel() == v.numel() and len(out) == len(v):
            returned.add(f"It returns the shape {list(out.shape)}, the same numbers as {list(v.shape)}.")
            return out.reshape(v.shape)
        if out.shape == v[:, 0].shape:
            returned.add(f"It returns the kept capsule alone, {list(out.shape)}, without the places of the others.")
            place = (out.unsqueeze(1) - v).abs().sum(-1).argmin(1)  # of the capsule that it equals
            return out.unsqueeze(1) * torch.nn.functional.one_hot(place, v.shape[1]).to(v).unsqueeze(-1)
        return out

    for hot, trailing in ((False, False), (True, False), (False, True), (True, True)):
        subject.function = lambda v, labels, hot=hot, trailing=trailing: called_as(v, labels, hot, trailing)
        try:
            subject.tensor(v.shape, v, labels)
        except Trouble:
            continue
        texts = ["It takes one-hot labels."] * hot + ["It takes v with one axis more."] * trailing
        yield from (Finding(None, text, convention=True) for text in (*texts, *sorted(returned)))
        return
    subject.function = function


def _keeps_one(out: Tensor, v: Tensor) -> bool:
    """Whether each image keeps one capsule as it was."""
    kept = out.abs().amax(dim=-1) > 0
    return bool((kept.sum(dim=1) == 1).all()) and close(out[kept], v.double()[kept])


def _not_the_longest(subject: Subject, v: Tensor, came: Tensor) -> Finding:
    beside = subject.tensor(v.shape, torch.cat([v[:1], v[1:] * 3]), None)
    if not close(came[:1], beside[:1]):
        return Finding(
            None,
            "Without labels, what is kept depends on the other images of the batch (a softmax or an argmax over the "
            "batch?); expected the longest capsule of each image.",
        )
    finding = differs(subject, "mask", (v, None), came, _UNLABELLED)
    text = f"Without labels it should keep the longest capsule of each image. {finding.text}"
    return Finding(None, text, finding.example)
