"""Pictures in colour, in rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import WIDTH, grid_of_pictures, in_book_style


@in_book_style
def colour_grid(rows: Sequence[tuple[str, Tensor]]) -> Figure:
    """Draw rows of pictures in colour, each with its name.

    Args:
        rows: names, and pictures [N, 3, H, W] from 0 to 1, or [N, 4, H, W] with opacity.
    """
    columns = len(rows[0][1])
    height = len(rows) * (WIDTH - 1.2) / columns
    figure, grid = grid_of_pictures(len(rows), columns, height)
    for line, (name, images) in zip(grid, rows, strict=True):
        for axes, image in zip(line, images, strict=True):
            axes.imshow(_rounded(image).permute(1, 2, 0).numpy(), interpolation="nearest")
        line[0].text(-0.15, 0.5, name, transform=line[0].transAxes, ha="right", va="center")
    return figure


def _rounded(image: Tensor) -> Tensor:
    """Return an image [C, H, W] in bytes: the figure is then the same on every machine."""
    return (255 * image).round().to(torch.uint8)
