"""PartVotes in the built page: dragged, turned by keyboard, put together; predictions follow, W stays."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import numbers, settled

PAGE = "book/chapters/05-prediction-vectors.html"


@pytest.fixture
def votes(alone: Callable[..., Any]) -> Any:
    return alone("PartVotes", PAGE)


def matrix(votes: Any) -> str:
    return settled(votes.locator(".square")).inner_text()


def at_rest(votes: Any) -> None:
    votes.and_(votes.page.locator(":not([data-moving])")).wait_for()


def test_dragging_a_part_moves_its_predictions_and_not_the_others(votes: Any) -> None:
    poses, u_hat, shown = numbers(votes, "poses"), numbers(votes, "u-hat"), matrix(votes)
    scene = votes.locator('[data-role="scene"]').bounding_box()
    unit = scene["width"] / 6.8
    box, mouse = votes.locator('[data-role="triangle"]').bounding_box(), votes.page.mouse
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + unit, y - 0.5 * unit, steps=4)
    mouse.up()
    moved, predicted = numbers(votes, "poses"), numbers(votes, "u-hat")
    assert moved[1] - poses[1] == pytest.approx(1, abs=0.05)
    assert moved[2] - poses[2] == pytest.approx(0.5, abs=0.05)
    assert moved[3:] == poses[3:]
    for whole in (0, 4):  # the predicted wholes moved exactly as the part did, and did not turn
        change = [predicted[whole + d] - u_hat[whole + d] for d in range(4)]
        assert change == pytest.approx([0, 0, moved[1] - poses[1], moved[2] - poses[2]], abs=2e-4)
    assert predicted[8:] == u_hat[8:]
    assert matrix(votes) == shown


def test_the_knob_turns_a_part(votes: Any) -> None:
    before = numbers(votes, "poses")
    box = votes.locator('[data-role="turn-rectangle"] .knob').bounding_box()
    scene, mouse = votes.locator('[data-role="scene"]').bounding_box(), votes.page.mouse
    unit = scene["width"] / 6.8
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()
    centre = (scene["x"] + (3.4 + before[4]) * unit, scene["y"] + (3.4 - before[5]) * unit)
    mouse.move(centre[0] - 60, centre[1], steps=4)  # to the left of the part: a quarter turn
    mouse.up()
    after = numbers(votes, "poses")
    assert after[3] == pytest.approx(90, abs=2)
    assert after[4:] == before[4:]


def test_everything_works_by_keyboard(votes: Any) -> None:
    for part, at in (("triangle", 0), ("rectangle", 3)):
        before = numbers(votes, "poses")
        votes.locator(f'[data-role="{part}"]').focus()
        for key in ("ArrowRight", "ArrowUp"):
            votes.page.keyboard.press(key)
        votes.locator(f'[data-role="turn-{part}"]').focus()
        votes.page.keyboard.press("ArrowLeft")
        after = numbers(votes, "poses")
        assert [after[at + k] - before[at + k] for k in range(3)] == pytest.approx([5, 0.1, 0.1], abs=1e-3)
        expect(votes.locator(f'[data-role="turn-{part}"]')).to_have_attribute("aria-label", re.compile(part))


def test_a_house_and_a_boat_are_agreed_upon_one_at_a_time(votes: Any) -> None:
    assert min(numbers(votes, "apart")) > 1
    for whole, j in (("house", 0), ("boat", 1)):
        votes.locator(f'[data-role="make-{whole}"]').press("Enter")
        at_rest(votes)
        apart = numbers(votes, "apart")
        assert apart[j] < 1e-3 < 1 < apart[1 - j]
        expect(votes.locator(f'figure[data-role="{whole}"]')).to_contain_text("they agree")
        expect(votes.locator('[data-role="remark"]')).to_contain_text(f"a {whole} it is")

    u_hat, apart, shown = numbers(votes, "u-hat"), numbers(votes, "apart"), matrix(votes)
    votes.locator('[data-role="turn-both"]').click()
    at_rest(votes)
    turned = numbers(votes, "u-hat")
    cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
    for k in range(0, 16, 2):
        x, y = u_hat[k : k + 2]
        assert turned[k : k + 2] == pytest.approx([cos * x - sin * y, sin * x + cos * y], abs=1e-3)
    assert numbers(votes, "apart") == pytest.approx(apart, abs=1e-3)
    assert matrix(votes) == shown


def test_the_matrix_of_each_pair_can_be_read(votes: Any) -> None:
    seen = set()
    for part in ("triangle", "rectangle"):
        for whole in ("house", "boat"):
            pick = votes.locator(f'[data-role="pick-{part}-{whole}"]')
            pick.click()
            expect(pick).to_have_attribute("aria-pressed", "true")
            seen.add(matrix(votes))
    assert len(seen) == 4


def test_without_motion_it_jumps(alone: Callable[..., Any]) -> None:
    votes = alone("PartVotes", PAGE, reduced_motion="reduce")
    votes.locator('[data-role="make-house"]').click()
    assert numbers(votes, "apart")[0] < 1e-3


def test_on_a_phone_nothing_sticks_out(alone: Callable[..., Any]) -> None:
    votes = alone("PartVotes", PAGE, viewport={"width": 375, "height": 740}, has_touch=True, is_mobile=True)
    assert votes.page.evaluate("document.documentElement.scrollWidth") <= 375
    for target in ("triangle", "turn-rectangle"):
        box = votes.locator(f'[data-role="{target}"]').bounding_box()
        assert min(box["width"], box["height"]) >= 44
