"""The picture of the whole network, with one part of it lit: the way through the book."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import matplotlib.pyplot as plt
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Polygon, Rectangle

from capsnet_book.figures._style import _STYLE, INK, WIDTH
from capsnet_book.palette import LIGHT
from capsnet_tutorial.data import digits
from capsnet_tutorial.errors import expect

_NETWORK = json.loads((files("capsnet_book") / "network.json").read_text(encoding="utf-8"))

LIT: dict[str, list[str]] = _NETWORK["lit"]
"""What `network_diagram` can light: a name -> the parts that belong to it."""

HEIGHT = 3.95
COLUMNS = [0.6 + 1.16 * k for k in range(6)]  # in inches
TOP, MIDDLE, BOTTOM = ROWS = (2.95, 1.27, 0.25)
BOX = 0.72  # the side of a part's picture
DIM = 0.42  # how visible a part is that is not lit


@dataclass(frozen=True)
class Part:
    """A part's place in the picture, its name and the shape of what it holds for one image."""

    x: float
    y: float
    name: str
    shape: str


def _part(name: str, shape: str, place: tuple[float, int], **_: Any) -> Part:
    column, row = place
    wrapped = name if row == 2 else name.replace(" ", "\n")
    return Part(COLUMNS[0] + column * (COLUMNS[1] - COLUMNS[0]), ROWS[row], wrapped, shape)


PARTS = {key: _part(**part) for key, part in _NETWORK["parts"].items()}


def network_diagram(lit: str | None = None) -> Figure:
    """The network that the book builds, from an image to the loss, with the shapes of one image's numbers.

    It has no form for a phone: on a page the glass network stands in its place.

    Args:
        lit: the part to light, one of `LIT`'s names; the others are dimmed. None: all are lit.
    """
    expect(lit is None or lit in LIT, f"a part, one of {', '.join(LIT)}, or None", repr(lit))
    bright = set(PARTS) if lit is None else set(LIT[lit])
    with plt.rc_context(_STYLE):
        figure = plt.figure(figsize=(WIDTH, HEIGHT))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(0, HEIGHT))
        axes.set_axis_off()
        if lit is not None:
            _frame_runs(axes, bright)
        for start, end, words in _NETWORK["arrows"]:
            _arrow(axes, PARTS[start], PARTS[end], words, start in bright and end in bright)
        _elbow(axes, "classes" in bright and "mask" in bright)
        for side in ("reconstruction loss", "margin"):
            _to_total(axes, PARTS[side], side in bright and "total" in bright)
        for name, part in PARTS.items():
            _draw_part(axes, name, part, name in bright, bold=lit is not None)
        plt.close(figure)
    vars(figure)["on_a_phone"] = None
    return figure


def _frame_runs(axes: Axes, bright: set[str]) -> None:
    """A box around each run of lit parts that stand beside each other."""
    for row in (TOP, MIDDLE):
        lit = sorted(PARTS[name].x for name in bright if PARTS[name].y == row)
        runs: list[list[float]] = []
        for x in lit:
            if runs and x - runs[-1][-1] < 1.2:
                runs[-1].append(x)
            else:
                runs.append([x])
        for run in runs:
            box = FancyBboxPatch(
                (run[0] - 0.48, row - 0.6), run[-1] - run[0] + 0.96, 1.45, zorder=0
            )
            box.set_boxstyle("round", pad=0.0, rounding_size=0.08)
            box.set(facecolor=LIGHT["raised"], edgecolor=LIGHT["accent"], linewidth=1.2)
            axes.add_patch(box)


def _draw_part(axes: Axes, name: str, part: Part, bright: bool, bold: bool) -> None:
    alpha = 1.0 if bright else DIM
    weight = "bold" if bright and bold and "reconstruction" not in part.name else "normal"
    above = part.y + (0.0 if name == "total" else 0.46)
    align = "center" if name == "total" else "bottom"
    size = 8.8 if "reconstruction\n" in part.name else 10  # the longest word
    axes.text(
        part.x,
        above,
        part.name,
        ha="center",
        va=align,
        fontsize=size,
        linespacing=1.0,
        alpha=alpha,
        weight=weight,
    )
    axes.text(
        part.x,
        part.y - 0.5,
        part.shape,
        ha="center",
        va="center",
        fontsize=9.5,
        color=LIGHT["muted"],
        alpha=alpha,
    )
    _PICTURES.get(name, lambda *_: None)(axes, part.x, part.y, alpha)


