"""Figures for the pages: the SVG that is stored, and what of it is shown."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import torch
from capsnet_book import figures
from capsnet_book.palette import LIGHT
from page_figures import KEY, PHONE, bundle, narrow
from themed_figures import themed


def stored(figure):
    data, metadata = bundle(figure)
    assert not data, "what a client shows is the kernel's business"
    return metadata[KEY]


def test_two_runs_store_the_same():
    assert stored(figures.margin_curves()) == stored(figures.margin_curves())


def test_a_figure_is_as_wide_as_a_phone_and_its_letters_are_as_large_as_before():
    narrow = stored(figures.margin_curves())["narrow"]
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', narrow)[1]) / 72
    assert abs(width - PHONE) < 0.1
    assert min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", narrow)) >= 8


def test_panels_stand_one_below_the_other_on_a_phone():
    figure = figures.margin_curves()
    narrow(figure)
    figure.canvas.draw()
    first, second = (axes.get_position() for axes in figure.axes)
    assert first.y0 > second.y1
    assert not plt.get_fignums()


def test_the_png_that_is_made_next_shows_the_figure_as_it_was():
    figure = figures.margin_curves()
    figure.draw_without_rendering()
    before = [axes.get_position().bounds for axes in figure.axes]
    bundle(figure)
    figure.draw_without_rendering()
    after = [axes.get_position().bounds for axes in figure.axes]
    torch.testing.assert_close(torch.tensor(after), torch.tensor(before), atol=0.02, rtol=0)


def test_a_digit_is_stored_once_for_both_widths():
    found = stored(figures.digit_row(torch.stack([torch.zeros(28, 28), torch.eye(28), torch.eye(28)])))
    assert len(found["pictures"]) == 2
    shown = themed(found, "figure-1", "digits")
    assert shown.count("<image ") == 2
    assert len(re.findall(r'<use [^>]*href="#figure-1-p\d"', shown)) == 6


def test_colours_are_the_pages_and_no_id_is_there_twice():
    found = stored(figures.margin_curves())
    page = themed(found, "figure-1", "one") + themed(found, "figure-2", "two")
    outside = re.sub(r"var\(--caps-\w+, #\w+\)", "", page)
    assert not [colour for role, colour in LIGHT.items() if colour in outside and role not in ("paper", "surface")]
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert ids and len(ids) == len(set(ids))
    assert set(re.findall(r"#(figure-[\w-]+)", page)) <= set(ids)


def test_only_what_draws_reaches_the_page():
    evil = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="x()"><script>x()</script><style>*{}</style>'
        '<g onclick="x()"><text>&lt;b&gt;</text><use href="https://elsewhere"/><foreignObject>x</foreignObject></g></svg>'
    )
    shown = themed({"wide": evil, "narrow": evil, "pictures": []}, "figure-1", '"><script>')
    assert "&lt;b&gt;" in shown
    assert not re.search(r"<script|<style|onload|onclick|elsewhere|foreignObject", shown)
