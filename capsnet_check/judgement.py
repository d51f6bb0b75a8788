"""Is a network's routing Procedure 1, or which known mistakes explain it?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from capsnet_check.calls import Subject, Trouble, parameters_of
from capsnet_check.gradients import findings_at_zero
from capsnet_check.recognition import close
from capsnet_check.report import Coverage, Finding
from capsnet_check.routing import Explanation, explanations, predictions
from capsnet_check.sites import Site
from capsnet_check.trace import Operation

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_ROUNDS = {
    "iter",
    "iters",
    "iteration",
    "iterations",
    "round",
    "rounds",
    "routing",
    "routings",
    "r",
}
"""Words of a name that says how many rounds there are; one of them at least."""
_BESIDE_ROUNDS = {"n", "num", "number", "of", "route", "dynamic", "agreement", "caps", "capsule"}
"""Words that it may have beside those: `max_iterations` is of the training, say."""
_MOST_ROUNDS = 10
"""A line that is run more often is no loop over rounds."""
_FAINT = 0.2
"""A shorter v changes the couplings too little to tell one routing from another."""
_MOST_KINDS = 12
"""Capsules below that are not copies of each other."""


class Verdict(NamedTuple):
    """The result of judging one reading of a place where a network routes."""

    site: Site
    explanation: Explanation | None
    """None: nothing known explains it."""
    final: Operation | None
    """The operation that gives v."""
    replacement: Tensor
    """The predictions that were put in the place of û, as the network has them."""
    longest: float
    """The length of the longest capsule of v."""

    @property
    def may_be_misread(self) -> bool:
        """Whether nothing explains it, and its axes may be others than they were taken for."""
        return self.explanation is None and self.site.has_merged_axes

    @property
    def mistakes(self) -> float:
        """The number of known mistakes that explain it; infinite where they do not."""
        return len(self.explanation.deviations) if self.explanation else float("inf")


def judge(
    sites: Sequence[Site], declared: Sequence[int]
) -> tuple[list[Finding | Coverage], Verdict]:
    """Return findings about a routing, by the reading of its axes that needs the fewest mistakes.

    Args:
        sites: the readings.
        declared: the rounds that the network says it does: of the first routing, or another.
    """
    verdicts: list[Verdict] = []
    for site in sites:
        verdicts.append(_verdict(site, declared))
        if verdicts[-1].mistakes == 0:
            break
    verdict = min(verdicts, key=lambda verdict: verdict.mistakes)
    site = verdict.site
    if verdict.explanation is None:
        text = "Its routing differs from Procedure 1, and not by mistakes of the catalogue alone."
        unexplained = Finding(None, text, topic="unexplained", line=site.first_use.line)
        return [unexplained, *_findings_at_zero(verdict)], verdict

    lines = {"couplings": site.couplings.line}
    findings = [
        deviation.finding(lines.get(deviation.option, ""))
        for deviation in verdict.explanation.deviations
    ]
    findings += _rounds_findings(site, verdict.explanation.rounds, declared)
    if verdict.explanation.bias is not None:
        text = "Not as in the paper, and as good: a bias is added to s."
        findings.append(Finding(None, text, convention=True, topic="bias"))
    return [*findings, *_findings_at_zero(verdict)], verdict


def _verdict(site: Site, declared: Sequence[int]) -> Verdict:
    """Judge one reading with predictions of ours, if need be with louder ones."""
    asked = declared[0] if declared else _rounds_of_the_loop(site)
    verdict = _verdict_at(site, asked, loudness=1.0)
    if verdict.explanation is None or not verdict.explanation.deviations:
        return verdict
    length = verdict.longest
    if 0 < length < _FAINT:
        # What v adds to b is too little to be seen: how many rounds, of which images, by what rule.
        loud = _verdict_at(
            site, asked, loudness=1 / float(_unsquashed_length(torch.tensor(length)))
        )
        if loud.explanation is not None:
            return loud
    return verdict


def _verdict_at(site: Site, asked: int, loudness: float) -> Verdict:
    sizes = site.sizes
    kinds = next(n for n in range(min(_MOST_KINDS, sizes["I"]), 0, -1) if sizes["I"] % n == 0)
    copies = sizes["I"] // kinds
    u_hat = loudness * predictions(kinds, sizes["I"], sizes["B"], sizes["J"], sizes["D"])
    repeated = u_hat.repeat_interleave(copies, 1)
    outputs = site.outputs(repeated, site.candidates)
    candidates = [output.detach().double().cpu() for output in outputs.values()]
    explanation = next(explanations(candidates, u_hat, asked, copies=copies), None)
    if explanation is None:
        explanation = _explain_with_a_bias(site, candidates, u_hat, asked, copies)
    index = explanation.candidate if explanation else 0
    final = [*outputs][index] if outputs else None
    longest = float(candidates[index].norm(dim=-1).max()) if candidates else 0.0
    return Verdict(site, explanation, final, site.laid_out(repeated), longest)


def _rounds_of_the_loop(site: Site) -> int:
    """Return how often its loop goes round, if that may be the rounds; else the usual number.

    Where a softmax over the wrong axis leaves v so short that an update of b is too faint to be
    seen, any number of rounds explains v: this one counts.
    """
    return site.loops if 1 < site.loops <= _MOST_ROUNDS else 3


def _explain_with_a_bias(
    site: Site, candidates: Sequence[Tensor], u_hat: Tensor, asked: int, copies: int
) -> Explanation | None:
    """Return an explanation with a bias on s, as the authors' own code has it, or None.

    For û = 0, v is the squash of the bias, wherever the couplings are: its inverse gives the bias.
    """
    zeros = torch.zeros([site.sizes[symbol] for symbol in "BIJD"])
    at_zero = site.outputs(zeros, site.candidates)
    for output in list(at_zero.values()):
        v = output.detach().double().cpu()
        bias = _unsquashed(v[0])
        is_bias = bool(bias.isfinite().all()) and bool(bias.any())
        if is_bias and close(v, v[:1].expand_as(v)):
            mistakes = explanations(candidates, u_hat, asked, copies=copies, bias=bias)
            explanation = next(mistakes, None)
            if explanation is not None:
                return explanation
    return None


def _unsquashed(v: Tensor) -> Tensor:
    """Return the s whose squash is v, both [..., D]."""
    length = v.norm(dim=-1, keepdim=True)
    return v / length.clamp_min(1e-16) * _unsquashed_length(length)


def _unsquashed_length(length: Tensor) -> Tensor:
    """Return ‖s‖ from ‖v‖: ‖s‖² = ‖v‖ / (1 − ‖v‖)."""
    return (length / (1 - length)).sqrt()


def _rounds_findings(site: Site, done: int, declared: Sequence[int]) -> list[Finding]:
    """Return a finding unless it does as many rounds as declared, or as its loop goes round."""
    if declared:
        wanted = done if done in declared else declared[0]
        asked = f"It is set to {wanted} rounds"
    else:
        wanted = site.loops if done < site.loops <= _MOST_ROUNDS else done
        asked = f"Its loop goes {wanted} times round"
    if done == wanted:
        return []
    bug = "no-update-rounds" if done < wanted else None
    return [Finding(bug, f"{asked}, and v is that of {done}.", line=site.first_use.line)]


def _findings_at_zero(verdict: Verdict) -> list[Finding] | list[Coverage]:
    """Return the findings about v for û = 0, and its gradient there; or why there are none."""
    final = verdict.final
    site = verdict.site
    if final is None or (verdict.explanation and verdict.explanation.bias is not None):
        return []
    zeros = torch.zeros([site.sizes[symbol] for symbol in "BIJD"])
    if final.is_checkpointed:
        return [Coverage("v of û = 0", "torch.utils.checkpoint computes its gradient anew")]
    if not site.outputs(zeros, [final.index]):
        return [Coverage("v of û = 0", "other operations are run for it")]

    def routed(u_hat: Tensor) -> Tensor:
        return next(iter(site.outputs(u_hat, [final.index]).values()))

    shape = [site.sizes[symbol] for symbol in "BJD"]
    try:
        findings = findings_at_zero(Subject(routed, "v(u_hat)"), shape, zeros, name="û")
    except Trouble as trouble:
        findings = [Finding(None, f"v of û = 0. {trouble}")]
    return [replace(finding, line=final.line) for finding in findings]


def declared_rounds(network: Any) -> list[int]:
    """Return the rounds that modules say they do, in an attribute or an argument's default."""
    rounds = []
    for module in network.modules() if isinstance(network, nn.Module) else ():
        defaults = {name: parameter.default for name, parameter in parameters_of(module).items()}
        for name, value in {**vars(module), **defaults}.items():
            if _says_rounds(name) and type(value) is int and 1 <= value <= 100:
                rounds.append(value)
    return rounds


def _says_rounds(name: str) -> bool:
    """Return True for a name such as `num_routing_iterations`, not for `criterion`."""
    words = {word.lower() for word in _WORD.findall(name)}
    return bool(words & _ROUNDS) and words <= _ROUNDS | _BESIDE_ROUNDS
