"""Digits in rows and grids."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import WIDTH, grid_of_plots, show_digit


def digit_row(images: Tensor, titles: Sequence[str] | None = None) -> Figure:
    """Images side by side. images: [N, 28, 28] or [N, 1, 28, 28]."""
    flat = images.reshape(len(images), *images.shape[-2:])
    titles = [""] * len(flat) if titles is None else titles
    with grid_of_plots(1, len(flat), height=WIDTH / len(flat) + 0.35) as (figure, axes):
        for axis, image, title in zip(axes[0], flat, titles, strict=True):
            show_digit(axis, image)
            axis.set_title(title, fontsize=9)
    return figure


def digit_grid(rows: dict[str, Tensor], titles: Sequence[str] | None = None) -> Figure:
    """Rows of images, each with its name; above them a title for each column.

    rows: name -> [N, 28, 28] or [N, 1, 28, 28], N the same for all.
    """
    columns = len(next(iter(rows.values())))
    height = len(rows) * (WIDTH - 0.9) / columns + (0.3 if titles else 0)
    with grid_of_plots(len(rows), columns, height) as (figure, axes):
        for line, (name, images) in zip(axes, rows.items(), strict=True):
            for axis, image in zip(line, images.reshape(columns, *images.shape[-2:]), strict=True):
                show_digit(axis, image)
            line[0].text(-0.15, 0.5, name, transform=line[0].transAxes, ha="right", va="center")
        for axis, title in zip(axes[0], titles or [""] * columns, strict=True):
            axis.set_title(title, fontsize=9)
    return figure
