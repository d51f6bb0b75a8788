"""The figures of the chapter on capsules that turn: filters, parts with their votes, errors round
the circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import (
    INK,
    SIGNED,
    WIDTH,
    in_book_style,
    name_ends,
    one_plot,
    set_spines,
)
from capsnet_book.palette import LIGHT
from capsnet_book.turning import UNIT

_COLOURS = tuple(LIGHT[role] for role in ("accent", "contrast", "muted", "agree"))
FAINT = 0.05
"""Parts that are present by less are not drawn."""
COLUMNS = 8
"""Copies of a filter in a row."""


@in_book_style
def turned_copies(bank: Tensor) -> Figure:
    """Draw the turned copies of one filter, [K, S, S], blue above 0 and orange below."""
    rows = -(-len(bank) // COLUMNS)
    largest = float(bank.abs().max())
    size = (WIDTH, rows * (WIDTH / COLUMNS + 0.3))
    figure, grid = plt.subplots(rows, COLUMNS, figsize=size, layout="constrained")
    for turn, (axes, copy) in enumerate(zip(grid.flat, bank, strict=True)):
        axes.imshow(copy.detach().numpy(), cmap=SIGNED, vmin=-largest, vmax=largest)
        axes.set_title(f"{360 * turn / len(bank):g}°", fontsize=8)
        axes.set_axis_off()
    return figure


Parts = tuple[Tensor, Tensor, Tensor, Tensor]
"""Poses [P, 2, 3] and presences [P] of parts; their votes [V, 2, 3], and what each adds to the
pairs [V].
"""


@in_book_style
def parts_and_votes(images: Tensor, parts: Sequence[Parts]) -> Figure:
    """Draw pictures with their parts, and below each the votes for one class.

    Args:
        images: [N, 1, 28, 28].
        parts: of every picture.
    """
    height = 2 * WIDTH / len(images)
    figure, grid = plt.subplots(2, len(images), figsize=(WIDTH, height), layout="constrained")
    reach = 1.15 * max(float(votes[..., 2].abs().max()) for _, _, votes, _ in parts)
    half = images.shape[-1] / 2 / UNIT
    for (upper, lower), image, (poses, presence, votes, support) in zip(
        grid.T, images, parts, strict=True
    ):
        edges = (-half, half, -half, half)
        upper.imshow(image[0].numpy(), cmap=INK, vmin=0, vmax=1, extent=edges)
        _draw_ticks(upper, poses, presence, length=0.3)
        opacity = 0.12 + 0.88 * support / support.max()
        _draw_ticks(lower, votes, opacity, length=reach / 8)
        lower.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        for axes in (upper, lower):
            axes.set(xticks=[], yticks=[])
            set_spines(axes, visible=False)
    return figure


def _draw_ticks(axes: Axes, poses: Tensor, weight: Tensor, length: float) -> None:
    """Draw a dot at each place and a tick along its first axis, as dark as its weight from 0 to
    1.
    """
    visible = weight > FAINT
    place = poses[visible][:, :, 2]  # [P, 2]
    along = torch.nn.functional.normalize(poses[visible][:, :, 0], dim=1) * length
    ends = torch.stack([place, place + along], dim=1)  # [P, 2, 2]
    opacity = weight[visible].clamp(0, 1).tolist()
    colour = LIGHT["contrast"]
    ticks = LineCollection(ends.tolist(), colors=colour, alpha=opacity, linewidths=1.3)
    axes.add_collection(ticks)
    axes.scatter(*place.T, s=9, color=colour, alpha=opacity)


@in_book_style
def errors_round_the_circle(
    record: Mapping[str, Any], arms: Mapping[str, str], among: str = "all"
) -> Figure:
    """Draw the error over the angle by which pictures are turned; shaded is what training showed.

    A thin line is a seed, a thick one their mean.

    Args:
        record: results/turning.json.
        arms: a name at the line's end -> an arm.
        among: "all" classes, or those "apart", which no turn makes into one another.
    """
    figure, axes = one_plot(height=3.0)
    axes.axvspan(-45, 45, color=LIGHT["accent"], alpha=0.12, linewidth=0)
    angles = record["about"]["angles"]
    half = len(angles) // 2
    centred = [*(angle - 180 for angle in angles), 180]
    ends = {}
    for colour, (name, arm) in zip(_COLOURS, arms.items(), strict=False):
        seeds = []
        for run in record["runs"]:
            if run["arm"] == arm:
                errors = [100 * error for error in run["by_angle"][among]]
                seeds.append([*errors[half:], *errors[:half], errors[half]])
        for errors in seeds:
            axes.plot(centred, errors, color=colour, linewidth=0.6, alpha=0.3)
        mean = [fmean(at_angle) for at_angle in zip(*seeds, strict=True)]
        axes.plot(centred, mean, color=colour)
        ends[name] = (180, mean[-1])
    axes.set(ylim=(-2, 100), yticks=[0, 25, 50, 75, 100], ylabel="wrong, per cent")
    axes.set_xticks(range(-180, 181, 90), [f"{angle}°" for angle in range(-180, 181, 90)])
    axes.text(0, 97, "shown in training", ha="center", va="top", fontsize=8)
    name_ends(axes, ends, _COLOURS[: len(ends)])
    return figure
