"""Figures of the chapter on speed, drawn from results/speed.json."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from capsnet_book.figures._style import WIDTH, in_book_style, name_ends, one_plot
from capsnet_book.palette import LIGHT

_COLOURS = {
    "einsum": LIGHT["contrast"],
    "all rounds": LIGHT["accent"],
    "last round": LIGHT["agree"],
}
_SIZES = {
    "batch": "images of a batch",
    "in_capsules": "capsules below",
    "out_capsules": "capsules above",
    "iterations": "rounds",
}


@in_book_style
def layer_bars(rows: dict[str, dict[str, Any]]) -> Figure:
    """Draw time and memory of each way to route, forward and backward; less is better.

    Args:
        rows: name -> ``ms`` and ``megabytes``.
    """
    names = sorted(rows, key=lambda name: -rows[name]["ms"])
    figure, panels = plt.subplots(
        1, 2, figsize=(WIDTH, 0.45 * len(names) + 0.8), sharey=True, layout="constrained"
    )
    for axes, key, title in zip(
        panels, ("ms", "megabytes"), ("milliseconds", "extra megabytes"), strict=True
    ):
        values = [rows[name][key] for name in names]
        axes.barh(names, values, color=[_colour_of(name) for name in names])
        for place, value in enumerate(values):
            axes.text(value, place, f" {value:,.0f}", va="center")
        axes.set(xlim=(0, 1.15 * max(values)), xticks=[])
        axes.set_title(title, loc="left")
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(length=0)
    return figure


@in_book_style
def growth_lines(
    growth: dict[str, Any], measure: str = "ms", label: str = "milliseconds"
) -> Figure:
    """Draw the cost of the layer against each of its sizes, on logarithmic axes.

    At a line's end stand its name and the exponent with which it grows.

    Args:
        growth: size -> ``values`` and, for each way to route, its costs and fitted exponents.
        measure: the cost's key.
        label: the cost's name.
    """
    figure, panels = plt.subplots(2, 2, figsize=(WIDTH, 5.6), sharey=True, layout="constrained")
    lines_ends: dict[Axes, dict[str, tuple[float, float]]] = {}
    for axes, (size, title) in zip(panels.flat, _SIZES.items(), strict=True):
        values = growth[size]["values"]
        ends = {}
        for name, row in growth[size]["layers"].items():
            axes.plot(values, row[measure], "o-", color=_COLOURS[name], markersize=4)
            exponent = row["exponents"][measure]
            ends[f"{name}, {exponent:.2f}"] = (values[-1], row[measure][-1])
        axes.set(xscale="log", yscale="log", xlabel=title)
        axes.xaxis.set_major_locator(FixedLocator(values))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        lines_ends[axes] = ends
    for axes, ends in lines_ends.items():  # once the shared scale is known
        name_ends(axes, ends, [_colour_of(name.partition(",")[0]) for name in ends])
    for axes in panels[:, 0]:
        axes.set_ylabel(label)
    return figure


@in_book_style
def roofline(machine: dict[str, Any], rows: dict[str, dict[str, Any]]) -> Figure:
    """Draw speed against operations a byte, below the roof that the machine sets.

    Under the slope memory is the limit, under the flat roof arithmetic is.

    Args:
        machine: ``peak``, the largest speed and bandwidth that were measured.
        rows: name -> ``gigaflops``, ``gigabytes_moved`` and ``ms``; of compiled code nothing is
            counted, so that it is left out.
    """
    counted = {name: row for name, row in rows.items() if "gigaflops" in row}
    intensities = {name: row["gigaflops"] / row["gigabytes_moved"] for name, row in counted.items()}
    speeds = {name: row["gigaflops"] / row["ms"] * 1000 for name, row in counted.items()}
    peak = machine["peak"]["float32_gigaflops_a_second"]
    bandwidth = machine["peak"]["gigabytes_a_second"]

    figure, axes = one_plot(height=3.6)
    lowest = min(*intensities.values(), 0.1)
    reach = np.geomspace(lowest / 2, 4 * peak / bandwidth, 200)
    axes.plot(reach, np.minimum(peak, reach * bandwidth), color=LIGHT["muted"])
    axes.text(reach[-1], peak * 1.1, f"{peak:,.0f} GFLOP/s", ha="right", color=LIGHT["muted"])
    for name, speed in speeds.items():
        others = speeds.values()
        is_crowded = any(speed / 1.3 < other < speed for other in others)
        roof = min(peak, intensities[name] * bandwidth)
        _draw_point(
            axes,
            name,
            (intensities[name], speed),
            points_up=6 if is_crowded else -3,  # above the name of the one below
            is_left=speed > roof,  # where the slope is not
        )
    axes.set(xscale="log", yscale="log", ylim=(None, 2 * peak))
    axes.set(xlabel="floating-point operations a byte", ylabel="GFLOP/s")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    return figure


def _draw_point(
    axes: Axes, name: str, place: tuple[float, float], *, points_up: float, is_left: bool
) -> None:
    """Draw a point with its name on its left or right, shifted up by some points."""
    colour = _colour_of(name)
    axes.plot(*place, "o", color=colour)
    axes.annotate(
        name,
        place,
        (-8 if is_left else 6, points_up),
        textcoords="offset points",
        color=colour,
        ha="right" if is_left else "left",
    )


def _colour_of(name: str) -> str:
    """Return the colour of a way to route."""
    return _COLOURS.get(name, LIGHT["muted"])
