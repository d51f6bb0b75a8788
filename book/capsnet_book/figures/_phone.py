"""A figure's form for a phone, which a notebook stores beside the figure.

The book's pages show it in narrow windows (`book/_ext/notebooks/figures.py`). Only
`tools/refresh_notebooks.py` asks for it: nothing of this happens when a reader runs a notebook.
"""

from __future__ import annotations

import base64
import io
import pickle
import textwrap
from itertools import combinations
from typing import Any
from unittest.mock import patch

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec, SubplotSpec
from matplotlib.image import AxesImage
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from capsnet_book.figures._style import fit_finding

PHONE = 3.43
"""Inches: the 343 pixels that a phone of 375 leaves for the text, 100 an inch."""
SMALLEST = 8.6
"""Points of a label there, which are 11.9 of the phone's pixels."""
LONG = 30
"""Letters of a text within a panel from which on it is broken into lines there."""
APART = 0.25
"""What two labels of a line need between them, as a share of a letter's height."""
ROOM = {"left": 0.16, "right": 0.97, "top": 0.97, "bottom": 0.06, "hspace": 0.5}
"""Room around the panels of a figure that has no layout engine to make it."""


def register() -> None:
    """Make this IPython kernel store the phone's form of every figure that it shows."""
    from IPython import get_ipython

    get_ipython().display_formatter.mimebundle_formatter.for_type(Figure, with_phone_form)


