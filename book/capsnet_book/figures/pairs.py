"""The figure of the chapter on two digits at once."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import WIDTH, in_book_style, phone_form, show_digit, tinted
from capsnet_book.palette import LIGHT

TINTS = (LIGHT["accent"], LIGHT["contrast"])


class DrawnPair(NamedTuple):
    """An image of two digits, and two reconstructions of it."""

    image: Tensor
    """[1, 36, 36], or [36, 36]."""
    drawings: Tensor
    """[2, 36, 36], or [2, 1296]."""
    asked: tuple[int, int]
    """The classes whose capsules were decoded."""
    lengths: tuple[float, float]
    """The lengths of these capsules."""
    present: tuple[int, int]
    """The classes of the two digits."""


@phone_form(on_a_phone=True)
@in_book_style
def drawn_pairs(groups: Mapping[str, Sequence[DrawnPair]], *, on_a_phone: bool = False) -> Figure:
    """Draw pairs as figure 5 of the paper does: a column for each pair.

    From top to bottom: the image, both reconstructions in two colours, and each alone. Above the
    image stand the classes of its digits, above a reconstruction its class and the length of its
    capsule; a class that is not in the image has a star.

    Args:
        groups: a heading -> its pairs, beside each other.
        on_a_phone: whether to show two pairs of each, headings in lines, lengths of one decimal.
    """
    decimals = 2
    if on_a_phone:
        groups = {textwrap.fill(heading, 11): pairs[:2] for heading, pairs in groups.items()}
        decimals = 1
    lines = max(heading.count("\n") for heading in groups) + 1
    widths: list[float] = []
    for pairs in groups.values():
        gap = [0.35] if widths else []
        widths += gap + [1.0] * len(pairs)
    side = WIDTH * 0.98 / (sum(widths) + 0.05 * len(widths))  # of an image, in inches
    top = 0.3 + 0.22 * lines
    height = 4 * side + 0.73 + top
    figure, axes = plt.subplots(
        4,
        len(widths),
        figsize=(WIDTH, height),
        squeeze=False,
        gridspec_kw={
            "width_ratios": widths,
            "left": 0.01,
            "right": 0.99,
            "wspace": 0.05,
            "hspace": 0.36,
            "top": 1 - top / height,
            "bottom": 0.22 / height,
        },
    )
    for panel in axes.flat:
        panel.axis("off")
    column = 0
    for heading, pairs in groups.items():
        first, last = axes[0, column], axes[0, column + len(pairs) - 1]
        middle = (first.get_position().x0 + last.get_position().x1) / 2
        style = {"ha": "center", "va": "top", "fontsize": 9.5, "weight": "bold"}
        figure.text(middle, 1 - 0.12 / height, heading, **style)
        for pair in pairs:
            _draw_column(axes[:, column], pair, decimals)
            column += 1
        column += 1  # the gap
    return figure


def _draw_column(axes: np.ndarray, pair: DrawnPair, decimals: int) -> None:
    """Draw a pair: the image, both reconstructions, and each alone."""
    drawings = pair.drawings.reshape(2, 36, 36)
    show_digit(axes[0], pair.image.reshape(36, 36))
    present = f"{pair.present[0]}, {pair.present[1]}"
    axes[0].set_title(present, fontsize=8.5, pad=3, color=LIGHT["muted"])
    axes[1].imshow(tinted(drawings, TINTS), interpolation="nearest")
    for k, tint in enumerate(TINTS):
        panel, label, length = axes[2 + k], pair.asked[k], pair.lengths[k]
        panel.imshow(tinted(drawings[k : k + 1], [tint]), interpolation="nearest")
        star = "" if label in pair.present else "*"
        title = f"{label}{star}: {length:.{decimals}f}"
        panel.set_title(title, fontsize=8, pad=2, color=tint, weight="bold")
