"""Size, palette and axes that all figures share, and how a digit is drawn."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import pairwise
from typing import Any, TypeVar, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from torch import Tensor

from capsnet_book.palette import LIGHT

WIDTH = 7.0
"""Inches; the page shows 100 pixels an inch, the file holds 150."""

STYLE = {
    "figure.dpi": 150,
    "figure.facecolor": LIGHT["surface"],
    "axes.facecolor": LIGHT["surface"],
    "axes.edgecolor": LIGHT["line"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlecolor": LIGHT["ink"],
    "font.size": 9,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
}
NAME_LETTERS = 14
"""Letters of a name at a line's end, after which it is broken."""
LINE_OF_NAME = 0.19
"""Inches of a figure that a line of a name's letters needs, with what a phone takes off its height.
"""
LINE_OF_FINDING = 0.25
"""Inches of a figure's height that a line of what is written above it needs."""
ABOVE_PANELS = 0.08
"""Inches between what is written above a figure and its panels."""
AROUND = 0.8
"""Inches of a plot's height that title and names of the axes take."""
ROUNDS_OF_MOVING = 100
"""Enough for names to move apart until nothing changes that one could see."""
INK: Colormap = LinearSegmentedColormap.from_list("ink", [LIGHT["paper"], LIGHT["stroke"]])
BLUES: Colormap = LinearSegmentedColormap.from_list("blues", [LIGHT["surface"], LIGHT["accent"]])
SIGNED: Colormap = LinearSegmentedColormap.from_list(
    "signed", [LIGHT["contrast"], LIGHT["surface"], LIGHT["accent"]]
)


Draw = TypeVar("Draw", bound=Callable[..., Figure])


def in_book_style(draw: Draw) -> Draw:
    """Decorate a function that draws a figure: use the book's style, and close the figure.

    The function takes one more keyword, `finding`: what the figure shows, written above it. A
    figure that stays open would be shown a second time at the end of a notebook's cell.
    """

    @wraps(draw)
    def draw_in_style(*arguments: Any, finding: str = "", **options: Any) -> Figure:
        with plt.rc_context(STYLE):
            figure = draw(*arguments, **options)
            if finding:
                write_finding(figure, finding)
        plt.close(figure)
        return figure

    return cast(Draw, draw_in_style)


def write_finding(figure: Figure, finding: str) -> None:
    """Write what a figure shows above it, in bold, from its left edge on."""
    place = {"x": 0.01, "ha": "left", "fontsize": 10.5, "weight": "bold"}
    if figure.get_layout_engine() is None:  # nobody makes room below
        place["va"] = "bottom"
    else:
        figure.set_figheight(figure.get_figheight() + LINE_OF_FINDING)
    figure.suptitle(finding, **place)
    fit_finding(figure)


def fit_finding(figure: Figure) -> None:
    """Break what is written above a figure into lines, no wider than the figure, and make room.

    A figure with a layout engine grows by the lines; in another one they stand above the panels.
    """
    title = next((text for text in figure.texts if text.get_text() == figure.get_suptitle()), None)
    if title is None or not title.get_text():
        return
    lines_before = title.get_text().count("\n")
    break_finding(title, figure.bbox.width)
    if figure.get_layout_engine() is None:
        top = max(axes.get_tightbbox().y1 for axes in figure.axes)  # pixels
        title.set_y(max(top / figure.bbox.height, 1) + ABOVE_PANELS / figure.get_figheight())
    else:
        more = title.get_text().count("\n") - lines_before
        figure.set_figheight(figure.get_figheight() + LINE_OF_FINDING * more)


def break_finding(title: Text, room: float) -> None:
    """Break a text into lines that are no wider than the room in pixels."""
    english = vars(title).get("english")
    words = " ".join(title.get_text().split())
    title.set_text(words)
    width = title.get_window_extent().width
    if width > room:
        lines = textwrap.fill(words, int(0.95 * len(words) * room / width))
        title.set_text(re.sub(r"\n([，。；：、）])", r"\1\n", lines))  # Chinese breaks anywhere
    if english is not None:
        vars(title)["english"] = english


