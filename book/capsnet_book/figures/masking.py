"""The figures of the chapter on masking and the decoder."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import _STYLE, WIDTH, phone_form, show_digit
from capsnet_book.palette import LIGHT


@phone_form(on_a_phone=True)
def ten_drawings(
    images: Tensor, drawings: Tensor, lengths: Tensor, labels: Sequence[int], *, on_a_phone: bool = False
) -> Figure:
    """One row an image: the image, then what each of its ten capsules draws. The longest is framed.

    Args:
        images: [N, 1, 28, 28].
        drawings: [N, 10, 28, 28], the drawing of each capsule alone.
        lengths: [N, 10], written below the drawings.
        labels: the class of each image; its length is set in the colour of agreement.
        on_a_phone: only the longest capsule's and the class's lengths are written, with more room for them.
    """
    rows, tall = len(images), 1.25 if on_a_phone else 0.76
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            rows,
            11,
            figsize=(WIDTH, tall * rows + 0.3),
            squeeze=False,
            gridspec_kw={"width_ratios": [1.25] + [1] * 10, "left": 0.01, "right": 0.99, "wspace": 0.08,
                         "bottom": 0.16 / rows, "top": 1 - 0.26 / (tall * rows + 0.3), "hspace": 0.2},
        )  # fmt: skip
        for row, (line, label) in enumerate(zip(axes, labels, strict=True)):
            longest = int(lengths[row].argmax())
            for k, axis in enumerate(line):
                show_digit(axis, images[row].reshape(28, 28) if k == 0 else drawings[row, k - 1])
                axis.set(xticks=[], yticks=[])
                for side in axis.spines.values():
                    framed = k - 1 == longest
                    side.set(visible=framed, color=LIGHT["accent"], linewidth=1.6)
                if k and not (on_a_phone and k - 1 not in (longest, label)):
                    colour, weight = (LIGHT["agree"], "bold") if k - 1 == label else (LIGHT["muted"], "normal")
                    value = f"{float(lengths[row, k - 1]):.2f}"
                    axis.set_xlabel(value, fontsize=7.5, color=colour, weight=weight, labelpad=2)
        axes[0, 0].set_title("image", fontsize=9)
        for j in range(10):
            axes[0, j + 1].set_title(str(j), fontsize=9)
        plt.close(figure)
    return figure


def two_losses(parts: dict[str, tuple[float, float]]) -> Figure:
    """What the two losses add up to, a bar a way of counting. parts: name -> (margin, reconstruction)."""
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 0.5 * len(parts) + 0.7), layout="constrained")
        places = np.arange(len(parts))[::-1]
        margin, drawing = np.array(list(parts.values())).T
        share = 100 * margin / (margin + drawing)
        axes.barh(places, share, color=LIGHT["accent"], height=0.55, label="margin loss")
        axes.barh(places, 100 - share, left=share, color=LIGHT["contrast"], height=0.55, label="reconstruction")
        for place, part in zip(places, share, strict=True):
            for at, value in ((part / 2, part), (part + (100 - part) / 2, 100 - part)):
                if value > 7:
                    axes.text(at, place, f"{value:.0f} %", color=LIGHT["surface"], ha="center", va="center")
        axes.set_yticks(places, list(parts))
        axes.set(xlim=(0, 100), xticks=[])
        axes.tick_params(length=0, labelcolor=LIGHT["ink"])
        for side in axes.spines.values():
            side.set_visible(False)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderpad=0)
        plt.close(figure)
    return figure
