"""Traversals and responses of a pose: the figures of the chapter on the sixteen numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import (
    SIGNED,
    WIDTH,
    grid_of_pictures,
    in_book_style,
    one_plot,
    phone_form,
    set_spines,
    show_digit,
)
from capsnet_book.palette import LIGHT


@phone_form(on_a_phone=True)
@in_book_style
def traversal_grid(drawings: Tensor, offsets: Tensor, *, on_a_phone: bool = False) -> Figure:
    """Draw the reconstructions along each dimension of a capsule: a row for each.

    Args:
        drawings: [D, K, 28, 28], as `poses.traverse` returns them.
        offsets: [K], one a column, written above it.
        on_a_phone: whether only the first, the middle and the last offset are written.
    """
    dimensions, steps = drawings.shape[:2]
    middle = steps // 2
    figure, grid = grid_of_pictures(dimensions, steps, height=WIDTH * dimensions / (steps + 0.5))
    for d in range(dimensions):
        for k in range(steps):
            show_digit(grid[d, k], drawings[d, k])
        first = grid[d, 0]
        first.text(-0.2, 0.5, str(d + 1), transform=first.transAxes, ha="right", va="center")
        grid[d, middle].set_facecolor(LIGHT["raised"])
        set_spines(grid[d, middle], visible=True, color=LIGHT["accent"], linewidth=0.8)
    for k in (0, middle, steps - 1) if on_a_phone else range(steps):
        grid[0, k].set_title(f"{float(offsets[k]):+.2f}", fontsize=8, color=LIGHT["muted"])
    return figure


@phone_form(on_a_phone=True)
@in_book_style
def pose_bars(pose: Tensor, *, on_a_phone: bool = False) -> Figure:
    """Draw the numbers [D] of one capsule; on a phone every second one is numbered."""
    figure, axes = one_plot(height=1.9)
    dimensions = np.arange(1, len(pose) + 1)
    colours = [LIGHT["contrast"] if value < 0 else LIGHT["accent"] for value in pose]
    axes.bar(dimensions, pose.numpy(), color=colours, width=0.7)
    axes.axhline(0, color=LIGHT["line"], linewidth=1)
    numbered = dimensions[::2] if on_a_phone else dimensions
    axes.set(xticks=numbered, xlabel="dimension", ylabel="value")
    return figure


@phone_form(on_a_phone=True)
@in_book_style
def follow_map(strengths: Tensor, changes: Sequence[str], *, on_a_phone: bool = False) -> Figure:
    """Draw how strongly each dimension follows each change: a colour and, but on a phone, a number.

    Args:
        strengths: [changes, D], from −1 to 1.
        changes: their names.
        on_a_phone: whether the numbers are left out, and every second dimension is numbered.
    """
    rows, dimensions = strengths.shape
    figure, axes = one_plot(height=0.42 * rows + 0.9)
    axes.imshow(strengths.numpy(), cmap=SIGNED, vmin=-1, vmax=1, aspect="auto")
    if not on_a_phone:
        for row in range(rows):
            for d in range(dimensions):
                _write_strength(axes, (d, row), float(strengths[row, d]))
    numbered = range(0, dimensions, 2 if on_a_phone else 1)
    axes.set_xticks(numbered, [str(d + 1) for d in numbered])
    axes.set_yticks(range(rows), list(changes))
    axes.set_xlabel("dimension")
    axes.tick_params(length=0)
    set_spines(axes, visible=False)
    return figure


def _write_strength(axes: Axes, place: tuple[int, int], value: float) -> None:
    """Write a number on its colour, dark on light and light on dark."""
    luminance = np.square(SIGNED((value + 1) / 2)[:3]) @ [0.21, 0.72, 0.07]
    colour = LIGHT["ink"] if luminance > 0.21 else LIGHT["surface"]
    axes.text(*place, f"{value:+.1f}", ha="center", va="center", fontsize=7.5, color=colour)


@phone_form(on_a_phone=True)
@in_book_style
def alone_and_together(
    alone: Tensor, together: Tensor, changes: Sequence[str], *, on_a_phone: bool = False
) -> Figure:
    """Draw the R² of a change from the best single dimension and from all, a dot a class.

    Args:
        alone: [classes, changes], from the best single dimension.
        together: [classes, changes], from a linear readout of all.
        changes: their names.
        on_a_phone: whether the names stand on two lines in turn, and the legend as well.
    """
    figure, axes = one_plot(height=2.9)
    _draw_r2(axes, alone, -0.16, LIGHT["contrast"], "best single dimension")
    _draw_r2(axes, together, 0.16, LIGHT["accent"], "all sixteen")
    axes.set_xticks(range(len(changes)), changes)
    if on_a_phone:
        for tick in axes.get_xticklabels()[1::2]:
            tick.set_y(-0.13)  # of the axes: a line below
    axes.set(ylim=(0, 1.02), ylabel="share of the amount told (R²)")
    axes.legend(loc="lower left", ncols=1 if on_a_phone else 2, bbox_to_anchor=(0, 1))
    return figure


def _draw_r2(axes: Axes, values: Tensor, shift: float, colour: str, name: str) -> None:
    """Draw values [classes, changes] as dots beside a change's place, a line at their median."""
    beside = shift + np.linspace(-0.1, 0.1, len(values))
    for column, r2 in enumerate(values.T):
        label = name if column == 0 else None
        axes.plot(column + beside, r2, "o", color=colour, markersize=3.5, label=label)
        ends = [column + shift - 0.13, column + shift + 0.13]
        axes.plot(ends, [r2.median()] * 2, color=colour)
