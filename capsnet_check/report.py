"""A checker's answer: a report that shows itself as text and in a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, ClassVar, NamedTuple

from capsnet_check.catalogue import BUGS

# The page's colours, light and dark, where there is a page; else these.
_RIGHT = "var(--caps-agree, #00745a)"
_WRONG = "var(--caps-contrast, #b34700)"
_MUTED = "var(--caps-muted, #566072)"

RIGHT, WRONG, CANNOT_BE_JUDGED, NOT_ALL_EXAMINED = range(4)
"""The statuses of a report, and of the command that checks."""


@dataclass(frozen=True)
class Finding:
    """A difference from the paper, or the reason why something could not be called."""

    bug: str | None
    """An id of the catalogue, or None."""
    text: str = ""
    """The observation; for a fault outside the catalogue, the whole finding."""
    convention: bool = False
    """Whether it is another convention than the paper's, which works as well."""
    failed_call: bool = False
    """Whether a call failed, so that nothing can be said."""
    topic: str = ""
    """An option of a piece in `variants`, "unsquashed" or "unexplained"."""
    line: str = ""
    """The line of code to blame: file, number, text."""

    @property
    def is_fault(self) -> bool:
        """Whether the code is wrong because of it."""
        return not (self.convention or self.failed_call)

    @property
    def lines(self) -> list[str]:
        """The finding in words."""
        observation = [line for line in (self.text, self.line) if line]
        if not self.bug:
            return observation
        title, advice, paper = BUGS[self.bug]
        return [f"{self.bug} · {title}", *observation, advice, f"The paper: {paper}"]


