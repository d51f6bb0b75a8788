"""Figures of the chapter on the idea: pictures and bags of parts, length and direction."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import WIDTH, in_book_style, set_spines, show_digit
from capsnet_book.palette import LIGHT


@in_book_style
def pictures_and_bags(images: Tensor, features: Tensor, titles: Sequence[str]) -> Figure:
    """Draw images, and under each the bag of features that max pooling makes of it.

    Args:
        images: [N, 1, 28, 28].
        features: [N, C].
        titles: one for each image.
    """
    figure, axes = plt.subplots(
        2,
        len(images),
        figsize=(WIDTH, 2.9),
        height_ratios=(1.0, 0.55),
        layout="constrained",
        squeeze=False,
    )
    highest = float(features.max())
    for above, below, image, bag, title in zip(*axes, images, features, titles, strict=True):
        show_digit(above, image[0])
        above.set_title(title)
        below.bar(range(len(bag)), bag.numpy(), color=LIGHT["accent"], width=0.8)
        below.set(ylim=(0, 1.05 * highest))
        for panel in (above, below):
            panel.set(xticks=[], yticks=[])
            set_spines(panel, visible=True, color=LIGHT["line"])
    axes[1, 0].set_ylabel("the bag")
    return figure


@in_book_style
def length_and_direction(
    images: Tensor, angles: Tensor, lengths: Tensor, directions: Tensor, largest_turn: float
) -> Figure:
    """Draw turned digits, and below them the length and the change of direction of their capsule.

    Args:
        images: some of the turned digits, [K, 28, 28], evenly spread over the angles.
        angles: [A], in degrees, ascending.
        lengths: [A, N], of the capsule of the true class.
        directions: [A, N], degrees between that capsule and the same one for the upright digit.
        largest_turn: the largest turn in training, in degrees.
    """
    figure = plt.figure(figsize=(WIDTH, 5.0), layout="constrained")
    grid = figure.add_gridspec(3, len(images), height_ratios=(0.85, 1.5, 1.5))
    for column, image in enumerate(images):
        axes = figure.add_subplot(grid[0, column])
        show_digit(axes, image)
        axes.set_axis_off()

    above, below = figure.add_subplot(grid[1, :]), figure.add_subplot(grid[2, :])
    for axes in (above, below):
        axes.axvspan(-largest_turn, largest_turn, color=LIGHT["raised"], linewidth=0)
    _plot_quartiles(above, angles, lengths, "accent")
    above.set(ylim=(0, 1), xticklabels=[], ylabel="‖v‖, the length")
    _plot_quartiles(below, angles, directions, "contrast")
    below.set(ylim=(0, None), xlabel="the digit is turned by, degrees")
    below.set_ylabel("v has turned, °")
    return figure


def _plot_quartiles(axes: Axes, angles: Tensor, values: Tensor, role: str) -> None:
    """Draw the median of the digits [A, N] over the angle, and the range of their middle half."""
    low, median, high = values.quantile(values.new_tensor([0.25, 0.5, 0.75]), dim=1)
    axes.fill_between(angles, low, high, color=LIGHT[role], alpha=0.2, linewidth=0)
    axes.plot(angles, median, color=LIGHT[role])
    axes.set(xlim=(float(angles[0]), float(angles[-1])), xticks=angles[::3].tolist())
