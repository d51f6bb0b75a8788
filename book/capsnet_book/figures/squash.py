"""The figures of the chapter on squash."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.figures._style import WIDTH, in_book_style, one_plot
from capsnet_book.palette import LIGHT


@in_book_style
def squash_curve() -> Figure:
    """Draw the length after squash against the length before, with the identity and tanh."""
    lengths = np.linspace(0, 6, 400)
    figure, axes = one_plot(height=3.1)
    axes.plot(lengths, lengths, color=LIGHT["line"], linewidth=1.2)
    axes.text(0.93, 1.0, "unchanged", color=LIGHT["muted"], rotation=62, ha="center", va="center")
    axes.axhline(1, color=LIGHT["line"], linewidth=1.2, linestyle=(0, (4, 3)))
    axes.plot(lengths, np.tanh(lengths), color=LIGHT["muted"], linewidth=1.4)
    axes.text(2.05, 0.9, "tanh", color=LIGHT["muted"])
    axes.plot(lengths, lengths**2 / (1 + lengths**2), color=LIGHT["accent"])
    axes.text(2.6, 0.78, "squash", color=LIGHT["accent"], weight="bold")
    steepest = (1 / np.sqrt(3), 0.25)
    axes.plot(*steepest, "o", color=LIGHT["accent"])
    axes.annotate(
        "steepest at 1/√3:\na quarter long",
        steepest,
        (1.3, 0.12),
        color=LIGHT["accent"],
        arrowprops={"arrowstyle": "-", "color": LIGHT["accent"]},
    )
    axes.set(xlim=(0, 6), ylim=(0, 1.15), xlabel="‖s‖, length in", ylabel="‖v‖, length out")
    return figure


@in_book_style
def two_floors(floor: float = 0.4) -> Figure:
    """Draw a length with a floor after the root and with one before it, and the slopes at zero."""
    figure, (after, before) = plt.subplots(
        1, 2, figsize=(WIDTH, 2.7), sharey=True, layout="constrained"
    )
    _draw_floor_after_root(after, floor)
    _draw_floor_before_root(before, floor)
    for axes in (after, before):
        axes.set(xlim=(0, 1), ylim=(0, 1.05), xlabel="sum of the squares")
        axes.set(xticks=[0, floor**2, 1], xticklabels=["0", "ε²", "1"])
        axes.set(yticks=[floor, 1], yticklabels=["ε", "1"])
    after.set_ylabel("length")
    return figure


def _draw_floor_after_root(axes: Axes, floor: float) -> None:
    """Draw the root, whose slope at zero is infinite, and the floor, whose slope is 0."""
    x = np.linspace(0, 1, 400)
    axes.plot(x, np.sqrt(x), color=LIGHT["ink"], linewidth=1.2)
    axes.axhline(floor, color=LIGHT["agree"])
    slope = {"linewidth": 4, "solid_capstyle": "butt", "clip_on": False}
    axes.plot([0, 0], [0, 0.28], color=LIGHT["soft"], **slope)
    axes.text(0.04, 0.05, "the root: slope ∞", color=LIGHT["soft"])
    place = {"ha": "right", "va": "top"}
    axes.text(0.98, floor - 0.03, "the floor: slope 0", color=LIGHT["agree"], **place)
    axes.set_title("the root, then the floor: 0 · ∞ = nan", loc="left")


def _draw_floor_before_root(axes: Axes, floor: float) -> None:
    """Draw the floor under the sum of squares, and the root beyond it, of finite slope."""
    x = np.linspace(0, 1, 400)
    beyond = x[x >= floor**2]
    axes.plot(beyond, np.sqrt(beyond), color=LIGHT["ink"], linewidth=1.2)
    green = LIGHT["agree"]
    axes.plot([0, floor**2], [0.02, 0.02], color=green, linewidth=4, solid_capstyle="butt")
    axes.text(floor**2 + 0.03, 0.05, "the floor: slope 0", color=green)
    run = np.array([-0.1, 0.12])
    axes.plot(floor**2 + run, floor + run / (2 * floor), color=LIGHT["soft"])
    axes.plot(floor**2, floor, "o", color=LIGHT["soft"])
    text = "the root: steep, not ∞"
    axes.text(floor**2 + 0.06, floor - 0.03, text, color=LIGHT["soft"], va="top")
    axes.set_title("the floor, then the root: 0 · steep = 0", loc="left")
