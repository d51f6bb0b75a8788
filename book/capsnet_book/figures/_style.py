"""Size, palette and axes that all figures share, and how a digit is drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.palette import LIGHT

WIDTH = 7.0
"""Inches; the page shows 100 pixels an inch, the file holds 150."""

STYLE = {
    "figure.dpi": 150,
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
INK: Colormap = LinearSegmentedColormap.from_list("ink", [LIGHT["paper"], LIGHT["stroke"]])
SIGNED: Colormap = LinearSegmentedColormap.from_list(
    "signed", [LIGHT["contrast"], LIGHT["surface"], LIGHT["accent"]]
)


Draw = TypeVar("Draw", bound=Callable[..., Figure])


def in_book_style(draw: Draw) -> Draw:
    """Decorate a function that draws a figure: use the book's style, and close the figure.

    A figure that stays open would be shown a second time at the end of a notebook's cell.
    """

    @wraps(draw)
    def draw_in_style(*arguments: Any, **options: Any) -> Figure:
        with plt.rc_context(STYLE):
            figure = draw(*arguments, **options)
        plt.close(figure)
        return figure

    return cast(Draw, draw_in_style)


def phone_form(**phone_options: Any) -> Callable[[Draw], Draw]:
    """Decorate a function that draws a figure with other options for a phone.

    The figure keeps how to draw its phone's form as `on_a_phone`, which `_phone.py` calls.
    """

    def decorate(draw: Draw) -> Draw:
        @wraps(draw)
        def draw_with_phone_form(*arguments: Any, **options: Any) -> Figure:
            figure = draw(*arguments, **options)
            vars(figure)["on_a_phone"] = lambda: draw(*arguments, **(options | phone_options))
            return figure

        return cast(Draw, draw_with_phone_form)

    return decorate


def show_digit(axes: Axes, image: Tensor) -> None:
    """Draw a digit [H, W], 0 as paper and 1 as ink."""
    axes.imshow(image.numpy(), cmap=INK, vmin=0, vmax=1, interpolation="nearest")


def set_spines(axes: Axes, *, visible: bool, **style: Any) -> None:
    """Show or hide the four sides of a plot, or set their colour and width."""
    for side in axes.spines.values():
        side.set(visible=visible, **style)


def spread(count: int, step: float, width: float = 0.6) -> list[float]:
    """Return `count` places around 0, so that points of equal value do not hide each other.

    They are a step apart, or closer where they would need more than the width.
    """
    step = min(step, width / max(count - 1, 1))
    return [step * (place - (count - 1) / 2) for place in range(count)]


def one_plot(height: float) -> tuple[Figure, Axes]:
    """Return a figure with one plot, `height` inches high."""
    return plt.subplots(figsize=(WIDTH, height), layout="constrained")


def grid_of_pictures(rows: int, columns: int, height: float) -> tuple[Figure, np.ndarray]:
    """Return a figure with axes [rows, columns] close together, without ticks and frames."""
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(WIDTH, height),
        squeeze=False,
        gridspec_kw={"wspace": 0.06, "hspace": 0.06},
    )
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
        set_spines(axes, visible=False)
    return figure, grid
