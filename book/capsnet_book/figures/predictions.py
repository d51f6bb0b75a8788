"""The figures of the chapter on prediction vectors."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from torch import Tensor

from capsnet_book.figures._style import (
    WIDTH,
    grid_of_pictures,
    in_book_style,
    one_plot,
    phone_form,
    show_digit,
)
from capsnet_book.palette import LIGHT


@phone_form(on_a_phone=True)
@in_book_style
def vote_rings(u_hat: Tensor, image: Tensor, label: int, *, on_a_phone: bool = False) -> Figure:
    """Draw the votes for two classes end to end: rings, closed if the votes cancel.

    The classes are that of the image and the one of the next longest sum; beside their rings stand
    the sums of all classes, as arrows. A class is seen in the plane of its votes' sum and of the
    direction in which they spread most beside it, so that a ring's gap is as long as the sum.

    Args:
        u_hat: [I, J, D_out], one image's prediction vectors.
        image: [28, 28] or [1, 28, 28], that image.
        label: its class, drawn in the accent colour.
        on_a_phone: whether the sums stand below the rings.
    """
    sums = u_hat.sum(dim=0).norm(dim=1)  # [J]
    next_longest = next(j for j in sums.argsort(descending=True).tolist() if j != label)
    rings = {j: _ring(u_hat[:, j]) for j in (label, next_longest)}
    width = max(float(np.ptp(path[:, 0])) for path, _ in rings.values()) + 0.8
    height = max(float(np.ptp(path[:, 1])) for path, _ in rings.values()) + 0.8

    figure = plt.figure(figsize=(WIDTH, 8.6 if on_a_phone else 3.6))
    room = {"left": 0.01, "right": 0.99, "top": 0.94, "bottom": 0.03, "wspace": 0.08}
    if on_a_phone:
        grid = figure.add_gridspec(2, 2, height_ratios=[1.5, 1], hspace=0.2, **room)
        sums_axes = figure.add_subplot(grid[1, :])
    else:
        grid = figure.add_gridspec(1, 3, width_ratios=[1, 1, 1.6], **room)
        sums_axes = figure.add_subplot(grid[0, 2])
    for column, (j, (path, longest)) in enumerate(rings.items()):
        axes = figure.add_subplot(grid[0, column])
        colour = LIGHT["accent"] if j == label else LIGHT["muted"]
        _draw_ring(axes, path, longest, colour)
        x, y = (path.max(axis=0) + path.min(axis=0)) / 2
        axes.set(xlim=(x - width / 2, x + width / 2), ylim=(y - height / 2, y + height / 2))
        axes.set_title(f"votes for “{j}”", color=colour)
        axes.set_aspect("equal")
        axes.axis("off")
        if j == label:
            picture = axes.inset_axes((0.4, 0.4, 0.24, 0.2))
            show_digit(picture, image.reshape(28, 28))
            picture.axis("off")
    _draw_sums(sums_axes, sums, label)
    return figure


def _draw_sums(axes: Axes, sums: Tensor, label: int) -> None:
    """Draw the lengths of the votes' sums [J] as arrows from one line up, the class's in colour."""
    for j, length in enumerate(sums.tolist()):
        colour = LIGHT["accent"] if j == label else LIGHT["muted"]
        arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (j, length), (j, 0), arrowprops=arrow | {"linewidth": 1.8})
        axes.text(j, length, f"{length:.1f}", ha="center", va="bottom", color=colour, fontsize=8.5)
    axes.set(xlim=(-0.6, len(sums) - 0.4), ylim=(0, 1.12 * float(sums.max())), yticks=[])
    axes.set_xticks(range(len(sums)), [f"“{j}”" for j in range(len(sums))])
    axes.set_title("the gaps of all ten")
    axes.spines["left"].set_visible(False)
    axes.tick_params(length=0)


def _ring(votes: Tensor) -> tuple[np.ndarray, int]:
    """Return the path of votes [I, D] in their plane, [I + 1, 2], and the longest vote's place."""
    total = votes.sum(dim=0)
    along = total / torch.linalg.vector_norm(total)
    beside = votes - (votes @ along)[:, None] * along
    _, _, axes = torch.linalg.svd(beside, full_matrices=False)
    steps = torch.stack([beside @ axes[0], votes @ along], dim=1)  # [I, 2]; the sum points up
    order = torch.atan2(-steps[:, 0], steps[:, 1]).argsort()  # from downwards, round to downwards
    path = torch.cat([torch.zeros(1, 2), steps[order].cumsum(dim=0)])
    longest = int(torch.linalg.vector_norm(votes, dim=1)[order].argmax())
    return path.double().numpy(), longest


