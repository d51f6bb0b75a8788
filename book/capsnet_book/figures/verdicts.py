"""The claims and what came of them: the first figure of the results."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from capsnet_book.experiments.verdicts import (
    CONTRARY_HINT,
    HINT,
    NO_DIFFERENCE,
    NO_INTERVAL,
    OTHER_WAY,
    SEEN,
    Verdict,
)
from capsnet_book.figures._style import _STYLE, WIDTH, phone_form
from capsnet_book.palette import LIGHT

_COLOURS = {
    OTHER_WAY: "contrast",
    CONTRARY_HINT: "soft",
    NO_DIFFERENCE: "muted",
    HINT: "agree",
    SEEN: "accent",
    NO_INTERVAL: "line",
}
_EDGE = 60.0
"""Per cent, either way; an interval that is longer ends in an arrow, and a difference that is larger is one."""


@phone_form(texts_above=True)
def verdict_chart(verdicts: Sequence[Verdict], *, texts_above: bool = False) -> Figure:
    """A line for each claim: by how many per cent of the second mean the first is smaller, and the interval of 95 %.

    Right of the line in the middle the claim is true. Claims without an interval have a hollow mark. The claims'
    texts stand beside the lines or, for a narrow screen, above them.
    """
    with plt.rc_context(_STYLE):
        height = (0.8 if texts_above else 0.34) * len(verdicts) + 0.9
        figure, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
        for place, each in enumerate(verdicts):
            colour, full = LIGHT[_COLOURS[each.word]], 100 / each.larger.mean
            middle = full * (each.larger.mean - each.smaller.mean)
            mark = "<" if middle < -_EDGE else ">" if middle > _EDGE else "o"
            middle = max(-_EDGE, min(middle, _EDGE))
            if each.difference is None:
                axes.plot(middle, place, mark, markerfacecolor=LIGHT["surface"], color=LIGHT["muted"], markersize=5)
                continue
            low, high = full * each.difference.low, full * each.difference.high
            axes.plot([max(low, -_EDGE), min(high, _EDGE)], [place, place], color=colour, linewidth=2)
            axes.plot(middle, place, mark, color=colour, markersize=6)
            for end, beyond, marker in ((-_EDGE, low < -_EDGE, "<"), (_EDGE, high > _EDGE, ">")):
                if beyond:
                    axes.plot(end, place, marker, color=colour, markersize=5)
        texts = [textwrap.fill(each.claim.text, 44 if texts_above else 52) for each in verdicts]
        axes.set_yticks(range(len(verdicts)), [""] * len(verdicts) if texts_above else texts, fontsize=7.5)
        for place, text in enumerate(texts if texts_above else []):
            axes.text(-1.08 * _EDGE, place - 0.18, text, fontsize=7.5, verticalalignment="bottom")
        axes.set(xlim=(-1.08 * _EDGE, 1.08 * _EDGE), ylim=(len(verdicts) - 0.5, -0.8 if texts_above else -0.5))
        about = "by how many per cent; right of 0: as claimed, left: the other way round"
        axes.set_xlabel(textwrap.fill(about, 44) if texts_above else about)
        axes.grid(axis="x", color=LIGHT["line"], linewidth=0.5)
        axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
        words = [word for word in _COLOURS if any(each.word == word for each in verdicts)]
        marks = [
            plt.Line2D(
                [], [], color=LIGHT["muted" if word == NO_INTERVAL else _COLOURS[word]], marker="o", label=word,
                linestyle="none" if word == NO_INTERVAL else "-",
                markerfacecolor=LIGHT["surface"] if word == NO_INTERVAL else None,
            )
            for word in words
        ]  # fmt: skip
        columns = 1 if texts_above else min(len(words), 4)
        figure.legend(handles=marks, loc="outside upper center", ncols=columns, fontsize=8)
        plt.close(figure)
    return figure
