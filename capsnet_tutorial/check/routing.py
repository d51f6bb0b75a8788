"""Is this routing Procedure 1?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble, examined
from capsnet_tutorial.check.compare import Small, differs, nan_at_zero, of_deviations
from capsnet_tutorial.check.report import Example, Finding, Report
from capsnet_tutorial.check.variants import Deviation, close, expected, fewest_first, recognise

_VOTES = torch.tensor([[[[1.5, 0.5], [0.5, -1.0]], [[1.5, 0.0], [-1.0, 0.5]], [[-0.5, 1.0], [0.5, 1.0]]]])
_OTHERS = torch.tensor([[[[-2.0, 0.5], [2.0, -1.0]], [[-1.5, 0.0], [2.0, 0.5]], [[1.5, 1.0], [2.0, 1.0]]]])
_SMALLS = tuple(
    Small(f"{given}; three capsules below, two above, 3 rounds", (u_hat, 3), "v", lambda v: v[0], arrows=True)
    for given, u_hat in (("one image", _VOTES), ("the first of two images", torch.cat([_VOTES, _OTHERS])))
)
_SHAPE = (3, 10, 16)


def check_routing(function: Any, *, strict: bool = False) -> Report:
    """Is this function routing by agreement, Procedure 1? Names what is wrong.

    Args:
        function: ``route(u_hat [B, I, J, D], iterations) -> v [B, J, D]``, a function or a module. The gradient may
            flow through all rounds or only the last.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they ask for.

    Returns:
        A `Report`; bugs that it knows: softmax-axis, squash-nan, squash-axis, batch-agreement, stale-logits,
        no-update-rounds.
    """
    agrees = "It is Procedure 1, image by image, for 1 to 4 rounds, and a second call gives what the first gave."
    return examined("routing", "route(u_hat, iterations)", function, agrees, _examine, strict=strict)


def predictions(kinds: int, below: int, batch: int = 3, above: int = 10, dim: int = 16) -> Tensor:
    """û [batch, kinds, above, dim] in which some agree: the couplings move a good way in three rounds, and do not
    settle, when each of the kinds stands for below / kinds capsules."""
    generator = torch.Generator().manual_seed(1)
    loudness = torch.linspace(0.2, 1, above).reshape(1, 1, above, 1)
    truth = torch.randn(batch, 1, above, dim, generator=generator) * loudness
    noise = torch.randn(batch, kinds, above, dim, generator=generator)
    return (0.6 * truth + 0.35 * noise) * (12 / below) ** 0.5


def _examine(subject: Subject) -> Iterator[Finding]:
    """Findings in the order in which they become certain."""
    copies, first = _first_call(subject)
    u_hat = predictions(12, 12 * copies)
    stale = not close(subject.tensor(_SHAPE, u_hat, 3), first)
    if stale:
        yield _stale(subject)
    settable = stale or _uses_rounds(subject, u_hat, first)
    deviations, rounds = _recognised(u_hat, first, copies, settable)
    if deviations is None and stale:
        text = "Whether anything else is wrong shows in a function that was not called before: its first result is "
        yield Finding(None, text + "not that of Procedure 1 either.")
    elif deviations is None:
        yield differs(subject, "routing", (u_hat, 3), first, _SMALLS, copies=copies)
        yield from _what_is_certain(subject, u_hat, first)
    else:
        for finding in of_deviations(subject, "routing", deviations, _SMALLS):
            yield _beside_others(subject) if finding.bug == "batch-agreement" else finding
        if not settable and rounds == 1:
            text = "Its couplings are those of the first round, whatever number of rounds is asked for."
            yield Finding("no-update-rounds", text)
        elif not settable:
            yield Finding(None, f"The number of rounds is written in: {rounds}.", convention=True)
        if not stale:
            yield from _other_calls(subject, u_hat, copies, deviations, settable, rounds)
    yield from nan_at_zero(subject, _SHAPE, torch.zeros_like(u_hat), 3, name="û")


def _first_call(subject: Subject) -> tuple[int, Tensor]:
    """How many capsules each kind stands for, and v: 12 capsules below, or the paper's 1152 where the code says so."""
    try:
        return 1, subject.tensor(_SHAPE, predictions(12, 12), 3)
    except Trouble as trouble:
        function, copies = subject.function, 96
        subject.function = lambda u_hat, rounds: function(
            u_hat if u_hat.shape[1] == 12 * copies else u_hat.repeat_interleave(copies, 1), rounds
        )
        try:
            return copies, subject.tensor(_SHAPE, predictions(12, 12 * copies), 3)
        except Trouble:
            raise trouble from None


