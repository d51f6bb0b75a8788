"""BendDigit in the built page: bent by slider, by hand and by keys; drawn on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.experiments.cnn import class_scores
from capsnet_book.networks import trained_network
from capsnet_book.widgets import BendDigit
from playwright.sync_api import expect

from capsnet_tutorial.augment import Pose, transform

from .conftest import numbers

PAGE = "book/chapters/15-new-viewpoints.html"


@pytest.fixture
def bending(alone: Callable[..., Any]) -> Any:
    return alone("BendDigit", PAGE)


def set_slider(bending: Any, way: str, value: float) -> None:
    bending.locator(f'input[data-way="{way}"]').evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input', { bubbles: true })); }", value
    )


def strip(bending: Any, way: str, network: str) -> str:
    row = bending.locator(".slide", has=bending.page.locator(f'input[data-way="{way}"]'))
    return row.locator(f'[data-role="strip-{network}"]').get_attribute("data-answers") or ""


@torch.no_grad()
def test_sliders_show_what_pytorch_computes(bending: Any) -> None:
    bending.get_by_role("button", name="Bend the handwritten 3").click()
    set_slider(bending, "turn", 40)
    set_slider(bending, "size", 1.2)
    expect(bending).to_have_attribute("data-size", "1.2")
    expect(bending).to_have_attribute("data-strips", "done", timeout=20_000)
    image = torch.frombuffer(bytearray(BendDigit().images), dtype=torch.uint8).view(10, 1, 28, 28)[3:4] / 255
    capsnet, cnn = trained_network("small-shifted"), trained_network("small-cnn")
    bent = transform(image, Pose(rotation=40.0, scale_x=1.2, scale_y=1.2))
    for name, expected in (("capsnet", class_scores(capsnet, bent)[0]), ("cnn", class_scores(cnn, bent)[0].softmax(0))):
        shown = numbers(bending, f"{name}-bars")
        np.testing.assert_allclose(shown, expected, atol=1e-3)
        expect(bending).to_have_attribute(f"data-{name}", str(int(expected.argmax())))
    angles = torch.linspace(-90, 90, 37)
    turned = transform(image.expand(37, 1, 28, 28), Pose(rotation=angles, scale_x=1.2, scale_y=1.2))
    for name, network in (("capsnet", capsnet), ("cnn", cnn)):
        assert strip(bending, "turn", name) == "".join(map(str, network.predict(turned).tolist()))
    expect(bending.locator('[data-role="sentence"]')).to_contain_text("the rest as it is")


def test_a_hand_and_keys_move_the_digit(bending: Any) -> None:
    stage = bending.locator('[data-role="bent"]')
    stage.hover()  # once the page has stopped scrolling
    box = stage.bounding_box()
    mouse = bending.page.mouse
    mouse.move(box["x"] + 100, box["y"] + 100)
    mouse.down()
    mouse.move(box["x"] + 100 + box["width"] * 3 / 28, box["y"] + 100, steps=4)
    mouse.up()
    expect(bending).to_have_attribute("data-right", "3")
    expect(bending).to_have_attribute("data-down", "0")
    stage.press("ArrowUp")
    expect(bending).to_have_attribute("data-down", "-1")
    bending.locator('input[data-way="shear"]').press("ArrowRight")
    expect(bending).to_have_attribute("data-shear", "0.05")
    bending.locator('[data-role="straight"]').press("Enter")
    expect(bending).to_have_attribute("data-right", "0")
    expect(bending).to_have_attribute("data-shear", "0")


def test_a_digit_of_ones_own(bending: Any) -> None:
    bending.locator('[data-role="draw"]').click()
    pad = bending.locator('[data-role="pad"]')
    pad.hover()  # once the page has stopped scrolling
    box = pad.bounding_box()
    mouse = bending.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    mouse.down()
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 30, steps=12)
    mouse.up()
    expect(bending).to_have_attribute("data-index", "own")
    expect(bending).to_have_attribute("data-capsnet", "1")
    expect(bending).to_have_attribute("data-cnn", "1")
    set_slider(bending, "turn", 90)
    expect(pad).to_be_hidden()
    expect(bending.locator('[data-role="bent"]')).to_be_visible()
    expect(bending).to_have_attribute("data-strips", "done", timeout=20_000)
    assert strip(bending, "turn", "cnn")[18] == "1"


def test_on_a_phone_everything_fits_and_is_large_enough(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    bending = alone("BendDigit", PAGE, **phone)
    bending.locator('[data-role="digit"]').nth(9).tap()
    expect(bending).to_have_attribute("data-index", "9")
    for button in bending.locator("button:visible").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 24
    assert bending.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
