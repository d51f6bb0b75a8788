"""How often a capsule that is so long is right: the figure on a length read as a probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from capsnet_book.experiments.tables import Result
from capsnet_book.figures._style import _STYLE, WIDTH
from capsnet_book.palette import LIGHT, colour_of

FEWEST = 20
"""Images that a bin needs to be drawn; fewer say nothing about a share."""


def reliability(networks: Mapping[str, Sequence[Result]], splits: Mapping[str, str]) -> Figure:
    """Share of right answers by length of the longest capsule: on the diagonal, length is probability.

    Args:
        networks: records by the network's name, a line a seed; those without ``calibration`` are passed over.
        splits: a heading -> the key in ``calibration``; a panel each.
    """
    with plt.rc_context(_STYLE):
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
            for k, (name, records) in enumerate(networks.items()):
                label: str | None = name
                for record in records:
                    if split not in record.get("calibration", {}):
                        continue
                    lengths, shares = bins(record["calibration"][split])
                    axes.plot(
                        lengths,
                        shares,
                        "o-",
                        color=colour_of(name, k),
                        markersize=3,
                        linewidth=1.2,
                        label=label,
                    )
                    label = None
            axes.set_title(heading, loc="left")
            axes.set(
                xlim=(0, 1.02),
                ylim=(0, 1.02),
                xlabel="length of the longest capsule",
                aspect="equal",
            )
        panels.flat[0].set_ylabel("share that is right")
        panels.flat[0].legend(loc="lower right")
        plt.close(figure)
    return figure


def bins(calibration: Mapping[str, Sequence[float]]) -> tuple[list[float], list[float]]:
    """Mean length and share of right answers of the bins with enough images."""
    rows = zip(*(calibration[key] for key in ("count", "right", "mean_length")), strict=True)
    kept = [(length, right / count) for count, right, length in rows if count >= FEWEST]
    return [length for length, _ in kept], [share for _, share in kept]