def _uses_rounds(subject: Subject, u_hat: Tensor, first: Tensor) -> bool:
    """Whether five rounds give something else than three, or three than one."""
    try:
        return any(not close(subject.tensor(_SHAPE, u_hat, rounds), first) for rounds in (5, 1))
    except Trouble:
        return True


def _recognised(u_hat: Tensor, first: Tensor, copies: int, settable: bool) -> tuple[tuple[Deviation, ...] | None, int]:
    """The deviations, and the number of rounds where it is written in."""
    if settable:
        return recognise("routing", [((u_hat, 3), first)], copies=copies), 3
    for some in fewest_first("routing", at_most=3, without="rounds"):
        for rounds in (3, 2, 4, 5, 1):
            if close(first, expected("routing", (u_hat, rounds), some, copies=copies)):
                return some, rounds
    return None, 3


def _stale(subject: Subject) -> Finding:
    text, votes = "A second call with the same input gives another result.", _SMALLS[0].arguments
    try:
        first, second = (subject.tensor((1, 2, 2), *votes)[0] for _ in range(2))
    except Trouble:
        return Finding("stale-logits", text)
    example = Example(f"{_SMALLS[0].given}, twice", "v of the second call", first, second, arrows=True)
    return Finding("stale-logits", text, example)


def _beside_others(subject: Subject) -> Finding:
    """How an image's output depends on its neighbours: beside others, and alone."""
    text, example = "An image's output depends on the images beside it in the batch.", None
    try:
        alone = subject.tensor((1, 2, 2), _VOTES, 3)[0]
        beside = subject.tensor((2, 2, 2), torch.cat([_VOTES, _OTHERS]), 3)[0]
    except Trouble:
        return Finding("batch-agreement", text)
    if not close(alone, beside):
        given = "an image with three capsules below and two above, alone (expected) and beside another image (came)"
        example = Example(given, "v", alone, beside, arrows=True)
    return Finding("batch-agreement", text, example)


def _what_is_certain(subject: Subject, u_hat: Tensor, output: Tensor) -> Iterator[Finding]:
    """What can be said where no combination of known mistakes gives these numbers."""
    subject.seed += 1
    if not close(subject.tensor(_SHAPE, u_hat, 3), output):
        yield Finding(None, "Its result depends on random numbers; b starts at 0.")
        return
    others = torch.cat([u_hat[:1], u_hat[1:].flip(-1)])
    if not close(subject.tensor(_SHAPE, others, 3)[:1], output[:1]):
        yield Finding("batch-agreement", "An image's output depends on the images beside it in the batch.")


def _other_calls(
    subject: Subject, u_hat: Tensor, copies: int, deviations: tuple[Deviation, ...], settable: bool, rounds: int
) -> Iterator[Finding]:
    """A batch of one image, and other numbers of rounds where they can be set."""
    calls: list[tuple[int | None, int]] = [(1, rounds)]
    if settable:
        calls += [(None, 4), (None, 2)] + ([] if deviations else [(None, 1)])
    for images, count in calls:
        beginning = "With a batch of one image" if images else f"With {count} round{'s' if count > 1 else ''}"
        wanted = expected("routing", (u_hat[:images], count), deviations, copies=copies)
        try:
            output = subject.tensor(wanted.shape, u_hat[:images], count if settable else 3)
        except Trouble as trouble:
            yield Finding(None, f"{beginning}: {trouble}")
            return
        if not close(output, wanted):
            also = " in another way than with 3" if deviations else ""
            alone = f"{beginning} it differs from what that image gives beside others."
            text = f"{beginning} it differs from Procedure 1{also}. Is the number of rounds used?"
            yield Finding(None, alone if images else text)
            return
