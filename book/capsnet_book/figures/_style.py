"""Size, palette and axes that all figures share, and how a digit is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.palette import LIGHT
from capsnet_book.words import speak

speak()

WIDTH = 7.0  # inches; the page shows 100 pixels an inch, the file holds 150

_STYLE = {
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


Drawing = TypeVar("Drawing", bound=Callable[..., Figure])


def phone_form(**arguments: Any) -> Callable[[Drawing], Drawing]:
    """A chart that takes these arguments on a phone: its figure's `on_a_phone`, which `_phone.py` takes, draws it."""

    def decorated(draw: Drawing) -> Drawing:
        @wraps(draw)
        def drawing(*given: Any, **named: Any) -> Figure:
            figure = draw(*given, **named)
            vars(figure)["on_a_phone"] = lambda: draw(*given, **(named | arguments))
            return figure

        return cast(Drawing, drawing)

    return decorated


def show_digit(axes: Axes, image: Tensor) -> None:
    axes.imshow(image.numpy(), cmap=INK, vmin=0, vmax=1, interpolation="nearest")


def side_by_side(count: int, step: float, width: float = 0.6) -> list[float]:
    """Places round 0 for so many points, that equal ones do not hide each other: a step apart, or within the width."""
    step = min(step, width / max(count - 1, 1))
    return [step * (place - (count - 1) / 2) for place in range(count)]


@contextmanager
def one_plot(height: float) -> Iterator[tuple[Figure, Axes]]:
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        yield figure, axes
        plt.close(figure)  # the caller shows it; the notebook shall not show it a second time


@contextmanager
def grid_of_plots(rows: int, columns: int, height: float) -> Iterator[tuple[Figure, np.ndarray]]:
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(WIDTH, height),
            squeeze=False,
            gridspec_kw={"wspace": 0.06, "hspace": 0.06},
        )
        for axis in axes.flat:
            axis.set(xticks=[], yticks=[])
            for side in axis.spines.values():
                side.set_visible(False)
        yield figure, axes
        plt.close(figure)