def _draw_ring(axes: Axes, path: np.ndarray, longest: int, colour: str) -> None:
    """Draw a ring's path, its longest vote in contrast, and the sum of the votes as an arrow."""
    axes.plot(*path.T, color=colour, linewidth=1.6, solid_joinstyle="round")
    axes.plot(*path.T, ".", color=colour, markersize=2.6)
    longest_vote = path[longest : longest + 2]
    axes.plot(*longest_vote.T, color=LIGHT["contrast"], linewidth=2.8, solid_capstyle="round")
    arrow = {"arrowstyle": "-|>", "color": LIGHT["ink"], "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", path[-1], path[0], arrowprops=arrow)


@phone_form(stacked=True)
@in_book_style
def broadcast_grid(parts: int = 3, wholes: int = 4, *, stacked: bool = False) -> Figure:
    """Draw a column of u beside a grid of matrices: the column is read once for each whole.

    What is dashed is not stored.

    Args:
        parts: I, the capsules below.
        wholes: J, the capsules above.
        stacked: whether the three grids stand below each other, as a phone has room for.
    """
    figure, axes = one_plot(height=10 if stacked else 2.5)
    right = 0.0 if stacked else wholes + 1.6
    down = parts + 1.4 if stacked else 0.0
    for k, name in enumerate(("u", "W", "û")):
        left, top = k * right, -k * down
        for i in range(parts):
            for j in range(wholes):
                is_read_again = name == "u" and j > 0
                symbol, colour = _entry(name, i, j)
                _draw_cell(axes, (left + j, top - i), symbol, colour, dashed=is_read_again)
        shape = "[I, 1]" if name == "u" else "[I, J]"
        axes.text(left + wholes / 2, top + 1.25, f"{name}  {shape}", ha="center", weight="bold")
        sign = {"u": "", "W": "@", "û": "="}[name]
        middle = top + 1 - parts / 2
        axes.text(left - 0.8, middle, sign, ha="center", va="center", fontsize=16)
    axes.set(
        xlim=(-1.1 if stacked else -0.1, left + wholes + 0.1),
        ylim=(top + 0.9 - parts, 1.9),
        aspect="equal",
    )
    axes.axis("off")
    return figure


def _entry(name: str, i: int, j: int) -> tuple[str, str]:
    """Return the symbol of an entry of u, W or û, in mathtext, and its colour."""
    hue = LIGHT[("accent", "contrast", "agree")[i % 3]]
    if name == "u":
        return f"$u_{{{i + 1}}}$", hue
    if name == "W":
        return f"$W_{{{i + 1}{j + 1}}}$", LIGHT["muted"]
    return rf"$\hat u_{{{j + 1}\mid {i + 1}}}$", hue


def _draw_cell(
    axes: Axes, corner: tuple[float, float], text: str, colour: str, *, dashed: bool
) -> None:
    """Draw a cell of a grid with its text."""
    x, y = corner
    alpha = 0.45 if dashed else 1
    frame = Rectangle((x + 0.05, y + 0.05), 0.9, 0.9, fill=False, edgecolor=colour, linewidth=1.2)
    frame.set(linestyle=(0, (2, 2)) if dashed else "-", alpha=alpha)
    axes.add_patch(frame)
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=colour, alpha=alpha)


@in_book_style
def roof_and_house(*angles: float) -> Figure:
    """Draw a roof at each angle, in degrees, and the house that it votes for.

    The house lies 0.4 below the roof in the roof's own direction.
    """
    triangle = np.array([[-0.55, -0.15], [0.55, -0.15], [0, 0.35]])
    rectangle = np.array([[-0.45, -0.25], [0.45, -0.25], [0.45, 0.25], [-0.45, 0.25]])
    house = rectangle - [0, 0.4]
    figure, panels = grid_of_pictures(1, len(angles), height=2.4)
    for axes, angle in zip(panels[0], angles, strict=True):
        a = np.radians(angle)
        rotation = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])  # of rows
        roof_outline = {"edgecolor": LIGHT["contrast"], "linewidth": 2}
        axes.add_patch(Polygon(triangle @ rotation, fill=False, **roof_outline))
        house_outline = {"edgecolor": LIGHT["ink"], "linewidth": 1.5, "linestyle": "--"}
        axes.add_patch(Polygon(house @ rotation, fill=False, **house_outline))
        below = 0.4 * np.array([np.sin(a), -np.cos(a)])
        axes.annotate("", below, (0, 0), arrowprops={"arrowstyle": "-|>", "color": LIGHT["ink"]})
        axes.text(*(below / 2 + [0.06, 0]), "0.4", va="center")
        axes.set(xlim=(-1.2, 1.2), ylim=(-0.9, 0.6), aspect="equal")
        axes.set_title(f"roof at {angle:g}°")
    return figure
