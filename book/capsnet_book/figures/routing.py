"""The figures of the chapters on routing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import (
    SIGNED,
    WIDTH,
    grid_of_pictures,
    in_book_style,
    phone_form,
    set_spines,
    show_digit,
)
from capsnet_book.palette import LIGHT

FULL = 4
"""A coupling of four times 1/J, or a quarter of it, has the full colour, as in the widgets."""


@phone_form(on_a_phone=True)
@in_book_style
def coupling_maps(  # noqa: PLR0913 - three tensors and what to show of them, all named in calls
    images: Tensor,
    couplings: Tensor,
    lengths: Tensor,
    labels: Sequence[int],
    rounds: Sequence[int],
    *,
    on_a_phone: bool = False,
) -> Figure:
    """Draw the couplings of digits, a row a digit and a map a round, with the lengths beside a map.

    Args:
        images: [N, 1, 28, 28] or [N, 28, 28].
        couplings: [R, N, I, J], a trace's; round 1 comes first.
        lengths: [R, N, J], of the capsules above.
        labels: the class of each digit; its row of a map is named.
        rounds: the rounds to show, from 1 to R.
        on_a_phone: whether the axis of lengths is named once instead of under each round.
    """
    count = len(images)
    figure, grid = grid_of_pictures(count, 1 + 2 * len(rounds), height=1.02 * count + 0.55)
    grid[0, 0].get_gridspec().set_width_ratios([0.62, *[1, 0.3] * len(rounds)])
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.08, top=0.93, wspace=0.1, hspace=0.16)
    for n, label in enumerate(labels):
        show_digit(grid[n, 0], images[n].reshape(28, 28))
        grid[n, 0].set_xlim(-0.5, 38)  # room for the class
        for k, r in enumerate(rounds):
            map_axes, length_axes = grid[n, 1 + 2 * k], grid[n, 2 + 2 * k]
            _map_of_couplings(map_axes, couplings[r - 1, n])
            _bars_of_lengths(length_axes, lengths[r - 1, n], label)
        grid[n, 1].set_yticks([label], [str(label)])
        grid[n, 1].tick_params(length=0, labelcolor=LIGHT["accent"], pad=2)
    for k, r in enumerate(rounds):
        grid[0, 1 + 2 * k].set_title(f"round {r}", fontsize=10, loc="left")
        if not on_a_phone or r == rounds[-1]:
            grid[-1, 2 + 2 * k].set_xlabel("‖v‖", color=LIGHT["muted"])
    grid[-1, 1].set_xlabel(f"{couplings.shape[2]} capsules below", color=LIGHT["muted"])
    return figure


def _map_of_couplings(axes: Axes, couplings: Tensor) -> None:
    """Draw couplings [I, J] as a map, a row for each capsule above; 1/J has no colour."""
    times_even = (couplings.T * couplings.shape[1]).clamp_min(1e-6)  # [J, I]
    strength = times_even.log() / math.log(FULL)
    axes.imshow(
        strength.numpy(), aspect="auto", interpolation="nearest", cmap=SIGNED, vmin=-1, vmax=1
    )
    set_spines(axes, visible=True, color=LIGHT["line"], linewidth=0.6)


def _bars_of_lengths(axes: Axes, lengths: Tensor, label: int) -> None:
    """Draw lengths [J] as bars, the class's in colour."""
    classes = range(len(lengths))
    colours = [LIGHT["accent"] if j == label else LIGHT["muted"] for j in classes]
    axes.barh(classes, lengths.numpy(), color=colours, height=0.75)
    axes.set(xlim=(0, 1), ylim=(len(lengths) - 0.5, -0.5))
    set_spines(axes, visible=True, color=LIGHT["line"], linewidth=0.6)


@in_book_style
def share_bars(couplings: Tensor, parts: Sequence[str], wholes: Sequence[str]) -> Figure:
    """Draw how each part shares itself out between two wholes, round by round.

    The wholes are dark and light, since the parts have the colours.

    Args:
        couplings: [R, I, 2].
        parts: the names of the I parts.
        wholes: the names of both wholes.
    """
    figure, panels = plt.subplots(
        1,
        len(couplings),
        figsize=(WIDTH, 0.5 + 0.42 * len(parts)),
        layout="constrained",
        sharey=True,
        squeeze=False,
    )
    rows = range(len(parts))
    for r, (axes, shares) in enumerate(zip(panels[0], couplings, strict=True), start=1):
        first, second = torch.unbind(shares, dim=1)
        axes.barh(rows, first, color=LIGHT["ink"], height=0.7)
        axes.barh(rows, second, left=first, color=LIGHT["line"], height=0.7)
        for row in rows:
            axes.text(-0.03, row, f"{first[row]:.2f}", ha="right", va="center")
            other = f"{second[row]:.2f}"
            axes.text(1.03, row, other, ha="left", va="center", color=LIGHT["muted"])
        axes.set_title(f"round {r}")
        axes.set(xlim=(-0.3, 1.3), xticks=[], yticks=list(rows), yticklabels=parts)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(length=0)
    panels[0, 0].invert_yaxis()
    figure.supxlabel(
        f"left: what it gives to {wholes[0]}; right: to {wholes[1]}",
        fontsize=9,
        color=LIGHT["muted"],
    )
    return figure
