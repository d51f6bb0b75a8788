"""Results of the experiments: a point for each seed."""

from __future__ import annotations

import textwrap

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from capsnet_book.experiments.plan import Experiments, Table
from capsnet_book.experiments.tables import COLUMNS, numbers, results_of
from capsnet_book.figures._style import _STYLE, WIDTH, phone_form, side_by_side
from capsnet_book.palette import LIGHT


@phone_form(letters=20)
def seed_points(experiments: Experiments, table: Table, letters: int = 60) -> Figure:
    """The first column of a table: a point a seed, a line at the mean, and hollow what the paper says.

    Rows without a run are left out, as in the table. A row's label is broken after so many letters.
    """
    column = COLUMNS[table.columns[0]]
    found = [(row, numbers(column, results_of(experiments, row.run))) for row in table.rows]
    shown = [(row, each) for row, each in found if each]
    with plt.rc_context(_STYLE):
        together = (
            row.label.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}") for row, _ in shown
        )
        labels = [textwrap.fill(label, letters) for label in together]
        lines = max(label.count("\n") for label in labels) + 1
        figure, axes = plt.subplots(
            figsize=(WIDTH, (0.14 + 0.18 * lines) * len(shown) + 0.9), layout="constrained"
        )
        for place, (row, each) in enumerate(shown):
            heights = [place + beside for beside in side_by_side(len(each.values), 0.14)]
            axes.plot(each.values, heights, "o", color=LIGHT["accent"], markersize=5, alpha=0.7)
            axes.plot(
                [each.mean] * 2, [place - 0.3, place + 0.3], color=LIGHT["accent"], linewidth=1.5
            )
            if row.paper:
                mean, _, spread = row.paper.partition(" ± ")
                axes.errorbar(float(mean), place, xerr=float(spread) if spread else None, fmt="D", markersize=5,
                              markerfacecolor=LIGHT["surface"], color=LIGHT["contrast"], linewidth=1.5)  # fmt: skip
        axes.set_yticks(range(len(shown)), labels)
        axes.set(
            xlabel=column.title, xlim=(0, 1.04 * axes.get_xlim()[1]), ylim=(len(shown) - 0.5, -0.5)
        )
        axes.grid(axis="x", color=LIGHT["line"], linewidth=0.5)
        axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
        plt.close(figure)
    return figure
