"""The zoo, raced: what each routing's seeds came to, and how far it is from another one."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_book.experiments.records import RunRecord
from capsnet_book.figures._style import _STYLE, WIDTH, phone_form, side_by_side
from capsnet_book.palette import LIGHT
from capsnet_book.race.verdict import MEASURES, Compared, compare
from capsnet_book.routings.zoo import ZOO


@phone_form(on_a_phone=True)
def zoo_compared(
    runs: Mapping[str, Sequence[RunRecord]], measure: str = "error", rival: str = "paper", *, on_a_phone: bool = False
) -> Figure:
    """A row for each routing: a point a seed and a line at the mean; beside it, how far it is from the rival.

    The difference is that of the seeds that both have, with its interval of 95 %; left of 0 the routing is better.
    A hollow mark has no interval: too few seeds, or the same difference in all of them.

    Args:
        runs: by names of the zoo.
        measure: of `MEASURES`.
        rival: of the zoo, one of those that were run.
        on_a_phone: the two plots above each other.
    """
    title = MEASURES[measure].title
    shape = (2, 1) if on_a_phone else (1, 2)
    height = (0.36 if not on_a_phone else 0.9) * len(runs) + (1.0 if not on_a_phone else 1.8)
    with plt.rc_context(_STYLE):
        figure, (points, apart) = plt.subplots(*shape, figsize=(WIDTH, height), layout="constrained")
        for place, (name, records) in enumerate(runs.items()):
            _seeds(points, place, [value for each in records if (value := MEASURES[measure].value(each)) is not None])
            if name != rival:
                _difference(apart, place, compare(records, runs[rival]), measure)
        apart.axvline(0, color=LIGHT["ink"], linewidth=0.8)
        labels = [textwrap.fill(ZOO[name].summary, 26) for name in runs]
        for axes, about in ((points, title), (apart, f"{title}, less that of “{rival}”")):
            is_named = axes is points or on_a_phone
            axes.set_yticks(range(len(runs)), labels if is_named else [""] * len(runs), fontsize=7.5)
            axes.set(xlabel=about, ylim=(len(runs) - 0.5, -0.5))
            axes.grid(axis="x", color=LIGHT["line"], linewidth=0.5)
            axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
        points.set_xlim(0, 1.04 * points.get_xlim()[1])
        plt.close(figure)
    return figure


def _seeds(axes: Axes, place: int, values: Sequence[float]) -> None:
    heights = [place + beside for beside in side_by_side(len(values), 0.1)]
    axes.plot(values, heights, "o", color=LIGHT["accent"], markersize=4, alpha=0.7)
    mean = sum(values) / len(values)
    axes.plot([mean, mean], [place - 0.35, place + 0.35], color=LIGHT["accent"], linewidth=1.5)


def _difference(axes: Axes, place: int, compared: Sequence[Compared], measure: str) -> None:
    found = next(each for each in compared if each.measure == measure)
    if found.difference is None:
        axes.plot(found.mean, place, "o", markerfacecolor=LIGHT["surface"], color=LIGHT["muted"], markersize=5)
        return
    low, high = found.difference.low, found.difference.high
    colour = LIGHT["muted" if low <= 0 <= high else "accent" if high < 0 else "contrast"]
    axes.plot([low, high], [place, place], color=colour, linewidth=2)
    axes.plot(found.mean, place, "o", color=colour, markersize=5)
