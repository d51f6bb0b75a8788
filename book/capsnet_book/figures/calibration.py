"""How often a capsule of a length is right: the figure on a length read as a probability."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.experiments.tables import Result
from capsnet_book.figures._style import WIDTH, in_book_style
from capsnet_book.palette import LIGHT, colour_of

FEWEST = 20
"""Images that a bin needs to be drawn; fewer say nothing about a share."""


@in_book_style
def reliability(networks: Mapping[str, Sequence[Result]], splits: Mapping[str, str]) -> Figure:
    """Draw the share of right answers by the length of the longest capsule.

    On the diagonal a length is a probability.

    Args:
        networks: a network's name -> its results, a line all seeds together; those without
            ``calibration`` are left out.
        splits: a panel's heading -> the key in ``calibration``.
    """
    figure, panels = plt.subplots(
        1,
        len(splits),
        figsize=(WIDTH, 0.5 + WIDTH / len(splits)),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axes, (heading, split) in zip(panels.flat, splits.items(), strict=True):
        axes.plot([0, 1], [0, 1], color=LIGHT["line"], linewidth=1)
        _name_sides(axes)
        for k, (name, results) in enumerate(networks.items()):
            calibrations = [result.get("calibration", {}) for result in results]
            seeds = [one[split] for one in calibrations if split in one]
            if not seeds:
                continue
            lengths, shares = bins(together(seeds))
            axes.plot(lengths, shares, "o-", color=colour_of(name, k), markersize=4)
        axes.set_title(heading, loc="left")
        axes.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
        axes.set_xlabel("length of the longest capsule")
    panels.flat[0].set_ylabel("share that is right")
    _name_lines(panels.flat[-1], list(networks))
    return figure


def _name_sides(axes: Axes) -> None:
    """Write in the corners what it means to lie above the diagonal, and below."""
    style = {"transform": axes.transAxes, "fontsize": 8, "color": LIGHT["muted"]}
    axes.text(0.03, 0.97, "right more often", va="top", **style)
    axes.text(0.97, 0.03, "right less often", ha="right", **style)


def _name_lines(axes: Axes, names: Sequence[str]) -> None:
    """Write the names of a panel's lines on their sides: the higher one's above it, at the left."""
    curves = [line.get_xydata() for line in axes.lines[1:]]  # the diagonal comes first
    middles = [np.asarray(curve)[len(curve) // 2] for curve in curves]
    highest = max(range(len(middles)), key=lambda k: middles[k][1])
    for k, (name, middle) in enumerate(zip(names, middles, strict=True)):
        is_above = k == highest
        place = {"xytext": (-6, 3) if is_above else (5, -17), "textcoords": "offset points"}
        place["ha"] = "right" if is_above else "left"
        axes.annotate(
            textwrap.fill(name, 12), middle, fontsize=8, color=colour_of(name, k), **place
        )


def together(
    calibrations: Sequence[Mapping[str, Sequence[float]]],
) -> dict[str, list[float]]:
    """Return the calibration of the images of several seeds, as if they were those of one."""
    counts = np.array([one["count"] for one in calibrations])  # [seeds, bins]
    lengths = np.array([one["mean_length"] for one in calibrations], dtype=float)
    lengths = np.nan_to_num(lengths)  # a bin without images has none
    count = counts.sum(axis=0)
    return {
        "count": count.tolist(),
        "right": np.sum([one["right"] for one in calibrations], axis=0).tolist(),
        "mean_length": ((counts * lengths).sum(axis=0) / count.clip(min=1)).tolist(),
    }


def bins(calibration: Mapping[str, Sequence[float]]) -> tuple[list[float], list[float]]:
    """Return the mean length and the share of right answers of the bins with enough images."""
    lengths, shares = [], []
    counts, right = calibration["count"], calibration["right"]
    for count, right_answers, length in zip(counts, right, calibration["mean_length"], strict=True):
        if count >= FEWEST:
            lengths.append(length)
            shares.append(right_answers / count)
    return lengths, shares
