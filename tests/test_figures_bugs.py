"""The figure of the chapter on bugs."""

import numpy as np
from capsnet_book import figures
from capsnet_book.bugs import BUGS
from capsnet_book.experiments.recordings import recorded_bugs
from capsnet_book.palette import LIGHT


def test_every_bug_has_a_panel_with_its_curves_over_those_of_the_right_network():
    runs = recorded_bugs()
    figure = figures.bug_curves(runs)
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes if axes.lines}
    assert list(panels) == list(BUGS)
    for bug, axes in panels.items():
        for colour, name in (("accent", "none"), ("contrast", bug)):
            drawn = [line.get_ydata() for line in axes.lines if line.get_color() == LIGHT[colour]]
            np.testing.assert_array_equal(drawn, runs.error[name])
        assert axes.get_ylim()[0] < min(errors.min() for errors in runs.error.values()), "no curve leaves the panel"