class Coverage(NamedTuple):
    """An item that was examined, or the reason why it was not."""

    item: str
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """The findings of a checker. In a notebook it shows itself; `print` shows the same as text."""

    translate: ClassVar[Callable[[str], str]] = staticmethod(str)
    """Returns what is shown for an English line; another language's function may stand here."""
    passed: bool
    """Nothing is wrong, and what had to be examined was."""
    bugs: tuple[str, ...] = ()
    """Ids of the catalogue, in its order. Empty and not passed: see `findings`, `unexamined`."""
    checked: str = ""
    """The name of the thing under examination."""
    findings: tuple[Finding, ...] = ()
    agrees: str = ""
    """For one that passed: what it agrees with."""
    written: bool = True
    """False for an exercise that still has its blank."""
    examined: tuple[str, ...] = ()
    """Items that were examined."""
    unexamined: tuple[str, ...] = ()
    """Items that were not, each with the reason."""

    @classmethod
    def of(
        cls,
        checked: str,
        findings: Iterable[Finding],
        coverage: Iterable[Coverage] = (),
        *,
        agrees: str = "",
        needed: str = "",
    ) -> Report:
        """Return the report of these findings, bugs of the catalogue first and each once.

        Args:
            checked: the name of the thing under examination.
            findings: in the order in which they were made.
            coverage: the items that were examined, or not; none: the thing itself was.
            agrees: said if there are no findings. A convention may be the very thing that it
                does not do.
            needed: the beginning of an item that must have been examined for it to pass.
        """
        ordered = _each_bug_once(findings)
        coverage = list(coverage)
        examined = [entry.item for entry in coverage if not entry.reason]
        if not examined and not needed:
            examined = [checked]
        return cls(
            passed=all(finding.convention for finding in ordered)
            and any(item.startswith(needed) for item in examined),
            bugs=tuple(finding.bug for finding in ordered if finding.bug),
            checked=checked,
            findings=tuple(ordered),
            agrees="" if ordered else agrees,
            examined=tuple(examined),
            unexamined=tuple(f"{item} ({reason})" for item, reason in coverage if reason),
        )

    @property
    def status(self) -> int:
        """0 right, 1 wrong, 2 cannot be judged, 3 nothing wrong found but not all was examined."""
        if any(finding.is_fault for finding in self.findings):
            return WRONG
        if not self.written or any(finding.failed_call for finding in self.findings):
            return CANNOT_BE_JUDGED
        if self.unexamined or not self.passed:
            return NOT_ALL_EXAMINED
        return RIGHT

    def as_dict(self) -> dict[str, Any]:
        """Return the report in types of JSON, with its status."""
        return {"status": self.status, **asdict(self)}

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        findings = ["\n" + "\n  ".join(lines) for lines in self._finding_lines]
        coverage = [f"\n{line}" for line in self._coverage_lines]
        return "\n".join([self._headline, *findings, *coverage])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = {RIGHT: _RIGHT, WRONG: _WRONG}.get(self.status, _MUTED)
        paragraphs = [
            _paragraph(line, stands_out=number == 0)
            for lines in self._finding_lines
            for number, line in enumerate(lines)
        ]
        quiet = f'<p style="margin:.5em 0 .2em;color:{_MUTED}">'
        paragraphs += [f"{quiet}{escape(line)}</p>" for line in self._coverage_lines]
        return (
            f'<div class="capsnet-report" style="border-left:3px solid {colour};'
            f'padding:.2em 0 .2em .9em;margin:.4em 0;max-width:46em">'
            f'<p style="margin:.2em 0;color:{colour}">'
            f"<strong>{escape(self._headline)}</strong></p>{''.join(paragraphs)}</div>"
        )

    @property
    def _headline(self) -> str:
        """The verdict, as it is shown."""
        return type(self).translate(self._verdict)

    @property
    def _verdict(self) -> str:
        if not self.written:
            return f"… {self.checked}: not written yet"
        if self.status == RIGHT:
            agrees = f"✓ {self.checked}: right. {self.agrees}"
            return agrees if self.agrees else f"✓ {self.checked}: right"
        if self.status == CANNOT_BE_JUDGED:
            return f"? {self.checked}: cannot be judged"
        if self.status == NOT_ALL_EXAMINED:
            return f"? {self.checked}: nothing wrong found, but not all of it was examined"
        return self._fault

    @property
    def _fault(self) -> str:
        """The verdict on something that is wrong."""
        if not self.bugs:
            return f"✗ {self.checked}: not right yet"
        if len(self.bugs) == 1:
            return f"✗ {self.checked}: 1 known mistake"
        return f"✗ {self.checked}: {len(self.bugs)} known mistakes"

    @property
    def _finding_lines(self) -> list[list[str]]:
        """The lines of each finding, as they are shown."""
        return [[type(self).translate(line) for line in finding.lines] for finding in self.findings]

    @property
    def _coverage_lines(self) -> list[str]:
        """What was examined and what not, as it is shown; none if it is what was checked."""
        if not self.unexamined and self.examined in ((), (self.checked,)):
            return []
        lines = []
        if self.examined:
            lines.append(f"Examined: {'; '.join(self.examined)}.")
        if self.unexamined:
            lines.append(f"Not examined: {'; '.join(self.unexamined)}.")
        return [type(self).translate(line) for line in lines]


def without_conventions(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with every convention counted as a fault."""
    return [replace(finding, convention=False) for finding in findings]


def _each_bug_once(findings: Iterable[Finding]) -> list[Finding]:
    """Return the first finding of each bug in the catalogue's order, then those without a bug."""
    first: dict[str, Finding] = {}
    others = []
    for finding in findings:
        if finding.bug is None:
            others.append(finding)
        else:
            first.setdefault(finding.bug, finding)
    return [first[bug] for bug in BUGS if bug in first] + others


def _paragraph(line: str, *, stands_out: bool) -> str:
    """Return a line of a finding as HTML."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(line))
    if stands_out:
        text = f"<strong>{text}</strong>"
    margin = ".9em" if stands_out else ".2em"
    return f'<p style="margin:{margin} 0 .2em;overflow-wrap:anywhere">{text}</p>'
