"""DrawDigit: which capsules say that their digit is there."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("lengths", "long"),
    [([0.6, 0.2, 0.9, 0.49, 0.5], [2, 0, 4]), ([0.1] * 10, []), ([0.1, 0.98, 0.2], [1])],
)
def test_long_digits_are_half_as_long_as_can_be_and_the_longest_comes_first(run_node, lengths, long):
    assert run_node("draw_digit.mjs", json.dumps(lengths), modules=("draw_digit.js",)) == long
