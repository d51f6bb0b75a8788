"""The figures of the chapter on masking and the decoder."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import _STYLE, WIDTH, phone_form, show_digit
from capsnet_book.palette import LIGHT


@phone_form(on_a_phone=True)
def ten_drawings(
    images: Tensor,
    drawings: Tensor,
    lengths: Tensor,
    labels: Sequence[int],
    *,
    on_a_phone: bool = False,
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
                    colour = LIGHT["agree"] if k - 1 == label else LIGHT["muted"]
                    weight = (
                        "bold" if k - 1 == label and not on_a_phone else "normal"
                    )  # bold neighbours meet there
                    value = f"{float(lengths[row, k - 1]):.2f}"
                    axis.set_xlabel(value, fontsize=7.5, color=colour, weight=weight, labelpad=2)
        axes[0, 0].set_title("image", fontsize=9)
        for j in range(10):
            axes[0, j + 1].set_title(str(j), fontsize=9)
        plt.close(figure)
    return figure
