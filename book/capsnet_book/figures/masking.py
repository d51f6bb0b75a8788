"""The figures of the chapter on masking and the decoder."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import (
    WIDTH,
    in_book_style,
    phone_form,
    set_spines,
    show_digit,
)
from capsnet_book.palette import LIGHT


@phone_form(on_a_phone=True)
@in_book_style
def ten_drawings(
    images: Tensor,
    drawings: Tensor,
    lengths: Tensor,
    labels: Sequence[int],
    *,
    on_a_phone: bool = False,
) -> Figure:
    """Draw images, a row each, with the reconstruction from each of their ten capsules.

    The reconstruction from the longest capsule is framed.

    Args:
        images: [N, 1, 28, 28].
        drawings: [N, 10, 28, 28], the reconstruction from each capsule alone.
        lengths: [N, 10], written below the reconstructions.
        labels: the class of each image; its length is set in the colour of agreement.
        on_a_phone: whether only the lengths of the class and of the longest capsule are written.
    """
    rows = len(images)
    row_height = 1.25 if on_a_phone else 0.76
    height = row_height * rows + 0.3
    figure, axes = plt.subplots(
        rows,
        11,
        figsize=(WIDTH, height),
        squeeze=False,
        gridspec_kw={
            "width_ratios": [1.25] + [1] * 10,
            "left": 0.01,
            "right": 0.99,
            "wspace": 0.08,
            "bottom": 0.16 / rows,
            "top": 1 - 0.26 / height,
            "hspace": 0.2,
        },
    )
    for panel in axes.flat:
        panel.set(xticks=[], yticks=[])
        set_spines(panel, visible=False)
    for row, label in enumerate(labels):
        show_digit(axes[row, 0], images[row].reshape(28, 28))
        longest = int(lengths[row].argmax())
        set_spines(axes[row, 1 + longest], visible=True, color=LIGHT["accent"], linewidth=1.6)
        for j in range(10):
            show_digit(axes[row, 1 + j], drawings[row, j])
            # Neighbours in bold would run together on a phone.
            weight = "bold" if j == label and not on_a_phone else "normal"
            colour = LIGHT["agree"] if j == label else LIGHT["muted"]
            if j in (longest, label) or not on_a_phone:
                _write_length(axes[row, 1 + j], float(lengths[row, j]), colour, weight)
    axes[0, 0].set_title("image", fontsize=9)
    for j in range(10):
        axes[0, 1 + j].set_title(str(j), fontsize=9)
    return figure


def _write_length(axes: Axes, length: float, colour: str, weight: str) -> None:
    """Write the length of a capsule below its reconstruction."""
    axes.set_xlabel(f"{length:.2f}", fontsize=7.5, color=colour, weight=weight, labelpad=2)
