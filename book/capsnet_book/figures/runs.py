"""Results of the experiments: a point for each seed."""

from __future__ import annotations

import textwrap

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.experiments.plan import Experiments, Table
from capsnet_book.experiments.tables import COLUMNS, numbers, results_of
from capsnet_book.figures._style import WIDTH, in_book_style, phone_form, spread
from capsnet_book.palette import LIGHT


@phone_form(letters=20)
@in_book_style
def seed_points(experiments: Experiments, table: Table, letters: int = 60) -> Figure:
    """Draw the first column of a table: a point a seed, a line at the mean, the paper hollow.

    Rows without a run are left out, as in the table.

    Args:
        experiments: with the results of the runs.
        table: its rows and columns.
        letters: of a row's label, after which it is broken.
    """
    column = COLUMNS[table.columns[0]]
    rows = []
    for row in table.rows:
        values = numbers(column, results_of(experiments, row.run))
        if values:
            rows.append((row, values))
    labels = [_broken(row.label, letters) for row, _ in rows]
    lines = max(label.count("\n") for label in labels) + 1
    height = (0.14 + 0.18 * lines) * len(rows) + 0.9
    figure, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
    for place, (row, values) in enumerate(rows):
        heights = [place + beside for beside in spread(len(values.values), 0.14)]
        axes.plot(values.values, heights, "o", color=LIGHT["accent"], markersize=5, alpha=0.7)
        ends = [place - 0.3, place + 0.3]
        axes.plot([values.mean] * 2, ends, color=LIGHT["accent"], linewidth=1.5)
        if row.paper:
            _draw_paper(axes, place, row.paper)
    axes.set_yticks(range(len(rows)), labels)
    axes.set(xlabel=column.title, xlim=(0, 1.04 * axes.get_xlim()[1]))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="x", color=LIGHT["line"], linewidth=0.5)
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    return figure


def _broken(label: str, letters: int) -> str:
    """Return a label in lines of some letters, with "r = 3" on one of them."""
    together = label.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    return textwrap.fill(together, letters)


def _draw_paper(axes: Axes, place: int, paper: str) -> None:
    """Draw the paper's result, such as "0.25 ± 0.005", with its spread if it has one."""
    mean, _, deviation = paper.partition(" ± ")
    axes.errorbar(
        float(mean),
        place,
        xerr=float(deviation) if deviation else None,
        fmt="D",
        markersize=5,
        markerfacecolor=LIGHT["surface"],
        color=LIGHT["contrast"],
        linewidth=1.5,
    )
