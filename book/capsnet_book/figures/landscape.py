"""The evidence as one picture: a dot with its interval for every claim, in groups.

The picture is a list of links, one for each claim, which lead to its row below. On a page of the
book `_static/landscape.js` shows one row at a time, that of the dot which was pressed. Elsewhere,
without JavaScript and on paper all rows stand below the picture.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

from capsnet_book.experiments.plan import GROUPS, Claim, Question
from capsnet_book.experiments.verdicts import (
    CONTRARY_HINT,
    HINT,
    OTHER_WAY,
    PLAIN,
    PLAIN_CONTRARY,
    SEEN,
    Verdict,
)
from capsnet_book.figures.verdicts import (
    STYLE,
    TICKS,
    details,
    is_against_its_interval,
    root,
)
from capsnet_book.palette import LIGHT
from capsnet_book.words import said

_KINDS = {
    SEEN: "as-claimed",
    PLAIN: "as-claimed",
    HINT: "as-claimed hint",
    OTHER_WAY: "contrary",
    PLAIN_CONTRARY: "contrary",
    CONTRARY_HINT: "contrary hint",
}
"""A verdict's word -> the classes of its dot; of other words, none."""
_KEY = (
    ("as-claimed", "as claimed"),
    ("contrary", "the opposite"),
    ("", "no difference seen"),
    ("as-claimed hint", "only a hint"),
    ("question", "a primary question, written down before its runs"),
)
"""The classes of the dots in the key, and what they mean."""


def _grid() -> str:
    """Return the lines of the scale as layers of a CSS background, zero first."""
    shares = [0.0]
    for tick in TICKS:
        shares += [root(-tick), root(tick)]
    layers = []
    for share in shares:
        role = "line" if share else "muted"
        colour = f"var(--caps-{role}, {LIGHT[role]})"
        place = 50 + 50 * share
        layers.append(f"linear-gradient({colour}, {colour}) {place:.2f}% 0 / 1px 100% no-repeat")
    return ", ".join(layers)


_STYLE = f"""
.landscape .group {{ display: grid; grid-template-columns: 12em 1fr; gap: 0 1em;
  align-items: center; }}
.landscape .group > b {{ font-size: .88em; font-weight: 600; line-height: 1.25; }}
.landscape .lines {{ padding: 7px 0; background: {_grid()}; print-color-adjust: exact; }}
.landscape :is(a, i) {{ --tone: var(--caps-muted, {LIGHT["muted"]}); }}
.landscape :is(a, i).as-claimed {{ --tone: var(--caps-accent, {LIGHT["accent"]}); }}
.landscape :is(a, i).contrary {{ --tone: var(--caps-contrast, {LIGHT["contrast"]}); }}
.landscape .lines a {{ position: relative; display: block; height: 8px; border-radius: 4px; }}
.landscape .lines a::before {{ content: ""; position: absolute; top: 3px;
  left: calc(var(--low) * 1%); width: calc((var(--high) - var(--low)) * 1%);
  border-top: 2px solid var(--tone); opacity: .55; }}
.landscape .lines a::after, .landscape .key i {{ content: ""; box-sizing: border-box; width: 8px;
  height: 8px; border: 4px solid var(--tone); border-radius: 50%; }}
.landscape .lines a::after {{ position: absolute; top: 0; left: calc(var(--mean) * 1% - 4px); }}
.landscape .lines a.hint::after, .landscape .key .hint {{ border-width: 2px;
  background: var(--caps-surface, {LIGHT["surface"]}); }}
.landscape .lines a.question::after, .landscape .key .question {{ border-radius: 0;
  transform: rotate(45deg); }}
.landscape.some .lines a:not(.lit, .chosen) {{ opacity: .25; }}
.landscape .lines a:is(:hover, .chosen) {{
  background: color-mix(in srgb, var(--tone) 18%, transparent); }}
.landscape .lines a.chosen::after {{ scale: 1.5; }}
.landscape .lines a:focus-visible {{ outline: 2px solid var(--tone); outline-offset: 2px;
  z-index: 1; }}
.landscape .ends, .landscape .ticks {{ position: relative; display: flex; height: 1.6em;
  justify-content: space-between; font-size: .8em;
  color: var(--caps-muted, {LIGHT["muted"]}); }}
.landscape .ticks span {{ position: absolute; translate: -50%; }}
.landscape .key {{ display: flex; flex-wrap: wrap; gap: .2em 1.6em; margin: .6em 0; }}
.landscape .key i {{ display: inline-block; margin-right: .5em; }}
.landscape .heading {{ margin: 1em 0 .3em; font-weight: 600; }}
.landscape .steps {{ display: none; }}
.landscape.some .rows :is(.heading, li:not(.lit)) {{ display: none; }}
@media screen {{
  html[data-way] .landscape .rows {{ position: sticky; bottom: 0; z-index: 2; min-height: 9em;
    max-height: 45vh; overflow: auto; background: var(--pst-color-background); }}
  html[data-way] .landscape .rows p {{ margin: 0 0 .4em; line-height: 1.35; }}
  html[data-way] .landscape .rows :is(li, .heading) {{ display: none; }}
  html[data-way] .landscape .rows li.chosen {{ display: block; }}
  html[data-way] .landscape .rows summary {{ padding-right: 112px; min-height: 56px;
    grid-template-columns: 9em 1fr 300px; }}
  html[data-way] .landscape .steps {{ display: flex; gap: 8px; position: absolute; right: 4px;
    top: 8px; }} }}
.landscape .steps button {{ min-width: 44px; min-height: 40px; border-radius: 6px; color: inherit;
  border: 1px solid var(--caps-line, {LIGHT["line"]});
  background: var(--caps-raised, {LIGHT["raised"]}); }}
@media (max-width: 700px) {{
  .landscape .group {{ grid-template-columns: 1fr; }}
  .landscape .group > b {{ margin-top: .5em; }}
  html[data-way] .landscape .rows summary {{ padding-right: 0; grid-template-columns: 1fr; }}
  html[data-way] .landscape .rows summary b {{ padding-right: 112px; min-height: 40px; }} }}
"""


