"""The figure of the chapter on two digits at once."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import _STYLE, WIDTH, phone_form, show_digit
from capsnet_book.palette import LIGHT

TINTS = (LIGHT["accent"], LIGHT["contrast"])


class DrawnPair(NamedTuple):
    """A picture of two digits, and two drawings made of it."""

    image: Tensor
    """[1, 36, 36], or [36, 36]."""
    drawings: Tensor
    """[2, 36, 36], or [2, 1296]."""
    asked: tuple[int, int]
    """The classes whose capsules have drawn."""
    lengths: tuple[float, float]
    """How long those are."""
    present: tuple[int, int]
    """The classes that are there."""


@phone_form(on_a_phone=True)
def drawn_pairs(groups: Mapping[str, Sequence[DrawnPair]], *, on_a_phone: bool = False) -> Figure:
    """As in the paper's figure 5, a column a pair: the picture, both drawings in two colours, and each alone.

    Above the picture stands what is there, above a drawing whose it is and how long that capsule is; a class that is
    not there has a star.

    Args:
        groups: a heading -> its pairs, beside each other.
        on_a_phone: two pairs of each, headings of several lines, lengths of one decimal.
    """
    if on_a_phone:
        groups = {textwrap.fill(heading, 11): pairs[:2] for heading, pairs in groups.items()}
    lines = max(heading.count("\n") for heading in groups) + 1
    widths = [width for pairs in groups.values() for width in [*[1.0] * len(pairs), 0.35]][:-1]
    side = WIDTH * 0.98 / (sum(widths) + 0.05 * len(widths))  # of a picture, in inches
    with plt.rc_context(_STYLE):
        top = 0.3 + 0.22 * lines
        height = 4 * side + 0.73 + top
        figure, axes = plt.subplots(
            4, len(widths), figsize=(WIDTH, height), squeeze=False,
            gridspec_kw={"width_ratios": widths, "left": 0.01, "right": 0.99, "wspace": 0.05, "hspace": 0.36,
                         "top": 1 - top / height, "bottom": 0.22 / height},
        )  # fmt: skip
        for axis in axes.flat:
            axis.axis("off")
        at = 0
        for heading, pairs in groups.items():
            middle = (
                axes[0, at].get_position().x0 + axes[0, at + len(pairs) - 1].get_position().x1
            ) / 2
            figure.text(
                middle,
                1 - 0.12 / height,
                heading,
                ha="center",
                va="top",
                fontsize=9.5,
                weight="bold",
            )
            for column, pair in enumerate(pairs, start=at):
                _draw_column(axes[:, column], pair, 1 if on_a_phone else 2)
            at += len(pairs) + 1
        plt.close(figure)
    return figure


def _draw_column(axes: np.ndarray, pair: DrawnPair, decimals: int) -> None:
    drawings = pair.drawings.reshape(2, 36, 36)
    show_digit(axes[0], pair.image.reshape(36, 36))
    axes[0].set_title(
        f"{pair.present[0]}, {pair.present[1]}", fontsize=8.5, pad=3, color=LIGHT["muted"]
    )
    axes[1].imshow(tinted(drawings), interpolation="nearest")
    for axis, drawing, tint, asked, length in zip(
        axes[2:], drawings, TINTS, pair.asked, pair.lengths, strict=True
    ):
        axis.imshow(tinted(drawing[None], [tint]), interpolation="nearest")
        star = "" if asked in pair.present else "*"
        axis.set_title(
            f"{asked}{star}: {length:.{decimals}f}", fontsize=8, pad=2, color=tint, weight="bold"
        )


def tinted(drawings: Tensor, tints: Sequence[str] = TINTS) -> np.ndarray:
    """Drawings [N, H, W], each in its colour, on one sheet as if printed one after the other: [H, W, 3]."""
    sheet = np.ones(3)
    for drawing, tint in zip(drawings.numpy(), tints, strict=True):
        sheet = sheet * (1 + (np.array(to_rgb(tint)) - 1) * drawing[..., None])
    return sheet