def _arrow(axes: Axes, start: Part, end: Part, words: str, bright: bool) -> None:
    alpha = 1.0 if bright else DIM
    gap = 0.39
    if start.y == end.y:
        step = gap if end.x > start.x else -gap
        a, b = (start.x + step, start.y), (end.x - step, end.y)
    else:
        a, b = (start.x, start.y - 0.6), (end.x, end.y + (0.84 if "\n" in end.name else 0.68))
    style = {
        "arrowstyle": "-|>",
        "color": LIGHT["muted"],
        "linewidth": 1.3,
        "shrinkA": 0,
        "shrinkB": 0,
        "alpha": alpha,
    }
    axes.annotate("", b, a, arrowprops=style)
    if words:
        middle = (a[0] + b[0]) / 2
        axes.text(
            middle,
            start.y + 0.06,
            words,
            ha="center",
            va="bottom",
            fontsize=8.5,
            alpha=alpha,
            linespacing=0.95,
        )


def _elbow(axes: Axes, bright: bool) -> None:
    """From the class capsules down, and left to the mask."""
    v, mask = PARTS["classes"], PARTS["mask"]
    turn = mask.y + 0.94
    _line(axes, [(v.x, v.y - 0.6), (v.x, turn), (mask.x, turn), (mask.x, mask.y + 0.68)], bright)


def _to_total(axes: Axes, side: Part, bright: bool) -> None:
    total = PARTS["total"]
    end = total.x + (-2.0 if side.x < total.x else 2.0)
    _line(axes, [(side.x, side.y - 0.48), (side.x, total.y), (end, total.y)], bright)


def _line(axes: Axes, places: list[tuple[float, float]], bright: bool) -> None:
    alpha = 1.0 if bright else DIM
    axes.plot(*zip(*places[:-1], strict=True), color=LIGHT["muted"], linewidth=1.3, alpha=alpha)
    style = {
        "arrowstyle": "-|>",
        "color": LIGHT["muted"],
        "linewidth": 1.3,
        "shrinkA": 0,
        "shrinkB": 0,
        "alpha": alpha,
    }
    axes.annotate("", places[-1], places[-2], arrowprops=style)


# --- what a part looks like -------------------------------------------------------------------------------------------


def _image(axes: Axes, x: float, y: float, alpha: float) -> None:
    _digit(axes, x, y, alpha, blurred=False)


def _reconstruction(axes: Axes, x: float, y: float, alpha: float) -> None:
    _digit(axes, x, y, alpha, blurred=True)


def _digit(axes: Axes, x: float, y: float, alpha: float, blurred: bool) -> None:
    image = digits("test", source="sample").images[7:8]
    shown = F.avg_pool2d(image, 3, 1, 1)[0, 0] if blurred else image[0, 0]
    half = BOX / 2
    place = (x - half, x + half, y - half, y + half)
    axes.imshow(
        shown.numpy(), cmap=INK, vmin=0, vmax=1, extent=place, alpha=alpha, aspect="auto", zorder=2
    )
    _frame(axes, x - half, y - half, BOX, BOX, alpha)


def _maps(axes: Axes, x: float, y: float, alpha: float) -> None:
    for k in range(4):
        _frame(axes, x - 0.36 + 0.07 * k, y - 0.15 - 0.07 * k, 0.5, 0.5, alpha, fill="surface")


def _primary(axes: Axes, x: float, y: float, alpha: float) -> None:
    for row in range(3):
        for column in range(3):
            a, b = x + 0.24 * (column - 1) - 0.08, y + 0.24 * (row - 1) - 0.06
            turn = (row * 3 + column * 5) % 7
            _vector(axes, a, b, 0.17 - 0.02 * turn, 0.03 * turn, alpha, "accent")


