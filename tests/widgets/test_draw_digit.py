"""DrawDigit: its coupling maps show every capsule once, and what is pointed at is what is found."""

from __future__ import annotations

import pytest

TYPES, SIDE, J = 8, 3, 10
PLACES = SIDE**2


@pytest.fixture
def answer(run_node):
    return run_node("draw_digit.mjs", TYPES, PLACES, J, modules=("draw_digit.js",))


def test_every_coupling_has_a_place_of_its_own_on_the_map(answer):
    width, height = answer["size"]
    corners = [tuple(corner) for row in answer["corners"] for corner in row]
    covered = {(x + dx, y + dy) for x, y in corners for dx in (0, 1) for dy in (0, 1)}
    assert len(covered) == 4 * TYPES * PLACES * J
    assert all(0 <= x < width and 0 <= y < height for x, y in covered)
    for i, row in enumerate(answer["corners"]):
        assert len({y for _, y in row}) == 1, f"capsule {i} stands at different heights"


def test_what_is_pointed_at_is_found(answer):
    assert answer["found"] == [[i, i] for i in range(TYPES * PLACES)]


def test_arrow_keys_walk_through_all_types(answer):
    """A column of TYPES · SIDE rows; at its borders one stays."""
    rows, columns = TYPES * SIDE, SIDE
    for i in range(TYPES * PLACES):
        row, column = divmod(i, columns)
        assert answer["right"][i] == row * columns + min(column + 1, columns - 1)
        assert answer["down"][i] == min(row + 1, rows - 1) * columns + column
        assert answer["places"][i] == {"type": row // SIDE, "row": row % SIDE, "column": column}


def test_a_capsules_patch_and_its_vote_in_words(answer):
    assert answer["field"] == [4, 8, 17]  # two strides of 2; 9 + 4 · 2
    assert answer["long"] == [2, 0, 4]
    assert answer["remark"] == "Type 3, row 2, column 1: in the last round 70 % of its vote goes to 1."
