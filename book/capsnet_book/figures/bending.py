"""The figures of the chapter on bent digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from torch import Tensor

from capsnet_book.experiments.affine import SWEEPS, Sweep
from capsnet_book.figures._style import _STYLE, INK, WIDTH
from capsnet_book.palette import LIGHT, colour_of
from capsnet_tutorial.augment import transform


def bend_curves(
    right: Mapping[str, Mapping[str, Tensor]], image: Tensor, sweeps: Sequence[Sweep] = SWEEPS
) -> Figure:
    """What share of the digits each network still reads, bent by more and more; a band of two standard errors.

    Args:
        right: by network and by the sweep's name, what `read_right` found: bool [amounts, N].
        image: a digit [1, 28, 28], to show below the axis what the amounts mean.
        sweeps: one panel each.
    """
    with plt.rc_context(_STYLE):
        rows = -(-len(sweeps) // 2)
        figure, grid = plt.subplots(
            rows, 2, figsize=(WIDTH, 2.75 * rows), squeeze=False, sharey=True
        )
        figure.subplots_adjust(
            left=0.075, right=0.985, top=0.94, bottom=0.16, wspace=0.1, hspace=0.75
        )
        for axes, sweep in zip(grid.flat, sweeps, strict=False):
            for k, (name, found) in enumerate(right.items()):
                each = found[sweep.name].double()  # [amounts, N]
                share = each.mean(dim=1)
                error = (share * (1 - share) / each.shape[1]).sqrt()
                band = ((share - 2 * error).clamp_min(0), (share + 2 * error).clamp_max(1))
                axes.fill_between(
                    sweep.amounts, *band, color=colour_of(name, k), alpha=0.2, linewidth=0
                )
                axes.plot(
                    sweep.amounts,
                    share,
                    color=colour_of(name, k),
                    marker="o",
                    markersize=3,
                    label=name,
                )
            for amount in sweep.amounts:
                bent = transform(image[None], sweep.pose(amount))[0, 0]
                small = OffsetImage(bent.numpy(), zoom=0.62, cmap=INK, norm=plt.Normalize(0, 1))
                below = AnnotationBbox(
                    small, (amount, -0.27), xycoords=("data", "axes fraction"), frameon=False, pad=0
                )
                axes.add_artist(below)
            axes.set_title(sweep.name, loc="left", weight="bold")
            axes.set_title(sweep.unit, loc="right", fontsize=9, color=LIGHT["muted"])
            axes.set(ylim=(0, 1.02), yticks=[0, 0.5, 1], yticklabels=["0", "50 %", "100 %"])
            axes.set_xticks(sweep.amounts[::2])
        grid.flat[0].legend(loc="lower center")
        plt.close(figure)
    return figure


def bend_trainings(
    measured: Mapping[str, Any], kinds: Mapping[str, str], sweeps: Sequence[Sweep] = SWEEPS
) -> Figure:
    """How many more digits each training misreads than the first kind on average, bent by more and more; a line each.

    Args:
        measured: results/bent.json.
        kinds: name -> the run's name without its seed; differences are to the mean of the first.
        sweeps: one panel each.
    """
    with plt.rc_context(_STYLE):
        rows = -(-len(sweeps) // 2)
        figure, grid = plt.subplots(
            rows, 2, figsize=(WIDTH, 2.5 * rows), squeeze=False, layout="constrained"
        )
        for axes, sweep in zip(grid.flat, sweeps, strict=False):
            base = [
                fmean(each)
                for each in zip(
                    *percent_wrong(measured, next(iter(kinds.values())), sweep), strict=True
                )
            ]
            for k, (name, kind) in enumerate(kinds.items()):
                for place, wrong in enumerate(percent_wrong(measured, kind, sweep)):
                    more = [mine - mean for mine, mean in zip(wrong, base, strict=True)]
                    axes.plot(sweep.amounts, more, color=colour_of(name, k), linewidth=1.2, marker="o", markersize=2.5,
                              label=None if place else name)  # fmt: skip
            axes.set_title(sweep.name, loc="left", weight="bold")
            axes.set_title(sweep.unit, loc="right", fontsize=9, color=LIGHT["muted"])
            axes.grid(axis="y", color=LIGHT["line"], linewidth=0.5)
            axes.set_xticks(sweep.amounts[::2])
        for axes in grid[:, 0]:
            axes.set_ylabel("points more wrong")
        figure.legend(
            *grid.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(kinds)
        )
        plt.close(figure)
    return figure


def percent_wrong(measured: Mapping[str, Any], kind: str, sweep: Sweep) -> list[list[float]]:
    """Of every training of a kind: how many per cent of the digits it misreads, amount by amount."""
    runs = [
        wrong[sweep.name]
        for run, wrong in measured["wrong"].items()
        if run.rpartition("-")[0] == kind
    ]
    return [[100 * count / measured["digits"] for count in counts] for counts in runs]
