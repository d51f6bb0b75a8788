"""The claims and what came of them, as a board: a row a claim, the verdict first."""

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

_COLOURS = {
    OTHER_WAY: "contrast",
    PLAIN_CONTRARY: "contrast",
    CONTRARY_HINT: "contrast",
    NO_DIFFERENCE: "muted",
    HINT: "accent",
    PLAIN: "accent",
    SEEN: "accent",
}
_EDGE = 60.0
"""Per cent, either way; what is farther away stands there as an arrow."""
_STYLE = f"""
div.claims.full-width {{ width: auto; max-width: 100%; }}
.claims ol {{ list-style: none; margin: 0; padding: 0; }}
.claims summary, .claims .scale {{ display: grid; grid-template-columns: 11em 1fr 260px; gap: 0 1em;
  align-items: center; padding: .3em 0; cursor: pointer; list-style: none; }}
.claims li {{ border-top: 1px solid var(--caps-line, {LIGHT["line"]}); line-height: 1.3; }}
.claims summary:hover {{ background: var(--caps-raised, {LIGHT["raised"]}); }}
.claims summary b {{ font-size: .88em; }}
.claims summary b::before {{ content: "› "; }}
.claims svg {{ display: block; width: 100%; height: 28px; overflow: visible; }}
.claims p {{ margin: 0 0 .8em; color: var(--caps-muted, {LIGHT["muted"]}); font-size: .9em; }}
.claims .scale {{ cursor: auto; font-size: .8em; color: var(--caps-muted, {LIGHT["muted"]}); }}
.claims .scale span {{ display: grid; grid-template-columns: 1fr 1em 1fr; grid-column: 3; text-align: center; }}
@media (max-width: 700px) {{
  .claims summary {{ grid-template-columns: 1fr 50%; min-height: 40px; }}
  .claims .scale {{ grid-template-columns: 1fr 50%; }}
  .claims .scale span {{ grid-column: 2; }}
  .claims summary span {{ grid-row: 2; grid-column: 1 / 3; }} }}
"""


class Board:
    """What Jupyter and the book show of `claims_board`; as text, a line for each claim."""

    def __init__(self, found: Sequence[Verdict]) -> None:
        self.found = found

    def __repr__(self) -> str:
        return "\n".join(f"{each.text}: {each.sentence}" for each in self.found)

    def _repr_html_(self) -> str:
        rows = "".join(_row(each) for each in self.found)
        about = (
            f"Every line reaches from −{_EDGE:.0f} to {_EDGE:.0f} %. A dot is the mean, with its interval of 95 %; "
            "small dots are the seeds. Open a row for its numbers."
        )
        ends = "<b>not so</b><b>0</b><b>as claimed</b>"
        return (
            f'<div class="claims"><style>{_STYLE}</style>'
            f'<div class="scale"><span>{ends}</span></div><ol>{rows}</ol><p>{about}</p></div>'
        )


def claims_board(found: Sequence[Verdict]) -> Board:
    """A row for each claim: the verdict, the claim, and by how many per cent of the second mean the first is smaller.

    Right of the middle it came out as claimed. The numbers are in the fold that a row is.
    """
    return Board(found)


def _row(each: Verdict) -> str:
    word = each.word[:1].upper() + each.word[1:]
    return (
        f'<li><details class="claim"><summary><b style="color:{_colour(each)}">{escape(word)}</b>'
        f"<span>{escape(each.text)}</span>{_strip(each)}</summary>"
        f"<p>{escape(each.sentence.partition('. ')[2])}</p></details></li>"
    )


def _colour(each: Verdict) -> str:
    role = _COLOURS.get(each.word, "muted")
    return f"var(--caps-{role}, {LIGHT[role]})"


def _strip(each: Verdict) -> str:
    """Seeds, interval and mean in a row's drawing, 260 wide and 28 high; nothing where there is no number."""
    line, colour = f"var(--caps-line, {LIGHT['line']})", _colour(each)
    drawn = [f'<path d="M10 14H250M130 3V25" stroke="{line}"/>']
    if not each.apart or math.isnan(each.whole):
        return _svg(drawn, "no numbers yet")
    part = 100 / each.whole
    drawn += [
        f'<circle cx="{_place(part * value):.1f}" cy="21" r="2" fill="{colour}" opacity=".55"/>'
        for value in each.apart
    ]
    mean = part * (each.difference.value if each.difference else sum(each.apart) / len(each.apart))
    said = f"{mean:+.0f} %"
    if each.difference:
        low, high = part * each.difference.low, part * each.difference.high
        drawn.append(
            f'<path d="M{_place(low):.1f} 12H{_place(high):.1f}" stroke="{colour}" stroke-width="2.5"/>'
        )
        drawn += [_arrow(end, colour) for end in (low, high) if abs(end) > _EDGE]
        said += f", interval {low:+.0f} to {high:+.0f} %"
    hollow = "" if each.difference else f' style="fill:var(--caps-surface, {LIGHT["surface"]})"'
    if abs(mean) > _EDGE:
        drawn.append(_arrow(mean, colour))
    else:
        drawn.append(
            f'<circle cx="{_place(mean):.1f}" cy="12" r="4.5" fill="{colour}" stroke="{colour}"{hollow}/>'
        )
    return _svg(drawn, said)


def _place(per_cent: float) -> float:
    return 130 + 120 * max(-1.0, min(per_cent / _EDGE, 1.0))


def _arrow(per_cent: float, colour: str) -> str:
    """A head at the end of the scale, for what lies beyond."""
    tip = math.copysign(8, per_cent)
    return f'<path d="M{_place(per_cent):.0f} 6l{tip:.0f} 6l{-tip:.0f} 6z" fill="{colour}"/>'


def _svg(drawn: Sequence[str], said: str) -> str:
    said = said.replace("-", "−")
    return f'<svg viewBox="0 0 260 28" role="img" aria-label="{said}">{"".join(drawn)}</svg>'
