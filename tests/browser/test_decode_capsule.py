"""DecodeCapsule in the built page: the reader is the mask, by mouse, by finger and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import expect

from capsnet_tutorial import digits, load_pretrained, mask_capsules, reconstruction_loss

from .conftest import attribute, number, picture

PAGE = "book/chapters/08-masking-and-decoder.html"


@pytest.fixture
def decode(alone: Callable[..., Any]) -> Any:
    return alone("DecodeCapsule", PAGE)


def drawing(widget: Any) -> str:
    return picture(widget.locator('[data-role="redrawn"]'))


def error(widget: Any) -> float:
    return number(widget, "squared-error")


def choice(widget: Any, keep: str) -> Any:
    return widget.locator(f'button[data-keep="{keep}"]')


def test_each_of_the_ten_is_drawn_as_its_place_in_the_strip_shows(decode: Any) -> None:
    seen = set()
    for j in range(10):
        choice(decode, str(j)).click()
        expect(decode).to_have_attribute("data-kept", str(j))
        expect(choice(decode, str(j))).to_have_attribute("aria-pressed", "true")
        assert drawing(decode) == picture(choice(decode, str(j)).locator("canvas"))
        expect(choice(decode, str(j))).to_have_attribute("aria-label", re.compile(re.escape(f"{error(decode):.1f}")))
        seen.add(drawing(decode))
    assert len(seen) == 10
    expect(decode.locator('[aria-pressed="true"]')).to_have_count(1)


def test_the_rules_choose_and_their_errors_are_pytorchs(decode: Any) -> None:
    for _ in range(3):  # back to the first of the three that are misread
        before = attribute(decode, "index")
        decode.locator('[data-role="previous"]').click()
        expect(decode).not_to_have_attribute("data-index", before)
    label, prediction = (number(decode, name) for name in ("label", "prediction"))
    assert (label, prediction) == (2, 9)
    sample, model = digits("test", source="sample"), load_pretrained("small")
    image = (sample.images[342:343] * 255).round() / 255
    with torch.no_grad():
        v = model(image).capsules
        masks = {
            "longest": mask_capsules(v),
            "label": mask_capsules(v, torch.tensor([2])),
            "all": v,
            "none": torch.zeros_like(v),
        }
        for keep, masked in masks.items():
            choice(decode, keep).click()
            assert error(decode) == pytest.approx(reconstruction_loss(model.decode(masked), image).item(), rel=1e-3)
            expect(decode.locator('[data-role="error"]')).to_have_text(f"{error(decode):.1f}")
            kept = {"longest": "9", "label": "2", "all": "0,1,2,3,4,5,6,7,8,9", "none": ""}[keep]
            expect(decode).to_have_attribute("data-kept", kept)
    choice(decode, "longest").click()
    expect(decode.locator('[data-role="sentence"]')).to_contain_text("misreads")


def test_it_works_by_keyboard(decode: Any) -> None:
    first = drawing(decode)
    choice(decode, "5").focus()
    decode.page.keyboard.press("Enter")
    expect(decode).to_have_attribute("data-keep", "5")
    assert drawing(decode) != first
    decode.page.keyboard.press("Tab")
    decode.page.keyboard.press("Space")
    expect(decode).to_have_attribute("data-keep", "6")
    decode.locator('[data-role="next"]').press("Enter")
    expect(decode).to_have_attribute("data-index", "1")


def test_stretched_capsules_draw_otherwise_and_back(decode: Any) -> None:
    choice(decode, "5").click()
    faint = drawing(decode)
    decode.locator('[data-role="stretch"]').check()
    assert drawing(decode) != faint
    decode.locator('[data-role="stretch"]').press("Space")
    assert drawing(decode) == faint


def test_a_finger_chooses_on_a_phone(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    decode = alone("DecodeCapsule", PAGE, **phone)
    before = drawing(decode)
    choice(decode, "7").tap()
    expect(decode).to_have_attribute("data-kept", "7")
    assert drawing(decode) != before
    for keep in ("7", "longest", "none"):
        box = choice(decode, keep).bounding_box()
        assert min(box["width"], box["height"]) >= 44
