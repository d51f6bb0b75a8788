"""TwoDigits in the built page: dragged by mouse, by finger and by keyboard, its answers PyTorch's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from capsnet_book.experiments.pairs import overlay
from capsnet_book.networks import trained_network
from capsnet_book.widgets.two_digits import hands_of_each
from playwright.sync_api import expect

from .conftest import number, numbers, picture

PAGE = "book/chapters/14-two-digits-at-once.html"
FIRST, SECOND = 6, 18  # the digits that the chapter begins with


@pytest.fixture
def two(alone: Callable[..., Any]) -> Any:
    return alone("TwoDigits", PAGE)


def drawn(widget: Any, role: str) -> str:
    return picture(widget.locator(f'[data-role="{role}"]'))


def lengths(first: int, second: int, at: list[float]) -> torch.Tensor:
    images, _ = hands_of_each()
    both = torch.as_tensor(images)[[first, second]].float() / 255
    places = [[int(n) for n in at[k : k + 2]] for k in (0, 2)]
    layers = [F.pad(digit, (4 + x, 4 - x, 4 + y, 4 - y)) for digit, (x, y) in zip(both, places, strict=True)]
    with torch.no_grad():
        return trained_network("small-pairs")(overlay(torch.stack(layers)[None])).lengths[0]


def test_the_page_reads_what_pytorch_reads_wherever_the_digits_lie(two: Any) -> None:
    for name in ("As far apart as they go", "Right on top"):
        two.locator(f'[data-case="{name}"]').click()
        at = numbers(two, "at")
        expected = lengths(FIRST, SECOND, at)
        torch.testing.assert_close(torch.tensor(numbers(two, "lengths")), expected, atol=2e-4, rtol=0)
        order = expected.argsort(descending=True).tolist()
        assert sorted(numbers(two, "classes")) == sorted(order[:2])
        assert number(two, "third") == order[2]


def test_the_digit_under_the_mouse_follows_it_and_stops_at_the_edge(two: Any) -> None:
    two.locator('[data-case="As far apart as they go"]').click()
    before = drawn(two, "overlay"), drawn(two, "both")
    two.locator('[data-role="overlay"]').hover()  # once the page has stopped scrolling
    box = two.locator('[data-digit="1"]').bounding_box()
    pixel = two.locator('[data-role="overlay"]').bounding_box()["width"] / 36
    x, y = box["x"] + box["width"] - 2 * pixel, box["y"] + box["height"] - 3 * pixel
    mouse = two.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 3 * pixel, y - 2 * pixel)
    after = drawn(two, "overlay"), drawn(two, "both")
    assert numbers(two, "at") == [-4, -4, 1, 2]
    assert after[0] != before[0] and after[1] != before[1]
    mouse.move(x + 300, y + 300)
    mouse.up()
    assert numbers(two, "at") == [-4, -4, 4, 4]
    expect(two.locator('[data-digit="1"]')).to_be_focused()


def test_it_works_by_keyboard(two: Any) -> None:
    first = two.locator('[data-digit="0"]')
    first.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowUp"):
        two.page.keyboard.press(key)
    assert numbers(two, "at")[:2] == [2, -1]
    expect(first).to_have_attribute("aria-valuetext", "2 right, 1 up")
    two.locator('[data-class="7"]').press("Enter")
    asked = drawn(two, "absent")
    expect(two).to_have_attribute("data-third", "7")
    two.locator('[data-class="0"]').press("Space")
    assert drawn(two, "absent") != asked
    expect(two.locator('[data-class][aria-pressed="true"]')).to_have_count(1)
    two.locator('[data-class="0"]').press("Enter")  # nobody is asked for: the third longest again
    order = sorted(range(10), key=lambda j: -numbers(two, "lengths")[j])
    assert number(two, "third") == order[2]


def test_other_digits_and_other_hands(two: Any) -> None:
    four = two.locator('.chooser.digit-0 [data-label="4"]')
    four.click()
    pictures = [drawn(two, "overlay")]
    assert numbers(two, "labels") == [4, 6]
    for _ in range(3):
        four.click()
        pictures.append(drawn(two, "overlay"))
    assert len(set(pictures[:3])) == 3 and pictures[3] == pictures[0]
    two.locator('.chooser.digit-0 [data-label="6"]').click()
    expect(two.locator('[data-role="sentence"]')).to_have_text(re.compile("^Two of the same class"))


def test_the_misread_pair_is_misread(two: Any) -> None:
    expect(two).to_have_attribute("data-right", "true")
    two.locator('[data-case="A misread pair"]').click()
    expect(two).to_have_attribute("data-right", "false")
    expect(two.locator('[data-role="sentence"]')).to_contain_text("wrong")


def test_a_finger_drags_on_a_phone(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    two = alone("TwoDigits", PAGE, **phone)
    two.locator('[data-case="Right on top"]').tap()
    assert numbers(two, "at") == [0, 0, 0, 0]
    stage = two.locator('[data-role="stage"]')
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    x, y, pixel = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 36
    touch = two.page.context.new_cdp_session(two.page)
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": x + 3 * pixel, "y": y}]),
        ("touchEnd", []),
    ):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert sorted(numbers(two, "at")) == [0, 0, 0, 3]
    for button in ('[data-class="5"]', '[data-case="Right on top"]', '.chooser.digit-1 [data-label="3"]'):
        size = two.locator(button).bounding_box()
        assert min(size["width"], size["height"]) >= 44
