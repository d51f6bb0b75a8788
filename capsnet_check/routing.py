"""Is this function routing by agreement, Procedure 1?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_check.calls import CHANGED, Subject, Trouble
from capsnet_check.deviations import NO_COUPLINGS, Deviation
from capsnet_check.examination import examine
from capsnet_check.gradients import findings_at_zero
from capsnet_check.recognition import close, difference, expected, fewest_first
from capsnet_check.report import Finding, Report

_SHAPE = (3, 10, 16)
"""B, J and D of the predictions that a function is given."""
_KINDS = 12
"""Capsules below that are not copies of each other."""


def check_routing(function: Any, *, strict: bool = False) -> Report:
    """Check that a function is routing by agreement, Procedure 1.

    Args:
        function: ``route(u_hat [B, I, J, D], iterations) -> v [B, J, D]``, a function or a module.
            The gradient may flow through all rounds or only the last.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they
            ask for.

    Returns:
        A `Report`; bugs that it knows: softmax-axis, squash-nan, squash-axis, batch-agreement,
        stale-logits, no-update-rounds.
    """
    agrees = (
        "It is Procedure 1, image by image, for 1 to 4 rounds, "
        "and a second call gives what the first gave."
    )
    signature = "route(u_hat, iterations)"
    return examine("routing", lambda: _examine(Subject(function, signature)), agrees, strict=strict)


def predictions(
    kinds: int, below: int, batch: int = _SHAPE[0], above: int = _SHAPE[1], dim: int = _SHAPE[2]
) -> Tensor:
    """Return predictions û [batch, kinds, above, dim] in which some agree.

    The couplings move a good way in three rounds, and do not settle, when each of the kinds stands
    for below / kinds capsules.
    """
    generator = torch.Generator().manual_seed(1)
    loudness = torch.linspace(0.2, 1, above).reshape(1, 1, above, 1)
    truth = torch.randn(batch, 1, above, dim, generator=generator) * loudness
    noise = torch.randn(batch, kinds, above, dim, generator=generator)
    return (0.6 * truth + 0.35 * noise) * (_KINDS / below) ** 0.5


class Explanation(NamedTuple):
    """Procedure 1, or what is known to be wrong with it, that gives the numbers of an output."""

    deviations: tuple[Deviation, ...]
    rounds: int
    candidate: int
    """Index of the output that it gives, of the candidates for v."""
    bias: Tensor | None = None
    """[J, D], added to s in every round."""


def explanations(
    candidates: Sequence[Tensor],
    u_hat: Tensor,
    asked: int,
    *,
    copies: int = 1,
    bias: Tensor | None = None,
) -> Iterator[Explanation]:
    """Yield the known mistakes that give one of the candidates for v, and the rounds: fewest first.

    Args:
        candidates: tensors [B, J, D].
        u_hat: the predictions that they were computed from.
        asked: rounds; where several numbers of rounds explain the output, this one comes first.
        copies: as in `variants.route`.
        bias: as in `variants.route`.
    """
    for deviations in fewest_first("routing", at_most=3):
        for rounds in rounds_to_try(len(deviations), asked):
            wanted = expected("routing", (u_hat, rounds), deviations, copies=copies, bias=bias)
            for index, candidate in enumerate(candidates):
                if close(candidate, wanted):
                    yield Explanation(deviations, rounds, index, bias)


def rounds_to_try(mistakes: int, asked: int) -> list[int]:
    """Return the numbers of rounds to compare with, the one that was asked for first.

    With at most one mistake all up to 5 or 10 are tried, so that the report can say how many are
    missing or too many. Several mistakes have hundreds of combinations: only the number that was
    asked for, and one round less, which is the usual slip, are tried with each.
    """
    if mistakes == 0:
        others = [3, 2, 1, *range(4, 11)]
    elif mistakes == 1:
        others = [3, 2, 1, 4, 5]
    else:
        others = [max(asked - 1, 1)]
    return list(dict.fromkeys([asked, *others]))


def _examine(subject: Subject) -> Iterator[Finding]:
    """Yield findings in the order in which they become certain."""
    u_hat = predictions(_KINDS, _KINDS)
    output = subject.tensor(_SHAPE, u_hat, 3)
    stale = not close(subject.tensor(_SHAPE, u_hat, 3), output)
    if stale:
        yield Finding("stale-logits", "A second call with the same input gives another result.")

    # In a third round a vote that contradicts may have nothing left to lose: quieter votes have.
    quiet = u_hat / 2
    quiet_output = subject.tensor(_SHAPE, quiet, 3)

    def holds_of_quiet_votes(explanation: Explanation) -> bool:
        wanted = expected("routing", (quiet, explanation.rounds), explanation.deviations)
        return stale or close(quiet_output, wanted)

    explanation = next(filter(holds_of_quiet_votes, explanations([output], u_hat, 3)), None)
    if explanation is None:
        yield difference("routing", (u_hat, 3), output)
        others_changed = torch.cat([u_hat[:1], u_hat[1:].flip(1)])
        if not close(subject.tensor(_SHAPE, others_changed, 3)[:1], output[:1]):
            text = "An image's output depends on the images beside it in the batch."
            yield Finding("batch-agreement", text)
    else:
        yield from (deviation.finding() for deviation in explanation.deviations)
        silent = any(deviation.value is NO_COUPLINGS for deviation in explanation.deviations)
        if not silent and output.any():
            yield from _rounds_findings(subject, u_hat, explanation, stale)
    if subject.wrote:
        yield Finding(None, CHANGED, convention=True)
    yield from findings_at_zero(subject, _SHAPE, torch.zeros_like(u_hat), 3, name="û")


def _rounds_findings(
    subject: Subject, u_hat: Tensor, explanation: Explanation, stale: bool
) -> Iterator[Finding]:
    """Examine whether it does as many rounds as it is asked for, and the same for one image."""
    outputs = {rounds: _output_or_nan(subject, u_hat, rounds) for rounds in (1, 2, 3, 4)}
    settable = stale or not all(close(output, outputs[3]) for output in outputs.values())
    yield from _wrong_number_of_rounds(explanation.rounds, settable)
    if stale:
        return

    def differs(output: Tensor, images: int, asked: int) -> bool:
        done = max(asked + explanation.rounds - 3, 1) if settable else explanation.rounds
        wanted = expected("routing", (u_hat[:images], done), explanation.deviations)
        return not close(output, wanted)

    ending = "it fails, or gives something else than with three images and 3 rounds."
    if differs(_output_or_nan(subject, u_hat[:1], 3), 1, 3):
        yield Finding(None, f"With a batch of one image {ending}")
        return
    for rounds, output in outputs.items():
        if differs(output, 3, rounds):
            yield Finding(None, f"With {rounds} rounds {ending}")
            return


def _wrong_number_of_rounds(done: int, settable: bool) -> Iterator[Finding]:
    """Yield a finding where 3 rounds were asked for, and others done."""
    if done == 1:
        text = "b is never updated: every round has the couplings of the first."
        yield Finding("no-update-rounds", text)
    elif not settable:
        yield Finding(None, f"The number of rounds is written in: {done}.", convention=True)
    elif done < 3:
        yield Finding("no-update-rounds", "There is one round too few.")
    elif done > 3:
        text = f"Not as in the paper: there are {done - 3} rounds too many."
        if done == 4:
            text = "Not as in the paper: there is one round too many."
        yield Finding(None, text)


def _output_or_nan(subject: Subject, u_hat: Tensor, rounds: int) -> Tensor:
    """Return v, or nan where the call fails."""
    shape = (len(u_hat), *_SHAPE[1:])
    try:
        return subject.tensor(shape, u_hat, rounds)
    except Trouble:
        return torch.full(shape, torch.nan)
