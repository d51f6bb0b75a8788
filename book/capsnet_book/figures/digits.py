"""Digits in rows and grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from capsnet_book.figures._style import (
    WIDTH,
    grid_of_pictures,
    in_book_style,
    show_digit,
    tinted,
)
from capsnet_book.palette import LIGHT


@in_book_style
def digit_row(images: Tensor, titles: Sequence[str] | None = None) -> Figure:
    """Draw images [N, 28, 28] or [N, 1, 28, 28] side by side, with a title for each."""
    count = len(images)
    figure, grid = grid_of_pictures(1, count, height=WIDTH / count + 0.35)
    for axes, image in zip(grid[0], images, strict=True):
        show_digit(axes, image.reshape(images.shape[-2:]))
    _set_titles(grid[0], titles)
    return figure


@in_book_style
def digit_grid(rows: dict[str, Tensor], titles: Sequence[str] | None = None) -> Figure:
    """Draw rows of images, each with its name, and above them a title for each column.

    Args:
        rows: name -> [N, 28, 28] or [N, 1, 28, 28], N the same for all.
        titles: of the N columns.
    """
    columns = len(next(iter(rows.values())))
    room_for_titles = 0.3 if titles else 0
    height = len(rows) * (WIDTH - 0.9) / columns + room_for_titles
    figure, grid = grid_of_pictures(len(rows), columns, height)
    for line, (name, images) in zip(grid, rows.items(), strict=True):
        for axes, image in zip(line, images, strict=True):
            show_digit(axes, image.reshape(images.shape[-2:]))
        line[0].text(-0.15, 0.5, name, transform=line[0].transAxes, ha="right", va="center")
    _set_titles(grid[0], titles)
    return figure


@in_book_style
def film_ends(films: Mapping[str, Tensor], first: str, last: str) -> Figure:
    """Draw the first and the last picture of films, and below both on one sheet: a column a film.

    The first is orange, the last blue; on the sheet dark is what has stayed.

    Args:
        films: title -> [K, 28, 28].
        first: the name of the first pictures' row.
        last: that of the last pictures' row.
    """
    figure, grid = grid_of_pictures(3, len(films), height=3 * (WIDTH - 0.9) / len(films) + 0.3)
    tints = (LIGHT["contrast"], LIGHT["accent"])
    for column, film in zip(grid.T, films.values(), strict=True):
        both = film[[0, -1]].detach()
        column[0].imshow(tinted(both[:1], tints[:1]), interpolation="bilinear")
        column[1].imshow(tinted(both[1:], tints[1:]), interpolation="bilinear")
        column[2].imshow(tinted(both, tints), interpolation="bilinear")
    colours = (*tints, LIGHT["ink"])
    for axes, name, colour in zip(grid[:, 0], (first, last, "both"), colours, strict=True):
        place = {"transform": axes.transAxes, "ha": "right", "va": "center"}
        axes.text(-0.1, 0.5, name, color=colour, **place)
    _set_titles(grid[0], list(films))
    return figure


def _set_titles(line: Sequence, titles: Sequence[str] | None) -> None:
    """Set a title above each picture of a line, if there are titles."""
    if titles is None:
        return
    for axes, title in zip(line, titles, strict=True):
        axes.set_title(title, fontsize=9)
