"""Every matplotlib figure of the book. Each function returns a figure, drawn in the book's palette."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_tutorial.palette import LIGHT

WIDTH = 7.0  # inches; the page shows 100 pixels an inch, the file holds twice as many

_STYLE = {
    "figure.dpi": 200,
    "figure.facecolor": LIGHT["surface"],
    "axes.facecolor": LIGHT["surface"],
    "axes.edgecolor": LIGHT["line"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlecolor": LIGHT["ink"],
    "font.size": 9,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
}
_INK: Colormap = LinearSegmentedColormap.from_list("ink", [LIGHT["paper"], LIGHT["stroke"]])
_SIGNED: Colormap = LinearSegmentedColormap.from_list("signed", [LIGHT["contrast"], LIGHT["surface"], LIGHT["accent"]])


def squash_curve() -> Figure:
    """Length out against length in, with what it would be if nothing were squashed."""
    lengths = np.linspace(0, 6, 400)
    with _figure(height=3.1) as (figure, axes):
        axes.plot(lengths, lengths, color=LIGHT["line"], linewidth=1.2)
        axes.text(0.93, 1.0, "unchanged", color=LIGHT["muted"], rotation=62, ha="center", va="center")
        axes.axhline(1, color=LIGHT["line"], linewidth=1.2, linestyle=(0, (4, 3)))
        axes.plot(lengths, np.tanh(lengths), color=LIGHT["soft"], linewidth=1.4)
        axes.text(2.05, 0.9, "tanh", color=LIGHT["soft"])
        axes.plot(lengths, lengths**2 / (1 + lengths**2), color=LIGHT["accent"])
        axes.text(2.6, 0.78, "squash", color=LIGHT["accent"], weight="bold")
        steepest = 1 / np.sqrt(3)
        axes.plot(steepest, 0.25, "o", color=LIGHT["contrast"])
        axes.annotate(
            "steepest at 1/√3:\na quarter long",
            (steepest, 0.25),
            (1.3, 0.12),
            color=LIGHT["contrast"],
            arrowprops={"arrowstyle": "-", "color": LIGHT["contrast"]},
        )
        axes.set(xlim=(0, 6), ylim=(0, 1.15), xlabel="‖s‖, length in", ylabel="‖v‖, length out")
    return figure


def digit_row(images: Tensor, titles: Sequence[str] | None = None) -> Figure:
    """Images side by side. images: [N, 28, 28] or [N, 1, 28, 28]."""
    flat = images.reshape(len(images), *images.shape[-2:])
    titles = [""] * len(flat) if titles is None else titles
    with _grid(1, len(flat), height=WIDTH / len(flat) + 0.35) as (figure, axes):
        for axis, image, title in zip(axes[0], flat, titles, strict=True):
            _digit(axis, image)
            axis.set_title(title, fontsize=9)
    return figure


def digit_grid(rows: dict[str, Tensor]) -> Figure:
    """Rows of images, each with its name. rows: name -> [N, 28, 28] or [N, 1, 28, 28], N the same for all."""
    columns = len(next(iter(rows.values())))
    with _grid(len(rows), columns, height=len(rows) * (WIDTH - 0.9) / columns) as (figure, axes):
        for line, (name, images) in zip(axes, rows.items(), strict=True):
            for axis, image in zip(line, images.reshape(columns, *images.shape[-2:]), strict=True):
                _digit(axis, image)
            line[0].text(-0.15, 0.5, name, transform=line[0].transAxes, ha="right", va="center")
    return figure


def traversal_grid(drawings: Tensor, offsets: Tensor) -> Figure:
    """One row a dimension, one column an offset. drawings: [D, K, 28, 28], as `poses.traverse` gives them."""
    dimensions, steps = drawings.shape[:2]
    with _grid(dimensions, steps, height=WIDTH * dimensions / (steps + 0.5)) as (figure, axes):
        for d in range(dimensions):
            for k in range(steps):
                _digit(axes[d, k], drawings[d, k])
            axes[d, 0].text(-0.2, 0.5, str(d + 1), transform=axes[d, 0].transAxes, ha="right", va="center")
        for k in range(steps):
            axes[0, k].set_title(f"{float(offsets[k]):+.2f}", fontsize=8, color=LIGHT["muted"])
        middle = steps // 2
        for axis in axes[:, middle]:
            axis.set_facecolor(LIGHT["raised"])
            for side in axis.spines.values():
                side.set(visible=True, color=LIGHT["accent"], linewidth=0.8)
    return figure


def pose_bars(pose: Tensor) -> Figure:
    """The numbers of one capsule. pose: [D]."""
    with _figure(height=1.9) as (figure, axes):
        numbers = np.arange(1, len(pose) + 1)
        axes.bar(numbers, pose.numpy(), color=np.where(pose.numpy() < 0, LIGHT["contrast"], LIGHT["accent"]), width=0.7)
        axes.axhline(0, color=LIGHT["line"], linewidth=1)
        axes.set(xticks=numbers, xlabel="dimension", ylabel="value")
    return figure


def follow_map(strengths: Tensor, changes: Sequence[str]) -> Figure:
    """How strongly each dimension follows each change. strengths: [changes, D], from −1 to 1."""
    rows, dimensions = strengths.shape
    with _figure(height=0.42 * rows + 0.9) as (figure, axes):
        axes.imshow(strengths.numpy(), cmap=_SIGNED, vmin=-1, vmax=1, aspect="auto")
        for row in range(rows):
            for d in range(dimensions):
                value = float(strengths[row, d])
                colour = LIGHT["surface"] if abs(value) > 0.6 else LIGHT["ink"]
                axes.text(d, row, f"{value:+.1f}", ha="center", va="center", fontsize=7.5, color=colour)
        axes.set_xticks(range(dimensions), [str(d + 1) for d in range(dimensions)])
        axes.set_yticks(range(rows), list(changes))
        axes.set_xlabel("dimension")
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
    return figure


def alone_and_together(alone: Tensor, together: Tensor, changes: Sequence[str]) -> Figure:
    """What one dimension tells of a change, and what all of them tell: R², a dot a class.

    Args:
        alone: [classes, changes], the best single dimension's.
        together: [classes, changes], the linear readout's.
        changes: their names.
    """
    with _figure(height=2.9) as (figure, axes):
        for values, shift, colour, name in (
            (alone, -0.16, LIGHT["contrast"], "best single dimension"),
            (together, 0.16, LIGHT["accent"], "all sixteen"),
        ):
            for column in range(len(changes)):
                spread = np.linspace(-0.1, 0.1, len(values))
                label = name if column == 0 else None
                axes.plot(column + shift + spread, values[:, column], "o", color=colour, markersize=3.5, label=label)
                axes.plot(
                    [column + shift - 0.13, column + shift + 0.13], [values[:, column].median()] * 2, color=colour
                )
        axes.set_xticks(range(len(changes)), list(changes))
        axes.set(ylim=(0, 1.02), ylabel="share of the amount told (R²)")
        axes.legend(loc="lower left", ncols=2, bbox_to_anchor=(0, 1))
    return figure


def _digit(axes: Axes, image: Tensor) -> None:
    axes.imshow(image.numpy(), cmap=_INK, vmin=0, vmax=1, interpolation="nearest")


@contextmanager
def _figure(height: float) -> Iterator[tuple[Figure, Axes]]:
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        yield figure, axes
        plt.close(figure)  # the caller shows it; the notebook shall not show it a second time


@contextmanager
def _grid(rows: int, columns: int, height: float) -> Iterator[tuple[Figure, np.ndarray]]:
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            rows, columns, figsize=(WIDTH, height), squeeze=False, gridspec_kw={"wspace": 0.06, "hspace": 0.06}
        )
        for axis in axes.flat:
            axis.set(xticks=[], yticks=[])
            for side in axis.spines.values():
                side.set_visible(False)
        yield figure, axes
        plt.close(figure)
