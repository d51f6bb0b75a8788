"""The figures of the chapter on training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from capsnet_book.figures._style import _STYLE, INK, WIDTH, phone_form
from capsnet_book.palette import LIGHT
from capsnet_tutorial.data import Digits
from capsnet_tutorial.model import CapsNet, in_eval_mode
from capsnet_tutorial.train import History


def _frame(axes: Axes, image: np.ndarray, answer: str, colour: str) -> None:
    axes.imshow(image.reshape(28, 28), cmap=INK, vmin=0, vmax=1, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)
    if answer:
        ground = {"facecolor": LIGHT["surface"], "edgecolor": "none", "pad": 1.2}
        axes.text(
            26.5,
            1,
            answer,
            ha="right",
            va="top",
            fontsize=7.5,
            weight="bold",
            color=colour,
            bbox=ground,
        )


class LiveCurve:
    """Shows how training goes while it goes: `fit(…, on_epoch=LiveCurve(recipe.epochs, digits))`.

    Curves of the loss and of the validation error, and beside them some digits as the network redraws them by now.

    Args:
        epochs: how many there will be.
        data: the digits that are redrawn, at most eight.
        show: what displays the figure and returns a handle with `update`; in a notebook, `display(…, display_id=True)`.
    """

    def __init__(
        self, epochs: float, data: Digits, show: Callable[[Figure], Any] | None = None
    ) -> None:
        self.epochs = epochs
        self.images = data.images[:8]
        self.show = _display if show is None else show
        self.handle: Any = None

    def __call__(self, model: CapsNet, history: History) -> None:
        """One more epoch is over."""
        figure = self.draw(model, history)
        if self.handle is None:
            self.handle = self.show(figure)
        else:
            self.handle.update(figure)

    @phone_form(stacked=True)
    @torch.no_grad()
    def draw(self, model: CapsNet, history: History, *, stacked: bool = False) -> Figure:
        """The figure as it is now; stacked, with the digits below the curves."""
        device = next(model.parameters()).device
        with in_eval_mode(model):
            output = model(self.images.to(device))
        pairs = [self.images.flatten(1), output.reconstruction.cpu()]
        answers = output.lengths.argmax(dim=1).tolist()
        with plt.rc_context(_STYLE):
            figure = plt.figure(figsize=(WIDTH, 7.6 if stacked else 2.9), layout="constrained")
            first, second = (
                figure.subfigures(2, 1) if stacked else figure.subfigures(1, 2, width_ratios=[3, 4])
            )
            self._curves(first.subplots(), history)
            grid = second.subplots(4, -(-len(self.images) // 2), squeeze=False)
            for row, axes in enumerate(grid):
                for column, each in enumerate(axes):
                    n = column + (row // 2) * grid.shape[1]
                    if n == len(self.images):  # an odd number leaves a place free
                        each.axis("off")
                        continue
                    _frame(
                        each,
                        pairs[row % 2][n].numpy(),
                        str(answers[n]) if row % 2 else "",
                        LIGHT["accent"],
                    )
            plt.close(figure)
        return figure

    def _curves(self, axes: Axes, history: History) -> None:
        passed = [point["epoch"] for point in history.curve]
        for name, label, colour in (
            ("loss", "loss", LIGHT["contrast"]),
            ("validation_error", "share wrong in validation", LIGHT["accent"]),
        ):
            if name in history.curve[-1]:
                values = [point[name] for point in history.curve]
                axes.plot(passed, values, "o-", color=colour, label=label, markersize=4)
        axes.set(xlim=(0, self.epochs * 1.03), ylim=(0.005, 1), yscale="log", xlabel="epochs")
        axes.xaxis.set_major_locator(FixedLocator(range(int(self.epochs) + 1)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.legend(loc="upper right", fontsize=8)


def epoch_histograms(recorded: Mapping[str, Sequence[Any]], bins: int = 40) -> Figure:
    """Histograms over a training: a panel each, and in it one line an epoch, the first at the bottom.

    Args:
        recorded: title -> some numbers for every epoch, in order.
        bins: so many of equal width, from the smallest to the largest value of all epochs.
    """
    with plt.rc_context(_STYLE):
        figure, panels = plt.subplots(
            1, len(recorded), figsize=(WIDTH, 2.6), squeeze=False, layout="constrained"
        )
        for axes, (title, epochs) in zip(panels[0], recorded.items(), strict=True):
            values = [np.asarray(epoch) for epoch in epochs]
            edges = np.histogram_bin_edges(np.concatenate(values), bins)
            for row, own in enumerate(values):
                counts, _ = np.histogram(own, edges)
                height = row + 1.6 * counts / counts.max()
                axes.stairs(
                    height, edges, baseline=row, fill=True, color=LIGHT["surface"], zorder=-row
                )
                axes.stairs(height, edges, baseline=row, color=LIGHT["accent"], zorder=-row)
            axes.set(title=title, yticks=[0, len(values) - 1], yticklabels=["1", f"{len(values)}"])
        panels[0, 0].set_ylabel("epoch")
        plt.close(figure)
    return figure


def _display(figure: Figure) -> Any:
    from IPython.display import display

    return display(figure, display_id=True)