def _predictions(axes: Axes, x: float, y: float, alpha: float) -> None:
    for row in range(4):
        for column in range(4):
            turn = (row * 3 + column) % 5
            a, b = x + 0.2 * (column - 1.5) - 0.06, y + 0.2 * (row - 1.5) - 0.06
            _vector(axes, a, b, 0.14 - 0.03 * turn, 0.04 * turn, alpha, "soft")


_LENGTHS = (
    0.06,
    0.08,
    0.12,
    0.05,
    0.07,
    0.05,
    0.04,
    0.93,
    0.07,
    0.1,
)  # drawn, not computed: a seven is there


def _classes(axes: Axes, x: float, y: float, alpha: float) -> None:
    for k, length in enumerate(_LENGTHS):
        b = y + 0.33 - 0.073 * k
        _vector(axes, x - 0.33, b, max(0.7 * length, 0.07), 0.0, alpha, "agree")


def _lengths(axes: Axes, x: float, y: float, alpha: float) -> None:
    for k, length in enumerate(_LENGTHS):
        bar = Rectangle((x - 0.35 + 0.07 * k, y - 0.35), 0.05, 0.72 * length)
        bar.set(facecolor=LIGHT["agree"], alpha=alpha)
        axes.add_patch(bar)
    axes.plot([x - 0.37, x + 0.37], [y - 0.35, y - 0.35], color=LIGHT["line"], linewidth=1)


def _mask(axes: Axes, x: float, y: float, alpha: float) -> None:
    for k in range(10):
        b = y + 0.33 - 0.073 * k
        kept = k == 7
        colour = LIGHT["agree"] if kept else LIGHT["line"]
        axes.plot(
            [x - 0.32, x + 0.32], [b, b], color=colour, alpha=alpha, linewidth=3.0 if kept else 1.2
        )


def _decoder(axes: Axes, x: float, y: float, alpha: float) -> None:
    shape = Polygon(
        [(x + 0.3, y - 0.15), (x + 0.3, y + 0.15), (x - 0.32, y + 0.36), (x - 0.32, y - 0.36)]
    )
    shape.set(facecolor=LIGHT["surface"], edgecolor=LIGHT["accent"], linewidth=1.3, alpha=alpha)
    axes.add_patch(shape)


def _label(axes: Axes, x: float, y: float, alpha: float) -> None:
    _frame(axes, x - 0.27, y - 0.27, 0.54, 0.54, alpha, fill="surface")
    axes.text(x, y, "7", ha="center", va="center", fontsize=15, alpha=alpha, zorder=3)


def _loss(axes: Axes, x: float, y: float, alpha: float) -> None:
    _frame(axes, x - 0.3, y - 0.3, 0.6, 0.6, alpha, fill="surface", edge="contrast")
    axes.text(
        x, y, "L", ha="center", va="center", fontsize=15, style="italic", alpha=alpha, zorder=3
    )


_PICTURES = {
    "image": _image,
    "maps": _maps,
    "primary": _primary,
    "predictions": _predictions,
    "classes": _classes,
    "lengths": _lengths,
    "mask": _mask,
    "decoder": _decoder,
    "reconstruction": _reconstruction,
    "labels": _label,
    "margin": _loss,
    "reconstruction loss": _loss,
}


def _frame(
    axes: Axes,
    x: float,
    y: float,
    width: float,
    height: float,
    alpha: float,
    fill: str | None = None,
    edge: str = "muted",
) -> None:
    box = Rectangle((x, y), width, height, zorder=2)
    box.set(
        facecolor=LIGHT[fill] if fill else "none", edgecolor=LIGHT[edge], linewidth=1.0, alpha=alpha
    )
    axes.add_patch(box)


def _vector(axes: Axes, x: float, y: float, dx: float, dy: float, alpha: float, role: str) -> None:
    style = {
        "arrowstyle": "->",
        "color": LIGHT[role],
        "linewidth": 1.2,
        "shrinkA": 0,
        "shrinkB": 0,
        "alpha": alpha,
    }
    style["mutation_scale"] = 5
    axes.annotate("", (x + dx, y + dy), (x, y), arrowprops=style)
