"""The figure of the experiments shows every seed where it was measured, and the paper beside it."""

from __future__ import annotations

import pytest

from capsnet_tutorial import figures
from capsnet_tutorial.experiments.plan import Experiments
from capsnet_tutorial.experiments.tables import results_of

EXPERIMENTS = Experiments.read()
TABLE = EXPERIMENTS.tables["mnist"]


def test_points_stand_at_the_errors_of_the_seeds():
    figure = figures.seed_points(EXPERIMENTS, TABLE)
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    for row in TABLE.rows:
        errors = [100 * result["test"]["error"] for result in results_of(EXPERIMENTS, row.run)]
        if not errors and not row.paper:
            assert row.label not in names
            continue
        place = names.index(row.label)
        here = [line for line in axes.lines if {round(y) for y in line.get_ydata()} == {place}]
        filled = [x for line in here if line.get_marker() == "o" for x in line.get_xdata()]
        assert filled == pytest.approx(errors)
        hollow = [x for line in here if line.get_marker() == "D" for x in line.get_xdata()]
        assert hollow == ([float(row.paper.split()[0])] if row.paper else [])


def test_a_row_that_nobody_knows_is_left_out():
    bare = TABLE._replace(rows=[TABLE.rows[0], TABLE.rows[0]._replace(label="never run", run="paper-cnn")])
    (axes,) = figures.seed_points(EXPERIMENTS, bare).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [TABLE.rows[0].label]
