"""What a checker answers: a report that shows itself, as text and, in a notebook, with numbers and arrows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from torch import Tensor

from capsnet_tutorial.check.catalogue import BUGS

# Colours of the page, light and dark, where there is one; else these.
_RIGHT, _WRONG = "var(--caps-agree, #00745a)", "var(--caps-contrast, #b34700)"
_MUTED, _LINE = "var(--caps-muted, #566072)", "var(--caps-line, #c5cbd5)"
_QUIET = f"color:{_MUTED}"
_PLANE = 150


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
    convention: bool = False
    """Whether it is another convention than the paper's, which works as well."""
    failed_call: bool = False
    """Whether it could not be called, or not to the end."""
    topic: str = ""
    """What it is about: an option of a piece in `variants`, "batch of one", "unsquashed", "unexplained"."""
    line: str = ""
    """The line of code: file, number, text."""

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
    """Nothing is wrong, and what had to be examined was."""
    bugs: tuple[str, ...] = ()
    """Ids of the catalogue, in its order. Empty and not passed: `findings` or `unexamined` say what else."""
    checked: str = ""
    """What was checked."""
    findings: tuple[Finding, ...] = ()
    agrees: str = ""
    """If it passed: what it agrees with."""
    written: bool = True
    """False for an exercise that still has its blank."""
    examined: tuple[str, ...] = ()
    """What was looked at."""
    unexamined: tuple[str, ...] = ()
    """What was not, and why."""
    absent: tuple[str, ...] = ()
    """What is not in it."""

    @property
    def wrong(self) -> bool:
        """Whether something is known to be wrong, more than that a call failed."""
        return bool(self.bugs) or any(not (each.convention or each.failed_call) for each in self.findings)

    @property
    def status(self) -> int:
        """0 right, 1 wrong, 2 cannot be judged, 3 nothing wrong found but not all was examined."""
        if self.wrong:
            return 1
        if not self.written or any(each.failed_call for each in self.findings):
            return 2
        return 0 if self.passed and not self.unexamined else 3

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        parts = [self._headline, *("\n" + _text(finding) for finding in self.findings)]
        return "\n".join([*parts, *(f"\n{line}" for line in self._coverage)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = _RIGHT if self.status == 0 else _WRONG if self.written and self.status != 3 else _MUTED
        parts = "".join(_html(finding) for finding in self.findings)
        parts += "".join(f'<p style="margin:.5em 0 .2em;{_QUIET}">{escape(line)}</p>' for line in self._coverage)
        return (
            f'<div class="capsnet-report" style="border-left:3px solid {colour};padding:.2em 0 .2em .9em;'
            f'margin:.4em 0;max-width:46em"><p style="margin:.2em 0;color:{colour}">'
            f"<strong>{escape(self._headline)}</strong></p>{parts}</div>"
        )

    @property
    def _headline(self) -> str:
        if not self.written:
            return f"… {self.checked}: not written yet"
        if self.status == 0 or (self.passed and not self.examined):
            return f"✓ {self.checked}: right" + (f". {self.agrees}" if self.agrees else "")
        if self.status == 3:
            return f"? {self.checked}: nothing wrong found, but not all of it was examined"
        known = len(self.bugs)
        if not known:
            return f"✗ {self.checked}: not right yet"
        return f"✗ {self.checked}: {known} known mistake{'s' if known > 1 else ''}"

    @property
    def _coverage(self) -> list[str]:
        """What was examined and what was not, where there was more than one thing to look at."""
        if not self.unexamined and not self.absent and len(self.examined) < 2:
            return []
        named = {"Examined": self.examined, "Not examined": self.unexamined, "Not in it": self.absent}
        return [f"{title}: {'; '.join(names) or 'nothing'}." for title, names in named.items() if names]


def judged(
    checked: str,
    findings: Iterable[Finding],
    agrees: str = "",
    *,
    strict: bool = False,
    examined: tuple[str, ...] = (),
    unexamined: tuple[str, ...] = (),
    absent: tuple[str, ...] = (),
    needed: str = "",
) -> Report:
    """A report, known bugs first: right where nothing was found, or nothing but conventions and not ``strict``, and
    where what is ``needed`` was examined.

    It says that it agrees only where nothing was found: a convention may be the very thing that it does not do.
    """
    order = list(BUGS)
    found = sorted(findings, key=lambda finding: order.index(finding.bug) if finding.bug else len(order))
    bugs = tuple(dict.fromkeys(finding.bug for finding in found if finding.bug))
    passed = not found or (not strict and all(finding.convention for finding in found))
    passed = passed and (not needed or needed in examined)
    if strict:  # a convention is then a fault as any other
        found = [Finding(**{**vars(finding), "convention": False}) for finding in found]
    return Report(
        passed,
        bugs,
        checked,
        tuple(found),
        "" if found else agrees,
        examined=examined,
        unexamined=unexamined,
        absent=absent,
    )


def _text(finding: Finding) -> str:
    lines = [f"{finding.bug} ({finding.severity}) · {finding.title}" if finding.bug else finding.title]
    if finding.line:
        lines += [finding.line]
    if finding.bug and finding.text:
        lines += [finding.text]
    if example := finding.example:
        lines += [f"Example: {example.given}", f"{example.what}, expected  {rounded(example.expected)}"]
        lines += [f"{' ' * len(example.what)}  came      {rounded(example.came)}"]
    if finding.bug:
        lines += [BUGS[finding.bug].advice, f"The paper: {BUGS[finding.bug].paper}"]
    return "\n  ".join(lines)


def _html(finding: Finding) -> str:
    parts = [escape(finding.title)]
    if finding.bug:
        severity = f'<span style="{_QUIET}">({finding.severity})</span>'
        parts = [f"<code>{escape(finding.bug)}</code> · {escape(finding.title)} {severity}"]
    if finding.line:
        parts.append(f"<code>{escape(finding.line)}</code>")
    if finding.bug and finding.text:
        parts.append(escape(finding.text))
    text = f'<p style="margin:.5em 0 .2em">{parts[0]}</p>'
    text += "".join(f'<p style="margin:.2em 0">{part}</p>' for part in parts[1:])
    if finding.example:
        text += f'<p style="margin:.5em 0 .2em;{_QUIET}">Example: {escape(finding.example.given)}</p>'
        text += _picture(finding.example)
    if finding.bug:
        advice = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(BUGS[finding.bug].advice))
        text += f'<p style="margin:.5em 0 .2em">{advice}</p>'
        text += f'<p style="margin:.2em 0 .6em;{_QUIET}">The paper: {escape(BUGS[finding.bug].paper)}</p>'
    return text


def _picture(example: Example) -> str:
    """Expected beside came: numbers in tinted cells, and arrows in the plane.

    A notebook that is not trusted yet is shown without drawings, but with every text in them: so the numbers stand in
    tables, and a drawing holds no text.
    """
    expected, came = (
        x.detach().double().reshape(-1, x.shape[-1] if x.dim() else 1) for x in (example.expected, example.came)
    )
    parts = []
    for title, shown, colour in ((f"{example.what}, expected", expected, _RIGHT), ("came", came, _WRONG)):
        drawn = _arrows(shown, expected, colour) if example.arrows and came.isfinite().all() else ""
        heading = f'<p style="margin:0 0 .2em;color:{colour}">{escape(title)}</p>'
        parts.append(f"<div>{heading}{drawn}{_table(shown, expected, colour)}</div>")
    return f'<div style="display:flex;flex-wrap:wrap;gap:.4em 2em;font-size:.85em">{"".join(parts)}</div>'


def _table(numbers: Tensor, expected: Tensor, colour: str) -> str:
    """A cell a number; those that differ from what was expected have a border."""
    largest = max(float(expected[expected.isfinite()].abs().sum() and expected[expected.isfinite()].abs().max()), 1e-12)

    def cell(value: float, wanted: float) -> str:
        tint = min(abs(value) / largest, 1.0) if math.isfinite(value) else 0.0
        same = math.isfinite(value) and abs(value - wanted) <= 1e-3 * max(largest, 1e-3)
        ground = f"color-mix(in srgb,{colour} {5 + 20 * tint:.0f}%,transparent)"
        edge = f"1px solid {_LINE}" if same else f"2px solid {_WRONG}"
        shown = f"{value:.3f}" if math.isfinite(value) and (value == 0 or abs(value) >= 0.001) else f"{value:.1e}"
        shown = shown.rstrip("0").rstrip(".") if "e" not in shown and math.isfinite(value) else shown
        return f'<td style="padding:.1em .5em;text-align:center;background:{ground};border:{edge}">{shown}</td>'

    rows = "".join(
        f'<tr style="background:none">{"".join(map(cell, row, wanted))}</tr>'
        for row, wanted in zip(numbers.tolist(), expected.tolist(), strict=True)
    )
    style = "border-collapse:separate;border-spacing:2px;width:auto;margin:0"
    return f'<table style="{style}"><tbody>{rows}</tbody></table>'


def _arrows(vectors: Tensor, expected: Tensor, colour: str) -> str:
    """Vectors from the middle of a circle of radius 1."""
    half = _PLANE / 2
    unit = (half - 8) / max(1.15, float(vectors.abs().max()), float(expected.abs().max()))
    parts = [f'<circle cx="{half}" cy="{half}" r="{unit:.1f}" fill="none" stroke="{_LINE}"/>']
    for x, y in vectors.tolist():
        end = (half + x * unit, half - y * unit)
        parts.append(
            f'<path d="M{half} {half}L{end[0]:.1f} {end[1]:.1f}" stroke="{colour}" stroke-width="2.5"/>'
            f'<circle cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="4" fill="{colour}"/>'
        )
    return (
        f'<svg aria-hidden="true" viewBox="0 0 {_PLANE} {_PLANE}" width="{_PLANE}" height="{_PLANE}" '
        f'style="display:block">{"".join(parts)}</svg>'
    )


def rounded(numbers: Tensor) -> str:
    """Numbers as a reader writes them: 0.333, [0.1, 2], [[1, 0], [0, 1]]."""
    if numbers.dim():
        return f"[{', '.join(rounded(part) for part in numbers)}]"
    return figure(float(numbers))


def figure(x: float) -> str:
    """Four decimals, or four figures where those would show nothing; no trailing zeros."""
    if x == 0 or not abs(x) < 1e6:
        return f"{x:g}"
    return f"{x:.4f}".rstrip("0").rstrip(".") if abs(x) >= 0.001 else f"{x:.3g}"
