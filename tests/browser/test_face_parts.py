"""FaceParts in the built page: a real mouse and a real keyboard pull a face apart, and both judges see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import number

CHAPTER = "book/chapters/02-why-capsules.html"


@pytest.fixture
def parts(alone: Callable[..., Any]) -> Any:
    return alone("FaceParts", CHAPTER, reduced_motion="reduce")


def state(parts: Any) -> tuple[float, float, float]:
    """The bag's score, the capsule's length, how far the face is turned; after the next two frames."""
    return number(parts, "bag"), number(parts, "length"), number(parts, "turn")


def press(parts: Any, role: str) -> None:
    parts.locator(f'[data-role="{role}"]').click()


def test_the_buttons_do_what_they_say(parts: Any) -> None:
    bag, length, turn = state(parts)
    assert (bag, turn) == (1, 0) and length > 0.95
    press(parts, "picasso")
    assert state(parts)[0] == 1 and state(parts)[1] < 0.15
    expect(parts.locator('[data-role="sentence"]')).to_contain_text("another face")
    press(parts, "face")
    press(parts, "turn-whole")
    turned = state(parts)
    assert turned[1] == pytest.approx(length, abs=0.01), "the length should not care for a turn of the whole"
    assert turned[2] == pytest.approx(30, abs=0.1), "the pose should turn along"


def test_a_part_is_dragged_by_mouse(parts: Any) -> None:
    _, whole, _ = state(parts)
    parts.locator('[data-part="2"]').evaluate("nose => nose.scrollIntoView({ block: 'center' })")  # not under the strip
    box = parts.locator('[data-part="2"] .touch').bounding_box()
    x, y, mouse = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, parts.page.mouse
    mouse.move(x, y)
    mouse.down()
    seen = set()
    for step in (20, 40, 60, 80):
        mouse.move(x + step, y)
        seen.add(state(parts)[1])
    mouse.up()
    assert len(seen) == 4, "the length should change while the nose moves"
    bag, length, _ = state(parts)
    assert bag == 1 and 0.5 < length < whole - 0.03
    mouse.move(x, y)
    assert state(parts)[1] == length, "a nose that was let go stays"


def test_everything_works_by_keyboard(parts: Any) -> None:
    for part in range(4):
        before = state(parts)[1]
        handle = parts.locator(f'[data-part="{part}"]')
        handle.focus()
        for _ in range(3):
            handle.press("Shift+ArrowRight")
        assert state(parts)[1] < before - 0.02, f"part {part} does not move"
        parts.locator('[data-role="face"]').press("Enter")
        assert state(parts)[1] == pytest.approx(0.976, abs=0.01)
    mouth = parts.locator('[data-part="3"]')
    mouth.focus()
    mouth.press("Delete")
    assert state(parts)[0] == pytest.approx(2 / 3, abs=1e-3)
    mouth.press("Delete")
    assert state(parts)[0] == 1
    slider = parts.locator('input[data-role="turn"]')
    slider.focus()
    slider.press("End")
    bag, length, _ = state(parts)
    expect(slider).to_have_value("180")
    assert bag == 1 and length < 0.95


def test_a_face_glides_where_motion_is_welcome(alone: Callable[..., Any]) -> None:
    parts = alone("FaceParts", CHAPTER, reduced_motion="no-preference")
    parts.evaluate("""root => {
        root.turns = [];
        new MutationObserver(() => root.turns.push(Number(root.dataset.turn))).observe(root, { attributes: true });
    }""")
    press(parts, "turn-whole")
    parts.page.wait_for_function("root => Math.abs(Number(root.dataset.turn) - 30) < 0.1", arg=parts.element_handle())
    assert any(1 < turn < 29 for turn in parts.evaluate("root => root.turns")), "it jumped"
