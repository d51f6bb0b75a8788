"""The figures of the chapter on the margin loss."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
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


@in_book_style
def margin_curves(m_plus: float = 0.9, m_minus: float = 0.1) -> Figure:
    """Draw the loss of a length, and the length of least loss for a class of probability p."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.5), layout="constrained")
    _draw_losses(left, m_plus, m_minus)
    _draw_best_lengths(right, m_plus, m_minus)
    for axes in (left, right):
        axes.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    return figure


def _draw_losses(axes: Axes, m_plus: float, m_minus: float) -> None:
    """Draw the loss of a capsule over its length, its class present or absent."""
    lengths = np.linspace(0, 1, 401)
    present, absent, flat = LIGHT["accent"], LIGHT["contrast"], LIGHT["agree"]
    for low, high in ((0, m_minus), (m_plus, 1)):
        axes.axvspan(low, high, color=flat, alpha=0.12, linewidth=0)
    loss_absent = np.maximum(0, lengths - m_minus) ** 2
    axes.plot(lengths, np.maximum(0, m_plus - lengths) ** 2, color=present)
    axes.plot(lengths, loss_absent, color=absent, linewidth=1.2)
    axes.plot(lengths, 0.5 * loss_absent, color=absent)
    axes.text(0.13, 0.66, "present", color=present, weight="bold")
    axes.text(0.88, 0.1, "absent", color=absent, weight="bold", ha="right")
    axes.text(0.88, 0.05, "λ = 0.5", color=absent, ha="right")
    axes.text(0.87, 0.68, "absent, λ = 1", color=absent, ha="right")
    for middle in (m_minus / 2, (1 + m_plus) / 2):
        axes.text(middle, 0.02, "flat", color=flat, ha="center", va="bottom", rotation=90)
    axes.set(xlim=(0, 1), ylim=(0, 0.85), xlabel="‖v‖, length of the capsule")
    axes.set_title("what a length costs", loc="left")


def _draw_best_lengths(axes: Axes, m_plus: float, m_minus: float) -> None:
    """Draw the length of least loss over p, for two λ, and without the square."""
    p = np.linspace(0, 1, 401)
    reach = m_plus - m_minus
    even = m_minus + reach * p / (p + 1.0 * (1 - p))
    axes.plot(p, even, color=LIGHT["ink"], linewidth=1.2)
    axes.text(0.55, 0.43, "λ = 1")
    half = m_minus + reach * p / (p + 0.5 * (1 - p))
    axes.plot(p, half, color=LIGHT["ink"], linewidth=2.0)
    axes.text(0.42, 0.745, "λ = 0.5")
    step = [m_minus, m_minus, m_plus, m_plus]
    axes.plot([0, 1 / 3, 1 / 3, 1], step, color=LIGHT["soft"], linestyle=(0, (4, 2)))
    axes.text(0.37, 0.93, "not squared, λ = 0.5", color=LIGHT["soft"])
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="p, how often the class is present")
    axes.set_title("the length that costs least", loc="left")
    axes.set_yticks([0, m_minus, m_plus, 1], ["0", "m⁻", "m⁺", "1"])


@phone_form(on_a_phone=True)
@in_book_style
def lengths_below(
    images: Tensor, lengths: Tensor, present: Sequence[Sequence[int]], *, on_a_phone: bool = False
) -> Figure:
    """Draw images side by side, each with its ten capsule lengths; present classes are in colour.

    Args:
        images: [N, 1, 28, 28] or [N, 28, 28].
        lengths: [N, 10].
        present: N lists of class numbers.
        on_a_phone: whether only the present classes are numbered.
    """
    count = len(images)
    figure, axes = plt.subplots(
        2,
        count,
        figsize=(WIDTH, 1.1 + WIDTH / count),
        squeeze=False,
        layout="constrained",
        gridspec_kw={"height_ratios": [WIDTH / count, 1.0]},
    )
    for k, (above, below) in enumerate(axes.T):
        show_digit(above, images[k].reshape(images.shape[-2:]))
        above.set(xticks=[], yticks=[])
        set_spines(above, visible=True, color=LIGHT["line"])
        colours = [LIGHT["accent"] if j in present[k] else LIGHT["line"] for j in range(10)]
        below.bar(range(10), lengths[k].numpy(), color=colours, width=0.75)
        for margin in (0.9, 0.1):
            dashes = (0, (4, 3))
            below.axhline(margin, color=LIGHT["line"], linewidth=1, linestyle=dashes, zorder=0)
        below.set(ylim=(0, 1), yticks=[0.1, 0.9] if k == 0 else [])
        numbered = present[k] if on_a_phone else range(10)
        below.set_xticks(numbered, [str(j) for j in numbered], fontsize=7)
        below.tick_params(axis="x", length=0)
    return figure
