"""The figure of the chapter on bugs."""

from __future__ import annotations

import json

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from capsnet_book.assets import asset
from capsnet_book.figures._style import _STYLE, WIDTH
from capsnet_book.palette import LIGHT

_COLUMNS = 4


def bug_curves() -> Figure:
    """How a network learns with each bug: one panel a bug, each start a line, the right network's in every panel.

    Share misread of the sample's test digits, as `python -m benchmarks.bug_curves` measured it.
    """
    found = json.loads(asset("recordings/bugs.json").read_text(encoding="utf-8"))
    steps, runs = found["steps"], found["runs"]
    bugs = [name for name in runs if name != "none"]
    rows = -(-(len(bugs) + 1) // _COLUMNS)
    with plt.rc_context(_STYLE):
        figure, grid = plt.subplots(
            rows,
            _COLUMNS,
            figsize=(WIDTH, 1.75 * rows),
            sharex=True,
            sharey=True,
            layout="constrained",
        )
        for axes, bug in zip(grid.flat, bugs, strict=False):
            _draw(axes, steps, runs["none"]["error"], LIGHT["accent"], 1.2)
            _draw(axes, steps, runs[bug]["error"], LIGHT["contrast"], 1.6)
            axes.set_title(bug, loc="left", fontsize=8.5, family="monospace")
            axes.set(xlim=(0, steps[-1]), ylim=(0.02, 1), yscale="log")
            axes.set_yticks([0.03, 0.1, 0.3, 1], ["3 %", "10 %", "30 %", "all"])
            axes.yaxis.set_minor_locator(NullLocator())
            axes.set_xticks([0, steps[-1] // 2, steps[-1]])
        for axes in grid.flat[len(bugs) :]:
            axes.set_axis_off()
        key = grid.flat[len(bugs)]
        for y, words, colour in ((0.75, "right", "accent"), (0.55, "with the bug", "contrast")):
            key.text(0.05, y, words, color=LIGHT[colour], weight="bold", transform=key.transAxes)
        key.text(
            0.05,
            0.2,
            "wrong of the digits,\nby steps of training",
            color=LIGHT["muted"],
            transform=key.transAxes,
        )
        plt.close(figure)
    return figure


def _draw(
    axes: Axes, steps: list[int], errors: list[list[float]], colour: str, width: float
) -> None:
    for each in errors:
        axes.plot(steps, each, color=colour, linewidth=width)
