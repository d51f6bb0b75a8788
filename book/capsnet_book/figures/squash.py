"""The figures of the chapter on squash."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from capsnet_book.figures._style import _STYLE, WIDTH, one_plot
from capsnet_book.palette import LIGHT


def squash_curve() -> Figure:
    """Length out against length in, with what it would be if nothing were squashed."""
    lengths = np.linspace(0, 6, 400)
    with one_plot(height=3.1) as (figure, axes):
        axes.plot(lengths, lengths, color=LIGHT["line"], linewidth=1.2)
        axes.text(
            0.93, 1.0, "unchanged", color=LIGHT["muted"], rotation=62, ha="center", va="center"
        )
        axes.axhline(1, color=LIGHT["line"], linewidth=1.2, linestyle=(0, (4, 3)))
        axes.plot(lengths, np.tanh(lengths), color=LIGHT["muted"], linewidth=1.4)
        axes.text(2.05, 0.9, "tanh", color=LIGHT["muted"])
        axes.plot(lengths, lengths**2 / (1 + lengths**2), color=LIGHT["accent"])
        axes.text(2.6, 0.78, "squash", color=LIGHT["accent"], weight="bold")
        steepest = 1 / np.sqrt(3)
        axes.plot(steepest, 0.25, "o", color=LIGHT["accent"])
        axes.annotate(
            "steepest at 1/√3:\na quarter long",
            (steepest, 0.25),
            (1.3, 0.12),
            color=LIGHT["accent"],
            arrowprops={"arrowstyle": "-", "color": LIGHT["accent"]},
        )
        axes.set(xlim=(0, 6), ylim=(0, 1.15), xlabel="‖s‖, length in", ylabel="‖v‖, length out")
    return figure


def two_floors(floor: float = 0.4) -> Figure:
    """A floor put under a length: after the root, and before it. The slopes where the sum of squares is zero."""
    x = np.linspace(0, 1, 400)
    ink, slope, green = LIGHT["ink"], LIGHT["soft"], LIGHT["agree"]
    with plt.rc_context(_STYLE):
        figure, (after, before) = plt.subplots(
            1, 2, figsize=(WIDTH, 2.7), sharey=True, layout="constrained"
        )
        after.plot(x, np.sqrt(x), color=ink, linewidth=1.2)
        after.axhline(floor, color=green)
        after.plot(
            [0, 0], [0, 0.28], color=slope, linewidth=4, solid_capstyle="butt", clip_on=False
        )
        after.text(0.04, 0.05, "the root: slope ∞", color=slope)
        after.text(0.98, floor - 0.03, "the floor: slope 0", color=green, ha="right", va="top")
        after.set_title("the root, then the floor: 0 · ∞ = nan", loc="left")
        beyond = x[x >= floor**2]
        before.plot(beyond, np.sqrt(beyond), color=ink, linewidth=1.2)
        before.plot([0, floor**2], [0.02, 0.02], color=green, linewidth=4, solid_capstyle="butt")
        before.text(floor**2 + 0.03, 0.05, "the floor: slope 0", color=green)
        run = np.array([-0.1, 0.12])
        before.plot(floor**2 + run, floor + run / (2 * floor), color=slope)
        before.plot(floor**2, floor, "o", color=slope)
        before.text(floor**2 + 0.06, floor - 0.03, "the root: steep, not ∞", color=slope, va="top")
        before.set_title("the floor, then the root: 0 · steep = 0", loc="left")
        for axes in (after, before):
            axes.set(
                xlim=(0, 1), ylim=(0, 1.05), xticks=[0, floor**2, 1], xticklabels=["0", "ε²", "1"]
            )
            axes.set(yticks=[floor, 1], yticklabels=["ε", "1"], xlabel="sum of the squares")
        after.set_ylabel("length")
        plt.close(figure)
    return figure
