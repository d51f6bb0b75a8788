"""Figures of the chapter on the idea: pictures and bags of parts, length and direction."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import _STYLE, WIDTH, show_digit
from capsnet_book.palette import LIGHT


def pictures_and_bags(images: Tensor, features: Tensor, titles: Sequence[str]) -> Figure:
    """Pictures, and under each what max pooling keeps of it. images: [N, 1, 28, 28]; features: [N, C]."""
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            2,
            len(images),
            figsize=(WIDTH, 2.9),
            height_ratios=(1.0, 0.55),
            layout="constrained",
            squeeze=False,
        )
        for above, below, image, bag, title in zip(*axes, images, features, titles, strict=True):
            show_digit(above, image[0])
            above.set_title(title)
            below.bar(range(len(bag)), bag.numpy(), color=LIGHT["accent"], width=0.8)
            below.set(ylim=(0, 1.05 * float(features.max())))
            for axis in (above, below):
                axis.set(xticks=[], yticks=[])
                for side in axis.spines.values():
                    side.set(visible=True, color=LIGHT["line"])
        axes[1, 0].set_ylabel("the bag")
        plt.close(figure)
    return figure


def length_and_direction(
    images: Tensor, angles: Tensor, lengths: Tensor, directions: Tensor, seen: float
) -> Figure:
    """Turned digits; below them how long the capsule is, and how far its direction has moved.

    Args:
        images: some of the turned digits, [K, 28, 28], evenly spread over the angles.
        angles: [A], in degrees, ascending.
        lengths: [A, N], of the capsule of the true class.
        directions: [A, N], degrees between that capsule and what it was for the upright digit.
        seen: the largest turn in training, in degrees.
    """
    with plt.rc_context(_STYLE):
        figure = plt.figure(figsize=(WIDTH, 5.0), layout="constrained")
        grid = figure.add_gridspec(3, len(images), height_ratios=(0.85, 1.5, 1.5))
        for column, image in enumerate(images):
            axes = figure.add_subplot(grid[0, column])
            show_digit(axes, image)
            axes.set_axis_off()
        _band(figure.add_subplot(grid[1, :]), angles, lengths, seen, "accent", "‖v‖, the length")
        below = figure.add_subplot(grid[2, :])
        _band(below, angles, directions, seen, "contrast", "v has turned, °")
        figure.axes[-2].set(ylim=(0, 1), xticklabels=[])
        below.set(ylim=(0, None), xlabel="the digit is turned by, degrees")
        plt.close(figure)
    return figure


def _band(axes: Axes, angles: Tensor, values: Tensor, seen: float, role: str, label: str) -> None:
    """The median of the digits, and where the middle half of them lies."""
    low, middle, high = values.quantile(values.new_tensor([0.25, 0.5, 0.75]), dim=1)
    axes.axvspan(-seen, seen, color=LIGHT["raised"], linewidth=0)
    axes.fill_between(angles, low, high, color=LIGHT[role], alpha=0.2, linewidth=0)
    axes.plot(angles, middle, color=LIGHT[role])
    axes.set(xlim=(float(angles[0]), float(angles[-1])), ylabel=label, xticks=angles[::3].tolist())