class Landscape:
    """All verdicts in one picture, as Jupyter and the book show it; as text, a line for each."""

    def __init__(self, verdicts: Sequence[Verdict], lit: Collection[str]) -> None:
        self.verdicts = sorted(verdicts, key=_mean, reverse=True)
        """From what is most as claimed to what is least."""
        self.lit = lit

    def __repr__(self) -> str:
        return "\n".join(f"{verdict.text}: {verdict.sentence}" for verdict in self.verdicts)

    def _repr_html_(self) -> str:
        fields = []
        lists = []
        for group, english in GROUPS.items():
            heading = said(english)
            members = self._members(group)
            if not members:
                continue
            dots = "".join(self._dot(number) for number in members)
            rows = "".join(self._row(number) for number in members)
            fields.append(
                f'<div class="group"><b>{heading}</b><div class="lines">{dots}</div></div>'
            )
            lists.append(f'<p class="heading">{heading}</p><ol>{rows}</ol>')
        kind = "claims landscape some" if self.lit else "claims landscape"
        name = said("All claims, a dot each. The arrow keys move from dot to dot.")
        return (
            f'<div class="{kind}"><style>{STYLE}{_STYLE}</style>'
            f'<div role="group" aria-label="{name}">{_axis()}{"".join(fields)}</div>{_key()}'
            f'{self._legend()}<div class="rows">{_steps()}{"".join(lists)}</div></div>'
        )

    def _members(self, group: str) -> list[int]:
        """Return the numbers of the verdicts of a group, from top to bottom."""
        verdicts = enumerate(self.verdicts)
        return [number for number, verdict in verdicts if verdict.question.group == group]

    def _dot(self, number: int) -> str:
        """Return a verdict's dot and interval: a link to its row, named by the row's summary."""
        verdict = self.verdicts[number]
        classes = [_KINDS.get(verdict.word, "")]
        if isinstance(verdict.question, Question):
            classes.append("question")
        if self._is_lit(verdict):
            classes.append("lit")
        return (
            f'<a href="#claim-{number}" aria-labelledby="claim-{number}-words" '
            f'class="{" ".join(classes).strip()}" style="{_places(verdict)}"></a>'
        )

    def _row(self, number: int) -> str:
        """Return a verdict's row, with its seeds and its runs in what opens."""
        verdict = self.verdicts[number]
        lit = ' class="lit"' if self._is_lit(verdict) else ""
        row = details(verdict, _by_seed(verdict), _runs(verdict), name=f"claim-{number}-words")
        return f'<li id="claim-{number}"{lit}>{row}</li>'

    def _is_lit(self, verdict: Verdict) -> bool:
        """Return True if the verdict's question is among those that stand out."""
        return isinstance(verdict.question, Question) and verdict.question.name in self.lit

    def _legend(self) -> str:
        """Return how the picture is read; and of verdicts against their intervals, if any."""
        sentences = [
            "A dot is the difference in per cent of the number that should be the larger one, its "
            "line the interval of 95 %. Distances from zero are square roots, so that small "
            "differences show. Press a dot for its seeds and its runs."
        ]
        against = sum(is_against_its_interval(verdict) for verdict in self.verdicts)
        if against:
            sentences.append(
                f"Grey lines that are clear of zero ({against} here): there Holm decides against "
                "the interval, which knows nothing of the other questions."
            )
        return f"<p>{' '.join(_span(sentence) for sentence in sentences)}</p>"


