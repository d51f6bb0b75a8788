"""Traversals and responses of a pose: the figures of the chapter on the sixteen numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import (
    WIDTH,
    grid_of_pictures,
    in_book_style,
    one_plot,
    phone_form,
    set_spines,
    show_digit,
    spread,
)
from capsnet_book.palette import LIGHT


@phone_form(on_a_phone=True)
@in_book_style
def traversal_grid(drawings: Tensor, offsets: Tensor, *, on_a_phone: bool = False) -> Figure:
    """Draw the reconstructions along each dimension of a capsule: a row for each.

    Args:
        drawings: [D, K, 28, 28], as `poses.traverse` returns them.
        offsets: [K], one a column, written above it.
        on_a_phone: whether five columns are drawn, the middle and the ends among them.
    """
    if on_a_phone:
        columns = np.linspace(0, len(offsets) - 1, min(5, len(offsets))).round().astype(int)
        drawings, offsets = drawings[:, columns], offsets[columns]
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
    for k in range(steps):
        grid[0, k].set_title(f"{float(offsets[k]):+.2f}", fontsize=8, color=LIGHT["muted"])
    return figure


@phone_form(on_a_phone=True)
@in_book_style
def pose_bars(pose: Tensor, *, on_a_phone: bool = False) -> Figure:
    """Draw the numbers [D] of one capsule, the largest in colour and with its value.

    On a phone every second one is numbered.
    """
    figure, axes = one_plot(height=1.9)
    dimensions = np.arange(1, len(pose) + 1)
    largest = int(pose.abs().argmax())
    colours = [LIGHT["accent"] if d == largest else LIGHT["line"] for d in range(len(pose))]
    axes.bar(dimensions, pose.numpy(), color=colours, width=0.7)
    axes.axhline(0, color=LIGHT["line"], linewidth=1)
    place = (largest + 1, float(pose[largest]))
    inwards = -8 if pose[largest] > 0 else 8  # points, from the bar's end
    beside = {"xytext": (14, inwards), "textcoords": "offset points", "va": "center"}
    axes.annotate(f"{pose[largest]:.2f}", place, color=LIGHT["accent"], weight="bold", **beside)
    numbered = dimensions[::2] if on_a_phone else dimensions
    axes.set(xticks=numbered, xlabel="dimension", yticks=[])
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    return figure


@in_book_style
def follow_rows(strengths: Tensor, changes: Sequence[str]) -> Figure:
    """Draw how strongly each dimension follows each change: a row a change, a dot a dimension.

    The dimension that follows the first change best is lit in every row.

    Args:
        strengths: [changes, D], from −1 to 1; their signs are not shown.
        changes: their names.
    """
    sizes = strengths.abs()  # [changes, D]
    best = int(sizes[0].argmax())
    figure, axes = _rows_of_changes(changes)
    for row, values in enumerate(sizes):
        axes.axhline(row, color=LIGHT["line"], linewidth=0.5, zorder=0)
        axes.plot(values, [row] * len(values), "o", color=LIGHT["muted"], alpha=0.4, markersize=7)
    rows = range(len(changes))
    axes.plot(sizes[:, best], rows, "o-", color=LIGHT["accent"], linewidth=1.2, markersize=8)
    place = (float(sizes[0, best]), 0)
    above = {"xytext": (0, 11), "textcoords": "offset points", "ha": "right", "weight": "bold"}
    axes.annotate(f"dimension {best + 1}", place, color=LIGHT["accent"], **above)
    axes.set(xlim=(0, 1.02), xlabel="how closely it follows: 0 not at all, 1 in step")
    return figure


@in_book_style
def alone_and_together(alone: Tensor, together: Tensor, changes: Sequence[str]) -> Figure:
    """Draw the R² of a change from the best single dimension and from all: a row a change.

    A dot is a class, an upright line the median of the classes.

    Args:
        alone: [classes, changes], from the best single dimension.
        together: [classes, changes], from a linear readout of all.
        changes: their names.
    """
    figure, axes = _rows_of_changes(changes)
    kinds = [("best single dimension", alone, "muted"), ("all sixteen", together, "accent")]
    kinds.sort(key=lambda kind: float(kind[1][:, 0].median()))  # as they stand in the first row
    for side, (name, r2, role) in zip(("right", "left"), kinds, strict=True):
        medians = r2.median(dim=0).values  # [changes]
        for row, values in enumerate(r2.T):
            heights = [row + beside for beside in spread(len(values), 0.05)]
            axes.plot(values, heights, "o", color=LIGHT[role], markersize=4, alpha=0.5)
            axes.plot([medians[row]] * 2, [row - 0.32, row + 0.32], color=LIGHT[role])
        style = {"color": LIGHT[role], "weight": "bold", "textcoords": "offset points"}
        away = -3 if side == "right" else 3  # points
        axes.annotate(name, (medians[0], -0.45), (away, 0), ha=side, **style)
    axes.set(xlim=(0, 1.02), xlabel="share of the amount that is told (R²)")
    return figure


def _rows_of_changes(changes: Sequence[str]) -> tuple[Figure, Axes]:
    """Return a plot with a row for each change, the first at the top, and room above it."""
    figure, axes = one_plot(height=0.42 * len(changes) + 0.9)
    axes.set_yticks(range(len(changes)), list(changes))
    axes.set_ylim(len(changes) - 0.5, -0.9)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    return figure, axes
