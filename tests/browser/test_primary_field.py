"""PrimaryField in the built page: choosing, drawing and walking, by a real mouse and a real keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import settled

CHAPTER = "book/chapters/03-primary-capsules.html"


@pytest.fixture
def primary(alone: Callable[..., Any]) -> Any:
    return alone("PrimaryField", CHAPTER)


def data(primary: Any) -> dict[str, Any]:
    read = settled(primary).evaluate("(root) => ({ ...root.dataset })")
    read["moved"] = {int(i) for i in read["moved"].split(",") if i}
    return read


def draw(primary: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A stroke from one pixel (column, row) to another."""
    pad = primary.locator('[data-role="pad"]')
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    at = [(box["x"] + x / 28 * box["width"], box["y"] + y / 28 * box["height"]) for x, y in (start, end)]
    mouse = primary.page.mouse
    mouse.move(*at[0])
    mouse.down()
    mouse.move(*at[1], steps=6)
    mouse.up()


def places(*wanted: int) -> set[int]:
    return {type_ * 9 + place for type_ in range(8) for place in wanted}


def test_a_stroke_moves_the_capsules_whose_patch_it_crosses_and_no_others(primary: Any) -> None:
    assert data(primary)["moved"] == set()
    draw(primary, (1.5, 1.5), (2, 2))  # above all patches but the first
    seen = data(primary)
    assert seen["moved"] == places(0)
    assert (int(seen["changed"]) > 0, seen["inside"], seen["turned"]) == (True, "0", "0.0000")
    expect(primary.locator('[data-role="sentence"]')).to_contain_text("did not move at all")

    primary.locator('[data-capsule="54"]').click()  # type 6, at the first place
    seen = data(primary)
    assert seen["patch"] == "0,0,17"
    assert seen["inside"] == seen["changed"]
    assert float(seen["turned"]) > 0

    primary.locator('[data-role="restore"]').click()
    seen = data(primary)
    assert (seen["moved"], seen["changed"]) == (set(), "0")


def test_nobody_reads_the_hatched_strip(primary: Any) -> None:
    draw(primary, (27.4, 3), (27.4, 25))
    seen = data(primary)
    assert int(seen["changed"]) > 20
    assert seen["moved"] == set()
    expect(primary.locator('[data-role="sentence"]')).to_contain_text("none of the 72 capsules moved")


def test_the_middle_belongs_to_all(primary: Any) -> None:
    primary.locator('[data-role="erase"]').click()
    draw(primary, (13, 12), (14, 12))
    assert data(primary)["moved"] == places(*range(9))


def test_the_frame_lies_on_the_patch(primary: Any) -> None:
    primary.locator('[data-capsule="71"]').click()  # type 7, row 2, column 2
    assert data(primary)["patch"] == "8,8,17"
    frame = primary.locator('[data-role="patch"]')
    frame.evaluate("frame => Promise.all(frame.getAnimations().map((glide) => glide.finished))")
    pad, patch = primary.locator('[data-role="pad"]').bounding_box(), frame.bounding_box()
    pixel = pad["width"] / 28
    assert patch["x"] - pad["x"] == pytest.approx(8 * pixel, abs=1)
    assert patch["y"] - pad["y"] == pytest.approx(8 * pixel, abs=1)
    assert patch["width"] == pytest.approx(17 * pixel, abs=1)


def test_the_field_is_walked_by_arrow_keys(primary: Any) -> None:
    field = primary.locator('[data-role="field"]')
    field.focus()
    path = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowUp"):
        field.press(key)
        path.append(int(data(primary)["capsule"]))
    assert path == [59, 66, 69, 62, 59, 56, 26]  # across from type 6 to type 7 and back, then up into type 2


def test_drawing_by_keyboard(primary: Any) -> None:
    pad = primary.locator('[data-role="pad"]')
    pad.focus()
    pad.press("ArrowRight")
    assert data(primary)["changed"] == "0", "the pen is up"
    for _ in range(3):
        pad.press("Shift+ArrowUp")
    pad.press("Space")
    pad.press("Shift+ArrowLeft")
    pad.press("Space")
    drawn = data(primary)
    assert int(drawn["changed"]) > 0
    pad.press("ArrowDown")
    assert data(primary)["changed"] == drawn["changed"]


def test_another_digit(primary: Any) -> None:
    before = data(primary)["u"]
    primary.locator('[data-role="sample"]').nth(7).click()
    seen = data(primary)
    assert (seen["index"], seen["label"], seen["moved"]) == ("7", "7", set())
    assert seen["u"] != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_it_and_targets_are_large(alone: Callable[..., Any], scheme: str) -> None:
    phone = {"viewport": {"width": 375, "height": 700}, "has_touch": True}
    primary = alone("PrimaryField", CHAPTER, color_scheme=scheme, **phone)
    assert primary.page.evaluate("document.documentElement.scrollWidth") <= 375
    for target in ('[data-capsule="0"] .ground', '[data-role="sample"]', '[data-role="draw"]'):
        box = primary.locator(target).first.bounding_box()
        assert min(box["width"], box["height"]) >= 24
    primary.locator('[data-capsule="10"]').tap()
    assert data(primary)["patch"] == "0,4,17"
