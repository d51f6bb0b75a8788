"""The figures of the chapters on routing."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import (
    WIDTH,
    grid_of_pictures,
    in_book_style,
    phone_form,
    show_digit,
)
from capsnet_book.palette import LIGHT


@phone_form(shown=3)
@in_book_style
def shares_by_round(  # noqa: PLR0913 - three tensors and what to show of them, all named in calls
    images: Tensor,
    shares: Tensor,
    lengths: Tensor,
    rounds: Sequence[int],
    *,
    lit: int,
    shown: int = 5,
) -> Figure:
    """Draw what each capsule below gives to the class of a digit: a row a digit, a panel a round.

    Args:
        images: [N, 1, 28, 28] or [N, 28, 28].
        shares: [R, N, I], couplings with the capsule of the digit's class; round 1 comes first.
        lengths: [R, N], of that capsule.
        rounds: the rounds to show, from 1 to R.
        lit: the capsule below, counted from 0, that is drawn in colour.
        shown: digits that are drawn.
    """
    count = min(shown, len(images))
    figure, grid = grid_of_pictures(count, 1 + len(rounds), height=0.95 * count + 0.4)
    grid[0, 0].get_gridspec().set_width_ratios([0.5, *[1] * len(rounds)])
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.94, wspace=0.1, hspace=0.35)
    for n in range(count):
        show_digit(grid[n, 0], images[n].reshape(28, 28))
        for axes, r in zip(grid[n, 1:], rounds, strict=True):
            _draw_shares(axes, shares[r - 1, n], lit)
            sentence = f"{lengths[r - 1, n]:.2f} long"
            place = {"transform": axes.transAxes, "ha": "left", "va": "top"}
            axes.text(0.03, 0.98, sentence, fontsize=8, color=LIGHT["muted"], **place)
    for axes, r in zip(grid[0, 1:], rounds, strict=True):
        axes.set_title(f"round {r}", fontsize=10)
    return figure


def _draw_shares(axes: Axes, shares: Tensor, lit: int) -> None:
    """Draw shares [I] from 0 to 1 as upright lines, the lit one in colour and as broad as three."""
    places = range(len(shares))
    axes.bar(places, shares.numpy(), width=0.9, color=LIGHT["muted"], alpha=0.55)
    axes.bar(lit, shares[lit], width=3, color=LIGHT["accent"])
    axes.axhline(0, color=LIGHT["line"], linewidth=1)
    axes.set(xlim=(-1, len(shares) + 1), ylim=(0, 1.25))


PART_COLOURS = ("accent", "soft", "contrast")
"""Of bar, stem and speck."""


@in_book_style
def share_bars(couplings: Tensor, parts: Sequence[str], wholes: Sequence[str]) -> Figure:
    """Draw how each part shares itself out between two wholes, round by round.

    A part has the colour that it has in the text and in the widgets; the second whole's share is
    grey.

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
    colours = [LIGHT[PART_COLOURS[row % len(PART_COLOURS)]] for row in rows]
    for r, (axes, shares) in enumerate(zip(panels[0], couplings, strict=True), start=1):
        first, second = torch.unbind(shares, dim=1)
        axes.barh(rows, first, color=colours, height=0.7)
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
