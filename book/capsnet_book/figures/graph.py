"""One round of routing as messages on a small graph: who shares with whom, what goes up, what comes back."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.figures._style import _STYLE, WIDTH
from capsnet_book.palette import LIGHT

_BELOW = [(x, 0.0) for x in (0.0, 0.5, 1.0)]
_ABOVE = [(x, 1.0) for x in (0.25, 0.75)]


def one_round() -> Figure:
    """Three small graphs, three below and two above: the softmax's groups, the messages upwards, the agreement."""
    with plt.rc_context(_STYLE):
        figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 2.5), layout="constrained")
        share, message, answer = panels
        for axes, title in zip(panels, ("line 4: share out", "lines 5, 6: send, add, squash", "line 7: answer"),
                               strict=True):  # fmt: skip
            axes.set_title(title, fontsize=9.5)
        for i, start in enumerate(_BELOW):
            for end in _ABOVE:
                lit = i == 1
                _edge(share, start, end, "contrast" if lit else "line", "-", 2.4 if lit else 1)
                _edge(message, start, end, "accent" if end is _ABOVE[0] else "line", "->", 2)
                _edge(answer, end, start, "agree" if end is _ABOVE[0] else "line", "->", 2)
        share.text(
            0.5, -0.24, "softmax over the edges\nthat leave one capsule", ha="center", va="top"
        )
        message.text(
            0.5, -0.24, "the sum over the edges\nthat arrive at one capsule", ha="center", va="top"
        )
        answer.text(
            0.5, -0.24, "û · v goes back along\neach edge, onto its b", ha="center", va="top"
        )
        for axes in panels:
            axes.plot(*zip(*_BELOW, strict=True), "o", color=LIGHT["ink"], markersize=9)
            axes.plot(*zip(*_ABOVE, strict=True), "s", color=LIGHT["ink"], markersize=10)
            axes.set(xlim=(-0.15, 1.15), ylim=(-0.75, 1.15))
            axes.axis("off")
        plt.close(figure)
    return figure


def _edge(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    role: str,
    arrow: str,
    width: float,
) -> None:
    style = {
        "arrowstyle": arrow,
        "color": LIGHT[role],
        "linewidth": width,
        "shrinkA": 7,
        "shrinkB": 7,
    }
    axes.annotate("", xy=end, xytext=start, arrowprops=style)
