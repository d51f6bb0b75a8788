"""What a checker answers: a report that shows itself, as text in a terminal and as a picture in a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape

from capsnet_book.bugs import BUGS
from capsnet_book.palette import css_colour
from torch import Tensor

from capsnet_tutorial.check.pictures import picture

_COLOUR = {True: css_colour("agree"), False: css_colour("contrast"), None: css_colour("muted")}
_MUTED = f"color:{_COLOUR[None]}"


@dataclass(frozen=True)
class Example:
    """The smallest input that tells right from wrong."""

    given: str
    """The input, in words and numbers."""
    what: str
    """What the numbers are: "v", "the lengths of v"."""
    expected: Tensor
    came: Tensor
    """Both of the same shape, with at most two axes."""
    arrows: bool = False
    """Whether the rows are vectors in the plane."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    bug: str | None
    """An id of the catalogue, or None."""
    text: str = ""
    """What exactly was seen; for a fault outside the catalogue, all that is said."""
    example: Example | None = None
    part: str = ""
    """Which part of a model."""
    convention: bool = False
    """Whether it is another convention than the paper's, which works as well."""
    failed_call: bool = False
    """Whether it could not be called, or not to the end."""
    topic: str = ""
    """What it is about, where others ask: an option of `bugs.pieces`, "batch of one", "unsquashed", "unexplained"."""

    @property
    def severity(self) -> str:
        """ "against the paper", "robustness" (right until a vector is zero) or "convention"."""
        if self.convention:
            return "convention"
        return "robustness" if self.bug == "squash-nan" else "against the paper"

    @property
    def title(self) -> str:
        """What is wrong, in a sentence."""
        return BUGS[self.bug].title if self.bug else self.text


@dataclass(frozen=True)
class Report:
    """What a checker found. In a notebook it shows itself; `print` shows the same as text."""

    passed: bool
    bugs: tuple[str, ...] = ()
    """Ids of the catalogue, in its order. Empty and not passed: something else differs, and `findings` says what."""
    checked: str = ""
    """What was checked."""
    findings: tuple[Finding, ...] = ()
    agrees: str = ""
    """If it passed: what it agrees with."""
    written: bool = True
    """False for an exercise that still has its blank."""

    @property
    def failed_call(self) -> bool:
        """Whether a call failed, and nothing else was found."""
        return bool(self.findings) and all(finding.failed_call for finding in self.findings if not finding.convention)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return "\n".join([self._headline, *("\n" + _text(finding) for finding in self.findings)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = _COLOUR[self.passed if self.written else None]
        parts = "".join(_html(finding) for finding in self.findings)
        return (
            f'<div class="capsnet-report" style="border-left:3px solid {colour};padding:.2em 0 .2em .9em;'
            f'margin:.4em 0;max-width:46em"><p style="margin:.2em 0;color:{colour}">'
            f"<strong>{escape(self._headline)}</strong></p>{parts}</div>"
        )

    @property
    def _headline(self) -> str:
        if not self.written:
            return f"… {self.checked}: not written yet"
        if self.passed:
            return f"✓ {self.checked}: right" + (f". {self.agrees}" if self.agrees else "")
        known = len(self.bugs)
        if not known:
            return f"✗ {self.checked}: not right yet"
        return f"✗ {self.checked}: {known} known mistake{'s' if known > 1 else ''}"


def failed(checked: str, *findings: Finding) -> Report:
    """A report of what is wrong, known bugs first, in the catalogue's order."""
    order = list(BUGS)
    ordered = sorted(findings, key=lambda finding: order.index(finding.bug) if finding.bug else len(order))
    bugs = tuple(dict.fromkeys(finding.bug for finding in ordered if finding.bug))
    return Report(False, bugs, checked, tuple(ordered))


def judged(checked: str, findings: Iterable[Finding], agrees: str, *, strict: bool = False) -> Report:
    """A report: right where nothing was found, or nothing but conventions and not `strict`.

    It says that it agrees only where nothing was found: a convention may be the very thing that it does not do.
    """
    findings = tuple(findings)
    if not findings:
        return Report(True, checked=checked, agrees=agrees)
    if not strict and all(finding.convention for finding in findings):
        return Report(True, checked=checked, findings=findings)
    return failed(checked, *findings)


def joined(checked: str, reports: dict[str, Report], agrees: str) -> Report:
    """One report of the parts of a model, each finding with its part's name."""
    findings = [replace(finding, part=part) for part, report in reports.items() for finding in report.findings]
    unwritten = [Finding(None, "Not written yet.", part=part) for part, report in reports.items() if not report.written]
    return judged(checked, [*findings, *unwritten], agrees)


def _text(finding: Finding) -> str:
    lines = [f"{finding.part}: {finding.title}" if finding.part else finding.title]
    if finding.bug:
        lines[0] = f"{finding.bug} ({finding.severity}) · {lines[0]}"
        lines += [finding.text] if finding.text else []
    if finding.example:
        example = finding.example
        lines += [f"Example: {example.given}", f"{example.what}, expected  {rounded(example.expected)}"]
        lines += [f"{' ' * len(example.what)}  came      {rounded(example.came)}"]
    if finding.bug:
        lines += [BUGS[finding.bug].advice, f"The paper: {BUGS[finding.bug].paper}"]
    return "\n  ".join(lines)


def _html(finding: Finding) -> str:
    title = f"{finding.part}: {finding.title}" if finding.part else finding.title
    parts = [f'<p style="margin:.5em 0 .2em">{_code(finding.bug)}{escape(title)}{_quiet(finding)}</p>']
    if finding.bug and finding.text:
        parts.append(f'<p style="margin:.2em 0">{escape(finding.text)}</p>')
    if finding.example:
        parts.append(f'<p style="margin:.5em 0 .2em;{_MUTED}">Example: {escape(finding.example.given)}</p>')
        example = finding.example
        parts.append(picture(example.what, example.expected, example.came, arrows=example.arrows))
    if finding.bug:
        bug = BUGS[finding.bug]
        parts.append(f'<p style="margin:.5em 0 .2em">{_with_code(bug.advice)}</p>')
        parts.append(f'<p style="margin:.2em 0 .6em;{_MUTED}">The paper: {escape(bug.paper)}</p>')
    return "".join(parts)


def _with_code(text: str) -> str:
    """Escaped, with `code` in backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _quiet(finding: Finding) -> str:
    return f' <span style="{_MUTED}">({finding.severity})</span>' if finding.bug else ""


def _code(bug: str | None) -> str:
    return f"<code>{escape(bug)}</code> · " if bug else ""


def rounded(numbers: Tensor) -> str:
    """Numbers as a reader writes them: 0.333, [0.1, 2], [[1, 0], [0, 1]]."""
    if numbers.dim():
        return f"[{', '.join(rounded(each) for each in numbers)}]"
    return figure(float(numbers))


def figure(x: float) -> str:
    """Four decimals, or four figures where those would show nothing; no trailing zeros."""
    if x == 0 or not abs(x) < 1e6:
        return f"{x:g}"
    return f"{x:.4f}".rstrip("0").rstrip(".") if abs(x) >= 0.001 else f"{x:.3g}"