def with_phone_form(figure: Figure, **options: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Return a figure's output for IPython: no format beside the kernel's own PNG, and metadata.

    The metadata are the phone's form as PNG in base64, and after
    `capsnet_book.words.speak` the English texts of both forms.

    Raises:
        ValueError: labels of the phone's form lie on each other.
    """
    phone = phone_form_of(figure)
    if overlaps := overlapping_labels(phone):
        raise ValueError(f"on a phone these labels meet: {overlaps}")
    stream = io.BytesIO()
    phone.savefig(stream, format="png", bbox_inches="tight", pad_inches=0.02)
    metadata: dict[str, Any] = {"capsnet_phone": base64.b64encode(stream.getvalue()).decode()}
    texts = figure.findobj(Text) + phone.findobj(Text)
    english = {text.english for text in texts if hasattr(text, "english")}
    if english:
        metadata["capsnet_words"] = sorted(english)
    return {}, metadata


def phone_form_of(figure: Figure) -> Figure:
    """Return a copy of a figure, as wide as a phone, with text as large as it was.

    A figure that `phone_form` decorates is drawn with its options for a phone; two to four
    panels beside each other stand below each other.
    """
    draw = getattr(figure, "on_a_phone", None)
    phone: Figure = draw() if draw else pickle.loads(pickle.dumps(figure))
    width, height = phone.get_size_inches()
    if can_be_stacked(phone):
        height *= stack_panels(phone)
    elif all(axes.get_images() for axes in phone.axes):
        height *= PHONE / width
    else:
        height *= 0.75
    for text in phone.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), SMALLEST))
    for axes in phone.axes:
        for text in axes.texts:
            text.set_wrap(len(text.get_text()) > LONG)
    phone.set_size_inches(PHONE, height)
    fit_finding(phone)
    if overlapping_labels(phone):
        break_titles(phone)
    if phone.get_layout_engine() is None:
        fit_width(phone)
    fit_finding(phone)  # once more: titles may have more lines now
    return phone


def panels_of(figure: Figure) -> dict[SubplotSpec, Axes]:
    """Return the panels of a figure by their place in its grid."""
    places = {axes.get_subplotspec(): axes for axes in figure.axes}
    return {place: axes for place, axes in places.items() if place is not None}


def can_be_stacked(figure: Figure) -> bool:
    """Return True if a figure is one full grid of two to four columns, without pictures."""
    panels = panels_of(figure)
    grids = {place.get_gridspec() for place in panels}
    if len(grids) != 1 or figure.findobj(AxesImage):
        return False
    rows, columns = grids.pop().get_geometry()
    return columns in (2, 3, 4) and len(panels) == rows * columns


def stack_panels(figure: Figure) -> float:
    """Put the panels of a grid below each other, four columns as two; return how much it grows."""
    panels = panels_of(figure)
    rows, columns = next(iter(panels)).get_gridspec().get_geometry()
    across = 2 if columns == 4 else 1
    room = {} if figure.get_layout_engine() else ROOM
    grid = GridSpec(rows * columns // across, across, figure=figure, **room)
    titled_rows = {place.rowspan.start for place, axes in panels.items() if axes.get_title()}
    by_column = titled_rows == {0} and rows > 1  # the rest of a column belongs to its one title

    def reading_order(place: SubplotSpec) -> tuple[int, int]:
        row, column = place.rowspan.start, place.colspan.start
        return (column, row) if by_column else (row, column)

    for k, place in enumerate(sorted(panels, key=reading_order)):
        panels[place].set_subplotspec(grid[k])
        panels[place].tick_params(labelleft=k % across == 0, labelbottom=True)
    return 0.85 * columns / across


def fit_width(figure: Figure) -> None:
    """Make a figure without a layout engine as wide as a phone with what lies beyond its axes."""
    for _ in range(2):  # labels do not shrink with the figure, so that once is not enough
        figure.draw_without_rendering()
        width = figure.get_tightbbox().width + 0.04
        figure.set_figwidth(figure.get_figwidth() * PHONE / width)


def break_titles(figure: Figure) -> None:
    """Set the titles that are wider than their panels in lines."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        texts = [child for child in axes.get_children() if isinstance(child, Text)]
        for title in (text for text in texts if text not in axes.texts):
            width = title.get_window_extent().width
            if width > axes.bbox.width:
                words = title.get_text()
                letters = int(len(words) * axes.bbox.width / width)
                longest_word = max(len(word) for word in words.split())
                title.set_text(textwrap.fill(words, max(letters, longest_word)))


def labels(figure: Figure) -> list[Text]:
    """Return the texts of a figure that are drawn."""
    drawn_texts: list[Text] = []
    draw = Text.draw

    def draw_and_note(text: Text, *arguments: Any, **options: Any) -> None:
        drawn_texts.append(text)
        draw(text, *arguments, **options)

    with patch.object(Text, "draw", draw_and_note):
        figure.draw_without_rendering()
    return [
        text
        for text in dict.fromkeys(drawn_texts)
        if text.get_visible() and text.get_text().strip()
    ]


def overlapping_labels(figure: Figure) -> list[tuple[str, str]]:
    """Return the labels that lie on each other, run together, or lie on another panel's picture."""
    boxes = {text: text.get_window_extent() for text in labels(figure)}
    overlaps = []
    for (one, one_box), (other, other_box) in combinations(boxes.items(), 2):
        if not slanted_alike(one, other):
            letter = min(one.get_fontsize(), other.get_fontsize()) / 72 * figure.dpi  # pixels
            if padded(one_box, letter).overlaps(padded(other_box, letter)):
                overlaps.append((one.get_text(), other.get_text()))
    for axes in figure.axes:
        pictures = [picture.get_window_extent() for picture in axes.get_images()]
        for text, box in boxes.items():
            inner = box.padded(-1.5)
            if text.axes is not axes and any(inner.overlaps(picture) for picture in pictures):
                overlaps.append((text.get_text(), "a picture"))
    return overlaps


def slanted_alike(one: Text, other: Text) -> bool:
    """Return True if two texts have one slant, so that their upright boxes say nothing."""
    return one.get_rotation() == other.get_rotation() and float(one.get_rotation()) % 90 != 0


def padded(box: Bbox, letter: float) -> Bbox:
    """Return a text's box with half the room beside it that two texts of a line need."""
    return box.padded(APART / 2 * letter, -1.5)
