"""Intervals side by side, and which of them miss zero."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from capsnet_book.figures._style import in_book_style, one_plot
from capsnet_book.palette import LIGHT


@in_book_style
def intervals_around_zero(intervals: Sequence[tuple[float, float]]) -> Figure:
    """Draw an upright line for each interval; those that miss zero have a cross at their middle.

    Args:
        intervals: the lower and the upper end of each.
    """
    figure, axes = one_plot(2.4)
    axes.axhline(0, color=LIGHT["muted"], linewidth=1)
    for place, (low, high) in enumerate(intervals, start=1):
        misses = low > 0 or high < 0
        colour = LIGHT["contrast"] if misses else LIGHT["accent"]
        axes.plot([place, place], [low, high], color=colour, solid_capstyle="butt")
        marker = "X" if misses else "o"
        axes.plot(place, (low + high) / 2, marker, color=colour, markersize=11 if misses else 5)
    axes.set(xlabel="question", ylabel="difference", xticks=(1, *range(5, len(intervals) + 1, 5)))
    axes.set_xlim(0.3, len(intervals) + 0.7)
    return figure