def evidence_landscape(verdicts: Sequence[Verdict], lit: Collection[str] = ()) -> Landscape:
    """Return all verdicts as one picture, in the groups of their questions.

    Args:
        verdicts: of questions and claims; each shows how many per cent of the second mean the
            first mean is smaller, on a scale of square roots.
        lit: names of primary questions that stand out; the rest is pale.
    """
    return Landscape(verdicts, lit)


def _mean(verdict: Verdict) -> float:
    """Return a verdict's difference in per cent; below all others without a number."""
    return -math.inf if verdict.difference is None else _per_cent(verdict, verdict.difference.value)


def _per_cent(verdict: Verdict, value: float) -> float:
    """Return a value in per cent of the second mean."""
    return 100 * value / verdict.reference


def _places(verdict: Verdict) -> str:
    """Return mean and interval as CSS, per cent of the picture's width; empty without numbers."""
    difference = verdict.difference
    if difference is None:
        return ""
    values = {"mean": difference.value, "low": difference.low, "high": difference.high}
    shares = {name: root(_per_cent(verdict, value)) for name, value in values.items()}
    return ";".join(f"--{name}:{50 + 50 * share:.2f}" for name, share in shares.items())


def _axis() -> str:
    """Return what stands above the picture: the two ends' words, and the marks' numbers."""
    marks = [-tick for tick in reversed(TICKS)] + [0, *TICKS]
    numbers = []
    for mark in marks:
        words = f"{mark}".replace("-", "−")
        numbers.append(f'<span style="left:{50 + 50 * root(mark):.2f}%">{words}</span>')
    return (
        f'<div class="group" aria-hidden="true"><b></b><div><div class="ends">'
        f"<b>{said('not so')}</b><b>{said('as claimed')}</b></div>"
        f'<div class="ticks">{"".join(numbers)}</div></div></div>'
    )


def _key() -> str:
    """Return what the dots' colours and shapes mean."""
    entries = "".join(f'<span><i class="{kind}"></i>{said(words)}</span>' for kind, words in _KEY)
    return f'<p class="key">{entries}</p>'


def _steps() -> str:
    """Return the buttons that lead to the dot above and the dot below."""
    buttons = ("The dot above", "↑"), ("The dot below", "↓")
    marks = "".join(f'<button aria-label="{said(name)}">{sign}</button>' for name, sign in buttons)
    return f'<div class="steps">{marks}</div>'


def _by_seed(verdict: Verdict) -> str:
    """Return the differences seed by seed, in words."""
    digits = 2 if verdict.reference > 0.1 else 4  # squared errors are small
    differences = ", ".join(f"{difference:+.{digits}f}" for difference in verdict.by_seed)
    return said(f"Seed by seed: {differences}.".replace("-", "−"))


def _runs(verdict: Verdict) -> str:
    """Return the records that a verdict compares, as HTML."""
    question = verdict.question
    place = "results/runs"
    seeds = ""
    if isinstance(question, Claim):
        sides = [_names(question.smaller), _names(question.larger)]
    else:
        sides = [_arm(question.smaller), _arm(question.larger)]
        seeds = _span(f"(seeds {question.seeds[0]} to {question.seeds[-1]})")
        if "arm" in question.smaller:
            place = f"results/{question.measure}.json"
    compared = f" {_span('against')} ".join(sides)
    return f"{_span('Records in')} <code>{place}</code>: {compared} {seeds}"


def _names(side: str | Sequence[str]) -> str:
    """Return the runs of a claim's side; of several, the best on validation digits counts."""
    runs = [side] if isinstance(side, str) else side
    return ", ".join(f"<code>{escape(run)}</code>" for run in runs)


def _arm(side: Mapping[str, Any]) -> str:
    """Return the run or the arm of a question's side, and with how many rounds it is read."""
    name = side.get("run") or side["arm"]
    rounds = _span(f"(rounds at inference: {side['rounds']})")
    return f"<code>{escape(name)}</code> {rounds}"


def _span(text: str) -> str:
    """Return a text as HTML of its own, so that it is a message of its own in translations."""
    return f"<span>{escape(said(text))}</span>"
