"""Agreement in two ways to route: the figures of the page on your own routing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import WIDTH, in_book_style, one_plot
from capsnet_book.palette import LIGHT

_COLOURS = (LIGHT["accent"], LIGHT["contrast"])


@in_book_style
def two_agreements(
    votes: Tensor, shares: Mapping[str, Sequence[float]], names: tuple[str, str]
) -> Figure:
    """Draw the votes for two wholes, and the share of the parts that the first gets, by round.

    Args:
        votes: [I, 2, 2], of I parts for two wholes, in the plane.
        shares: procedure -> the first whole's share, 0 to 1: before the first round, after it, …
        names: of the two wholes.
    """
    figure, (plane, axes) = plt.subplots(1, 2, figsize=(WIDTH, 2.9), layout="constrained")
    for j, (name, colour, marker) in enumerate(zip(names, _COLOURS, "os", strict=True)):
        x, y = votes[:, j].T
        plane.plot(x, y, marker, color=colour, markersize=4, alpha=0.7, label=name)
    plane.plot(0, 0, "+", color=LIGHT["muted"], markersize=10)
    plane.set(aspect="equal", title="what the parts vote for", xticks=[], yticks=[])
    plane.legend(loc="upper left")
    for (name, line), style in zip(shares.items(), ("o-", "s--"), strict=True):
        axes.plot(range(len(line)), line, style, color=LIGHT["ink"], markersize=4, label=name)
    axes.legend(loc="center right")
    rounds = max(len(line) for line in shares.values())
    axes.set(ylim=(-0.04, 1.04), xticks=range(rounds), yticks=(0, 0.5, 1))
    axes.set(xlabel="rounds", title=f"share of “{names[0]}”")
    return figure


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
