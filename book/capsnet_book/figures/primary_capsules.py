"""Feature maps cut into capsules, and patches ordered by the direction of their capsule."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsnet_book.figures._style import INK, WIDTH, grid_of_plots
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
                    (place - 0.5, -0.5), 1, channels, fill=False, edgecolor=LIGHT["contrast"], linewidth=2, zorder=3
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


def patches_by_direction(capsules: Tensor, patches: Tensor, columns: int = 9) -> Figure:
    """What the arrow of each type turns with: a row a type, mean patches in the order of the arrow's direction.

    The arrows of one type are ordered along the direction in which they vary most (their first principal
    component), cut into `columns` groups of equal size, and the patches of each group averaged.

    Args:
        capsules: [N, types, dim], the capsules at one place, of N images.
        patches: [N, size, size], the pixels they read.
        columns: groups a type.
    """
    types = capsules.shape[1]
    with grid_of_plots(types, columns, height=WIDTH * types / (columns + 1.1) + 0.25) as (figure, axes):
        for row in range(types):
            order, share = _order(capsules[:, row])
            for column, group in enumerate(np.array_split(order.numpy(), columns)):
                axis = axes[row, column]
                axis.imshow(patches[group].mean(0).numpy(), cmap=INK, vmin=0, vmax=0.85, interpolation="nearest")
            first, last = axes[row, 0], axes[row, -1]
            first.text(-0.2, 0.5, f"type {row}", transform=first.transAxes, ha="right", va="center")
            text = f"{100 * share:.0f} %"
            last.text(1.15, 0.5, text, transform=last.transAxes, va="center", color=LIGHT["muted"], fontsize=8)
            for axis in (first, last):
                for side in axis.spines.values():
                    side.set(visible=True, color=LIGHT["accent"], linewidth=0.8)
        axes[0, 0].set_title("one end", fontsize=8, color=LIGHT["muted"])
        axes[0, columns // 2].set_title("← the arrow turns →", fontsize=8, color=LIGHT["muted"])
        axes[0, -1].set_title("the other", fontsize=8, color=LIGHT["muted"])
        figure.subplots_adjust(left=0.09, right=0.93, top=0.95, bottom=0.01)
    return figure


def _order(arrows: Tensor) -> tuple[Tensor, float]:
    """The arrows' order along their first principal component, and its share of their variance."""
    centred = (arrows - arrows.mean(0)).double()
    _, strengths, directions = torch.linalg.svd(centred, full_matrices=False)
    axis = directions[0] * directions[0][directions[0].abs().argmax()].sign()  # an axis has no sign of its own
    return (centred @ axis).argsort(), float(strengths[0] ** 2 / (strengths**2).sum())
