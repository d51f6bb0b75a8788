"""The figures of the chapter on squash."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from capsnet_book.figures._style import one_plot
from capsnet_book.palette import LIGHT


def squash_curve() -> Figure:
    """Length out against length in, with what it would be if nothing were squashed."""
    lengths = np.linspace(0, 6, 400)
    with one_plot(height=3.1) as (figure, axes):
        axes.plot(lengths, lengths, color=LIGHT["line"], linewidth=1.2)
        axes.text(0.93, 1.0, "unchanged", color=LIGHT["muted"], rotation=62, ha="center", va="center")
        axes.axhline(1, color=LIGHT["line"], linewidth=1.2, linestyle=(0, (4, 3)))
        axes.plot(lengths, np.tanh(lengths), color=LIGHT["soft"], linewidth=1.4)
        axes.text(2.05, 0.9, "tanh", color=LIGHT["soft"])
        axes.plot(lengths, lengths**2 / (1 + lengths**2), color=LIGHT["accent"])
        axes.text(2.6, 0.78, "squash", color=LIGHT["accent"], weight="bold")
        steepest = 1 / np.sqrt(3)
        axes.plot(steepest, 0.25, "o", color=LIGHT["contrast"])
        axes.annotate(
            "steepest at 1/√3:\na quarter long",
            (steepest, 0.25),
            (1.3, 0.12),
            color=LIGHT["contrast"],
            arrowprops={"arrowstyle": "-", "color": LIGHT["contrast"]},
        )
        axes.set(xlim=(0, 6), ylim=(0, 1.15), xlabel="‖s‖, length in", ylabel="‖v‖, length out")
    return figure
