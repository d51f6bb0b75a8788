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
    _STYLE,
    WIDTH,
    grid_of_plots,
    one_plot,
    phone_form,
    show_digit,
)
from capsnet_book.palette import LIGHT


@phone_form(on_a_phone=True)
def vote_rings(u_hat: Tensor, image: Tensor, label: int, *, on_a_phone: bool = False) -> Figure:
    """The votes for each class, laid end to end and ordered by their angle: a ring that closes if they cancel.

    A class is seen in the plane of its votes' sum and of the direction in which they spread most beside it, so that
    the gap of a ring is as long as the sum.

    Args:
        u_hat: [I, J, D_out], one image's prediction vectors.
        image: [28, 28] or [1, 28, 28], that image.
        label: its class, drawn in the accent colour.
        on_a_phone: the classes named in short, and the length of the sum with them.
    """
    paths = [_ring(u_hat[:, j]) for j in range(u_hat.shape[1])]
    width, height = (max(float(np.ptp(path[:, k])) for path, _ in paths) + 0.8 for k in (0, 1))
    with plt.rc_context(_STYLE):
        figure = plt.figure(figsize=(WIDTH, 4.7))
        grid = figure.add_gridspec(
            2,
            6,
            width_ratios=[1.15, 1, 1, 1, 1, 1],
            left=0.01,
            right=0.99,
            top=0.94,
            bottom=0.01,
            wspace=0.1,
            hspace=0.13,
        )
        picture = figure.add_subplot(grid[:, 0])
        show_digit(picture, image.squeeze())
        picture.set_title("the digit")
        picture.axis("off")
        for j, (path, longest) in enumerate(paths):
            axes = figure.add_subplot(grid[j // 5, 1 + j % 5])
            colour = LIGHT["accent"] if j == label else LIGHT["muted"]
            total = _draw_ring(axes, path, longest, colour, written=not on_a_phone)
            x, y = (path.max(axis=0) + path.min(axis=0)) / 2
            axes.set(xlim=(x - width / 2, x + width / 2), ylim=(y - height / 2, y + height / 2))
            axes.set_title(
                f"“{j}”: {total:.1f}" if on_a_phone else f"votes for “{j}”",
                color=colour,
                fontsize=9,
                pad=2,
            )
            axes.set_aspect("equal")
            axes.axis("off")
        plt.close(figure)
    return figure


@phone_form(stacked=True)
def broadcast_grid(parts: int = 3, wholes: int = 4, *, stacked: bool = False) -> Figure:
    """A column of u beside a grid of matrices: the column is read once for each whole, and never copied.

    Args:
        parts: I, the capsules below.
        wholes: J, the capsules above.
        stacked: the three one below the other, as a phone has room for.
    """
    hues = [LIGHT["accent"], LIGHT["contrast"], LIGHT["agree"]]
    grids = (("u", "[I, 1]", 1), ("W", "[I, J]", wholes), ("û", "[I, J]", wholes))
    right, down = (0.0, parts + 1.4) if stacked else (wholes + 1.6, 0.0)
    with one_plot(height=10 if stacked else 2.5) as (figure, axes):
        for k, (name, shape, columns) in enumerate(grids):
            left, top = k * right, -k * down
            for i in range(parts):
                for j in range(wholes):
                    index = {"u": f"{i + 1}", "W": f"{i + 1}{j + 1}", "û": rf"{j + 1}\mid {i + 1}"}[
                        name
                    ]
                    _cell(axes, left + j, top - i, f"${name if name != 'û' else chr(92) + 'hat u'}_{{{index}}}$",
                          LIGHT["muted"] if name == "W" else hues[i % 3], ghost=j >= columns)  # fmt: skip
            axes.text(left + wholes / 2, top + 1.25, f"{name}  {shape}", ha="center", weight="bold")
            if k:
                axes.text(
                    left - 0.8, top + 1 - parts / 2, " @="[k], ha="center", va="center", fontsize=16
                )
        axes.set(
            xlim=(-1.1 if stacked else -0.1, left + wholes + 0.1),
            ylim=(top + 0.9 - parts, 1.9),
            aspect="equal",
        )
        axes.axis("off")
    return figure


def roof_and_house(*angles: float) -> Figure:
    """A roof at each angle, in degrees, and the house that lies 0.4 below it in the roof's own direction."""
    triangle = np.array([[-0.55, -0.15], [0.55, -0.15], [0, 0.35]])
    walls = np.array([[-0.45, -0.25], [0.45, -0.25], [0.45, 0.25], [-0.45, 0.25]]) - [0, 0.4]
    with grid_of_plots(1, len(angles), height=2.4) as (figure, plots):
        for axes, angle in zip(plots[0], angles, strict=True):
            a = np.radians(angle)
            turned = np.array(
                [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
            )  # for points as rows
            axes.add_patch(
                Polygon(triangle @ turned, fill=False, edgecolor=LIGHT["contrast"], linewidth=2)
            )
            axes.add_patch(
                Polygon(
                    walls @ turned,
                    fill=False,
                    edgecolor=LIGHT["ink"],
                    linewidth=1.5,
                    linestyle="--",
                )
            )
            below = 0.4 * np.array([np.sin(a), -np.cos(a)])
            axes.annotate(
                "", below, (0, 0), arrowprops={"arrowstyle": "-|>", "color": LIGHT["ink"]}
            )
            axes.text(*(below / 2 + [0.06, 0]), "0.4", va="center")
            axes.set(xlim=(-1.2, 1.2), ylim=(-0.9, 0.6), aspect="equal")
            axes.set_title(f"roof at {angle:g}°")
    return figure


def _cell(axes: Axes, x: float, y: float, text: str, colour: str, *, ghost: bool) -> None:
    strength, dashes = (0.45, (0, (2, 2))) if ghost else (1, "-")
    frame = Rectangle((x + 0.05, y + 0.05), 0.9, 0.9, fill=False, edgecolor=colour, linewidth=1.2)
    frame.set(linestyle=dashes, alpha=strength)
    axes.add_patch(frame)
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=colour, alpha=strength)


def _ring(votes: Tensor) -> tuple[np.ndarray, int]:
    """Votes [I, D] -> where their path in the plane goes [I + 1, 2], and which step is the longest vote."""
    total = votes.sum(dim=0)
    along = total / torch.linalg.vector_norm(total)
    beside = votes - (votes @ along)[:, None] * along
    _, _, axes = torch.linalg.svd(beside, full_matrices=False)
    steps = torch.stack([beside @ axes[0], votes @ along], dim=1)  # [I, 2]; the sum points up
    order = torch.atan2(-steps[:, 0], steps[:, 1]).argsort()  # from downwards, round to downwards
    path = torch.cat([torch.zeros(1, 2), steps[order].cumsum(dim=0)])
    longest = int(torch.linalg.vector_norm(votes, dim=1)[order].argmax())
    return path.double().numpy(), longest


def _draw_ring(axes: Axes, path: np.ndarray, longest: int, colour: str, *, written: bool) -> float:
    """Draw a ring with the sum of its votes, whose length is returned, and written where there is room."""
    axes.plot(*path.T, color=colour, linewidth=1.6, solid_joinstyle="round")
    axes.plot(*path.T, ".", color=colour, markersize=2.6)
    axes.plot(
        *path[longest : longest + 2].T,
        color=LIGHT["contrast"],
        linewidth=2.8,
        solid_capstyle="round",
    )
    (x, y), total = path[0], float(path[-1, 1] - path[0, 1])
    axes.annotate(
        "",
        path[-1],
        path[0],
        arrowprops={"arrowstyle": "-|>", "color": LIGHT["ink"], "shrinkA": 0, "shrinkB": 0},
    )
    inwards = np.sign(path[:, 0].mean() - x)
    if written:
        align = "left" if inwards > 0 else "right"
        axes.text(
            x + 0.35 * inwards, y + total / 2, f"{total:.1f}", ha=align, va="center", weight="bold"
        )
    return total
