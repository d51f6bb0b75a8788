"""Feature maps cut into capsules."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsnet_book.figures._style import BLUES, WIDTH, grid_of_pictures, in_book_style, show_digit
from capsnet_book.palette import LIGHT

KERNEL, STRIDE = 9, 2
"""Of the first convolution, which makes the maps."""


@in_book_style
def maps_of_a_digit(image: Tensor, maps: Tensor, numbers: Sequence[int]) -> Figure:
    """Draw a digit, and feature maps of it in blue with the digit's outline over each.

    A place of a map is drawn where the middle of the pixels lies that it has seen.

    Args:
        image: [28, 28] or [1, 28, 28].
        maps: [N, H, W], of values from 0 on; they share one scale.
        numbers: of the maps, counted from 0.
    """
    figure, grid = grid_of_pictures(1, 1 + len(maps), height=WIDTH / (1 + len(maps)) + 0.35)
    ink = image.reshape(28, 28)
    show_digit(grid[0, 0], ink)
    for axes, map_, number in zip(grid[0, 1:], maps, numbers, strict=True):
        low = (KERNEL - 1) / 2 - STRIDE / 2  # of the first place, whose middle is pixel 4
        high = low + STRIDE * len(map_)
        square = {"extent": (low, high, high, low), "interpolation": "nearest"}
        axes.imshow(map_.numpy(), cmap=BLUES, vmin=0, vmax=float(maps.max()), **square)
        axes.contour(ink.numpy(), levels=[0.5], colors=[LIGHT["ink"]], linewidths=0.9)
        axes.set(xlim=(-0.5, 27.5), ylim=(27.5, -0.5))
        axes.set_title(f"map {number + 1}", fontsize=9)
    return figure


@in_book_style
def capsule_cuts(cuts: dict[str, Tensor], place: int = 4) -> Figure:
    """Draw which number of the feature maps goes into which capsule.

    Args:
        cuts: name of a way to cut -> the capsule of each number, whole numbers [channels, places].
        place: every capsule that holds a number of this place is coloured.
    """
    figure, grid = grid_of_pictures(1, len(cuts), height=4.6)
    for axes, (name, cut) in zip(grid[0], cuts.items(), strict=True):
        channels, places = cut.shape
        touched = cut[:, place].unique()
        axes.imshow(_colours(cut, touched).numpy(), aspect="auto", interpolation="nearest")
        _draw_borders(axes, cut)
        frame = Rectangle((place - 0.5, -0.5), 1, channels, fill=False, zorder=3)
        frame.set(edgecolor=LIGHT["contrast"], linewidth=2)
        axes.add_patch(frame)
        axes.set_xticks(range(places))
        axes.set_xlabel("place, row by row")
        axes.tick_params(length=0)
        axes.set_title(f"{name}: {len(touched)} capsules", fontsize=10)
    grid[0, 0].set_yticks(range(0, len(next(iter(cuts.values()))), 8))
    grid[0, 0].set_ylabel("channel")
    figure.subplots_adjust(left=0.08, right=0.99, top=0.93, bottom=0.1, wspace=0.06)
    return figure


def _colours(cut: Tensor, touched: Tensor) -> Tensor:
    """Return the colour of each number, [channels, places, 3]: two shades in turn."""
    accent = torch.tensor(to_rgb(LIGHT["accent"]))
    raised = torch.tensor(to_rgb(LIGHT["raised"]))
    shades = torch.stack([raised, accent, 0.5 + accent / 2])
    parity = torch.searchsorted(touched, cut) % 2
    return shades[torch.where(torch.isin(cut, touched), 1 + parity, 0)]


def _draw_borders(axes: Axes, cut: Tensor) -> None:
    """Draw a line wherever two neighbouring numbers go to different capsules."""
    white = LIGHT["surface"]
    channels, places = cut.shape
    for c in range(channels):
        for p in range(places):
            if p + 1 < places and cut[c, p] != cut[c, p + 1]:
                axes.plot([p + 0.5] * 2, [c - 0.5, c + 0.5], color=white, linewidth=1.1)
            if c + 1 < channels and cut[c, p] != cut[c + 1, p]:
                axes.plot([p - 0.5, p + 0.5], [c + 0.5] * 2, color=white, linewidth=1.1)
