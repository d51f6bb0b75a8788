"""Figures on whether routing matters: errors by rounds at inference, and by its concentration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.tables import Result, results_by_seed
from capsnet_book.figures._style import WIDTH, in_book_style, name_ends, one_plot
from capsnet_book.palette import LIGHT, OWNERS, colour_of

_PANELS = {"error": "straight digits, % wrong", "bent": "bent", "noisy": "in noise"}

COMPARED = ("trained with one", "trained with three")
"""The runs with colours."""

_HIGHEST = 1.6
"""Where a panel ends, as a multiple of the largest error with one round; lines may leave it."""


@in_book_style
def rounds_read(experiments: Experiments, runs: Mapping[str, str]) -> Figure:
    """Draw the errors on straight, bent and noisy digits over the number of rounds at inference.

    A line is the mean of the seeds; a ring is the number of rounds in training. Runs with one round
    and with three have colours and a band that holds all seeds; the others are pale.

    Args:
        experiments: with results that have the errors after each round.
        runs: a name at the line's end -> a run.
    """
    arms = {name: list(results_by_seed(experiments, run).values()) for name, run in runs.items()}
    figure, panels = plt.subplots(1, len(_PANELS), figsize=(WIDTH, 2.7), layout="constrained")
    colours = [_colour_of_arm(name) for name in arms]
    for axes, (key, title) in zip(panels, _PANELS.items(), strict=True):
        ends = {}
        for colour, (name, results) in zip(colours, arms.items(), strict=True):
            mean = _draw_arm(axes, results, key, colour)
            ends[name] = (len(mean), mean[-1])
        first_rounds = [result["rounds"][0][key] for results in arms.values() for result in results]
        axes.set(xlabel="rounds at inference", xticks=range(1, 6))
        axes.set_ylim(0, _HIGHEST * 100 * max(first_rounds))
        axes.set_title(title, loc="left")
    inks = [LIGHT["muted"] if colour == LIGHT["line"] else colour for colour in colours]
    name_ends(axes, ends, inks)  # of the last panel, where no line leaves it
    return figure


def _colour_of_arm(name: str) -> str:
    """Return the colour of a run's line: pale for what is neither one round nor three."""
    if name in OWNERS and name not in COMPARED:
        return LIGHT["line"]
    return colour_of(name, 0)


def _draw_arm(axes: Axes, results: list[Result], key: str, colour: str) -> list[float]:
    """Draw the mean error of a run's seeds, their band, and a ring at the rounds of training.

    Returns the mean, by rounds.
    """
    seeds = []
    for result in results:
        seeds.append([100 * after_round[key] for after_round in result["rounds"]])
    mean = [fmean(errors) for errors in zip(*seeds, strict=True)]
    rounds = range(1, len(mean) + 1)
    lowest = [min(errors) for errors in zip(*seeds, strict=True)]
    highest = [max(errors) for errors in zip(*seeds, strict=True)]
    if colour != LIGHT["line"]:
        axes.fill_between(rounds, lowest, highest, color=colour, alpha=0.13, linewidth=0)
    axes.plot(rounds, mean, color=colour, linewidth=2)
    trained = results[0]["config"]["iterations"]
    axes.plot(trained, mean[trained - 1], "o", color=colour, markerfacecolor=LIGHT["surface"])
    return mean


@in_book_style
def errors_by_concentration(points: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw by how many per cent routing lowers the errors, over how much it concentrates the votes.

    A pale dot is a seed, a full one their mean, its name beside it. In colour is the task whose
    votes are concentrated most.

    Args:
        points: name -> by seed, the number of voters before routing over that after it, and how
            many per cent of the errors with even shares are taken away by routing.
    """
    means = {}
    for name, seeds in points.items():
        concentrations, taken = zip(*seeds, strict=True)
        means[name] = fmean(concentrations), fmean(taken)
    most = max(means, key=lambda name: means[name][0])
    figure, axes = one_plot(height=3.6)
    axes.axhline(0, color=LIGHT["line"], linewidth=1)
    for name, seeds in points.items():
        colour = LIGHT["accent"] if name == most else LIGHT["muted"]
        axes.plot(*zip(*seeds, strict=True), ".", color=colour, alpha=0.2, markersize=4)
        axes.plot(*means[name], "o", color=colour, markersize=7)
        ground = {"facecolor": LIGHT["surface"], "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
        beside = {"xytext": (8, 0), "textcoords": "offset points", "va": "center", "bbox": ground}
        axes.annotate(name, means[name], fontsize=8.5, color=colour, **beside)
    axes.set(xlim=(0.6, 11), ylabel="errors taken away, %")
    axes.set_xlabel("voters before routing, for each one after it")
    return figure
