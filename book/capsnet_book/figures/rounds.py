"""Figures on whether routing matters: errors by rounds at inference, and by its strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from statistics import fmean

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.tables import Result, results_by_seed
from capsnet_book.figures._style import WIDTH, in_book_style, one_plot
from capsnet_book.palette import LIGHT, colour_of

_PANELS = {"error": "straight digits, % wrong", "bent": "bent", "noisy": "in noise"}

_HIGHEST = 1.6
"""Where a panel ends, as a multiple of the largest error with one round; lines may leave it."""

_LEAST = -40.0
"""Per cent at which the figure of strength ends; a mean below has its number there."""


@in_book_style
def rounds_read(experiments: Experiments, runs: Mapping[str, str]) -> Figure:
    """Draw the errors on straight, bent and noisy digits over the number of rounds at inference.

    A thin line is a seed, a thick one their mean; a ring is the number of rounds in training.

    Args:
        experiments: with results that have the errors after each round.
        runs: a name in the legend -> a run.
    """
    arms = {name: list(results_by_seed(experiments, run).values()) for name, run in runs.items()}
    figure, panels = plt.subplots(1, len(_PANELS), figsize=(WIDTH, 3.0), layout="constrained")
    for axes, (key, title) in zip(panels, _PANELS.items(), strict=True):
        for k, (name, results) in enumerate(arms.items()):
            _draw_arm(axes, results, key, name, colour_of(name, k))
        first_rounds = [result["rounds"][0][key] for results in arms.values() for result in results]
        axes.set(xlabel="rounds, in reading", xticks=range(1, 6))
        axes.set_ylim(0, _HIGHEST * 100 * max(first_rounds))
        axes.set_title(title, loc="left")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=8
    )
    return figure


def _draw_arm(axes: Axes, results: list[Result], key: str, name: str, colour: str) -> None:
    """Draw the errors of one run's seeds, their mean, and a ring at the rounds of training."""
    seeds = []
    for result in results:
        errors = [100 * after_round[key] for after_round in result["rounds"]]
        axes.plot(range(1, len(errors) + 1), errors, color=colour, linewidth=0.7, alpha=0.35)
        seeds.append(errors)
    mean = [fmean(errors) for errors in zip(*seeds, strict=True)]
    axes.plot(range(1, len(mean) + 1), mean, color=colour, linewidth=2, label=name)
    rounds = results[0]["config"]["iterations"]
    axes.plot(rounds, mean[rounds - 1], "o", color=colour, markerfacecolor=LIGHT["surface"])


@in_book_style
def errors_by_strength(series: Mapping[str, Mapping[float, Sequence[float]]]) -> Figure:
    """Draw by how many per cent routing lowers the errors, over its strength beta J / I.

    A small dot is a seed, a large one their mean; means of one series are joined. A task has one
    colour, whatever the network.

    Args:
        series: a name in the legend, "task" or "task, network" -> strength -> by seed, how many
            per cent of the errors with even shares are taken away by routing.
    """
    tasks = dict.fromkeys(_task_of(name) for name in series)
    colours = {task: colour_of(task, k) for k, task in enumerate(tasks)}
    figure, axes = one_plot(height=3.6)
    axes.axhline(0, color=LIGHT["line"], linewidth=1)
    for (name, points), marker in zip(series.items(), cycle("os^DvPX"), strict=False):
        colour = colours[_task_of(name)]
        means = {strength: fmean(seeds) for strength, seeds in points.items()}
        heights = [max(mean, _LEAST) for mean in means.values()]
        axes.plot(means.keys(), heights, f"{marker}-", color=colour, markersize=7, label=name)
        for strength, seeds in points.items():
            places = [strength] * len(seeds)
            axes.plot(places, seeds, ".", color=colour, alpha=0.4, markersize=4)
            if means[strength] < _LEAST:
                axes.annotate(
                    f"−{-means[strength]:.0f} %",
                    (strength, _LEAST),
                    (-6, 4),
                    textcoords="offset points",
                    ha="right",
                    fontsize=8,
                    color=colour,
                )
    axes.set(xscale="log", xlabel="strength of the routing, β J / I")
    axes.set(ylim=(_LEAST - 3, 60), ylabel="errors taken away, %")
    figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    return figure


def _task_of(name: str) -> str:
    """Return the task in the name of a series."""
    return name.partition(",")[0]
