"""Does this mask keep the right capsule?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import TIME_LIMIT, Subject
from capsnet_tutorial.check.pieces import Small, differs, examined
from capsnet_tutorial.check.recognise import close, right
from capsnet_tutorial.check.report import Example, Finding, Report

_V = torch.tensor([[[0.3, 0.4], [0.0, 0.9], [0.1, 0.0]]])
_LABELLED = Small(
    "one image of class 0 whose longest capsule is 1", (_V, torch.tensor([0])), "kept", lambda out: out[0]
)
_UNLABELLED = Small("one image without a label whose longest capsule is 1", (_V, None), "kept", lambda out: out[0])


def check_mask(function: Any, *, time_limit: float = TIME_LIMIT) -> Report:
    """Does this function keep the labelled capsule, and without labels the longest? Names what is wrong.

    Args:
        function: ``mask(v [B, J, D], labels [B] or None) -> [B, J, D]``, a function or a module.
        time_limit: seconds that one call may take.

    Returns:
        A `Report`; the bug that it knows: mask-prediction.
    """
    agrees = "With labels it keeps theirs, without it keeps the longest, and only what is kept learns."
    return examined("mask", "mask(v, labels)", function, agrees, _examine, time_limit)


def _examine(subject: Subject) -> list[Finding]:
    generator = torch.Generator().manual_seed(5)
    v = torch.randn(4, 10, 16, generator=generator) * torch.rand(4, 10, 1, generator=generator) / 4
    longest = v.norm(dim=-1).argmax(dim=1)
    labels, others = (longest + 3) % 10, (longest + 5) % 10
    findings = []

    labelled = subject.tensor(v.shape, v, labels)
    if not close(labelled, right("mask", (v, labels))):
        ignored = close(labelled, subject.tensor(v.shape, v, others))
        keeps_one = _keeps_one(labelled, v)
        if close(labelled, right("mask", (v, None))) or (ignored and keeps_one):
            findings.append(Finding("mask-prediction", "The labels change nothing.", _example(subject, _LABELLED)))
        else:
            findings.append(differs(subject, "mask", (v, labels), labelled, (_LABELLED,)))
    free = subject.tensor(v.shape, v, None)
    if not close(free, right("mask", (v, None))):
        findings.append(_not_the_longest(subject, v, free))
    if findings:
        return findings

    for given in (labels[:1], None):
        alone = subject.tensor((1, 10, 16), v[:1], given)
        if not close(alone, right("mask", (v[:1], given))):
            return [differs(subject, "mask", (v[:1], given), alone, (_LABELLED, _UNLABELLED))]
    _, gradient = subject.gradient(v.shape, v, labels)
    kept = torch.nn.functional.one_hot(labels, 10).bool()
    if not gradient.isfinite().all() or gradient[~kept].abs().max() > 0 or not (gradient[kept] == 1).all():
        return [
            Finding(None, "Its values are right and its gradient is not: the kept capsule's should pass unchanged.")
        ]
    return []


def _keeps_one(out: Tensor, v: Tensor) -> bool:
    """Whether each image keeps one capsule as it was."""
    kept = out.abs().amax(dim=-1) > 0
    return bool((kept.sum(dim=1) == 1).all()) and close(out[kept], v.double()[kept])


def _not_the_longest(subject: Subject, v: Tensor, came: Tensor) -> Finding:
    alone = subject.tensor((1, *v.shape[1:]), v[:1], None)
    if not close(came[:1], right("mask", (v[:1], None))) and close(alone, right("mask", (v[:1], None))):
        return Finding(
            None,
            "Without labels, what is kept depends on the other images of the batch (a softmax or an argmax over the "
            "batch?); expected the longest capsule of each image.",
        )
    finding = differs(subject, "mask", (v, None), came, (_UNLABELLED,))
    return Finding(
        None, f"Without labels it should keep the longest capsule of each image. {finding.says}", finding.example
    )


def _example(subject: Subject, small: Small) -> Example | None:
    expected = right("mask", small.arguments)
    came = subject.tensor(expected.shape, *small.arguments)
    return (
        Example(small.given, small.what, small.shown(expected), small.shown(came))
        if not close(came, expected)
        else None
    )
