"""Small charts of a cell's numbers, in place of a printed list: bars, lines, themes."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.figures._style import (
    WIDTH,
    in_book_style,
    name_ends,
    phone_form,
    set_spines,
    spread,
)
from capsnet_book.palette import LIGHT, colour_of

_STYLES = ("o-", "s--", "^:", "D-.", "v-")


@phone_form(letters=18)
@in_book_style
def bars(
    panels: Mapping[str, Mapping[str, float]],
    form: str = "{:g}",
    *,
    shared: bool = False,
    highlight: Collection[str] = (),
    letters: int = 30,
) -> Figure:
    """Draw bars with their numbers: a panel a title, a row a name, the first row at the top.

    Args:
        panels: title -> name -> value; the first panel has all names, others may lack some.
        form: the format of the number at the end of a bar.
        shared: whether all panels have one scale.
        highlight: names of the rows in colour; the others are grey. Empty: all are in colour.
        letters: of a name, after which it is broken.
    """
    names = list(next(iter(panels.values())))
    colours = {name: _bar_colour(name, highlight) for name in names}
    labels = [textwrap.fill(name, letters) for name in names]
    height = (0.16 + 0.17 * _most_lines(labels)) * len(names) + 0.5
    largest_of_all = max(max(values.values()) for values in panels.values())
    figure, grid = plt.subplots(
        1, len(panels), figsize=(WIDTH, height), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (title, values) in zip(grid[0], panels.items(), strict=True):
        places = [names.index(name) for name in values]
        axes.barh(places, values.values(), color=[colours[name] for name in values], height=0.7)
        for place, value in zip(places, values.values(), strict=True):
            beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate(form.format(value), (value, place), **beside)
        largest = largest_of_all if shared else max(values.values())
        axes.set(xlim=(0, 1.25 * largest), xticks=[], ylim=(len(names) - 0.4, -0.6))
        axes.set_yticks(range(len(names)), labels)
        axes.set_title(title, loc="left")
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(length=0, labelcolor=LIGHT["ink"])
    return figure


def _bar_colour(name: str, highlight: Collection[str]) -> str:
    """Return the colour of a row's bar."""
    is_lit = not highlight or name in highlight
    return LIGHT["accent"] if is_lit else LIGHT["line"]


@phone_form(letters=18)
@in_book_style
def dots(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    highlight: Collection[str] = (),
    letters: int = 30,
) -> Figure:
    """Draw a dot for each seed and a line at their mean: a panel a title, a row a name.

    The axes do not begin at 0, so that values that lie close together can be told apart.

    Args:
        panels: title -> name -> the values of the seeds; all panels have the same names.
        highlight: names of the rows in colour; the others are grey.
        letters: of a name, after which it is broken.
    """
    names = list(next(iter(panels.values())))
    labels = [textwrap.fill(name, letters) for name in names]
    height = (0.14 + 0.17 * _most_lines(labels)) * len(names) + 0.7
    figure, grid = plt.subplots(
        1, len(panels), figsize=(WIDTH, height), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (title, series) in zip(grid[0], panels.items(), strict=True):
        for place, (name, values) in enumerate(series.items()):
            colour = LIGHT["accent"] if name in highlight else LIGHT["muted"]
            heights = [place + beside for beside in spread(len(values), 0.1)]
            axes.plot(values, heights, "o", color=colour, markersize=3.5, alpha=0.45)
            axes.plot([fmean(values)] * 2, [place - 0.32, place + 0.32], color=colour)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), labels)
        axes.set_title(title, loc="left")
        axes.grid(axis="x", color=LIGHT["line"], linewidth=0.5)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    return figure


@in_book_style
def lines(
    panels: Mapping[str, Mapping[str, Sequence[float]]], x: Sequence[float], xlabel: str
) -> Figure:
    """Draw lines over the same numbers: a panel a title, a line a name, written at its end.

    The heights begin at 0; a panel of one line without a name has its heights written, no axis.

    Args:
        panels: title -> name -> heights, one for each x; the name may be empty.
        x: ascending; up to ten have a tick each.
        xlabel: the name of x.
    """
    figure, grid = plt.subplots(
        1, len(panels), figsize=(WIDTH, 2.5), squeeze=False, layout="constrained"
    )
    for axes, (title, series) in zip(grid[0], panels.items(), strict=True):
        _draw_lines(axes, series, x)
        axes.set_xlabel(xlabel)
        if len(x) <= 10:
            axes.set_xticks(x)
        axes.set_title(title, loc="left")
        if list(series) == [""]:
            _write_heights(axes, series[""], x)
        axes.set_ylim(0, 1.2 * max(max(heights) for heights in series.values()))
        ends = {name: (x[-1], heights[-1]) for name, heights in series.items()}
        name_ends(axes, ends, [colour_of(name, k) for k, name in enumerate(series)])
    return figure


def _draw_lines(axes: Axes, series: Mapping[str, Sequence[float]], x: Sequence[float]) -> None:
    """Draw the lines of a panel; few points are marked, many are not."""
    for k, (name, heights) in enumerate(series.items()):
        style = _STYLES[k % len(_STYLES)]
        if len(x) > 20:
            style = style[1:]
        axes.plot(x, heights, style, color=colour_of(name, k), markersize=4, label=name)


def _write_heights(axes: Axes, heights: Sequence[float], x: Sequence[float]) -> None:
    """Write the height of each point above it, in place of an axis."""
    axes.margins(x=0.12)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    above = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center", "fontsize": 8}
    for place, height in zip(x, heights, strict=True):
        axes.annotate(f"{height:.1f}", (place, height), **above)


@phone_form(on_a_phone=True)
@in_book_style
def themes(works: Mapping[str, str], *, on_a_phone: bool = False) -> Figure:
    """Draw which work is about which theme: a row a work, a column a theme.

    Args:
        works: name -> theme; the themes stand in the order in which they first occur.
        on_a_phone: whether the names are broken earlier, and the themes are slanted.
    """
    letters = 22 if on_a_phone else 60
    columns = list(dict.fromkeys(works.values()))
    labels = [textwrap.fill(name, letters) for name in works]
    height = (0.12 + 0.16 * _most_lines(labels)) * len(works) + 0.6
    figure, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
    for row, theme in enumerate(works.values()):
        axes.axhline(row, color=LIGHT["line"], linewidth=0.5, zorder=0)
        axes.plot(columns.index(theme), row, "o", color=LIGHT["accent"], markersize=9)
    axes.set_yticks(range(len(works)), labels)
    axes.set(ylim=(len(works) - 0.4, -0.6), xlim=(-0.5, len(columns) - 0.5))
    axes.xaxis.tick_top()
    if on_a_phone:
        slant = {"rotation": 50, "ha": "left", "rotation_mode": "anchor"}
        axes.set_xticks(range(len(columns)), columns, **slant)
    else:
        broken = [textwrap.fill(theme, 10) for theme in columns]
        axes.set_xticks(range(len(columns)), broken)
    axes.tick_params(length=0, labelcolor=LIGHT["ink"])
    set_spines(axes, visible=False)
    return figure


def _most_lines(labels: Sequence[str]) -> int:
    """Return the number of lines of the label that has most."""
    return max(label.count("\n") for label in labels) + 1
