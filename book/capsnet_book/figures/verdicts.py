"""The verdicts on claims, as a board: a row a claim, the verdict first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from capsnet_book.experiments.verdicts import (
    CONTRARY_HINT,
    HINT,
    NO_DIFFERENCE,
    OTHER_WAY,
    PLAIN,
    PLAIN_CONTRARY,
    SEEN,
    Verdict,
)
from capsnet_book.palette import LIGHT
from capsnet_book.words import said

AGAINST = (
    "The interval is of this question alone, and it leaves out zero. The verdict is by Holm's p, "
    "among all the primary questions, and that is 0.05 or more: so no difference counts as seen."
)
"""What a row says where Holm decides against the interval."""
_COLOURS = {
    OTHER_WAY: "contrast",
    PLAIN_CONTRARY: "contrast",
    CONTRARY_HINT: "contrast",
    NO_DIFFERENCE: "muted",
    HINT: "accent",
    PLAIN: "accent",
    SEEN: "accent",
}
EDGE = 120.0
"""The end of the scale, in per cent, either way; in a row a value beyond it is an arrow."""
TICKS = (1, 10, 30, 100)
"""Marks on the scale, in per cent, either way."""
_MIDDLE, _HALF = 200.0, 190.0
"""Where zero lies in the drawing, and how far the ends are from it, in its units."""
STYLE = f"""
div.claims.full-width {{ width: auto; max-width: 100%; }}
.claims ol {{ list-style: none; margin: 0; padding: 0; }}
.claims summary, .claims .scale {{ display: grid; grid-template-columns: 9em 1fr 400px; gap: 0 1em;
  align-items: center; padding: .3em 0; cursor: pointer; list-style: none; }}
.claims li {{ border-top: 1px solid var(--caps-line, {LIGHT["line"]}); line-height: 1.3; }}
.claims summary:hover {{ background: var(--caps-raised, {LIGHT["raised"]}); }}
.claims summary b {{ font-size: .88em; }}
.claims summary b::before {{ content: "› "; }}
.claims svg {{ display: block; width: 100%; height: 28px; overflow: visible; }}
.claims p {{ margin: 0 0 .8em; color: var(--caps-muted, {LIGHT["muted"]}); font-size: .9em; }}
.claims .scale {{ cursor: auto; font-size: .8em; color: var(--caps-muted, {LIGHT["muted"]}); }}
.claims .scale span {{ display: grid; grid-template-columns: 1fr 1em 1fr; grid-column: 3; \
text-align: center; }}
@media (max-width: 700px) {{
  .claims summary, .claims .scale {{ grid-template-columns: 1fr; }}
  .claims summary {{ min-height: 40px; }}
  .claims .scale span {{ grid-column: 1; }}
  .claims summary span {{ grid-row: 2; }} }}
"""


class Board:
    """A board of verdicts, as Jupyter and the book show it; as text, a line for each claim."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = verdicts

    def __repr__(self) -> str:
        return "\n".join(f"{verdict.text}: {verdict.sentence}" for verdict in self.verdicts)

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{details(verdict)}</li>" for verdict in self.verdicts)
        legend = said(
            f"Every line reaches from −{EDGE:.0f} to {EDGE:.0f} %, with marks at 1, 10, 30 and "
            "100 %: distances from zero are square roots, so that small differences show. A dot is "
            "the mean, with its interval of 95 %; small dots are the seeds. Open a row for its "
            "numbers."
        )
        ends = f"<b>{said('not so')}</b><b>0</b><b>{said('as claimed')}</b>"
        return (
            f'<div class="claims"><style>{STYLE}</style>'
            f'<div class="scale"><span>{ends}</span></div><ol>{rows}</ol><p>{legend}</p></div>'
        )


def claims_board(verdicts: Sequence[Verdict]) -> Board:
    """Return a board with a row for each verdict: its word, the claim, and the difference drawn.

    The difference is how many per cent of the second mean the first mean is smaller: right of the
    middle it is as claimed. A row opens, and shows its numbers.
    """
    return Board(verdicts)


