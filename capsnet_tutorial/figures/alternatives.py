"""Agreement in two ways to route: the figure of the last chapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_tutorial.figures._style import _STYLE, WIDTH
from capsnet_tutorial.palette import LIGHT

_COLOURS = (LIGHT["accent"], LIGHT["contrast"])


def two_agreements(votes: Tensor, shares: Mapping[str, Sequence[float]], names: tuple[str, str]) -> Figure:
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
        axes.set(ylim=(-0.04, 1.04), xticks=range(max(map(len, shares.values()))), yticks=(0, 0.5, 1))
        axes.set(xlabel="rounds", title=f"share of “{names[0]}”")
        plt.close(figure)
    return figure
