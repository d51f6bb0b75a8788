"""Small charts show the numbers that they were given, under the names that they were given."""

import pytest
import torch
from capsnet_book import figures


def test_bars_are_as_long_as_their_values_and_say_them():
    panels = {"first": {"a": 2.0, "b": 8.0}, "second": {"b": 1.0}}
    left, right = figures.bars(panels, "{:.0f} MB").axes
    assert [bar.get_width() for bar in left.patches] == [2, 8]
    assert [text.get_text().strip() for text in left.texts] == ["2 MB", "8 MB"]
    (bar,) = right.patches  # in the row of its name
    assert bar.get_y() + bar.get_height() / 2 == pytest.approx(1)
    assert [label.get_text() for label in left.get_yticklabels()] == ["a", "b"]


def test_panels_that_share_a_scale_can_be_compared():
    panels = {"first": {"a": 2.0}, "second": {"a": 8.0}}
    assert len({axes.get_xlim() for axes in figures.bars(panels, shared=True).axes}) == 1
    assert len({axes.get_xlim() for axes in figures.bars(panels).axes}) == 2


def test_lines_go_through_their_numbers_from_zero():
    right, wrong = [0.4, 0.9], [0.3, 0.8]
    (axes,) = figures.lines({"length": {"right": right, "wrong": wrong}}, [1, 3], "rounds").axes
    assert [list(line.get_ydata()) for line in axes.lines] == [right, wrong]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["right", "wrong"]
    assert axes.get_ylim()[0] == 0


def test_a_work_stands_under_its_theme():
    (axes,) = figures.themes({"one": "loop", "two": "labels", "three": "loop"}).axes
    dots = [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == "o"]
    assert dots == [[0, 0], [1, 1], [0, 2]]


def test_proportional_agreements_lie_on_lines():
    first, factors = torch.randn(6, 3), torch.tensor([0.1, 0.5, 0.2])
    (axes,) = figures.in_proportion(first, first * factors).axes
    for drawn, factor in zip(axes.lines[::2], factors, strict=True):
        (x0, y0), (x1, y1) = drawn.get_xydata()
        assert (y1 - y0) / (x1 - x0) == pytest.approx(float(factor), rel=1e-4)
    assert "class 1" in {text.get_text() for text in axes.texts}


def test_one_round_has_an_edge_for_each_pair():
    for axes in figures.one_round().axes:
        arrows = [each for each in axes.texts if getattr(each, "arrow_patch", None)]
        assert len(arrows) == 3 * 2
