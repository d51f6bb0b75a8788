"""The couplings of routing as a graph, as a histogram, and their entropy by round."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import WIDTH, in_book_style, name_ends, one_plot
from capsnet_book.palette import LIGHT
from capsnet_book.routings.entropy import coupling_entropy

_BARS = 20
BAND = torch.tensor([0.05, 0.95])
"""Between these quantiles lie nine of ten capsules."""


@in_book_style
def coupling_graphs(
    c: Tensor, lengths: Tensor, types: int, rounds: Sequence[int] = (1, 3, 10)
) -> Figure:
    """Draw the bipartite graph at some rounds, every edge as thick as its coupling.

    Below each stand the histogram of the couplings and their entropy.

    Args:
        c: [R, I, J], the couplings of one image in every round.
        lengths: [R, J], of the capsules above after each round.
        types: of the capsules below; each is drawn as a square of its I / types places.
        rounds: the rounds to show, counted from 1.
    """
    figure, axes = plt.subplots(
        2,
        len(rounds),
        figsize=(WIDTH, 4.5),
        layout="constrained",
        squeeze=False,
        height_ratios=(1.75, 1),
    )
    for column, r in enumerate(rounds):
        _draw_graph(axes[0, column], c[r - 1].numpy(), lengths[r - 1].numpy(), types)
        _draw_histogram(axes[1, column], c[r - 1])
        axes[0, column].set_title(f"round {r}", weight="bold")
    axes[1, 0].set_ylabel("edges")
    for panel in axes[1, 1:]:
        panel.tick_params(labelleft=False)
    return figure


@in_book_style
def entropy_by_round(entropies: Tensor, *, lit: int) -> Figure:
    """Draw how decided the capsules below are after each round: their mean, its band, one of them.

    Args:
        entropies: [R, N, I], bits of each capsule's couplings for N images.
        lit: the capsule below, counted from 0, that has a line of its own.
    """
    rounds = range(1, len(entropies) + 1)
    mean = entropies.mean(dim=(1, 2))
    low, high = entropies.flatten(1).quantile(BAND, dim=1)
    chosen = entropies[..., lit].mean(dim=1)
    figure, axes = one_plot(2.9)
    colours = [LIGHT["accent"], LIGHT["contrast"]]
    axes.fill_between(rounds, low, high, color=colours[0], alpha=0.15, linewidth=0)
    names = "mean of all capsules", f"capsule {lit}"
    ends = {}
    for name, heights, colour in zip(names, (mean, chosen), colours, strict=True):
        axes.plot(rounds, heights, "o-", color=colour, markersize=4, clip_on=False)
        ends[name] = (rounds[-1], float(heights[-1]))
    axes.set(xlabel="round", ylabel="entropy, bits", ylim=(0, 1.1 * float(high.max())))
    axes.set_xticks(rounds)
    name_ends(axes, ends, colours)
    return figure


def _draw_graph(axes: Axes, c: np.ndarray, lengths: np.ndarray, types: int) -> None:
    """Draw the capsules below [I], those above [J], and the couplings [I, J] between them."""
    below, above = c.shape
    lower = _places_below(below, types)
    upper = np.stack([(np.arange(above) + 0.5) / above, np.full(above, 0.92)], axis=1)
    longest = int(lengths.argmax())
    axes.add_collection(_edges(c, lower, upper, longest))
    axes.plot(*lower.T, "o", color=LIGHT["muted"], markersize=1.7, markeredgewidth=0)
    for k, (x, y) in enumerate(upper):
        if k == longest:
            axes.text(x, y + 0.03, str(k), ha="center", color=LIGHT["accent"], weight="bold")
        else:
            axes.text(x, y + 0.03, str(k), ha="center", color=LIGHT["muted"])
    sentence = f"capsule {longest} is {lengths[longest]:.2f} long"
    axes.text(0.5, -0.03, sentence, ha="center", va="top", color=LIGHT["accent"])
    axes.set(xlim=(0, 1), ylim=(-0.12, 1.02))
    axes.axis("off")


def _places_below(capsules: int, types: int) -> np.ndarray:
    """Return where the capsules below stand, [I, 2]: a square of places for each type."""
    places = capsules // types
    across = round(places**0.5)
    type_, place = np.divmod(np.arange(capsules), places)
    row, column = np.divmod(place, across)
    x = (type_ + 0.5 + (column - (across - 1) / 2) * 0.26) / types
    return np.stack([x, 0.16 - 0.05 * row], axis=1)


def _edges(c: np.ndarray, lower: np.ndarray, upper: np.ndarray, longest: int) -> LineCollection:
    """Return the edges, strong ones in colour and on top: the longest capsule's in its own."""
    order = np.argsort(c, axis=None)
    couplings = c.flat[order]
    i, j = np.unravel_index(order, c.shape)
    strength = np.clip((couplings - 0.12) * 8, 0, 1)[:, None]  # 0: as good as even, hardly seen
    is_longest = (j == longest)[:, None]
    hue = np.where(is_longest, to_rgb(LIGHT["accent"]), to_rgb(LIGHT["contrast"]))
    colours = np.array(to_rgb(LIGHT["line"])) * (1 - strength) + hue * strength
    alpha = 0.3 + 0.7 * strength
    return LineCollection(
        list(_curves(lower[i], upper[j])),
        colors=np.hstack([colours, alpha]),
        linewidths=0.15 + 4.0 * couplings,
    )


def _curves(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return Bézier curves that leave and arrive upright, [E, points, 2]."""
    t = np.linspace(0, 1, 13)[None, :, None]
    rise = (end - start)[:, 1] * 0.45
    bend = np.stack([np.zeros(len(start)), rise], axis=1)
    points = (start, start + bend, end - bend, end)
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    terms = [weight * point[:, None] for weight, point in zip(weights, points, strict=True)]
    return np.sum(terms, axis=0)


def _draw_histogram(axes: Axes, c: Tensor) -> None:
    """Draw how many of the couplings [I, J] have which size, and write their mean entropy."""
    nearest_bar = (c * _BARS).round().long().flatten()
    counts = nearest_bar.bincount(minlength=_BARS + 1).numpy()
    axes.bar(np.arange(_BARS + 1) / _BARS, counts, width=0.84 / _BARS, color=LIGHT["accent"])
    label = f"mean entropy\n{coupling_entropy(c):.2f} bits"
    axes.text(0.98, 0.9, label, transform=axes.transAxes, ha="right", va="top")
    axes.set(yscale="log", ylim=(0.6, 1500), xlim=(-0.05, 1.05), xlabel="coupling c")
    axes.set_xticks([0, 0.1, 0.5, 1], ["0", "0.1", "0.5", "1"])
    axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.minorticks_off()
