"""Figures on whether routing matters: errors by the rounds that a network is read with, and by routing's strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from statistics import fmean

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.tables import results_by_seed
from capsnet_book.figures._style import _STYLE, WIDTH
from capsnet_book.palette import LIGHT, colour_of

_PANELS = {"error": "straight digits, % wrong", "bent": "bent", "noisy": "in noise"}

_HIGHEST = 1.6
"""Where a panel ends, as a multiple of the largest error with one round; lines may leave it."""


def rounds_read(experiments: Experiments, runs: Mapping[str, str]) -> Figure:
    """Per cent misread of straight, bent and noisy digits, over the rounds that a network is *read* with.

    A thin line for each seed, a thick one for their mean; a ring: read as it was trained.

    Args:
        experiments: with records that have the errors after each round.
        runs: what the legend says -> a run.
    """
    arms = {name: results_by_seed(experiments, run) for name, run in runs.items()}
    with plt.rc_context(_STYLE):
        figure, grid = plt.subplots(1, len(_PANELS), figsize=(WIDTH, 3.0), layout="constrained")
        for axes, (key, title) in zip(grid, _PANELS.items(), strict=True):
            for k, (name, arm) in enumerate(arms.items()):
                colour = colour_of(name, k)
                seeds = [[100 * each[key] for each in result["rounds"]] for result in arm.values()]
                for each in seeds:
                    axes.plot(
                        range(1, len(each) + 1), each, color=colour, linewidth=0.7, alpha=0.35
                    )
                mean = [fmean(at) for at in zip(*seeds, strict=True)]
                axes.plot(range(1, len(mean) + 1), mean, color=colour, linewidth=2, label=name)
                trained = next(iter(arm.values()))["config"]["iterations"]
                axes.plot(
                    trained, mean[trained - 1], "o", color=colour, markerfacecolor=LIGHT["surface"]
                )
            evenly = [
                100 * result["rounds"][0][key] for arm in arms.values() for result in arm.values()
            ]
            axes.set(
                xlabel="rounds, in reading", xticks=range(1, 6), ylim=(0, _HIGHEST * max(evenly))
            )
            axes.set_title(title, loc="left")
        figure.legend(
            *grid[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=8
        )
        plt.close(figure)
    return figure


_LEAST = -40.0
"""Per cent at which the figure of strength ends; what lies below stands there as an arrow."""


def errors_by_strength(series: Mapping[str, Mapping[float, Sequence[float]]]) -> Figure:
    """By how many per cent routing lowers the errors, over its strength beta J / I.

    A small dot for each seed, a large one for their mean; means of one series are joined. A task has one colour,
    whatever the network.

    Args:
        series: what the legend says, "task" or "task, network" -> strength -> seed by seed, the errors with even
            shares and all those with routing compared, in per cent of the first.
    """
    tasks = dict.fromkeys(name.partition(",")[0] for name in series)
    colours = {task: colour_of(task, k) for k, task in enumerate(tasks)}
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 3.6), layout="constrained")
        axes.axhline(0, color=LIGHT["line"], linewidth=1)
        for (name, points), marker in zip(series.items(), cycle("os^DvPX"), strict=False):
            means = {strength: max(fmean(seeds), _LEAST) for strength, seeds in points.items()}
            colour = colours[name.partition(",")[0]]
            axes.plot(
                means.keys(), means.values(), marker + "-", color=colour, markersize=7, label=name
            )
            for strength, seeds in points.items():
                axes.plot(
                    [strength] * len(seeds), seeds, ".", color=colour, alpha=0.4, markersize=4
                )
                if fmean(seeds) < _LEAST:
                    axes.annotate(f"−{-fmean(seeds):.0f} %", (strength, _LEAST), (-6, 4), textcoords="offset points",
                                  ha="right", fontsize=8, color=colour)  # fmt: skip
        axes.set(
            xscale="log", xlabel="strength of the routing, β J / I", ylabel="errors taken away, %"
        )
        axes.set_ylim(_LEAST - 3, 60)
        figure.legend(loc="outside upper center", ncols=2, fontsize=8)
        plt.close(figure)
    return figure
