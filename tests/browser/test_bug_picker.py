"""BugPicker in the built page: picked by mouse, by keyboard, by finger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.bugs.planted import planted_parts
from capsnet_book.experiments.recordings import recorded_bugs
from capsnet_book.widgets import BugPicker
from playwright.sync_api import expect

from capsnet_tutorial import CapsNet, CapsNetConfig, load_pretrained

from .conftest import numbers, picture

PAGE = "book/chapters/17-bugs-in-the-wild.html"


@pytest.fixture
def picker(alone: Callable[..., Any]) -> Any:
    return alone("BugPicker", PAGE)


def couplings(picker: Any, which: str) -> str:
    return picture(picker.locator(f'[data-role="map-{which}"]'))


@torch.no_grad()
def test_a_picked_bug_shows_its_numbers_and_leaves_the_right_ones(picker: Any) -> None:
    images = torch.frombuffer(bytearray(BugPicker().images), dtype=torch.uint8).view(10, 1, 28, 28) / 255
    before = couplings(picker, "right"), couplings(picker, "buggy")
    picker.locator('[data-bug="squash-axis"]').click()
    expect(picker).to_have_attribute("data-bug", "squash-axis")
    network = CapsNet(CapsNetConfig.small(), planted_parts("squash-axis"))
    network.load_state_dict(load_pretrained("small").state_dict())
    shown = numbers(picker, "lengths")
    np.testing.assert_allclose(shown, network(images).lengths[2], atol=2e-4)
    assert couplings(picker, "right") == before[0] and couplings(picker, "buggy") != before[1]
    last = 100 * recorded_bugs().error["squash-axis"][:, -1].mean()
    expect(picker.locator('[data-role="last"]')).to_contain_text(f"{last:.1f} % are wrong")


def test_another_digit_changes_both_maps(picker: Any) -> None:
    before = couplings(picker, "right"), couplings(picker, "buggy")
    picker.get_by_role("button", name="Show the handwritten 7").press("Enter")
    expect(picker).to_have_attribute("data-index", "7")
    assert couplings(picker, "right") != before[0] and couplings(picker, "buggy") != before[1]


def test_a_bug_outside_the_routing_leaves_the_couplings_alone_and_says_so(picker: Any) -> None:
    for bug, words in (("recon-mean", "not in the routing"), ("squash-nan", "number for number")):
        picker.locator(f'[data-bug="{bug}"]').press("Enter")
        expect(picker.locator('[data-role="sentence"]')).to_contain_text(words)
        assert couplings(picker, "right") == couplings(picker, "buggy")


def test_on_a_phone_everything_fits_and_is_large_enough(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    picker = alone("BugPicker", PAGE, **phone)
    picker.locator('[data-bug="stale-logits"]').tap()
    expect(picker).to_have_attribute("data-bug", "stale-logits")
    for button in picker.locator("button:visible").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 24
    assert picker.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
