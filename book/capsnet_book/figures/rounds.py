"""The figure of the chapter on whether routing matters, drawn from results/runs."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.tables import COLUMNS, Result, results_of
from capsnet_book.figures._style import _STYLE, WIDTH, side_by_side
from capsnet_book.palette import LIGHT

_COLOURS = {1: LIGHT["muted"], 2: LIGHT["agree"], 3: LIGHT["accent"], 5: LIGHT["soft"]}
"""Of a network, by the rounds that it was trained with."""


def rounds_compared(experiments: Experiments) -> Figure:
    """The networks of the table "rounds" that route as the paper does, every seed by itself.

    Above, their error, beside the paper's, and their error on bent digits; below, what each round of their routing
    adds: the entropy of the couplings, and the error if routing stopped there.
    """
    rows = [
        [result for result in results_of(experiments, row.run) if "rounds" in result]
        for row in experiments.tables["rounds"].rows
    ]
    trained = {results[0]["config"]["iterations"]: results for results in rows if results}
    with plt.rc_context(_STYLE):
        figure, ((error, bent), (entropy, stopped)) = plt.subplots(2, 2, figsize=(WIDTH, 5.4), layout="constrained")
        _dots(error, trained, "error")
        _paper(error, experiments)
        error.set_title("Wrong of 10,000 test digits, %", loc="left")
        _dots(bent, trained, "bent")
        bent.set_title("The same digits bent, %", loc="left")
        _lines(entropy, trained, "entropy")
        entropy.set_title("Entropy of the couplings; 1: even shares", loc="left")
        _lines(stopped, trained, "stopped")
        entropy.legend(loc="lower left", fontsize=8, handlelength=1.5)
        stopped.set_title("Wrong if routing stops there, %", loc="left")
        for axes in (error, bent):
            axes.set(xlim=(0.5, 5.5), xlabel="rounds of routing, in training and test", xticks=list(trained))
        for axes in (entropy, stopped):
            axes.set(xlim=(0.5, 5.5), xlabel="after round", xticks=range(1, 6))
        for axes in (error, bent, stopped):
            axes.set_ylim(0, 1.1 * axes.dataLim.y1)  # from 0, so that no difference looks larger than it is
        plt.close(figure)
    return figure


def _numbers(result: Result, column: str) -> list[float]:
    """A column of a run as a list, round by round if it has a number for each."""
    value = COLUMNS[column].value(result)
    assert value is not None, column
    return value if isinstance(value, list) else [value]


def _dots(axes: Axes, trained: dict[int, list[Result]], column: str) -> None:
    for rounds, results in trained.items():
        places = [rounds + beside for beside in side_by_side(len(results), 0.14)]
        values = [number for result in results for number in _numbers(result, column)]
        axes.plot(places, values, "o", color=_COLOURS[rounds], markersize=6)


def _paper(axes: Axes, experiments: Experiments) -> None:
    """The paper's results with reconstruction, mean and standard deviation, of its own and larger network."""
    label = {row.run: row.paper for row in experiments.tables["mnist"].rows}
    for rounds in (1, 3):
        mean, spread = map(float, label[f"small-r{rounds}"].split(" ± "))
        axes.errorbar(rounds, mean, spread, fmt="s", color=LIGHT["contrast"], markersize=4, capsize=4, linewidth=1.2)
    axes.text(3.25, mean, "the paper's,\na far larger network", color=LIGHT["contrast"], va="center", fontsize=8)


def _lines(axes: Axes, trained: dict[int, list[Result]], column: str) -> None:
    """A line a seed."""
    for rounds, results in trained.items():
        for seed, result in enumerate(results):
            values = _numbers(result, column)
            label = None if seed else f"trained with {rounds}"
            axes.plot(range(1, len(values) + 1), values, "o-", color=_COLOURS[rounds], markersize=4, linewidth=1.4,
                      label=label)  # fmt: skip
