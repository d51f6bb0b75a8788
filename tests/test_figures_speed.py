"""The figures on speed show the numbers that they were given."""

import json
from pathlib import Path

import numpy as np
import pytest
from capsnet_book import figures

FOUND = json.loads((Path(__file__).resolve().parent.parent / "results" / "speed.json").read_text(encoding="utf-8"))
LAYER = FOUND["layer"]["allocator as it comes"]


def test_bars_are_as_long_as_the_milliseconds_and_the_megabytes():
    time, memory = figures.layer_bars(LAYER).axes
    names = [label.get_text() for label in time.get_yticklabels()]
    assert sorted(names) == sorted(LAYER)
    for axes, key in ((time, "ms"), (memory, "megabytes")):
        assert [bar.get_width() for bar in axes.patches] == [LAYER[name][key] for name in names]
        assert [text.get_text().strip() for text in axes.texts] == [f"{LAYER[name][key]:,.0f}" for name in names]


@pytest.mark.parametrize("measure", ["ms", "megabytes"])
def test_lines_pass_through_what_was_measured_and_name_their_exponents(measure):
    panels = figures.growth_lines(FOUND["growth"], measure).axes
    for axes, axis in zip(panels, ("batch", "in_capsules", "out_capsules", "iterations"), strict=True):
        found = FOUND["growth"][axis]
        assert len(axes.lines) == len(found["layers"])
        for line, (name, row) in zip(axes.lines, found["layers"].items(), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), found["values"])
            np.testing.assert_array_equal(line.get_ydata(), row[measure])
            assert line.get_label() == f"{name}: size to the {row['exponents'][measure]:.2f}"


def test_points_stand_under_the_roof_where_their_work_puts_them():
    (axes,) = figures.roofline(FOUND["machine"], LAYER).axes
    roof, *points = axes.lines
    assert roof.get_ydata().max() == FOUND["machine"]["peak"]["float32_gigaflops_a_second"]
    for point, row in zip(points, LAYER.values(), strict=True):
        np.testing.assert_allclose(point.get_xdata(), row["gigaflops"] / row["gigabytes_moved"])
        np.testing.assert_allclose(point.get_ydata(), 1000 * row["gigaflops"] / row["ms"])
