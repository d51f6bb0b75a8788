"""Agreement in two ways to route: the figures of the last chapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import _STYLE, WIDTH
from capsnet_book.palette import LIGHT

_COLOURS = (LIGHT["accent"], LIGHT["contrast"])


def two_agreements(
    votes: Tensor, shares: Mapping[str, Sequence[float]], names: tuple[str, str]
) -> Figure:
    """The votes for two wholes, and which of them gets the parts, round by round.

    Args:
        votes: [I, 2, 2], of I parts for two wholes, in the plane.
        shares: by the procedure's name, what the first whole gets, 0 to 1: before the first round, after it, …
        names: of the two wholes.
    """
    with plt.rc_context(_STYLE):
        figure, (plane, axes) = plt.subplots(1, 2, figsize=(WIDTH, 2.9), layout="constrained")
        for j, (name, colour, marker) in enumerate(zip(names, _COLOURS, "os", strict=True)):
            plane.plot(*votes[:, j].T, marker, color=colour, markersize=4, alpha=0.7, label=name)
        plane.plot(0, 0, "+", color=LIGHT["muted"], markersize=10)
        plane.set(aspect="equal", title="what the parts vote for", xticks=[], yticks=[])
        plane.legend(loc="upper left")
        for (name, line), style in zip(shares.items(), ("o-", "s--"), strict=True):
            axes.plot(range(len(line)), line, style, color=LIGHT["ink"], markersize=4, label=name)
        axes.legend(loc="center right")
        axes.set(
            ylim=(-0.04, 1.04), xticks=range(max(map(len, shares.values()))), yticks=(0, 0.5, 1)
        )
        axes.set(xlabel="rounds", title=f"share of “{names[0]}”")
        plt.close(figure)
    return figure


def in_proportion(first: Tensor, second: Tensor) -> Figure:
    """Two agreements of the same votes with ten classes, [I, J] each: a point a vote, a line a class."""
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 3.0), layout="constrained")
        slopes = (second / first).median(dim=0).values  # [J]
        steep = int(slopes.argmax())
        for j, (across, up) in enumerate(zip(first.T, second.T, strict=True)):
            colour = LIGHT["accent" if j == steep else "muted"]
            ends = [float(across.min()), float(across.max())]
            axes.plot(
                ends,
                [float(slopes[j]) * end for end in ends],
                color=colour,
                linewidth=0.8,
                alpha=0.6,
            )
            axes.plot(across, up, "o", color=colour, markersize=3, alpha=0.7)
        where = int(first[:, steep].argmax())
        axes.annotate(f"class {steep}", (first[where, steep], second[where, steep]), xytext=(-6, 0), ha="right",
                      textcoords="offset points", color=LIGHT["accent"], weight="bold")  # fmt: skip
        axes.set(xlabel="attention a", ylabel="agreement b, round 1")
        plt.close(figure)
    return figure
