"""The couplings of routing as a graph and as a histogram: the figure of the chapter on message passing."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import _STYLE, WIDTH
from capsnet_book.palette import LIGHT
from capsnet_book.routings.entropy import coupling_entropy

_BARS = 20


def coupling_graphs(
    c: Tensor, lengths: Tensor, types: int, rounds: Sequence[int] = (1, 3, 10)
) -> Figure:
    """The bipartite graph at some rounds, every edge as thick as its coupling; its histogram and entropy below.

    Args:
        c: [R, I, J], the couplings of one image in every round.
        lengths: [R, J], how long the capsules above are after each round.
        types: of the capsules below; each is drawn as a square of its I / types places.
        rounds: which to show, counted from 1.
    """
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            2,
            len(rounds),
            figsize=(WIDTH, 4.5),
            layout="constrained",
            squeeze=False,
            height_ratios=(1.75, 1),
        )
        for column, r in enumerate(rounds):
            _graph(axes[0, column], c[r - 1].numpy(), lengths[r - 1].numpy(), types)
            _histogram(axes[1, column], c[r - 1])
            axes[0, column].set_title(f"round {r}", weight="bold")
        axes[1, 0].set_ylabel("edges")
        for axis in axes[1, 1:]:
            axis.tick_params(labelleft=False)
        plt.close(figure)
    return figure


def _graph(axes: Axes, c: np.ndarray, lengths: np.ndarray, types: int) -> None:
    below, above = c.shape
    places = below // types
    across = round(places**0.5)
    type_, place = np.divmod(np.arange(below), places)
    down, right = np.divmod(place, across)
    lower = np.stack(
        [(type_ + 0.5 + (right - (across - 1) / 2) * 0.26) / types, 0.16 - 0.05 * down], axis=1
    )
    upper = np.stack([(np.arange(above) + 0.5) / above, np.full(above, 0.92)], axis=1)
    longest = int(lengths.argmax())

    order = np.argsort(c, axis=None)  # thick edges on top
    i, j = np.unravel_index(order, c.shape)
    curves = _curves(lower[i], upper[j])
    strong = np.clip((c.flat[order] - 0.12) * 8, 0, 1)[:, None]
    hue = np.where((j == longest)[:, None], to_rgb(LIGHT["accent"]), to_rgb(LIGHT["contrast"]))
    colours = np.array(to_rgb(LIGHT["muted"])) * (1 - strong) + hue * strong
    alpha = np.clip(0.06 + 1.1 * c.flat[order], 0, 1)[:, None]
    axes.add_collection(
        LineCollection(
            list(curves), colors=np.hstack([colours, alpha]), linewidths=0.15 + 4.0 * c.flat[order]
        )
    )
    axes.plot(*lower.T, "o", color=LIGHT["muted"], markersize=1.7, markeredgewidth=0)
    for k, (x, y) in enumerate(upper):
        colour, weight = (LIGHT["accent"], "bold") if k == longest else (LIGHT["muted"], "normal")
        axes.text(x, y + 0.03, str(k), ha="center", color=colour, weight=weight)
    axes.text(
        0.5,
        -0.03,
        f"capsule {longest} is {lengths[longest]:.2f} long",
        ha="center",
        va="top",
        color=LIGHT["accent"],
    )
    axes.set(xlim=(0, 1), ylim=(-0.12, 1.02))
    axes.axis("off")


def _curves(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Bézier curves that leave and arrive upright, [E, points, 2]."""
    t = np.linspace(0, 1, 13)[None, :, None]
    bend = np.stack([np.zeros(len(start)), (end - start)[:, 1] * 0.45], axis=1)
    points = (start, start + bend, end - bend, end)
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    return np.sum(
        [weight * point[:, None] for weight, point in zip(weights, points, strict=True)], axis=0
    )


def _histogram(axes: Axes, c: Tensor) -> None:
    counts = (c * _BARS).round().long().flatten().bincount(minlength=_BARS + 1).numpy()
    axes.bar(np.arange(_BARS + 1) / _BARS, counts, width=0.84 / _BARS, color=LIGHT["accent"])
    label = f"mean entropy\n{coupling_entropy(c):.2f} bits"
    axes.text(0.98, 0.9, label, transform=axes.transAxes, ha="right", va="top")
    axes.set(
        yscale="log",
        ylim=(0.6, 1500),
        xlim=(-0.05, 1.05),
        xlabel="coupling c",
        xticks=[0, 0.1, 0.5, 1],
    )
    axes.set_xticklabels(["0", "0.1", "0.5", "1"])
    axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.minorticks_off()
