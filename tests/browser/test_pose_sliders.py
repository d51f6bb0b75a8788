"""PoseSliders in the built page: a real mouse and a real keyboard bend the digit, and reset straightens it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import picture


@pytest.fixture
def sliders(alone: Callable[..., Any]) -> Any:
    """The front page's, at rest: where motion is welcome, it bends the digit until somebody takes hold."""
    return alone("PoseSliders", "book/index.html", reduced_motion="reduce")


def pixels(sliders: Any, role: str = "redrawn") -> str:
    return picture(sliders.locator(f'canvas[data-role="{role}"]'))


def test_dragging_a_slider_redraws_the_digit_and_reset_restores_it(sliders: Any) -> None:
    untouched, original = pixels(sliders), pixels(sliders, "original")
    slider = sliders.locator("input[type=range]").nth(4)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle, mouse = box["y"] + box["height"] / 2, slider.page.mouse
    mouse.move(box["x"] + box["width"] / 2, middle)
    mouse.down()
    seen = {untouched}
    for share in (0.6, 0.7, 0.8, 0.9):
        mouse.move(box["x"] + share * box["width"], middle)
        seen.add(pixels(sliders))
    mouse.up()
    assert len(seen) == 5, "the digit should bend while the slider moves, not only when it is let go"
    assert float(slider.input_value()) > 0
    assert pixels(sliders, "original") == original

    sliders.locator('[data-role="reset"]').click()
    assert pixels(sliders) == untouched
    assert float(slider.input_value()) == 0


def test_every_slider_works_by_keyboard(sliders: Any) -> None:
    untouched = pixels(sliders)
    inputs = sliders.locator("input[type=range]")
    expect(inputs).to_have_count(16)
    for i in range(16):
        inputs.nth(i).focus()
        for _ in range(5):
            inputs.nth(i).press("ArrowRight")
        assert float(inputs.nth(i).input_value()) > 0
        assert pixels(sliders) != untouched, f"slider {i + 1} changes nothing"
        sliders.locator('[data-role="reset"]').press("Enter")
        assert pixels(sliders) == untouched


def test_stepping_shows_another_digit(sliders: Any) -> None:
    index = int(sliders.get_attribute("data-index"))
    redrawn, original = pixels(sliders), pixels(sliders, "original")
    sliders.locator('[data-role="next"]').click()
    expect(sliders).to_have_attribute("data-index", str(index + 1))
    assert pixels(sliders) != redrawn
    assert pixels(sliders, "original") != original
    sliders.locator('[data-role="previous"]').click()
    expect(sliders).to_have_attribute("data-index", str(index))
    assert (pixels(sliders), pixels(sliders, "original")) == (redrawn, original)
