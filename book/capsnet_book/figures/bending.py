"""The figures of the chapter on bent digits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from torch import Tensor

from capsnet_book.experiments.affine import SWEEPS, Sweep
from capsnet_book.figures._style import INK, WIDTH, in_book_style, name_ends
from capsnet_book.palette import LIGHT, colour_of
from capsnet_tutorial.augment import transform


@in_book_style
def bend_curves(
    right: Mapping[str, Mapping[str, Tensor]], image: Tensor, sweeps: Sequence[Sweep] = SWEEPS
) -> Figure:
    """Draw the share of digits that each network reads, bent by more and more.

    The band is two standard errors on either side.

    Args:
        right: network -> name of a sweep -> the answers of `read_right`: bool [amounts, N].
        image: a digit [1, 28, 28], which shows below the axis what the amounts mean.
        sweeps: one panel each.
    """
    rows = math.ceil(len(sweeps) / 2)
    figure, grid = plt.subplots(rows, 2, figsize=(WIDTH, 2.75 * rows), squeeze=False, sharey=True)
    figure.subplots_adjust(left=0.075, right=0.91, top=0.94, bottom=0.16, wspace=0.1, hspace=0.75)
    ends: dict[str, tuple[float, float]] = {}
    for axes, sweep in zip(grid.flat, sweeps, strict=False):
        for k, (name, answers) in enumerate(right.items()):
            colour = colour_of(name, k)
            share = answers[sweep.name].double().mean(dim=1)  # [amounts]
            error = (share * (1 - share) / answers[sweep.name].shape[1]).sqrt()
            low, high = (share - 2 * error).clamp_min(0), (share + 2 * error).clamp_max(1)
            axes.fill_between(sweep.amounts, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(sweep.amounts, share, color=colour, marker="o", markersize=3)
            ends[name] = (sweep.amounts[-1], float(share[-1]))
        _show_amounts(axes, sweep, image)
        _name_panel(axes, sweep)
        axes.set(ylim=(0, 1.02), yticks=[0, 0.5, 1], yticklabels=["0", "50 %", "100 %"])
    name_ends(axes, ends, [colour_of(name, k) for k, name in enumerate(right)])  # the last panel
    return figure


def _show_amounts(axes: Axes, sweep: Sweep, image: Tensor) -> None:
    """Draw a digit, bent by each amount of a sweep, below that amount."""
    for amount in sweep.amounts:
        bent = transform(image[None], sweep.pose(amount))[0, 0]
        picture = OffsetImage(bent.numpy(), zoom=0.62, cmap=INK, norm=plt.Normalize(0, 1))
        place = {"xy": (amount, -0.27), "xycoords": ("data", "axes fraction")}
        axes.add_artist(AnnotationBbox(picture, **place, frameon=False, pad=0))


def _name_panel(axes: Axes, sweep: Sweep) -> None:
    """Write the name and the unit of a sweep above its panel, and some of its amounts below."""
    axes.set_title(sweep.name, loc="left", weight="bold")
    axes.set_title(sweep.unit, loc="right", fontsize=9, color=LIGHT["muted"])
    axes.set_xticks(sweep.amounts[::2])


@in_book_style
def bend_trainings(
    record: Mapping[str, Any], kinds: Mapping[str, str], sweeps: Sequence[Sweep] = SWEEPS
) -> Figure:
    """Draw how many more digits each training misreads than the first kind does on average.

    A line is the mean of the seeds; the band holds the seeds of the first kind.

    Args:
        record: results/bent.json.
        kinds: name -> a run's name without its seed; differences are to the mean of the first.
        sweeps: one panel each.
    """
    rows = math.ceil(len(sweeps) / 2)
    first_kind = next(iter(kinds.values()))
    figure, grid = plt.subplots(
        rows, 2, figsize=(WIDTH, 2.5 * rows), squeeze=False, layout="constrained"
    )
    ends = {}
    for axes, sweep in zip(grid.flat, sweeps, strict=False):
        amounts = zip(*percent_wrong(record, first_kind, sweep), strict=True)
        mean_of_first = [fmean(seeds) for seeds in amounts]
        for k, (name, kind) in enumerate(kinds.items()):
            colour = colour_of(name, k)
            more = np.subtract(percent_wrong(record, kind, sweep), mean_of_first)  # [seeds, A]
            if kind == first_kind:
                band = more.min(axis=0), more.max(axis=0)
                axes.fill_between(sweep.amounts, *band, color=colour, alpha=0.15, linewidth=0)
            mean = more.mean(axis=0)
            axes.plot(sweep.amounts, mean, color=colour)
            ends[name] = (sweep.amounts[-1], float(mean[-1]))
        _name_panel(axes, sweep)
        axes.grid(axis="y", color=LIGHT["line"], linewidth=0.5)
    for axes in grid[:, 0]:
        axes.set_ylabel("points more wrong")
    last = grid.flat[len(sweeps) - 1]
    name_ends(last, ends, [colour_of(name, k) for k, name in enumerate(kinds)])
    return figure


def percent_wrong(record: Mapping[str, Any], kind: str, sweep: Sweep) -> list[list[float]]:
    """Return by seed of a kind of training, and by amount, the per cent of digits misread."""
    seeds = []
    for run, wrong in record["wrong"].items():
        if run.rpartition("-")[0] == kind:
            seeds.append([100 * count / record["digits"] for count in wrong[sweep.name]])
    return seeds
