"""Small charts of what a cell found, in place of a printed list: bars with their numbers, lines, themes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from capsnet_book.figures._style import _STYLE, WIDTH, phone_form
from capsnet_book.palette import LIGHT, colour_of

_STYLES = ("o-", "s--", "^:", "D-.", "v-")


@phone_form(letters=18)
def bars(
    panels: Mapping[str, Mapping[str, float]],
    form: str = "{:g}",
    *,
    shared: bool = False,
    letters: int = 30,
) -> Figure:
    """Bars with their numbers: a panel each title, a row each name, the first row at the top.

    Args:
        panels: title -> name -> value; the names of the first panel count, and a panel may lack some.
        form: how a value is written at the end of its bar.
        shared: whether all panels have one scale.
        letters: after which a name is broken.
    """
    names = list(next(iter(panels.values())))
    labels = [textwrap.fill(name, letters) for name in names]
    tall = max(label.count("\n") for label in labels) + 1
    largest = [max(values.values()) for values in panels.values()]
    with plt.rc_context(_STYLE):
        height = (0.16 + 0.17 * tall) * len(names) + 0.5
        figure, grid = plt.subplots(1, len(panels), figsize=(WIDTH, height), sharey=True, squeeze=False,
                                    layout="constrained")  # fmt: skip
        for axes, (title, values) in zip(grid[0], panels.items(), strict=True):
            places = [names.index(name) for name in values]
            axes.barh(places, values.values(), color=LIGHT["accent"], height=0.7)
            for place, value in zip(places, values.values(), strict=True):
                axes.annotate(
                    form.format(value),
                    (value, place),
                    (5, 0),
                    textcoords="offset points",
                    va="center",
                )
            longest = max(largest if shared else values.values())
            axes.set(xlim=(0, 1.25 * longest), xticks=[], ylim=(len(names) - 0.4, -0.6))
            axes.set_yticks(range(len(names)), labels)
            axes.set_title(title, loc="left")
            axes.spines["bottom"].set_visible(False)
            axes.tick_params(length=0, labelcolor=LIGHT["ink"])
        plt.close(figure)
    return figure


def lines(
    panels: Mapping[str, Mapping[str, Sequence[float]]], x: Sequence[float], xlabel: str
) -> Figure:
    """Lines over the same numbers: a panel each title, a line each name, from 0 upwards. An empty name has no legend.

    Args:
        panels: title -> name -> heights, one for each x.
        x: ascending; each has a tick.
        xlabel: what x is.
    """
    with plt.rc_context(_STYLE):
        figure, grid = plt.subplots(
            1, len(panels), figsize=(WIDTH, 2.5), squeeze=False, layout="constrained"
        )
        for axes, (title, series) in zip(grid[0], panels.items(), strict=True):
            for k, ((name, heights), style) in enumerate(
                zip(series.items(), _STYLES, strict=False)
            ):
                dense = len(x) > 20
                axes.plot(
                    x,
                    heights,
                    style[1:] if dense else style,
                    color=colour_of(name, k),
                    markersize=4,
                    label=name,
                )
            top = max(max(heights) for heights in series.values())
            axes.set(ylim=(0, 1.08 * top), xlabel=xlabel)
            if len(x) <= 10:
                axes.set_xticks(x)
            axes.set_title(title, loc="left")
            if any(series):
                axes.legend(fontsize=8)
        plt.close(figure)
    return figure


@phone_form(on_a_phone=True)
def themes(works: Mapping[str, str], *, on_a_phone: bool = False) -> Figure:
    """Which work is about which theme: a row a work, a column a theme, in the order in which they first come."""
    letters = 22 if on_a_phone else 60
    columns = list(dict.fromkeys(works.values()))
    labels = [textwrap.fill(name, letters) for name in works]
    tall = max(label.count("\n") for label in labels) + 1
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            figsize=(WIDTH, (0.12 + 0.16 * tall) * len(works) + 0.6), layout="constrained"
        )
        for row, theme in enumerate(works.values()):
            column = columns.index(theme)
            axes.axhline(row, color=LIGHT["line"], linewidth=0.5, zorder=0)
            axes.plot(column, row, "o", color=LIGHT["accent"], markersize=9)
        axes.set_yticks(range(len(works)), labels)
        axes.set_xticks(range(len(columns)), [textwrap.fill(each, 10) for each in columns])
        axes.set(ylim=(len(works) - 0.4, -0.6), xlim=(-0.5, len(columns) - 0.5))
        axes.xaxis.tick_top()
        if on_a_phone:
            axes.set_xticks(
                range(len(columns)), columns, rotation=50, ha="left", rotation_mode="anchor"
            )
        axes.tick_params(length=0, labelcolor=LIGHT["ink"])
        for side in axes.spines.values():
            side.set_visible(False)
        plt.close(figure)
    return figure
