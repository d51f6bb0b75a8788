"""The figures of the chapters on routing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import _STYLE, SIGNED, WIDTH, grid_of_plots, phone_form, show_digit
from capsnet_book.palette import LIGHT

FULL = 4
"""A coupling of four times 1/J, or a quarter of it, has the full colour, as in the widgets."""


@phone_form(on_a_phone=True)
def coupling_maps(
    images: Tensor,
    couplings: Tensor,
    lengths: Tensor,
    labels: Sequence[int],
    rounds: Sequence[int],
    *,
    on_a_phone: bool = False,
) -> Figure:
    """Who listens to whom, round by round: a row a digit, a map a round, and beside each map the lengths.

    Args:
        images: [N, 1, 28, 28] or [N, 28, 28].
        couplings: [R, N, I, J], the trace's; round 1 comes first.
        lengths: [R, N, J], of the capsules above.
        labels: the class of each digit; its row is marked.
        rounds: which rounds to show, from 1 to R.
        on_a_phone: the lengths named once.
    """
    count, classes = len(images), couplings.shape[3]
    with grid_of_plots(count, 1 + 2 * len(rounds), height=1.02 * count + 0.55) as (figure, axes):
        axes[0, 0].get_gridspec().set_width_ratios([0.62, *[1, 0.3] * len(rounds)])
        figure.subplots_adjust(
            left=0.01, right=0.99, bottom=0.08, top=0.93, wspace=0.1, hspace=0.16
        )
        for n, line in enumerate(axes):
            show_digit(line[0], images[n].reshape(28, 28))
            line[0].set_xlim(-0.5, 38)  # room for the class
            for k, r in enumerate(rounds):
                strength = (couplings[r - 1, n].T * classes).clamp_min(1e-6).log() / math.log(
                    FULL
                )  # [J, I]
                shades = {"cmap": SIGNED, "vmin": -1, "vmax": 1}
                line[1 + 2 * k].imshow(
                    strength.numpy(), aspect="auto", interpolation="nearest", **shades
                )
                colours = [
                    LIGHT["accent"] if j == labels[n] else LIGHT["muted"] for j in range(classes)
                ]
                line[2 + 2 * k].barh(
                    range(classes), lengths[r - 1, n].numpy(), color=colours, height=0.75
                )
                line[2 + 2 * k].set(xlim=(0, 1), ylim=(classes - 0.5, -0.5))
                for axis in line[1 + 2 * k : 3 + 2 * k]:
                    for side in axis.spines.values():
                        side.set(visible=True, color=LIGHT["line"], linewidth=0.6)
            line[1].set_yticks([labels[n]], [str(labels[n])])
            line[1].tick_params(length=0, labelcolor=LIGHT["accent"], pad=2)
        for k, r in enumerate(rounds):
            axes[0, 1 + 2 * k].set_title(f"round {r}", fontsize=10, loc="left")
            if not on_a_phone or r == rounds[-1]:
                axes[-1, 2 + 2 * k].set_xlabel("‖v‖", color=LIGHT["muted"])
        axes[-1, 1].set_xlabel(f"{couplings.shape[2]} capsules below", color=LIGHT["muted"])
    return figure


def share_bars(couplings: Tensor, parts: Sequence[str], wholes: Sequence[str]) -> Figure:
    """How each part shares itself out between two wholes, round by round: dark and light, since parts have the colours.

    couplings: [R, I, 2].
    """
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            1,
            len(couplings),
            figsize=(WIDTH, 0.5 + 0.42 * len(parts)),
            layout="constrained",
            sharey=True,
            squeeze=False,
        )
        for r, (axis, shares) in enumerate(zip(axes[0], couplings.tolist(), strict=True), start=1):
            rows = range(len(parts))
            first, second = zip(*shares, strict=True)
            axis.barh(rows, first, color=LIGHT["ink"], height=0.7)
            axis.barh(rows, second, left=first, color=LIGHT["line"], height=0.7)
            for row, (one, other) in enumerate(shares):
                axis.text(-0.03, row, f"{one:.2f}", ha="right", va="center")
                axis.text(1.03, row, f"{other:.2f}", ha="left", va="center", color=LIGHT["muted"])
            axis.set_title(f"round {r}")
            axis.set(xlim=(-0.3, 1.3), xticks=[], yticks=list(rows), yticklabels=parts)
            axis.invert_yaxis() if r == 1 else None
            axis.spines[["left", "bottom"]].set_visible(False)
            axis.tick_params(length=0)
        figure.supxlabel(
            f"left: what it gives to {wholes[0]}; right: to {wholes[1]}",
            fontsize=9,
            color=LIGHT["muted"],
        )
        plt.close(figure)
    return figure
