"""The figures of the chapter on training."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator
from torch import Tensor

from capsnet_book.figures._style import (
    WIDTH,
    in_book_style,
    name_ends,
    phone_form,
    set_spines,
    show_digit,
)
from capsnet_book.palette import LIGHT
from capsnet_tutorial.data import Digits
from capsnet_tutorial.model import CapsNet, in_eval_mode
from capsnet_tutorial.train import History


class LiveCurve:
    """A figure that follows a training: `fit(…, on_epoch=LiveCurve(recipe.epochs, digits))`.

    It has curves of the loss and of the validation error, and beside them some digits with their
    reconstructions.

    Args:
        epochs: of the whole training.
        data: the digits to reconstruct; the first eight are shown.
        show: displays the figure and returns a handle with `update`; None: in a notebook.
    """

    def __init__(
        self, epochs: float, data: Digits, show: Callable[[Figure], Any] | None = None
    ) -> None:
        self.epochs = epochs
        self.images = data.images[:8]
        self.show = _show_in_notebook if show is None else show
        self.handle: Any = None

    def __call__(self, model: CapsNet, history: History) -> None:
        """Show the figure after an epoch."""
        figure = self.draw(model, history)
        if self.handle is None:
            self.handle = self.show(figure)
        else:
            self.handle.update(figure)

    @phone_form(stacked=True)
    @in_book_style
    @torch.no_grad()
    def draw(self, model: CapsNet, history: History, *, stacked: bool = False) -> Figure:
        """Draw the figure as it is now; stacked, with the digits below the curves."""
        device = next(model.parameters()).device
        with in_eval_mode(model):
            output = model(self.images.to(device))

        figure = plt.figure(figsize=(WIDTH, 7.6 if stacked else 2.9), layout="constrained")
        if stacked:
            curves, pictures = figure.subfigures(2, 1)
        else:
            curves, pictures = figure.subfigures(1, 2, width_ratios=[3, 4])
        self._draw_curves(curves.subplots(), history)
        columns = math.ceil(len(self.images) / 2)
        grid = pictures.subplots(4, columns, squeeze=False)
        for axes in grid.flat:
            axes.axis("off")
        reconstructions = output.reconstruction.cpu()
        answers = output.lengths.argmax(dim=1).tolist()
        for n, (image, reconstruction) in enumerate(zip(self.images, reconstructions, strict=True)):
            line, column = divmod(n, columns)
            _show_picture(grid[2 * line, column], image)
            _show_picture(grid[2 * line + 1, column], reconstruction)
            _write_answer(grid[2 * line + 1, column], str(answers[n]))
        return figure

    def _draw_curves(self, axes: Axes, history: History) -> None:
        """Draw the loss and, where it was measured, the validation error over the epochs."""
        epochs = [point["epoch"] for point in history.curve]
        ends = {}
        colours = []
        for key, label, role in (
            ("loss", "loss", "contrast"),
            ("validation_error", "wrong in validation", "accent"),
        ):
            if key in history.curve[-1]:
                values = [point[key] for point in history.curve]
                axes.plot(epochs, values, "o-", color=LIGHT[role], markersize=4)
                ends[label] = (epochs[-1], values[-1])
                colours.append(LIGHT[role])
        axes.set(xlim=(0, self.epochs * 1.03), ylim=(0.005, 1), yscale="log", xlabel="epochs")
        axes.xaxis.set_major_locator(FixedLocator(range(int(self.epochs) + 1)))
        axes.yaxis.set_major_formatter("{x:g}")
        name_ends(axes, ends, colours)


def _show_picture(axes: Axes, image: Tensor) -> None:
    """Draw an image of 784 pixels without frame and ticks."""
    axes.axis("on")
    show_digit(axes, image.reshape(28, 28))
    axes.set(xticks=[], yticks=[])
    set_spines(axes, visible=False)


def _write_answer(axes: Axes, answer: str) -> None:
    """Write the network's answer in the corner of its reconstruction."""
    ground = {"facecolor": LIGHT["surface"], "edgecolor": "none", "pad": 1.2}
    style = {"fontsize": 7.5, "weight": "bold", "color": LIGHT["accent"]}
    axes.text(26.5, 1, answer, ha="right", va="top", bbox=ground, **style)


@in_book_style
def epoch_histograms(values: Mapping[str, Sequence[Any]], bins: int = 40) -> Figure:
    """Draw histograms over a training: a panel a title, an epoch a row, the first at the top.

    The last epoch is in colour.

    Args:
        values: title -> for every epoch, in order, some numbers.
        bins: of equal width, from the smallest to the largest value of all epochs.
    """
    count = len(next(iter(values.values())))
    names = [f"epoch {row + 1}" for row in range(count)]
    figure, panels = plt.subplots(
        1,
        len(values),
        figsize=(WIDTH, 0.42 * count + 0.6),
        squeeze=False,
        sharey=True,
        layout="constrained",
    )
    for axes, (title, epochs) in zip(panels[0], values.items(), strict=True):
        edges = np.histogram_bin_edges(np.concatenate([*epochs]), bins)
        for row, numbers in enumerate(epochs):
            counts, _ = np.histogram(np.asarray(numbers), edges)
            top = row - 0.85 * counts / counts.max()
            colour = LIGHT["accent"] if row == count - 1 else LIGHT["line"]
            axes.stairs(top, edges, baseline=row, fill=True, color=colour)
        axes.set(ylim=(count - 0.95, -0.95), yticks=range(count), yticklabels=names)
        axes.set_title(title, loc="left")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
    return figure


def _show_in_notebook(figure: Figure) -> Any:
    """Display a figure, and return the handle that updates it."""
    from IPython.display import display

    return display(figure, display_id=True)
