"""A figure's form for a phone, which a notebook stores beside the figure.

The book's pages show it in narrow windows (`book/_ext/notebooks/figures.py`). Only `tools/refresh_notebooks.py` asks
for it: nothing of this happens when a reader runs a notebook.
"""

from __future__ import annotations

import base64
import io
import pickle
import textwrap
from itertools import combinations
from typing import Any
from unittest.mock import patch

from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.image import AxesImage
from matplotlib.text import Text

PHONE = 3.43  # inches: the 343 pixels that a phone of 375 leaves for the text, 100 an inch
SMALLEST = 8.6  # points of a label there, which are 11.9 of the phone's pixels
LONG = 30  # letters of a text within a panel that is broken into lines there
APART = 0.25  # of a letter's height: what two labels of a line need between them
ROOM = {
    "left": 0.16,
    "right": 0.97,
    "top": 0.97,
    "bottom": 0.06,
    "hspace": 0.5,
}  # where no layout engine makes it


def register() -> None:
    """Make this IPython kernel store the phone's form of every figure that it shows, in the output's metadata."""
    from IPython import get_ipython

    get_ipython().display_formatter.mimebundle_formatter.for_type(Figure, with_phone_form)


def with_phone_form(figure: Figure, **kwargs: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """No other format than the kernel's own PNG, and as metadata the PNG of the form for a phone, in base64.

    A page that shows something else in a figure's place needs none: the figure's `on_a_phone` is None.
    """
    metadata: dict[str, Any] = {}
    texts = figure.findobj(Text)
    if vars(figure).get("on_a_phone", True) is not None:
        phone = phone_form_of(figure)
        if found := meeting(phone):
            raise ValueError(f"on a phone these labels meet: {found}")
        phone.savefig(stream := io.BytesIO(), format="png", bbox_inches="tight", pad_inches=0.02)
        metadata["capsnet_phone"] = base64.b64encode(stream.getvalue()).decode()
        texts += phone.findobj(Text)
    if words := {text.english for text in texts if hasattr(text, "english")}:
        metadata["capsnet_words"] = sorted(words)  # of a translated tree
    return {}, metadata


def phone_form_of(figure: Figure) -> Figure:
    """A copy of a figure, as wide as a phone: panels of a plot one below the other, text as large as it was."""
    less = getattr(figure, "on_a_phone", None)  # a figure may have less to say there
    phone: Figure = less() if less else pickle.loads(pickle.dumps(figure))
    width, height = phone.get_size_inches()
    panels = {spec: axes for axes in phone.axes if (spec := axes.get_subplotspec())}
    grids = {spec.get_gridspec() for spec in panels}
    rows, columns = grids.pop().get_geometry() if len(grids) == 1 else (0, 0)
    if columns in (2, 3, 4) and not phone.findobj(AxesImage) and len(panels) == rows * columns:
        across = columns // 4 + 1
        room = {} if phone.get_layout_engine() else ROOM
        below = GridSpec(rows * columns // across, across, figure=phone, **room)
        titled = {spec.rowspan.start for spec, axes in panels.items() if axes.get_title()}
        # Of a column that has one title, the rest stands below it.
        first, then = (
            ("colspan", "rowspan") if titled == {0} < set(range(rows)) else ("rowspan", "colspan")
        )
        places = {spec: (getattr(spec, first).start, getattr(spec, then).start) for spec in panels}
        in_order = sorted(panels.items(), key=lambda panel: places[panel[0]])
        for k, (_, axes) in enumerate(in_order):
            axes.set_subplotspec(below[k])
            axes.tick_params(labelleft=k % across == 0, labelbottom=True)
        height *= 0.85 * columns / across
    elif all(axes.get_images() for axes in phone.axes):
        height *= PHONE / width
    else:
        height *= 0.75
    for text in phone.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), SMALLEST))
    for text in (text for axes in phone.axes for text in axes.texts):
        text.set_wrap(len(text.get_text()) > LONG)
    phone.set_size_inches(PHONE, height)
    if meeting(phone):
        break_titles(phone)
    for _ in range(
        0 if phone.get_layout_engine() else 2
    ):  # what stands beyond the axes takes its part of the width
        phone.draw_without_rendering()
        phone.set_figwidth(phone.get_figwidth() * PHONE / (phone.get_tightbbox().width + 0.04))
    return phone


def break_titles(figure: Figure) -> None:
    """Set the titles that are wider than their panels in lines."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        for title in (
            part
            for part in axes.get_children()
            if isinstance(part, Text) and part not in axes.texts
        ):
            if (wide := title.get_window_extent().width) > axes.bbox.width:
                words = title.get_text()
                letters = int(len(words) * axes.bbox.width / wide)
                title.set_text(textwrap.fill(words, max(letters, *map(len, words.split()))))


def labels(figure: Figure) -> list[Text]:
    """The texts of a figure that are drawn."""
    drawn: list[Text] = []
    draw = Text.draw

    def noted(text: Text, *given: Any, **named: Any) -> None:
        drawn.append(text)
        draw(text, *given, **named)

    with patch.object(Text, "draw", noted):
        figure.draw_without_rendering()
    return [text for text in dict.fromkeys(drawn) if text.get_visible() and text.get_text().strip()]


def meeting(figure: Figure) -> list[tuple[str, str]]:
    """The labels that lie on each other or run together, and those that lie on the picture of another panel."""
    shown = {text: text.get_window_extent() for text in labels(figure)}
    found = []
    for (one, box), (other, its) in combinations(shown.items(), 2):
        # Boxes say nothing of two that are slanted alike.
        slanted = one.get_rotation() == other.get_rotation() and float(one.get_rotation()) % 90
        letter = min(float(text.get_fontsize()) for text in (one, other)) / 72 * figure.dpi
        if not slanted and box.padded(APART / 2 * letter, -1.5).overlaps(
            its.padded(APART / 2 * letter, -1.5)
        ):
            found.append((one.get_text(), other.get_text()))
    for axes in figure.axes:
        pictures = [picture.get_window_extent() for picture in axes.get_images()]
        for text, box in shown.items():
            if text.axes is not axes and any(
                box.padded(-1.5).overlaps(picture) for picture in pictures
            ):
                found.append((text.get_text(), "a picture"))
    return found
