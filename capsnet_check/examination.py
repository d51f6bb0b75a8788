"""An examination: steps that make findings, until one fails or all are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from capsnet_check.calls import NotWritten, Trouble, on_the_cpu
from capsnet_check.report import Coverage, Finding, Report, without_conventions


def examine(
    checked: str,
    steps: Callable[[], Iterable[Finding | Coverage]],
    agrees: str = "",
    *,
    strict: bool = False,
    needed: str = "",
) -> Report:
    """Return the report of an examination. Findings made before a call failed are kept.

    The caller's random numbers go on as if nothing had been called.

    Args:
        checked: the name of the thing under examination.
        steps: yields findings, and the items that it has examined or could not.
        agrees: said if it is right.
        strict: count a convention as a fault.
        needed: the beginning of an item that must have been examined for it to pass.
    """
    findings: list[Finding] = []
    coverage: list[Coverage] = []
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), on_the_cpu():
        try:
            for result in steps():
                if isinstance(result, Coverage):
                    coverage.append(result)
                else:
                    findings.append(result)
        except NotWritten:
            return Report(False, checked=checked, written=False)
        except Trouble as trouble:
            findings.append(Finding(None, str(trouble), failed_call=True))
    if strict:
        findings = without_conventions(findings)
    return Report.of(checked, findings, coverage, agrees=agrees, needed=needed)
