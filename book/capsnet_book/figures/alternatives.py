"""Agreement in two ways to route, a point a vote."""

from __future__ import annotations

from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import in_book_style, one_plot
from capsnet_book.palette import LIGHT


@in_book_style
def in_proportion(first: Tensor, second: Tensor) -> Figure:
    """Draw two agreements of the same votes, [I, J] each: a point a vote, a line a class."""
    figure, axes = one_plot(height=3.0)
    slopes = (second / first).median(dim=0).values  # [J]
    steepest = int(slopes.argmax())
    for j, (x, y) in enumerate(zip(first.T, second.T, strict=True)):
        colour = LIGHT["accent" if j == steepest else "muted"]
        ends = [float(x.min()), float(x.max())]
        heights = [float(slopes[j]) * end for end in ends]
        axes.plot(ends, heights, color=colour, linewidth=0.8, alpha=0.6)
        axes.plot(x, y, "o", color=colour, markersize=3, alpha=0.7)
    largest = int(first[:, steepest].argmax())
    axes.annotate(
        f"class {steepest}",
        (first[largest, steepest], second[largest, steepest]),
        xytext=(-6, 0),
        ha="right",
        textcoords="offset points",
        color=LIGHT["accent"],
        weight="bold",
    )
    axes.set(xlabel="attention a", ylabel="agreement b, round 1")
    return figure
