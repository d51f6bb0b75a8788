"""What a checker answers: a report that shows itself, as text and in a notebook, and says what was examined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from torch import Tensor

from capsnet_check.catalogue import BUGS

# Colours of the page, light and dark, where there is one; else these.
_RIGHT, _WRONG, _MUTED = (
    "var(--caps-agree, #00745a)",
    "var(--caps-contrast, #b34700)",
    "var(--caps-muted, #566072)",
)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    bug: str | None
    """An id of the catalogue, or None."""
    text: str = ""
    """What exactly was seen; for a fault outside the catalogue, all that is said."""
    convention: bool = False
    """Whether it is another convention than the paper's, which works as well."""
    failed_call: bool = False
    """Whether it could not be called, or not to the end."""
    topic: str = ""
    """What it is about: an option of a piece in `variants`, "unsquashed", "unexplained"."""
    line: str = ""
    """The line of code: file, number, text."""

    @property
    def lines(self) -> list[str]:
        """The finding in words."""
        seen = [line for line in (self.text, self.line) if line]
        if not self.bug:
            return seen
        title, advice, paper = BUGS[self.bug]
        return [f"{self.bug} · {title}", *seen, advice, f"The paper: {paper}"]


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

    @property
    def status(self) -> int:
        """0 right, 1 wrong, 2 cannot be judged, 3 nothing wrong found but not all was examined."""
        if self.bugs or any(not (each.convention or each.failed_call) for each in self.findings):
            return 1
        if not self.written or any(each.failed_call for each in self.findings):
            return 2
        return 0 if self.passed and not self.unexamined else 3

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        found = ["\n" + "\n  ".join(each.lines) for each in self.findings]
        return "\n".join([self._headline, *found, *(f"\n{line}" for line in self._coverage)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = (
            _RIGHT if self.status == 0 else _WRONG if self.written and self.status != 3 else _MUTED
        )
        parts = "".join(
            _paragraph(line, k == 0) for each in self.findings for k, line in enumerate(each.lines)
        )
        quiet = f'<p style="margin:.5em 0 .2em;color:{_MUTED}">'
        parts += "".join(f"{quiet}{escape(line)}</p>" for line in self._coverage)
        return (
            f'<div class="capsnet-report" style="border-left:3px solid {colour};padding:.2em 0 .2em .9em;'
            f'margin:.4em 0;max-width:46em"><p style="margin:.2em 0;color:{colour}">'
            f"<strong>{escape(self._headline)}</strong></p>{parts}</div>"
        )

    @property
    def _headline(self) -> str:
        if not self.written:
            return f"… {self.checked}: not written yet"
        if self.status == 0:
            return f"✓ {self.checked}: right" + (f". {self.agrees}" if self.agrees else "")
        if self.status == 3:
            return f"? {self.checked}: nothing wrong found, but not all of it was examined"
        known = len(self.bugs)
        return f"✗ {self.checked}: " + (
            f"{known} known mistake{'s' * (known > 1)}" if known else "not right yet"
        )

    @property
    def _coverage(self) -> list[str]:
        """What was examined and what was not, where that is more than what was checked."""
        if not self.unexamined and self.examined in ((), (self.checked,)):
            return []
        named = {"Examined": self.examined, "Not examined": self.unexamined}
        return [
            f"{title}: {'; '.join(names) or 'nothing'}." for title, names in named.items() if names
        ]


def _paragraph(line: str, first: bool) -> str:
    """A line of a finding; the first stands out."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(line))
    text = f"<strong>{text}</strong>" if first else text
    return (
        f'<p style="margin:{".9em" if first else ".2em"} 0 .2em;overflow-wrap:anywhere">{text}</p>'
    )


def rounded(numbers: Tensor) -> str:
    """Numbers as a reader writes them: 0.333, [0.1, 2], [[1, 0], [0, 1]]."""
    if numbers.dim():
        return f"[{', '.join(rounded(part) for part in numbers)}]"
    number = float(numbers)
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else f"{number:.4g}"


def described(arguments: Sequence[Any]) -> str:
    """Arguments of a call in a few words, tensors by their shapes."""
    return ", ".join(
        f"a tensor of shape {list(x.shape)}" if isinstance(x, Tensor) else repr(x)
        for x in arguments
    )
