"""Is this routing Procedure 1?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import TIME_LIMIT, Subject, Trouble
from capsnet_tutorial.check.pieces import Small, differs, examined, nan_at_zero, of_deviations
from capsnet_tutorial.check.recognise import close, explained_by, recognise
from capsnet_tutorial.check.report import Example, Finding, Report

_VOTES = torch.tensor([[[[1.5, 0.5], [0.5, -1.0]], [[1.5, 0.0], [-1.0, 0.5]], [[-0.5, 1.0], [0.5, 1.0]]]])
_OTHERS = torch.tensor([[[[-2.0, 0.5], [2.0, -1.0]], [[-1.5, 0.0], [2.0, 0.5]], [[1.5, 1.0], [2.0, 1.0]]]])
_SMALLS = (
    Small(
        "one image, three capsules below, two above, their predictions in the plane, 3 rounds",
        (_VOTES, 3),
        "v",
        lambda v: v[0],
        arrows=True,
    ),
    Small(
        "the first of two images; three capsules below, two above, 3 rounds",
        (torch.cat([_VOTES, _OTHERS]), 3),
        "v",
        lambda v: v[0],
        arrows=True,
    ),
)


def check_routing(function: Any, *, time_limit: float = TIME_LIMIT) -> Report:
    """Is this function routing by agreement, Procedure 1? Names what is wrong.

    Args:
        function: ``route(u_hat [B, I, J, D], iterations) -> v [B, J, D]``, a function or a module. The gradient may
            flow through all rounds or only the last.
        time_limit: seconds that one call may take.

    Returns:
        A `Report`; bugs that it knows: softmax-axis, squash-nan, squash-axis, batch-agreement, stale-logits,
        no-update-rounds.
    """
    agrees = "It is Procedure 1, image by image, for 1 to 4 rounds, and a second call gives what the first gave."
    return examined("routing", "route(u_hat, iterations)", function, agrees, _examine, time_limit)


def _examine(subject: Subject) -> list[Finding]:
    u_hat, first = _first_call(subject)
    batch, _, above, dim = u_hat.shape
    shape = (batch, above, dim)
    second = subject.tensor(shape, u_hat, 3)
    stale = not close(second, first)
    findings = [_stale(subject)] if stale else []

    deviations = recognise("routing", [((u_hat, 3), first)], at_most=4 if u_hat.shape[1] < 100 else 2)
    if deviations:
        findings += of_deviations(subject, "routing", deviations, _SMALLS)
    elif deviations is None and not stale:
        findings += _unexplained(subject, u_hat, first)
    if not stale:
        findings += _other_rounds(subject, u_hat, deviations)
    if deviations is None and stale:
        findings.append(
            Finding(
                None,
                "Whether anything else is wrong shows in a function that was not called before: its first result is "
                "not that of Procedure 1 either.",
            )
        )
    findings = [_batch(subject) if each.bug == "batch-agreement" else each for each in findings]
    return findings + nan_at_zero(subject, shape, torch.zeros_like(u_hat), 3, name="û")


def _first_call(subject: Subject) -> tuple[Tensor, Tensor]:
    """Predictions and what became of them. With 12 capsules below, or with the paper's 1152 where the code says so."""
    u_hat = _predictions(12)
    try:
        return u_hat, subject.tensor((3, 10, 16), u_hat, 3)
    except Trouble as trouble:
        u_hat = _predictions(1152)
        try:
            return u_hat, subject.tensor((3, 10, 16), u_hat, 3)
        except Trouble:
            raise trouble from None


def _predictions(below: int) -> Tensor:
    """û [3, below, 10, 16] in which some agree: the couplings move a good way in three rounds, and do not settle."""
    generator = torch.Generator().manual_seed(1)
    truth = torch.randn(3, 1, 10, 16, generator=generator) * torch.linspace(0.2, 1, 10).reshape(1, 1, 10, 1)
    noise = torch.randn(3, below, 10, 16, generator=generator)
    return (0.6 * truth + 0.35 * noise) * (12 / below) ** 0.5


def _stale(subject: Subject) -> Finding:
    votes = _SMALLS[0].arguments
    try:
        first, second = (subject.tensor((1, 2, 2), *votes)[0] for _ in range(2))
    except Trouble:
        return Finding("stale-logits", "A second call with the same input gives another result.")
    example = Example(f"{_SMALLS[0].given}, twice", "v of the second call", first, second, arrows=True)
    return Finding("stale-logits", "A second call with the same input gives another result.", example)


def _batch(subject: Subject) -> Finding:
    """How an image's output depends on its neighbours: beside others, and alone."""
    says = "An image's output depends on the images beside it in the batch."
    try:
        alone = subject.tensor((1, 2, 2), _VOTES, 3)[0]
        beside = subject.tensor((2, 2, 2), torch.cat([_VOTES, _OTHERS]), 3)[0]
    except Trouble:
        return Finding("batch-agreement", says)
    if close(alone, beside):
        return Finding("batch-agreement", says)
    given = "an image with three capsules below and two above, alone (expected) and beside another image (came)"
    return Finding("batch-agreement", says, Example(given, "v", alone, beside, arrows=True))


def _unexplained(subject: Subject, u_hat: Tensor, came: Tensor) -> list[Finding]:
    """No combination of known mistakes gives these numbers. What can be said for certain is said."""
    findings = [differs(subject, "routing", (u_hat, 3), came, _SMALLS)]
    subject.seed += 1
    if not close(subject.tensor(came.shape, u_hat, 3), came):
        return [*findings, Finding(None, "Its result depends on random numbers; b starts at 0.")]
    try:
        alone = subject.tensor((1, *came.shape[1:]), u_hat[:1], 3)
    except Trouble as trouble:
        return [*findings, Finding(None, f"With one image: {trouble}")]
    if not close(alone, came[:1]):
        findings.append(Finding("batch-agreement"))
    return findings


def _other_rounds(subject: Subject, u_hat: Tensor, deviations: tuple | None) -> list[Finding]:
    """Other numbers of rounds, and a batch of one image."""
    if deviations is None:
        return []
    fewest = 1 if not deviations else 2
    for votes, rounds in ((u_hat, 4), (u_hat, 2), (u_hat[:1], 3), (u_hat, 1)):
        if rounds < fewest or (deviations and len(votes) == 1):
            continue
        expected = explained_by("routing", deviations, (votes, rounds))
        try:
            came = subject.tensor(expected.shape, votes, rounds)
        except Trouble as trouble:
            return [Finding(None, f"With {rounds} round{'s' * (rounds > 1)}: {trouble}")]
        if not close(came, expected):
            also = " in another way than with 3" if deviations else ""
            text = f"With iterations = {rounds} it differs from Procedure 1{also}. Is the number of rounds used?"
            if len(votes) == 1:
                text = "With a batch of one image it differs from what that image gives beside others."
            return [Finding(None, text)]
    return []
