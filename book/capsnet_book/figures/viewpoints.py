"""The figures of the experiment on new viewpoints: errors over the angle, and over the clutter."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.experiments.pictures import CLASSES, draw
from capsnet_book.figures._style import _STYLE, WIDTH, grid_of_plots, show_digit
from capsnet_book.palette import LIGHT

_COLOURS = tuple(LIGHT[role] for role in ("muted", "contrast", "accent", "agree"))


def errors_by_angle(found: Mapping[str, Any], arms: Mapping[str, str]) -> Figure:
    """Per cent of wholes not told, over the angle of the scene: without clutter and with six parts of no whole.

    A thin line for each seed, a thick one for their mean; chance is dashed. In training, and before they
    are turned further, wholes lie within 45 degrees of the upright.

    Args:
        found: results/viewpoints.json.
        arms: what the legend says -> an arm of it; each is read as it was trained.
    """
    with plt.rc_context(_STYLE):
        figure, grid = plt.subplots(1, 2, figsize=(WIDTH, 2.9), sharey=True, layout="constrained")
        for axes, clutter in zip(grid, ("0", "6"), strict=True):
            _ground(axes, "six parts of no whole" if clutter == "6" else "the whole alone")
            for colour, (name, arm) in zip(_COLOURS, arms.items(), strict=False):
                seeds = [
                    [100 * each for each in run["by_angle"][clutter]] for run in _runs(found, arm)
                ]
                _lines(axes, found["about"]["angles"], seeds, colour, name)
            axes.set_xlabel("the scene is turned further by, degrees")
            axes.set_xticks([0, 45, 90, 135, 180], ["training", "45", "90", "135", "180"])
        figure.legend(
            *grid[0].get_legend_handles_labels(),
            loc="outside upper center",
            ncols=len(arms),
            fontsize=8,
        )
        plt.close(figure)
    return figure


def errors_by_clutter(
    found: Mapping[str, Any], lines: Mapping[str, tuple[str, int]], view: str = "new"
) -> Figure:
    """Per cent of wholes not told at new angles, over the number of parts that belong to none; chance is dashed.

    Args:
        found: results/viewpoints.json.
        lines: what the legend says -> an arm, and the rounds that it is read with.
        view: "new", or "familiar": turned as in training.
    """
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 3.2), layout="constrained")
        _ground(axes, "")
        for colour, (name, (arm, rounds)) in zip(_COLOURS, lines.items(), strict=False):
            runs = [run["errors"][view] for run in _runs(found, arm)]
            clutter = [int(each) for each in runs[0]]
            _lines(
                axes,
                clutter,
                [[100 * each[rounds - 1] for each in run.values()] for run in runs],
                colour,
                name,
            )
        axes.set(xlabel="parts of no whole", xticks=clutter)
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(0, 0.86))
        plt.close(figure)
    return figure


def relations() -> Figure:
    """The eight relations of bar and wedge upright, and below them turned by 120 degrees."""
    still = torch.zeros(CLASSES, 2)
    with grid_of_plots(2, CLASSES, 1.9) as (figure, grid):
        for row, angle in zip(grid, (0.0, 2 * torch.pi / 3), strict=True):
            pictures = draw(torch.arange(CLASSES), torch.full((CLASSES,), angle), still)
            for axes, picture in zip(row, pictures, strict=True):
                show_digit(axes, picture[0])
    return figure


def _runs(found: Mapping[str, Any], arm: str) -> list[dict[str, Any]]:
    return [run for run in found["runs"] if run["arm"] == arm]


def _ground(axes: Axes, title: str) -> None:
    axes.axhline(90, color=LIGHT["muted"], linewidth=1, linestyle="--")
    axes.annotate("guessing", (1, 90), xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points",
                  ha="right", fontsize=8, color=LIGHT["muted"])  # fmt: skip
    axes.set(ylim=(-3, 104), yticks=[0, 25, 50, 75, 100], ylabel="wrong, per cent")
    axes.set_title(title, loc="left")


def _lines(axes: Axes, x: list[int], seeds: list[list[float]], colour: str, name: str) -> None:
    for each in seeds:
        axes.plot(x, each, color=colour, linewidth=0.7, alpha=0.3)
    axes.plot(x, [fmean(at) for at in zip(*seeds, strict=True)], color=colour, label=name)
