"""Figures of the chapter on speed, drawn from results/speed.json."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from capsnet_book.figures._style import _STYLE, WIDTH
from capsnet_book.palette import LIGHT

_COLOURS = {
    "einsum": LIGHT["contrast"],
    "all rounds": LIGHT["accent"],
    "last round": LIGHT["agree"],
}
_AXES = {
    "batch": "images of a batch",
    "in_capsules": "capsules below",
    "out_capsules": "capsules above",
    "iterations": "rounds",
}


def layer_bars(rows: dict[str, dict[str, Any]]) -> Figure:
    """Time and memory of each way to route, forward and backward, the fewer the better."""
    names = sorted(rows, key=lambda name: -rows[name]["ms"])
    with plt.rc_context(_STYLE):
        figure, panels = plt.subplots(
            1, 2, figsize=(WIDTH, 0.45 * len(names) + 0.8), sharey=True, layout="constrained"
        )
        for axes, key, title in zip(
            panels, ("ms", "megabytes"), ("milliseconds", "extra megabytes"), strict=True
        ):
            values = [rows[name][key] for name in names]
            axes.barh(names, values, color=[_COLOURS.get(name, LIGHT["muted"]) for name in names])
            for place, value in enumerate(values):
                axes.text(value, place, f" {value:,.0f}", va="center")
            axes.set(xlim=(0, 1.15 * max(values)), xticks=[])
            axes.set_title(title, loc="left")
            axes.spines["bottom"].set_visible(False)
            axes.tick_params(length=0)
        plt.close(figure)
    return figure


def growth_lines(
    growth: dict[str, Any], measure: str = "ms", label: str = "milliseconds"
) -> Figure:
    """What the layer costs against each of its sizes, both on logarithmic axes, with the exponents that fit."""
    with plt.rc_context(_STYLE):
        figure, panels = plt.subplots(2, 2, figsize=(WIDTH, 5.6), sharey=True, layout="constrained")
        for axes, (axis, title) in zip(panels.flat, _AXES.items(), strict=True):
            found = growth[axis]
            for name, row in found["layers"].items():
                axes.plot(found["values"], row[measure], "o-", color=_COLOURS[name], markersize=4,
                          label=f"{name}: size to the {row['exponents'][measure]:.2f}")  # fmt: skip
            axes.set(xscale="log", yscale="log", xlabel=title)
            axes.xaxis.set_major_locator(FixedLocator(found["values"]))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.legend(loc="upper left", fontsize=7, handlelength=1)
        for axes in panels[:, 0]:
            axes.set_ylabel(label)
        plt.close(figure)
    return figure


def roofline(machine: dict[str, Any], rows: dict[str, dict[str, Any]]) -> Figure:
    """Work a second against work a byte: under the slope memory is the limit, under the flat roof arithmetic is."""
    rows = {
        name: row for name, row in rows.items() if "gigaflops" in row
    }  # of compiled code nothing is counted
    peak = machine["peak"]["float32_gigaflops_a_second"]
    bandwidth = machine["peak"]["gigabytes_a_second"]
    intensity = {name: row["gigaflops"] / row["gigabytes_moved"] for name, row in rows.items()}
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 3.6), layout="constrained")
        reach = np.geomspace(min(*intensity.values(), 0.1) / 2, 4 * peak / bandwidth, 200)
        axes.plot(reach, np.minimum(peak, reach * bandwidth), color=LIGHT["muted"])
        axes.text(reach[-1], peak * 1.1, f"{peak:,.0f} GFLOP/s", ha="right", color=LIGHT["muted"])
        speeds = {name: row["gigaflops"] / row["ms"] * 1000 for name, row in rows.items()}
        for name, own in speeds.items():
            crowded = any(
                own / 1.3 < other < own for other in speeds.values()
            )  # the name stands above that one's
            above = own > min(
                peak, intensity[name] * bandwidth
            )  # the name stands where the slope is not
            _point(axes, name, intensity[name], own, 6 if crowded else -3, left=above)
        axes.set(xscale="log", yscale="log", ylim=(None, 2 * peak))
        axes.set(xlabel="floating-point operations a byte", ylabel="GFLOP/s")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        plt.close(figure)
    return figure


def _point(axes: Axes, name: str, x: float, y: float, up: float, left: bool) -> None:
    colour = _COLOURS.get(name, LIGHT["muted"])
    axes.plot(x, y, "o", color=colour)
    align = "right" if left else "left"
    axes.annotate(
        name, (x, y), (-8 if left else 6, up), textcoords="offset points", color=colour, ha=align
    )