def phone_form(**phone_options: Any) -> Callable[[Draw], Draw]:
    """Decorate a function that draws a figure with other options for a phone.

    The figure keeps how to draw its phone's form as `on_a_phone`, which `_phone.py` calls.
    """

    def decorate(draw: Draw) -> Draw:
        @wraps(draw)
        def draw_with_phone_form(*arguments: Any, **options: Any) -> Figure:
            figure = draw(*arguments, **options)
            vars(figure)["on_a_phone"] = lambda: draw(*arguments, **(options | phone_options))
            return figure

        return cast(Draw, draw_with_phone_form)

    return decorate


def show_digit(axes: Axes, image: Tensor) -> None:
    """Draw a digit [H, W], 0 as paper and 1 as ink."""
    axes.imshow(image.numpy(), cmap=INK, vmin=0, vmax=1, interpolation="nearest")


def tinted(drawings: Tensor, tints: Sequence[str]) -> np.ndarray:
    """Print drawings [N, H, W] over each other, each in its colour, on one sheet [H, W, 3]."""
    sheet = np.ones(3)
    for drawing, tint in zip(drawings.numpy(), tints, strict=True):
        absorbed = 1 - np.array(to_rgb(tint))
        sheet = sheet * (1 - absorbed * drawing[..., None])
    return sheet


def set_spines(axes: Axes, *, visible: bool, **style: Any) -> None:
    """Show or hide the four sides of a plot, or set their colour and width."""
    for side in axes.spines.values():
        side.set(visible=visible, **style)


def spread(count: int, step: float, width: float = 0.6) -> list[float]:
    """Return `count` places around 0, so that points of equal value do not hide each other.

    They are a step apart, or closer where they would need more than the width.
    """
    step = min(step, width / max(count - 1, 1))
    return [step * (place - (count - 1) / 2) for place in range(count)]


def name_ends(axes: Axes, ends: Mapping[str, tuple[float, float]], colours: Sequence[str]) -> None:
    """Write the name of each line at its right end, in its colour, in place of a legend.

    Names of lines that end close together are moved apart. Set the axis' limits first.

    Args:
        axes: the plot of the lines.
        ends: name -> x and y of the line's last point.
        colours: one for each name.
    """
    texts = [textwrap.fill(name, NAME_LETTERS) for name in ends]
    line = LINE_OF_NAME / (height_of_plot(axes) - AROUND)
    rooms = [line * (text.count("\n") + 1) for text in texts]
    heights = []
    for x, y in ends.values():
        height = axes.transLimits.transform(axes.transScale.transform((x, y)))[1]
        heights.append(min(max(float(height), 0.0), 1.0))
    places = moved_apart(heights, rooms)
    for text, (x, _), colour, place in zip(texts, ends.values(), colours, places, strict=True):
        axes.annotate(
            text,
            (x, place),
            xytext=(7, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="center",
            fontsize=8,
            linespacing=1.0,
            color=colour,
            annotation_clip=False,
        )


def height_of_plot(axes: Axes) -> float:
    """Return the inches of a figure's height that the rows of a plot have in its grid."""
    height = axes.get_figure(root=True).get_figheight()
    place = axes.get_subplotspec()
    return height if place is None else height * len(place.rowspan) / place.get_gridspec().nrows


def moved_apart(heights: Sequence[float], rooms: Sequence[float]) -> list[float]:
    """Return the heights of names from 0 to 1, moved until each has its room, in order."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    moved = list(heights)
    for _ in range(ROUNDS_OF_MOVING):
        for place, room in enumerate(rooms):
            moved[place] = min(max(moved[place], room / 2), 1 - room / 2)
        for lower, upper in pairwise(order):
            least = (rooms[lower] + rooms[upper]) / 2
            missing = least - (moved[upper] - moved[lower])
            if missing > 0:
                moved[lower] -= missing / 2
                moved[upper] += missing / 2
    return moved


def one_plot(height: float) -> tuple[Figure, Axes]:
    """Return a figure with one plot, `height` inches high."""
    return plt.subplots(figsize=(WIDTH, height), layout="constrained")


def grid_of_pictures(rows: int, columns: int, height: float) -> tuple[Figure, np.ndarray]:
    """Return a figure with axes [rows, columns] close together, without ticks and frames."""
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(WIDTH, height),
        squeeze=False,
        gridspec_kw={"wspace": 0.06, "hspace": 0.06},
    )
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
        set_spines(axes, visible=False)
    return figure, grid
