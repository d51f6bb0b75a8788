"""RoundsOnDrawing in the built page: a stroke, a sample, another number of rounds; by mouse, by keyboard, by finger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.widgets import RoundsOnDrawing
from playwright.sync_api import expect

from capsnet_tutorial import load_pretrained, prediction_vectors, route

from .conftest import numbers, write_a_one

PAGE = "book/chapters/16-does-routing-matter.html"


@pytest.fixture
def pad(alone: Callable[..., Any]) -> Any:
    return alone("RoundsOnDrawing", PAGE)


@torch.no_grad()
def test_a_disputed_digit_is_read_as_pytorch_reads_it(pad: Any) -> None:
    pad.locator('[data-role="disputed"]').nth(1).click()
    samples = torch.frombuffer(bytearray(RoundsOnDrawing().samples), dtype=torch.uint8).view(-1, 1, 28, 28) / 255
    model = load_pretrained("small")
    u_hat = prediction_vectors(model.primary_capsules(samples[11:12]), model.routed.weight)
    lengths = route(u_hat, 5, return_trace=True)[1].v.norm(dim=3)[:, 0]  # [5, 10]
    assert numbers(pad, "predictions") == lengths.argmax(dim=1).tolist()
    expect(pad.locator('[data-role="sentence"]')).to_contain_text("The rounds disagree: 9 after 1, 2, 3; 2 after 4, 5")
    for rounds in (1, 5):
        pad.locator(f'[data-round="{rounds}"]').press("Enter")
        expect(pad).to_have_attribute("data-rounds", str(rounds))
        np.testing.assert_allclose(numbers(pad, "lengths"), lengths[rounds - 1], atol=1e-4)
        expect(pad.locator(f'[data-round="{rounds}"]')).to_have_attribute("aria-pressed", "true")
    expect(pad.locator('.stop[aria-pressed="true"]')).to_have_count(1)


def test_a_drawn_one_is_a_one_after_every_round(pad: Any) -> None:
    pad.locator('[data-role="disputed"]').first.click()
    pad.locator('[data-role="clear"]').click()
    expect(pad.locator('[data-role="sentence"]')).to_have_text("Nothing drawn yet.")
    canvas = pad.locator('[data-role="pad"]')
    canvas.scroll_into_view_if_needed()
    box, mouse = canvas.bounding_box(), canvas.page.mouse
    mouse.move(box["x"] + 0.55 * box["width"], box["y"] + 0.15 * box["height"])
    mouse.down()
    mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 0.85 * box["height"], steps=20)
    mouse.up()
    expect(pad).to_have_attribute("data-predictions", "1,1,1,1,1")
    expect(pad.locator('[data-role="sentence"]')).to_have_text("Every number of rounds says 1.")
    entropy = numbers(pad, "entropy")
    assert entropy[0] == 1 and entropy == sorted(entropy, reverse=True) and entropy[-1] < 1


def test_the_keyboard_draws(pad: Any) -> None:
    write_a_one(pad)
    expect(pad).to_have_attribute("data-predictions", "1,1,1,1,1")


def test_on_a_phone_everything_fits_and_is_large_enough(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    pad = alone("RoundsOnDrawing", PAGE, **phone)
    pad.locator('[data-round="5"]').tap()
    expect(pad).to_have_attribute("data-rounds", "5")
    for button in pad.locator("button:visible").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 24
    assert pad.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
