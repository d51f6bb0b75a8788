"""Does this mask keep the right capsule?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble
from capsnet_tutorial.check.pieces import Small, differs, examined
from capsnet_tutorial.check.recognise import close, right
from capsnet_tutorial.check.report import Example, Finding, Report

_V = torch.tensor([[[0.3, 0.4], [0.0, 0.9], *[[0.1, 0.0]] * 8]])
_LABELLED = Small(
    "one image of class 0 whose longest capsule is 1", (_V, torch.tensor([0])), "kept", lambda out: out[0]
)
_UNLABELLED = Small("one image without a label whose longest capsule is 1", (_V, None), "kept", lambda out: out[0])


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
    yield from _accepted(subject, v, labels)

    labelled = subject.tensor(v.shape, v, labels)
    right_with_labels = close(labelled, right("mask", (v, labels)))
    if not right_with_labels:
        ignored = close(labelled, subject.tensor(v.shape, v, others))
        keeps_one = _keeps_one(labelled, v)
        if close(labelled, right("mask", (v, None))) or (ignored and keeps_one):
            yield Finding("mask-prediction", "The labels change nothing.", _example(subject, _LABELLED))
        else:
            yield differs(subject, "mask", (v, labels), labelled, (_LABELLED,))
    try:
        free = subject.tensor(v.shape, v, None)
    except Trouble as trouble:
        text = "It needs labels: without them, for images that are read, it should keep the longest capsule."
        yield Finding(None, f"{text} {trouble}", failed_call=True)
        return
    if not close(free, right("mask", (v, None))):
        yield _not_the_longest(subject, v, free)
        return
    if not right_with_labels:
        return

    for given in (labels[:1], None):
        alone = subject.tensor((1, 10, 16), v[:1], given)
        if not close(alone, right("mask", (v[:1], given))):
            yield differs(subject, "mask", (v[:1], given), alone, (_LABELLED, _UNLABELLED))
            return
    if not subject.has_gradient:
        return
    _, gradient = subject.gradient(v.shape, v, labels)
    kept = torch.nn.functional.one_hot(labels, 10).bool()
    if not gradient.isfinite().all() or gradient[~kept].abs().max() > 0 or not (gradient[kept] == 1).all():
        yield Finding(None, "Its values are right and its gradient is not: the kept capsule's should pass unchanged.")


def _accepted(subject: Subject, v: Tensor, labels: Tensor) -> Iterator[Finding]:
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
            return _put_back(out, v)
        return out

    first: Trouble | None = None
    for hot, trailing in ((False, False), (True, False), (False, True), (True, True)):
        subject.function = lambda v, labels, hot=hot, trailing=trailing: called_as(v, labels, hot, trailing)
        try:
            subject.tensor(v.shape, v, labels)
        except Trouble as trouble:
            first = first or trouble
        else:
            texts = ["It takes one-hot labels."] * hot + ["It takes v with one axis more."] * trailing
            yield from (Finding(None, text, convention=True) for text in (*texts, *sorted(returned)))
            return
    subject.function = function


def _put_back(kept: Tensor, v: Tensor) -> Tensor:
    """[B, D] in the place of the capsule that it equals."""
    place = (kept.unsqueeze(1) - v).abs().sum(-1).argmin(1)
    return kept.unsqueeze(1) * torch.nn.functional.one_hot(place, v.shape[1]).to(v).unsqueeze(-1)


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
    finding = differs(subject, "mask", (v, None), came, (_UNLABELLED,))
    return Finding(
        None, f"Without labels it should keep the longest capsule of each image. {finding.text}", finding.example
    )


def _example(subject: Subject, small: Small) -> Example | None:
    expected = right("mask", small.arguments)
    came = subject.tensor(expected.shape, *small.arguments)
    return (
        Example(small.given, small.what, small.shown(expected), small.shown(came))
        if not close(came, expected)
        else None
    )
