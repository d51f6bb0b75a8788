"""The figure of the chapter on bugs."""

from __future__ import annotations

import json
from statistics import fmean

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from capsnet_book.assets import asset
from capsnet_book.figures._style import in_book_style, name_ends, one_plot
from capsnet_book.palette import LIGHT

LIT = ("softmax-axis", "stale-logits")
"""The bugs with a line of their own: one that starts late, and one that stays behind."""
NAME = {"fontsize": 8, "color": LIGHT["contrast"]}


@in_book_style
def bug_curves() -> Figure:
    """Draw how a network learns without a bug and with one: two as lines, the others as a band.

    A line is the mean of the starts; its height is the share misread of the sample's test digits,
    as `python -m benchmarks.bug_curves` measured it. The band holds the other bugs' lines.
    """
    recording = json.loads(asset("recordings/bugs.json").read_text(encoding="utf-8"))
    steps = recording["steps"]
    means = {
        bug: [fmean(errors) for errors in zip(*run["error"], strict=True)]
        for bug, run in recording["runs"].items()
    }
    right = means.pop("none")
    late, behind = (means.pop(bug) for bug in LIT)
    others = list(zip(*means.values(), strict=True))  # by steps
    lowest, highest = [min(errors) for errors in others], [max(errors) for errors in others]

    figure, axes = one_plot(height=3.4)
    axes.fill_between(steps, lowest, highest, color=LIGHT["line"], linewidth=0)
    axes.plot(steps, right, color=LIGHT["accent"])
    for errors in (late, behind):
        axes.plot(steps, errors, color=LIGHT["contrast"])
    axes.set(xlim=(0, steps[-1]), ylim=(0.025, 1), yscale="log", xlabel="steps of training")
    axes.set_yticks([0.03, 0.1, 0.3, 1], ["3 %", "10 %", "30 %", "100 %"])
    axes.set_ylabel("digits misread")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.annotate(LIT[0], (steps[0], late[0]), (8, 2), textcoords="offset points", **NAME)
    ends = {LIT[1]: behind[-1], f"{len(means)} other bugs": highest[-1], "no bug": right[-1]}
    colours = [LIGHT["contrast"], LIGHT["muted"], LIGHT["accent"]]
    name_ends(axes, {name: (steps[-1], end) for name, end in ends.items()}, colours)
    return figure
