"""The numbers that a text names, as they are written, and whether a number that was computed says the same."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise

ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORDS = {word: k for k, word in enumerate([*ONES, *TEENS, *TENS[:1]], start=1)}
WORDS |= {word: 10 * k for k, word in enumerate(TENS, start=2)}
WORDS |= {f"{ten}-{one}": WORDS[ten] + WORDS[one] for ten in TENS for one in ONES}

DIGITS = r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+(?:_\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w])"
SPELLED = "|".join(sorted(WORDS, key=len, reverse=True))
NUMBER = re.compile(rf"(?P<digits>{DIGITS})|\b(?P<word>{SPELLED})\b(?=\s+of\s+\d|\s+per\s?cent)", re.IGNORECASE)
OF = re.compile(rf"\s+of\s+({DIGITS})")
PERCENT = re.compile(r"\s?(%|per\s?cent)")
SCALES = {"thousand": 1e3, "million": 1e6, "MB": 1e6}
SCALE = re.compile(rf"\s({'|'.join(SCALES)})\b")

NO_TEXT = re.compile(
    r"^(?P<fence>`{3,}|:{3,})(?:sh|python|text)\b.*?^(?P=fence)"  # commands and code
    r"|(?<=\])\([^)\s]*\)|\{\w+\}`[^`]*`|`[^`]*`|<[^>]+>|arXiv \d{4}\.\d{5}",  # addresses, citations, names
    re.MULTILINE | re.DOTALL,
)
FRACTION = re.compile(r"\\[td]?frac\s*(?:\{([^{}]*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d+))")
RAISED = re.compile(r"[\^_](?:\{[^{}]*\}|\w)")


@dataclass(frozen=True)
class Number:
    """A number as it is written."""

    text: str
    value: float
    decimals: int = 0
    scale: float = 1.0
    """1e6 for "1.5 million"."""
    percent: bool = False
    total: float | None = None
    """500 for the 3 in "3 of 500"."""
    start: int = 0
    """Where in the text it stands."""

    def changed(self, by: int) -> Number:
        """The number with another last digit."""
        return replace(self, value=self.value + by * 10.0**-self.decimals)

    def rounds(self, value: float) -> bool:
        """Whether `value`, rounded as this one is written, is this one. Counts up to ten are not rounded."""
        if self.decimals == 0 and self.scale == 1 and self.value <= 10 and not self.percent:
            return self.value == value
        return abs(value / self.scale - self.value) <= 0.5 * 10.0**-self.decimals + 1e-9

    def says(self, computed: Number) -> bool:
        """Whether a text that names this number says what was computed; 79 % may have been printed as 0.79."""
        share = self.percent and not computed.percent and computed.value <= 1
        return self.rounds(100 * computed.value if share else computed.value)


def prose(markdown: str) -> str:
    """A text without what is no text: commands, code, addresses, citations."""
    text = NO_TEXT.sub(" ", markdown).replace("{,}", ",")
    return FRACTION.sub(lambda found: "({}/{})".format(*(part for part in found.groups() if part)), text)


def numbers(text: str) -> list[Number]:
    """The numbers in some prose, code or output. Exponents and indices are none."""
    text = RAISED.sub(lambda found: " " * len(found[0]), text)
    found = []
    for match in NUMBER.finditer(text):
        plain = re.sub("[,_]", "", match["digits"]) if match["digits"] else str(WORDS[match["word"].lower()])
        of, scale = OF.match(text, match.end()), SCALE.match(text, match.end())
        found.append(
            Number(
                match[0],
                float(plain),
                decimals=12 if "e" in plain else len(plain.partition(".")[2]),
                scale=SCALES[scale[1]] if scale else 1.0,
                percent=bool(PERCENT.match(text, match.end())),
                total=float(of[1].replace(",", "")) if of else None,
                start=match.start(),
            )
        )
    return found


def equations(text: str) -> dict[str, bool]:
    """The equations between numbers alone in some prose, and whether each is true: `6 · 7 = 42`."""
    found = {}
    for in_dollars, plain in re.findall(r"\$([^$]+)\$|([\d(][\d ·×+/().,-]*(?: = [\d.,]*\d)+)", text):
        written = in_dollars or plain
        for left, right in pairwise(written.split("=")):
            values = value(left), value(right)
            if values[0] is not None and values[1] is not None:
                decimals = len(right.strip().rstrip(".").partition(".")[2])
                true = abs(values[0] - values[1]) <= (0.5 * 10**-decimals if decimals else 0) + 1e-9
                found[written] = true and found.get(written, True)
    return found


def value(term: str) -> float | None:
    """What an arithmetic term in LaTeX or plain text comes to, or None if it is no such term."""
    for written, python in (
        (r"\\cdot|\\times|[·×]", "*"),
        (r"\\log_2\s*(\d+)", r"log2(\1)"),
        (r"\^\{?(\d+)\}?", r"**\1"),
        (r",(?=\d{3})|\\[,;]", ""),
    ):
        term = re.sub(written, python, term)
    term = term.strip().rstrip(".,")
    if not re.fullmatch(r"(?:[\d.+\-*/() ]|log2)*\d\)*", term):
        return None
    try:
        return float(eval(term, {"__builtins__": {}}, {"log2": math.log2}))
    except (SyntaxError, TypeError, ZeroDivisionError):
        return None
