"""Figures on whether routing matters: errors by rounds at inference, and by its concentration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        axes.set(xlabel="rounds at inference", xticks=range(1, 6))
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
def errors_by_concentration(points: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw by how many per cent routing lowers the errors, over how much it concentrates the votes.

    A small dot is a seed, a large one their mean, its name beside it.

    Args:
        points: name -> by seed, the number of voters before routing over that after it, and how
            many per cent of the errors with even shares are taken away by routing.
    """
    figure, axes = one_plot(height=3.4)
    axes.axhline(0, color=LIGHT["line"], linewidth=1)
    for k, (name, seeds) in enumerate(points.items()):
        colour = colour_of(name, k)
        concentrations, taken = zip(*seeds, strict=True)
        mean = fmean(concentrations), fmean(taken)
        axes.plot(concentrations, taken, ".", color=colour, alpha=0.4, markersize=4)
        axes.plot(*mean, "o", color=colour, markersize=7)
        axes.annotate(name, mean, (7, 4), textcoords="offset points", fontsize=8, color=colour)
    ticks = (1, 2, 3, 5, 8)
    axes.set(xscale="log", xlim=(1, 16), ylabel="errors taken away, %")
    axes.set_xlabel("voters before routing, for each one after it")
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    return figure
