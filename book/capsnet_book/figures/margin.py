"""The figures of the chapter on the margin loss."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import _STYLE, WIDTH, phone_form, show_digit
from capsnet_book.palette import LIGHT


def margin_curves(m_plus: float = 0.9, m_minus: float = 0.1) -> Figure:
    """Left, what a length costs; right, the length that costs least when the class is present in a share p of cases."""
    lengths = np.linspace(0, 1, 401)
    with plt.rc_context(_STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.5), layout="constrained")
        _loss_curves(left, lengths, m_plus, m_minus)
        p = np.linspace(0, 1, 401)
        reach = m_plus - m_minus
        for weight, width, name, at in (
            (1.0, 1.2, "λ = 1", (0.55, 0.43)),
            (0.5, 2.0, "λ = 0.5", (0.42, 0.745)),
        ):
            right.plot(
                p, m_minus + reach * p / (p + weight * (1 - p)), color=LIGHT["ink"], linewidth=width
            )
            right.text(*at, name)
        right.plot(
            [0, 1 / 3, 1 / 3, 1],
            [m_minus, m_minus, m_plus, m_plus],
            color=LIGHT["soft"],
            linestyle=(0, (4, 2)),
        )
        right.text(0.37, 0.93, "not squared, λ = 0.5", color=LIGHT["soft"])
        right.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="p, how often the class is present")
        right.set_title("the length that costs least", loc="left")
        for axes in (left, right):
            axes.set_xticks([0, 0.5, 1], ["0", "½", "1"])
        right.set_yticks([0, m_minus, m_plus, 1], ["0", "m⁻", "m⁺", "1"])
        plt.close(figure)
    return figure


def _loss_curves(axes: plt.Axes, lengths: np.ndarray, m_plus: float, m_minus: float) -> None:
    for low, high in ((0, m_minus), (m_plus, 1)):
        axes.axvspan(low, high, color=LIGHT["agree"], alpha=0.12, linewidth=0)
    axes.plot(lengths, np.maximum(0, m_plus - lengths) ** 2, color=LIGHT["accent"])
    axes.plot(
        lengths, np.maximum(0, lengths - m_minus) ** 2, color=LIGHT["contrast"], linewidth=1.2
    )
    axes.plot(lengths, 0.5 * np.maximum(0, lengths - m_minus) ** 2, color=LIGHT["contrast"])
    axes.text(0.13, 0.66, "present", color=LIGHT["accent"], weight="bold")
    axes.text(0.88, 0.1, "absent", color=LIGHT["contrast"], weight="bold", ha="right")
    axes.text(0.88, 0.05, "λ = 0.5", color=LIGHT["contrast"], ha="right")
    axes.text(0.87, 0.68, "absent, λ = 1", color=LIGHT["contrast"], ha="right")
    axes.text(
        m_minus / 2, 0.02, "flat", color=LIGHT["agree"], ha="center", va="bottom", rotation=90
    )
    axes.text(
        (1 + m_plus) / 2, 0.02, "flat", color=LIGHT["agree"], ha="center", va="bottom", rotation=90
    )
    axes.set(xlim=(0, 1), ylim=(0, 0.85), xlabel="‖v‖, length of the capsule")
    axes.set_title("what a length costs", loc="left")


@phone_form(on_a_phone=True)
def lengths_below(
    images: Tensor, lengths: Tensor, present: Sequence[Sequence[int]], *, on_a_phone: bool = False
) -> Figure:
    """Images side by side, each with its ten capsule lengths; the classes that are there in colour.

    Args:
        images: [N, 1, 28, 28] or [N, 28, 28].
        lengths: [N, 10].
        present: N lists of class numbers; on a phone only these classes are numbered.
    """
    count = len(images)
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            2, count, figsize=(WIDTH, 1.1 + WIDTH / count), squeeze=False, layout="constrained",
            gridspec_kw={"height_ratios": [WIDTH / count, 1.0]},
        )  # fmt: skip
        for k, (top, bottom) in enumerate(axes.T):
            show_digit(top, images[k].reshape(images.shape[-2:]))
            top.set(xticks=[], yticks=[])
            for side in top.spines.values():
                side.set(visible=True, color=LIGHT["line"])
            colours = [LIGHT["accent"] if j in present[k] else LIGHT["line"] for j in range(10)]
            bottom.bar(range(10), lengths[k].numpy(), color=colours, width=0.75)
            bottom.axhline(0.9, color=LIGHT["line"], linewidth=1, linestyle=(0, (4, 3)), zorder=0)
            bottom.axhline(0.1, color=LIGHT["line"], linewidth=1, linestyle=(0, (4, 3)), zorder=0)
            bottom.set(ylim=(0, 1), yticks=[0.1, 0.9] if k == 0 else [])
            numbered = present[k] if on_a_phone else range(10)
            bottom.set_xticks(numbered, [str(j) for j in numbered], fontsize=7)
            bottom.tick_params(axis="x", length=0)
        plt.close(figure)
    return figure
