"""DrawDigit in the built page: the network in the page sees what PyTorch sees, and answers a drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from capsnet_tutorial import digits, load_pretrained

from .conftest import attribute, numbers

PAGE = "book/chapters/01-try-it.html"
FEED = """(root, images) => images.map((pixels) => {
    root.dispatchEvent(new CustomEvent("capsnet:image", { detail: Uint8Array.from(pixels) }));
    return [Number(root.dataset.prediction), root.dataset.lengths.split(",").map(Number)];
})"""


@pytest.fixture
def draw(alone: Callable[..., Any]) -> Any:
    return alone("DrawDigit", PAGE)


@pytest.mark.parametrize("place", ["http", "file"])  # the weights come by other ways
def test_a_hundred_digits_get_pytorchs_predictions(alone: Callable[..., Any], place: str) -> None:
    draw = alone("DrawDigit", PAGE, place=place)
    images = (digits("test", source="sample").images[:100] * 255).round().to(torch.uint8)
    with torch.inference_mode():
        lengths = load_pretrained("small")(images.float() / 255).lengths
    answers = draw.evaluate(FEED, images.flatten(1).tolist())
    assert [prediction for prediction, _ in answers] == lengths.argmax(1).tolist()
    assert len({prediction for prediction, _ in answers}) == 10, "a hundred digits of ten classes"
    np.testing.assert_allclose([numbers for _, numbers in answers], lengths.numpy(), atol=1e-3)


def test_the_pad_has_as_many_pixels_as_it_shows(draw: Any) -> None:
    pixels, shown = draw.locator('[data-role="pad"]').evaluate("""pad => [
        [pad.width, pad.height],
        [pad.clientWidth, pad.clientHeight].map((side) => Math.round(side * devicePixelRatio)),
    ]""")
    assert pixels == shown


def test_a_stroke_of_the_mouse_is_read_as_a_one_and_clear_takes_it_away(draw: Any) -> None:
    draw.locator('[data-role="clear"]').click()
    empty = attribute(draw, "lengths")
    pad = draw.locator('[data-role="pad"]')
    pad.scroll_into_view_if_needed()
    box, mouse = pad.bounding_box(), pad.page.mouse
    at = lambda x, y: (box["x"] + x * box["width"], box["y"] + y * box["height"])  # noqa: E731
    mouse.move(*at(0.55, 0.15))
    mouse.down()
    mouse.move(*at(0.45, 0.85), steps=20)
    mouse.up()
    expect(draw).to_have_attribute("data-prediction", "1")
    assert numbers(draw, "lengths")[1] > 0.5

    draw.locator('[data-role="clear"]').click()
    expect(draw).to_have_attribute("data-lengths", empty)


def test_a_finger_draws_too(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    draw = alone("DrawDigit", PAGE, **phone)
    draw.locator('[data-role="clear"]').tap()
    empty = attribute(draw, "lengths")
    pad = draw.locator('[data-role="pad"]')
    pad.scroll_into_view_if_needed()
    before = draw.page.evaluate("scrollY")
    box, touch = pad.bounding_box(), draw.page.context.new_cdp_session(draw.page)
    for step in range(12):
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + (0.15 + 0.06 * step) * box["height"]}
        kind = "touchMove" if step else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(draw).not_to_have_attribute("data-lengths", empty)
    assert draw.page.evaluate("scrollY") == before, "a finger on the pad draws, it does not scroll"


def test_a_stroke_that_is_taken_back_under_the_hand_stays_away(draw: Any) -> None:
    draw.locator('[data-role="clear"]').click()
    empty = attribute(draw, "lengths")
    pad = draw.locator('[data-role="pad"]')
    pad.scroll_into_view_if_needed()
    box, page = pad.bounding_box(), pad.page
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 0.2 * box["height"])
    page.mouse.down()
    page.mouse.move(middle, box["y"] + 0.5 * box["height"], steps=5)
    page.keyboard.press("Backspace")
    page.mouse.move(middle, box["y"] + 0.8 * box["height"], steps=5)  # `visit` fails on an error in the console
    page.mouse.up()
    assert attribute(draw, "lengths") == empty
