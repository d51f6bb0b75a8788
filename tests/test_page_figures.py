"""Figures on a phone: as wide as its page, with letters that can be read and do not lie on each other."""

from __future__ import annotations

import io
from itertools import combinations

import matplotlib.pyplot as plt
import pytest
from capsnet_book.figures._phone import PHONE, SMALLEST, phone_form_of
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from test_figures import DRAWN


def labels(figure: Figure) -> list[Text]:
    """The texts of a figure that are drawn."""
    figure.draw_without_rendering()
    beyond = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in (*axis.majorTicks, *axis.minorTicks) if not low <= tick.get_loc() <= high]
        beyond |= {label for tick in ticks for label in (tick.label1, tick.label2)}
    texts = set(figure.findobj(Text)) - beyond
    return [text for text in texts if text.get_visible() and text.get_text().strip() and text.get_alpha() != 0]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of level texts that cover more than a sixth of the smaller one's place."""
    found = []
    boxes = [(text.get_text(), text.get_window_extent()) for text in labels(figure) if text.get_rotation() % 90 == 0]
    for (first, one), (second, other) in combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        if width > 0 and height > 0 and width * height > min(one.width * one.height, other.width * other.height) / 6:
            found.append((first, second))
    return found


@pytest.mark.parametrize("kind", DRAWN)
def test_a_figure_can_be_read_on_a_phone(kind: str) -> None:
    phone = phone_form_of(DRAWN[kind]())
    phone.savefig(stream := io.BytesIO(), bbox_inches="tight", dpi=100)
    shrunk = min(1, 100 * PHONE / Image.open(stream).width)
    assert min((text.get_fontsize() * shrunk for text in labels(phone)), default=SMALLEST) > 7.5, "10.5 of its pixels"
    assert not overlapping(phone)
    assert not plt.get_fignums()
