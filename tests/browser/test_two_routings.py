"""TwoRoutings in the built page: weights on demand, a stroke, a digit that divides the zoo; mouse, keyboard, finger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.routings.zoo import ZOO
from capsnet_book.widgets import TwoRoutings
from playwright.sync_api import expect

from capsnet_tutorial.functional import capsule_lengths, prediction_vectors
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts
from capsnet_tutorial.weights import read_tensors, unpack

from .conftest import ROOT, Visit, numbers, write_a_one

PAGE = "book/chapters/19-race-your-own-routing.html"
SHIPPED = ROOT / "book" / "capsnet_book" / "assets" / "zoo"
SENTENCE = '[data-role="sentence"]'


@pytest.fixture
def asked() -> list[str]:
    """Addresses of the weights that were fetched."""
    return []


@pytest.fixture
def pad(visit: Callable[..., Visit], addresses: dict[str, str], asked: list[str]) -> Any:
    seen = visit("about:blank")
    seen.page.on("request", lambda request: asked.append(request.url) if "widget-buffers" in request.url else None)
    seen.page.goto(addresses["http"] + PAGE)
    return seen.widget("TwoRoutings")


def lengths_of(name: str, image: torch.Tensor) -> torch.Tensor:
    tensors, metadata = read_tensors(Path(SHIPPED) / f"{name}.safetensors")
    config = CapsNetConfig.from_dict(metadata["config"])
    network = CapsNet(config, Parts(routing=ZOO[name].make(config)))
    network.load_state_dict(unpack(tensors), strict=False)
    u_hat = prediction_vectors(network.primary_capsules(image), network.routed.weight)
    return capsule_lengths(network.routed.routing(u_hat, config.iterations))[0]


@torch.no_grad()
def test_weights_come_when_they_are_chosen_and_read_as_pytorch_does(pad: Any, asked: list[str]) -> None:
    widget = TwoRoutings()
    first = widget.disputed[0]
    samples = torch.frombuffer(bytearray(widget.samples), dtype=torch.uint8).view(-1, 1, 28, 28) / 255
    assert len(asked) == 2
    pad.locator('[data-role="disputed"]').first.click()
    pad.locator('select[data-role="right"]').select_option("k-means")
    expect(pad).to_have_attribute("data-routings", "paper,k-means")
    assert len(set(asked)) == len(asked) == 3
    expected = torch.cat([lengths_of(name, samples[first : first + 1]) for name in ("paper", "k-means")])
    np.testing.assert_allclose(numbers(pad, "lengths"), expected, atol=1e-4)
    assert numbers(pad, "predictions") == expected.view(2, 10).argmax(dim=1).tolist()
    pad.locator('select[data-role="right"]').select_option("even")
    expect(pad).to_have_attribute("data-routings", "paper,even")
    assert len(asked) == 3, "what was fetched once stays"


def test_weights_that_cannot_be_had_change_nothing(alone: Callable[..., Any]) -> None:
    pad = alone("TwoRoutings", PAGE, tolerate=True)
    pad.page.context.route("**/widget-buffers/*", lambda route: route.fulfill(status=404))
    pad.locator('select[data-role="left"]').select_option("k-means")
    expect(pad.locator(SENTENCE)).to_contain_text("The weights of k-means cannot be loaded")
    expect(pad).to_have_attribute("data-routings", "paper,even")
    expect(pad.locator('select[data-role="left"]')).to_have_value("paper")


def test_a_drawn_one_is_read_by_both(pad: Any) -> None:
    pad.locator('[data-role="clear"]').click()
    expect(pad.locator(SENTENCE)).to_contain_text("Nothing drawn yet")
    canvas = pad.locator('[data-role="pad"]')
    canvas.scroll_into_view_if_needed()
    box, mouse = canvas.bounding_box(), canvas.page.mouse
    mouse.move(box["x"] + 0.55 * box["width"], box["y"] + 0.15 * box["height"])
    mouse.down()
    mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 0.85 * box["height"], steps=20)
    mouse.up()
    expect(pad.locator(SENTENCE)).to_contain_text("Both read a 1. Routing by agreement gives that class")


def test_the_keyboard_chooses_and_draws(pad: Any) -> None:
    select = pad.locator('select[data-role="right"]')
    select.focus()
    select.press("ArrowDown")
    expect(pad).not_to_have_attribute("data-routings", "paper,even")
    expect(pad.locator(SENTENCE)).to_contain_text("Both read a 5")
    write_a_one(pad)
    expect(pad).to_have_attribute("data-predictions", "1,1")


def test_on_a_phone_everything_fits_and_is_large_enough(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    pad = alone("TwoRoutings", PAGE, **phone)
    pad.locator('[data-role="sample"]').nth(7).tap()
    expect(pad).to_have_attribute("data-predictions", "7,7")
    for control in pad.locator("button:visible, select:visible").all():
        box = control.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    assert pad.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
