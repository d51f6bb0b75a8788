"""Traversals and responses of a pose: the figures of the chapter on the sixteen numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import (
    SIGNED,
    WIDTH,
    grid_of_plots,
    one_plot,
    phone_form,
    show_digit,
)
from capsnet_book.palette import LIGHT


@phone_form(on_a_phone=True)
def traversal_grid(drawings: Tensor, offsets: Tensor, *, on_a_phone: bool = False) -> Figure:
    """One row a dimension, one column an offset. drawings: [D, K, 28, 28], as `poses.traverse` gives them.

    On a phone only the first, the middle and the last offset are written.
    """
    dimensions, steps = drawings.shape[:2]
    with grid_of_plots(dimensions, steps, height=WIDTH * dimensions / (steps + 0.5)) as (
        figure,
        axes,
    ):
        for d in range(dimensions):
            for k in range(steps):
                show_digit(axes[d, k], drawings[d, k])
            axes[d, 0].text(
                -0.2, 0.5, str(d + 1), transform=axes[d, 0].transAxes, ha="right", va="center"
            )
        for k in (0, steps // 2, steps - 1) if on_a_phone else range(steps):
            axes[0, k].set_title(f"{float(offsets[k]):+.2f}", fontsize=8, color=LIGHT["muted"])
        middle = steps // 2
        for axis in axes[:, middle]:
            axis.set_facecolor(LIGHT["raised"])
            for side in axis.spines.values():
                side.set(visible=True, color=LIGHT["accent"], linewidth=0.8)
    return figure


@phone_form(on_a_phone=True)
def pose_bars(pose: Tensor, *, on_a_phone: bool = False) -> Figure:
    """The numbers of one capsule, every second of them numbered on a phone. pose: [D]."""
    with one_plot(height=1.9) as (figure, axes):
        numbers = np.arange(1, len(pose) + 1)
        axes.bar(
            numbers,
            pose.numpy(),
            color=np.where(pose.numpy() < 0, LIGHT["contrast"], LIGHT["accent"]),
            width=0.7,
        )
        axes.axhline(0, color=LIGHT["line"], linewidth=1)
        axes.set(xticks=numbers[:: 1 + on_a_phone], xlabel="dimension", ylabel="value")
    return figure


@phone_form(on_a_phone=True)
def follow_map(strengths: Tensor, changes: Sequence[str], *, on_a_phone: bool = False) -> Figure:
    """How strongly each dimension follows each change: a colour and, but on a phone, a number.

    strengths: [changes, D], from −1 to 1.
    """
    rows, dimensions = strengths.shape
    with one_plot(height=0.42 * rows + 0.9) as (figure, axes):
        axes.imshow(strengths.numpy(), cmap=SIGNED, vmin=-1, vmax=1, aspect="auto")
        for row in range(rows):
            for d in range(0 if on_a_phone else dimensions):
                value = float(strengths[row, d])
                light = (
                    np.square(SIGNED((value + 1) / 2)[:3]) @ [0.21, 0.72, 0.07] > 0.21
                )  # reads ink better
                colour = LIGHT["ink"] if light else LIGHT["surface"]
                axes.text(
                    d, row, f"{value:+.1f}", ha="center", va="center", fontsize=7.5, color=colour
                )
        numbered = range(0, dimensions, 1 + on_a_phone)
        axes.set_xticks(numbered, [str(d + 1) for d in numbered])
        axes.set_yticks(range(rows), list(changes))
        axes.set_xlabel("dimension")
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
    return figure


@phone_form(on_a_phone=True)
def alone_and_together(
    alone: Tensor, together: Tensor, changes: Sequence[str], *, on_a_phone: bool = False
) -> Figure:
    """What one dimension tells of a change, and what all of them tell: R², a dot a class.

    Args:
        alone: [classes, changes], the best single dimension's.
        together: [classes, changes], the linear readout's.
        changes: their names.
        on_a_phone: the names on two lines in turn, the legend as well.
    """
    with one_plot(height=2.9) as (figure, axes):
        for values, shift, colour, name in (
            (alone, -0.16, LIGHT["contrast"], "best single dimension"),
            (together, 0.16, LIGHT["accent"], "all sixteen"),
        ):
            for column in range(len(changes)):
                spread = np.linspace(-0.1, 0.1, len(values))
                label = name if column == 0 else None
                axes.plot(
                    column + shift + spread,
                    values[:, column],
                    "o",
                    color=colour,
                    markersize=3.5,
                    label=label,
                )
                axes.plot(
                    [column + shift - 0.13, column + shift + 0.13],
                    [values[:, column].median()] * 2,
                    color=colour,
                )
        axes.set_xticks(range(len(changes)), changes)
        for tick in axes.get_xticklabels()[1::2] if on_a_phone else ():
            tick.set_y(-0.13)  # of the axes: a line below
        axes.set(ylim=(0, 1.02), ylabel="share of the amount told (R²)")
        axes.legend(loc="lower left", ncols=2 - on_a_phone, bbox_to_anchor=(0, 1))
    return figure
