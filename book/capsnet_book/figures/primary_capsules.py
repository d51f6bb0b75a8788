"""Feature maps cut into capsules."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsnet_book.figures._style import grid_of_plots
from capsnet_book.palette import LIGHT


def capsule_cuts(cuts: dict[str, Tensor], place: int = 4) -> Figure:
    """Which number of the feature maps goes into which capsule.

    Args:
        cuts: for each way of cutting, the capsule [channels, places] that a number goes to; whole numbers.
        place: the place that is looked at: every capsule that holds one of its numbers is coloured.
    """
    with grid_of_plots(1, len(cuts), height=4.6) as (figure, axes):
        for axis, (name, cut) in zip(axes[0], cuts.items(), strict=True):
            channels, places = cut.shape
            touched = cut[:, place].unique()
            parity = torch.searchsorted(touched, cut) % 2  # neighbours in two shades
            full = torch.tensor(to_rgb(LIGHT["accent"]))
            shades = torch.stack([torch.tensor(to_rgb(LIGHT["raised"])), full, 0.5 + full / 2])
            colours = shades[torch.where(torch.isin(cut, touched), 1 + parity, 0)]
            axis.imshow(colours.numpy(), aspect="auto", interpolation="nearest")
            _draw_borders(axis, cut)
            axis.add_patch(
                Rectangle(
                    (place - 0.5, -0.5),
                    1,
                    channels,
                    fill=False,
                    edgecolor=LIGHT["contrast"],
                    linewidth=2,
                    zorder=3,
                )
            )
            axis.set_xticks(range(places))
            axis.set_yticks(range(0, channels, 8) if axis is axes[0, 0] else [])
            axis.set_xlabel("place, row by row")
            axis.tick_params(length=0)
            axis.set_title(f"{name}: {len(touched)} capsules", fontsize=10)
        axes[0, 0].set_ylabel("channel")
        figure.subplots_adjust(left=0.08, right=0.99, top=0.93, bottom=0.1, wspace=0.06)
    return figure


def _draw_borders(axis: Axes, cut: Tensor) -> None:
    """A line wherever two neighbouring numbers go to different capsules."""
    white = LIGHT["surface"]
    channels, places = cut.shape
    for c in range(channels):
        for p in range(places):
            if p + 1 < places and cut[c, p] != cut[c, p + 1]:
                axis.plot([p + 0.5] * 2, [c - 0.5, c + 0.5], color=white, linewidth=1.1)
            if c + 1 < channels and cut[c, p] != cut[c + 1, p]:
                axis.plot([p - 0.5, p + 0.5], [c + 0.5] * 2, color=white, linewidth=1.1)
