"""Is this routing Procedure 1?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from capsnet_book.bugs import Deviation
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble
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
    return examined("routing", "route(u_hat, iterations)", function, agrees, examine, strict=strict)


class Probe(NamedTuple):
    """Predictions of I capsules below, of few kinds: each row of û stands for `copies` capsules."""

    u_hat: Tensor
    copies: int = 1
    settable: bool = True
    """Whether the function takes a number of rounds."""

    def expected(self, deviations: Sequence[Deviation], rounds: int, images: int | None = None) -> Tensor:
        """v with these deviations, in float64."""
        return explained_by("routing", deviations, (self.u_hat[:images], rounds), self.copies)


def examine(subject: Subject, probe: Probe | None = None) -> Iterator[Finding]:
    """Findings in the order in which they become certain.

    Args:
        probe: predictions of the sizes that the function takes; by default 12 capsules below, or the paper's 1152.
    """
    if probe is None:
        probe, first = _first_call(subject)
    else:
        first = subject.tensor(_output_shape(probe.u_hat), probe.u_hat, 3)
    u_hat = probe.u_hat
    shape = _output_shape(u_hat)
    second = subject.tensor(shape, u_hat, 3)
    stale = not close(second, first)
    if stale:
        yield _stale(subject)

    settable = probe.settable and not stale and _uses_rounds(subject, probe, first)
    deviations, rounds = _recognised(probe, first, settable or stale)
    if deviations is None:
        if stale:
            yield Finding(
                None,
                "Whether anything else is wrong shows in a function that was not called before: its first result is "
                "not that of Procedure 1 either.",
            )
        else:
            yield from _unexplained(subject, probe, first)
    else:
        for finding in of_deviations(subject, "routing", deviations, _SMALLS):
            yield _batch(subject) if finding.bug == "batch-agreement" else finding
        if not settable and not stale:
            yield _written_in(rounds)
    if deviations is not None and not stale:
        yield from _other_rounds(subject, probe, deviations, settable, rounds)
    yield from nan_at_zero(subject, shape, torch.zeros_like(u_hat), 3, name="û")


def _output_shape(u_hat: Tensor) -> tuple[int, int, int]:
    return (u_hat.shape[0], *u_hat.shape[2:])


def _uses_rounds(subject: Subject, probe: Probe, first: Tensor) -> bool:
    """Whether five rounds give something else than three, or three than one."""
    for rounds in (5, 1):
        try:
            if not close(subject.tensor(first.shape, probe.u_hat, rounds), first):
                return True
        except Trouble:
            return True
    return False


def _recognised(probe: Probe, first: Tensor, settable: bool) -> tuple[tuple[Deviation, ...] | None, int]:
    """The deviations, and the number of rounds where it is written in."""
    if settable:
        return recognise("routing", [((probe.u_hat, 3), first)], 4, copies=probe.copies), 3
    for at_most in (1, 2, 3):  # five times the search: a fourth mistake would take half a minute
        for rounds in (3, 2, 4, 5, 1):
            found = recognise(
                "routing", [((probe.u_hat, rounds), first)], at_most, copies=probe.copies, without=("rounds",)
            )
            if found is not None:
                return found, rounds
    return None, 3


def _written_in(rounds: int) -> Finding:
    if rounds == 1:
        return Finding(
            "no-update-rounds", "Its couplings are those of the first round, whatever number of rounds is asked for."
        )
    return Finding(None, f"The number of rounds is written in: {rounds}.", convention=True)


def _first_call(subject: Subject) -> tuple[Probe, Tensor]:
    """Predictions and what became of them. With 12 capsules below, or with the paper's 1152 where the code says so."""
    u_hat = predictions(12)
    try:
        return Probe(u_hat), subject.tensor((3, 10, 16), u_hat, 3)
    except Trouble as trouble:
        function, copies = subject.function, 96
        subject.function = lambda u_hat, rounds: function(
            u_hat if u_hat.shape[1] == 12 * copies else u_hat.repeat_interleave(copies, 1), rounds
        )
        probe = Probe(predictions(12, 12 * copies), copies)
        try:
            return probe, subject.tensor((3, 10, 16), probe.u_hat, 3)
        except Trouble:
            raise trouble from None


def predictions(kinds: int, below: int | None = None, batch: int = 3, above: int = 10, dim: int = 16) -> Tensor:
    """û [batch, kinds, above, dim] in which some agree: the couplings move a good way in three rounds, and do not
    settle, when each of the kinds stands for below / kinds capsules."""
    generator = torch.Generator().manual_seed(1)
    loudness = torch.linspace(0.2, 1, above).reshape(1, 1, above, 1)
    truth = torch.randn(batch, 1, above, dim, generator=generator) * loudness
    noise = torch.randn(batch, kinds, above, dim, generator=generator)
    return (0.6 * truth + 0.35 * noise) * (12 / (below or kinds)) ** 0.5


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
    text = "An image's output depends on the images beside it in the batch."
    try:
        alone = subject.tensor((1, 2, 2), _VOTES, 3)[0]
        beside = subject.tensor((2, 2, 2), torch.cat([_VOTES, _OTHERS]), 3)[0]
    except Trouble:
        return Finding("batch-agreement", text)
    if close(alone, beside):
        return Finding("batch-agreement", text)
    given = "an image with three capsules below and two above, alone (expected) and beside another image (came)"
    return Finding("batch-agreement", text, Example(given, "v", alone, beside, arrows=True))


def _unexplained(subject: Subject, probe: Probe, output: Tensor) -> Iterator[Finding]:
    """No combination of known mistakes gives these numbers. What can be said for certain is said."""
    yield differs(subject, "routing", (probe.u_hat, 3), output, _SMALLS, probe.expected((), 3))
    subject.seed += 1
    if not close(subject.tensor(output.shape, probe.u_hat, 3), output):
        yield Finding(None, "Its result depends on random numbers; b starts at 0.")
        return
    others = torch.cat([probe.u_hat[:1], probe.u_hat[1:].flip(-1)])
    if not close(subject.tensor(output.shape, others, 3)[:1], output[:1]):
        yield Finding("batch-agreement", "An image's output depends on the images beside it in the batch.")


def _other_rounds(
    subject: Subject, probe: Probe, deviations: tuple[Deviation, ...], settable: bool, rounds: int
) -> Iterator[Finding]:
    """A batch of one image, and other numbers of rounds where they can be set."""
    calls: list[tuple[int | None, int]] = [(1, rounds)]
    if settable:
        calls += [(None, 4), (None, 2)] + ([] if deviations else [(None, 1)])
    for images, count in calls:
        beginning = "With a batch of one image" if images else f"With {count} round{'s' if count > 1 else ''}"
        topic = "batch of one" if images else ""
        expected = probe.expected(deviations, count, images)
        try:
            output = subject.tensor(expected.shape, probe.u_hat[:images], count if settable else 3)
        except Trouble as trouble:
            yield Finding(None, f"{beginning}: {trouble}", topic=topic)
            return
        if not close(output, expected):
            also = " in another way than with 3" if deviations else ""
            yield Finding(
                None,
                "With a batch of one image it differs from what that image gives beside others."
                if images
                else f"{beginning} it differs from Procedure 1{also}. Is the number of rounds used?",
                topic=topic,
            )
            return
