"""The figure of the chapter on whether routing matters: what a network misreads, by the rounds that it is read with."""

from __future__ import annotations

from collections.abc import Mapping
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

    A thin line for each seed that all runs have, a thick one for their mean; a ring: read as it was trained.

    Args:
        experiments: with records that have the errors after each round.
        runs: what the legend says -> a run.
    """
    arms = {name: results_by_seed(experiments, run) for name, run in runs.items()}
    shared = sorted(set.intersection(*(set(arm) for arm in arms.values())))
    with plt.rc_context(_STYLE):
        figure, grid = plt.subplots(1, len(_PANELS), figsize=(WIDTH, 3.0), layout="constrained")
        for axes, (key, title) in zip(grid, _PANELS.items(), strict=True):
            for k, (name, arm) in enumerate(arms.items()):
                colour = colour_of(name, k)
                seeds = [[100 * each[key] for each in arm[seed]["rounds"]] for seed in shared]
                for each in seeds:
                    axes.plot(range(1, len(each) + 1), each, color=colour, linewidth=0.7, alpha=0.35)
                mean = [fmean(at) for at in zip(*seeds, strict=True)]
                axes.plot(range(1, len(mean) + 1), mean, color=colour, linewidth=2, label=name)
                trained = arm[shared[0]]["config"]["iterations"]
                axes.plot(trained, mean[trained - 1], "o", color=colour, markerfacecolor=LIGHT["surface"])
            evenly = [100 * result["rounds"][0][key] for arm in arms.values() for result in arm.values()]
            axes.set(xlabel="rounds, in reading", xticks=range(1, 6), ylim=(0, _HIGHEST * max(evenly)))
            axes.set_title(title, loc="left")
        figure.legend(*grid[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(runs), fontsize=8)
        plt.close(figure)
    return figure
