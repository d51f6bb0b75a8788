"""Feature maps cut into capsules."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsnet_book.figures._style import grid_of_pictures, in_book_style
from capsnet_book.palette import LIGHT


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