def details(verdict: Verdict, *more: str, name: str = "") -> str:
    """Return a verdict's row as a `<details>`: word, claim and drawing; opened, its numbers.

    Args:
        verdict: what the row is about.
        more: paragraphs after the numbers, as HTML.
        name: the id of the row's summary, if something refers to it.
    """
    word = verdict.word[:1].upper() + verdict.word[1:]
    numbers = verdict.sentence.partition(". ")[2]
    paragraphs = [escape(said(numbers))]
    if is_against_its_interval(verdict):
        paragraphs.append(said(AGAINST))
    opened = "".join(f"<p>{paragraph}</p>" for paragraph in (*paragraphs, *more))
    reference = f' id="{name}"' if name else ""
    return (
        f'<details class="claim"><summary{reference}>'
        f'<b style="color:{_colour(verdict)}">{escape(said(word))}</b>'
        f"<span>{escape(said(verdict.text))}</span>{_scale(verdict)}</summary>{opened}</details>"
    )


def is_against_its_interval(verdict: Verdict) -> bool:
    """Return True if no difference is seen though the verdict's own interval leaves out zero."""
    difference = verdict.difference
    if difference is None or verdict.word != NO_DIFFERENCE:
        return False
    return difference.low > 0 or difference.high < 0


def _colour(verdict: Verdict) -> str:
    """Return the colour of a verdict's word, as CSS."""
    role = _COLOURS.get(verdict.word, "muted")
    return f"var(--caps-{role}, {LIGHT[role]})"


def _scale(verdict: Verdict) -> str:
    """Return seeds, interval and mean of a verdict as SVG; an empty scale if it has no numbers."""
    line = f"var(--caps-line, {LIGHT['line']})"
    ends = f"M{_place(-EDGE):.0f} 14H{_place(EDGE):.0f}M{_MIDDLE:.0f} 3V25"
    ticks = [f"M{_place(tick):.0f} 10V18M{_place(-tick):.0f} 10V18" for tick in TICKS]
    shapes = [f'<path d="{ends}{"".join(ticks)}" stroke="{line}"/>']
    if not verdict.by_seed or math.isnan(verdict.reference):
        return _svg(shapes, "no numbers yet")
    colour = _colour(verdict)
    per_cent = 100 / verdict.reference
    seeds = [f"M{_place(per_cent * difference):.1f} 21h0" for difference in verdict.by_seed]
    shapes.append(
        f'<path class="seeds" d="{"".join(seeds)}" stroke="{colour}" stroke-width="4" '
        'stroke-linecap="round" opacity=".55"/>'
    )
    if verdict.difference is None:
        mean = per_cent * sum(verdict.by_seed) / len(verdict.by_seed)
        fill = f' style="fill:var(--caps-surface, {LIGHT["surface"]})"'  # hollow
        label = f"{mean:+.0f} %"
    else:
        mean = per_cent * verdict.difference.value
        low, high = per_cent * verdict.difference.low, per_cent * verdict.difference.high
        fill = ""
        label = f"{mean:+.0f} %, interval {low:+.0f} to {high:+.0f} %"
        interval = f"M{_place(low):.1f} 12H{_place(high):.1f}"
        shapes.append(f'<path d="{interval}" stroke="{colour}" stroke-width="2.5"/>')
        shapes += [_arrow(end, colour) for end in (low, high) if abs(end) > EDGE]
    if abs(mean) > EDGE:
        shapes.append(_arrow(mean, colour))
    else:
        centre = f'cx="{_place(mean):.1f}" cy="12" r="4.5"'
        shapes.append(f'<circle {centre} fill="{colour}" stroke="{colour}"{fill}/>')
    return _svg(shapes, label)


def _place(per_cent: float) -> float:
    """Return where a value lies in a row's drawing, in its units."""
    return _MIDDLE + _HALF * root(per_cent)


def root(per_cent: float) -> float:
    """Return a value's place on the scale of signed square roots, from −1 to 1 at its edges."""
    share = min(math.sqrt(abs(per_cent) / EDGE), 1.0)
    return math.copysign(share, per_cent)


def _arrow(per_cent: float, colour: str) -> str:
    """Return an arrow's head at the end of the scale, for a value beyond it."""
    tip = math.copysign(8, per_cent)
    return f'<path d="M{_place(per_cent):.0f} 6l{tip:.0f} 6l{-tip:.0f} 6z" fill="{colour}"/>'


def _svg(shapes: Sequence[str], label: str) -> str:
    """Return a drawing 400 wide and 28 high, with its label for screen readers."""
    label = label.replace("-", "−")
    return f'<svg viewBox="0 0 400 28" role="img" aria-label="{label}">{"".join(shapes)}</svg>'
