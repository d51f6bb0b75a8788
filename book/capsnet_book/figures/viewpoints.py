"""The figures of the experiment on new viewpoints: errors over the angle, and over the clutter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.experiments.pictures import CLASSES, draw
from capsnet_book.figures._style import (
    WIDTH,
    grid_of_pictures,
    in_book_style,
    name_ends,
    one_plot,
    show_digit,
)
from capsnet_book.palette import LIGHT

_COLOURS = tuple(LIGHT[role] for role in ("muted", "contrast", "accent", "agree"))


@in_book_style
def errors_by_angle(record: Mapping[str, Any], arms: Mapping[str, str]) -> Figure:
    """Draw the error over the angle of the scene, without clutter and with six parts of no whole.

    A thin line is a seed, a thick one their mean; guessing is dashed. In training, and before
    they are turned further, wholes lie within 45 degrees of the upright.

    Args:
        record: results/viewpoints.json.
        arms: a name at the line's end -> an arm, at inference with as many rounds as in training.
    """
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 2.9), sharey=True, layout="constrained")
    titles = {"0": "the whole alone", "6": "six parts of no whole"}
    for axes, (clutter, title) in zip(panels, titles.items(), strict=True):
        _prepare(axes)
        axes.set_title(title, loc="left")
        ends = {}
        for colour, (name, arm) in zip(_COLOURS, arms.items(), strict=False):
            errors = [run["by_angle"][clutter] for run in _runs(record, arm)]
            ends[name] = _draw_arm(axes, record["about"]["angles"], errors, colour)
        axes.set_xlabel("the scene is turned further by, degrees")
        axes.set_xticks([0, 45, 90, 135, 180], ["training", "45", "90", "135", "180"])
    name_ends(axes, ends, _COLOURS[: len(ends)])  # the same colours in both panels
    return figure


@in_book_style
def errors_by_clutter(
    record: Mapping[str, Any], lines: Mapping[str, tuple[str, int]], view: str = "new"
) -> Figure:
    """Draw the error over the number of parts that belong to no whole; guessing is dashed.

    Args:
        record: results/viewpoints.json.
        lines: a name at the line's end -> an arm, and its number of rounds at inference.
        view: "new", at angles that training did not show, or "familiar".
    """
    figure, axes = one_plot(height=3.2)
    _prepare(axes)
    ends = {}
    for colour, (name, (arm, rounds)) in zip(_COLOURS, lines.items(), strict=False):
        runs = [run["errors"][view] for run in _runs(record, arm)]
        clutter = [int(parts) for parts in runs[0]]
        errors = []
        for run in runs:
            errors.append([after_rounds[rounds - 1] for after_rounds in run.values()])
        ends[name] = _draw_arm(axes, clutter, errors, colour)
    axes.set(xlabel="parts of no whole", xticks=clutter)
    name_ends(axes, ends, _COLOURS[: len(ends)])
    return figure


@in_book_style
def relations() -> Figure:
    """Draw the eight relations of bar and wedge upright, and below them turned by 120 degrees."""
    labels = torch.arange(CLASSES)
    centred = torch.zeros(CLASSES, 2)
    figure, grid = grid_of_pictures(2, CLASSES, 1.9)
    for row, angle in zip(grid, (0.0, 2 * torch.pi / 3), strict=True):
        images = draw(labels, torch.full((CLASSES,), angle), centred)
        for axes, image in zip(row, images, strict=True):
            show_digit(axes, image[0])
    return figure


def _runs(record: Mapping[str, Any], arm: str) -> list[dict[str, Any]]:
    """Return the runs of an arm, a seed each."""
    return [run for run in record["runs"] if run["arm"] == arm]


def _prepare(axes: Axes) -> None:
    """Set an axis of per cent, and draw the error of guessing among ten."""
    axes.axhline(90, color=LIGHT["muted"], linewidth=1, linestyle="--")
    axes.annotate(
        "guessing",
        (0, 90),
        xycoords=("axes fraction", "data"),
        xytext=(4, 3),
        textcoords="offset points",
        ha="left",
        fontsize=8,
        color=LIGHT["muted"],
    )
    axes.set(ylim=(-3, 104), yticks=[0, 25, 50, 75, 100], ylabel="wrong, per cent")


def _draw_arm(
    axes: Axes, x: Sequence[int], errors: list[list[float]], colour: str
) -> tuple[float, float]:
    """Draw errors from 0 to 1 in per cent: a thin line a seed, a thick one for their mean.

    Returns the end of the thick line.
    """
    seeds = [[100 * error for error in seed] for seed in errors]
    for seed in seeds:
        axes.plot(x, seed, color=colour, linewidth=0.7, alpha=0.3)
    mean = [fmean(values) for values in zip(*seeds, strict=True)]
    axes.plot(x, mean, color=colour)
    return x[-1], mean[-1]
