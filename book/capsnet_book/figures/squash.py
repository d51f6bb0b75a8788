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


def roots_at_zero() -> Figure:
    """The root of the squared length near zero, bare and with the floor underneath; ε² is the unit."""
    squared = np.linspace(0, 6, 600)
    with one_plot(height=2.6) as (figure, axes):
        axes.plot(squared, np.sqrt(squared), color=LIGHT["contrast"], linewidth=1.6)
        axes.plot(squared, np.sqrt(np.maximum(squared, 1)), color=LIGHT["accent"])
        axes.plot([0, 0], [0, 0.75], color=LIGHT["contrast"], linewidth=1.2, linestyle=(0, (3, 3)), clip_on=False)
        axes.plot([0, 0], [0, 1], "o", color=LIGHT["muted"], markersize=4, clip_on=False, zorder=3)
        axes.text(0.3, 0.2, "the bare root: its slope at 0 is ∞", color=LIGHT["contrast"])
        axes.text(1.7, 0.9, "with a floor underneath: its slope at 0 is 0", color=LIGHT["accent"], weight="bold")
        axes.set(xlim=(0, 6), ylim=(0, 2.5), xlabel="‖s‖², in units of ε²", ylabel="what s is divided by, in ε")
    return figure
