"""One round of routing as messages on a small graph: what is shared, sent up and answered."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.figures._style import WIDTH, in_book_style
from capsnet_book.palette import LIGHT

Place = tuple[float, float]
_BELOW: list[Place] = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0)]
_ABOVE: list[Place] = [(0.25, 1.0), (0.75, 1.0)]
_PANELS = (
    ("line 4: share out", "softmax over the edges\nthat leave one capsule"),
    ("lines 5, 6: send, add, squash", "the sum over the edges\nthat arrive at one capsule"),
    ("line 7: answer", "û · v goes back along\neach edge, onto its b"),
)


@in_book_style
def one_round() -> Figure:
    """Draw three graphs of three capsules and two above: softmax, messages up, agreement back."""
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 2.5), layout="constrained")
    share, message, answer = panels
    for i, lower in enumerate(_BELOW):
        for j, upper in enumerate(_ABOVE):
            if i == 1:
                _draw_edge(
                    share, lower, upper, color=LIGHT["contrast"], linewidth=2.4, arrowstyle="-"
                )
            else:
                _draw_edge(share, lower, upper, color=LIGHT["line"], linewidth=1, arrowstyle="-")
            up = LIGHT["accent"] if j == 0 else LIGHT["line"]
            _draw_edge(message, lower, upper, color=up, linewidth=2, arrowstyle="->")
            back = LIGHT["agree"] if j == 0 else LIGHT["line"]
            _draw_edge(answer, upper, lower, color=back, linewidth=2, arrowstyle="->")
    for axes, (title, sentence) in zip(panels, _PANELS, strict=True):
        axes.set_title(title, fontsize=9.5)
        axes.text(0.5, -0.24, sentence, ha="center", va="top")
        axes.plot(*zip(*_BELOW, strict=True), "o", color=LIGHT["ink"], markersize=9)
        axes.plot(*zip(*_ABOVE, strict=True), "s", color=LIGHT["ink"], markersize=10)
        axes.set(xlim=(-0.15, 1.15), ylim=(-0.75, 1.15))
        axes.axis("off")
    return figure


def _draw_edge(axes: Axes, start: Place, end: Place, **style: Any) -> None:
    """Draw an edge of the graph in the style of an arrow; "-" has no head."""
    axes.annotate("", xy=end, xytext=start, arrowprops={"shrinkA": 7, "shrinkB": 7, **style})
