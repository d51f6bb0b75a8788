"""The figure of the chapter on bugs."""

from __future__ import annotations

import json
import math

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from capsnet_book.assets import asset
from capsnet_book.figures._style import WIDTH, in_book_style
from capsnet_book.palette import LIGHT

_COLUMNS = 4


@in_book_style
def bug_curves() -> Figure:
    """Draw how a network learns with each bug, a panel a bug; the right network is in every panel.

    A line is a start; its height is the share misread of the sample's test digits, as
    `python -m benchmarks.bug_curves` measured it.
    """
    recording = json.loads(asset("recordings/bugs.json").read_text(encoding="utf-8"))
    steps, runs = recording["steps"], recording["runs"]
    bugs = [name for name in runs if name != "none"]
    rows = math.ceil((len(bugs) + 1) / _COLUMNS)  # the legend takes a panel
    figure, grid = plt.subplots(
        rows,
        _COLUMNS,
        figsize=(WIDTH, 1.75 * rows),
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for axes, bug in zip(grid.flat, bugs, strict=False):
        for errors in runs["none"]["error"]:
            axes.plot(steps, errors, color=LIGHT["accent"], linewidth=1.2)
        for errors in runs[bug]["error"]:
            axes.plot(steps, errors, color=LIGHT["contrast"], linewidth=1.6)
        axes.set_title(bug, loc="left", fontsize=8.5, family="monospace")
        axes.set(xlim=(0, steps[-1]), ylim=(0.02, 1), yscale="log")
        axes.set_yticks([0.03, 0.1, 0.3, 1], ["3 %", "10 %", "30 %", "all"])
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xticks([0, steps[-1] // 2, steps[-1]])
    for axes in grid.flat[len(bugs) :]:
        axes.set_axis_off()
    _draw_legend(grid.flat[len(bugs)])
    return figure


def _draw_legend(axes: Axes) -> None:
    """Write in an empty panel what the colours and the lines are."""
    place = {"transform": axes.transAxes}
    axes.text(0.05, 0.75, "right", color=LIGHT["accent"], weight="bold", **place)
    axes.text(0.05, 0.55, "with the bug", color=LIGHT["contrast"], weight="bold", **place)
    meaning = "wrong of the digits,\nby steps of training"
    axes.text(0.05, 0.2, meaning, color=LIGHT["muted"], **place)
