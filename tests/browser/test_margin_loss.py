"""MarginLoss in the built page: bars and dot follow mouse and keys, digits go in and out, steps go downhill."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import expect

from capsnet_tutorial.functional import margin_loss

from .conftest import number, numbers

PAGE = "book/chapters/07-margin-loss.html"
PHONE = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def margin(alone: Callable[..., Any]) -> Any:
    return alone("MarginLoss", PAGE)


def lengths(widget: Any) -> list[float]:
    return numbers(widget, "lengths")


def total(widget: Any) -> float:
    return number(widget, "total")


def bar(widget: Any, k: int) -> Any:
    return widget.locator(f'.bar-rail[data-class="{k}"]')


def drag(widget: Any, k: int, to: float) -> None:
    box, mouse = bar(widget, k).bounding_box(), widget.page.mouse
    x = box["x"] + box["width"] / 2
    mouse.move(x, box["y"] + box["height"] * 0.5)
    mouse.down()
    mouse.move(x, box["y"] + box["height"] * (1 - to), steps=5)
    mouse.up()


def test_the_total_is_the_modules(margin: Any) -> None:
    for k in (0, 3, 8):
        drag(margin, k, 0.7)
        assert lengths(margin)[k] == pytest.approx(0.7, abs=0.01)
        expect(margin).to_have_attribute("data-selected", str(k))
    expected = margin_loss(torch.tensor([lengths(margin)]), torch.tensor([3]))
    assert total(margin) == pytest.approx(expected.item(), abs=2e-3)
    expect(margin.locator('[data-role="total"]')).to_have_text(f"{total(margin):.3f}")


def test_a_digit_is_put_in_and_taken_out(margin: Any) -> None:
    before = total(margin)
    eight = margin.locator('[data-role="present"][data-class="8"]')
    eight.click()
    assert total(margin) != before
    expect(margin).to_have_attribute("data-present", "3,8")
    expect(eight).to_have_attribute("aria-pressed", "true")
    eight.click()
    expect(margin).to_have_attribute("data-present", "3")
    assert total(margin) == before
    margin.locator('[data-role="present"][data-class="3"]').press("Enter")
    expect(margin).to_have_attribute("data-present", "")
    expect(margin).to_have_attribute("data-cross-entropy", "")
    expect(margin.locator('[data-role="sentence"]')).to_contain_text("No digit is there")


def test_steps_end_at_the_margins_and_cross_entropy_goes_on(margin: Any) -> None:
    step = margin.locator('[data-role="step-margin"]')
    totals = [total(margin)]
    for _ in range(40):
        step.press("Enter")
        totals.append(total(margin))
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == pytest.approx(0, abs=1e-5)
    assert lengths(margin)[3] == pytest.approx(0.9, abs=1e-3)
    assert lengths(margin)[8] == pytest.approx(0.1, abs=1e-3)
    assert lengths(margin)[0] == 0.05, "short enough from the start: nothing moves it"

    margin.locator('[data-role="step-entropy"]').click()
    assert lengths(margin)[3] > 0.95
    assert lengths(margin)[0] < 0.05
    expect(margin.locator('[data-role="sentence"]')).to_contain_text("down cross-entropy: 3 rose")
    margin.locator('[data-role="reset"]').click()
    assert total(margin) == totals[0]


def test_a_held_button_goes_on_and_stops_when_let_go(margin: Any) -> None:
    step = margin.locator('[data-role="step-margin"]')
    step.scroll_into_view_if_needed()
    box, mouse = step.bounding_box(), margin.page.mouse
    mouse.move(box["x"] + 10, box["y"] + 10)
    mouse.down()
    margin.page.wait_for_function("root => Number(root.dataset.total) < 0.01", arg=margin.element_handle())
    mouse.up()
    after = total(margin)
    margin.page.wait_for_timeout(300)
    assert total(margin) == after


def test_the_dot_runs_along_the_curve_by_mouse_and_by_keyboard(margin: Any) -> None:
    dot, curve = margin.locator('[data-role="dot"]'), margin.locator('[data-role="curve"]')
    curve.scroll_into_view_if_needed()
    box, mouse = curve.bounding_box(), margin.page.mouse
    mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    mouse.down()
    mouse.move(box["x"] + box["width"], box["y"] + box["height"] / 2, steps=4)
    mouse.up()
    assert lengths(margin)[3] == 0.999
    expect(margin.locator('[data-role="sentence"]')).to_contain_text("nothing pulls")
    dot.focus()
    dot.press("ArrowLeft")
    assert lengths(margin)[3] == pytest.approx(0.989)
    dot.press("Home")
    assert lengths(margin)[3] == 0
    expect(dot).to_have_attribute("aria-valuenow", re.compile(r"^0(\.0*)?$"))


def test_bars_and_sliders_answer_the_keyboard(margin: Any) -> None:
    bar(margin, 8).focus()
    before, length = total(margin), lengths(margin)[8]
    bar(margin, 8).press("ArrowUp")
    assert lengths(margin)[8] == pytest.approx(length + 0.01)
    assert total(margin) > before
    bar(margin, 8).press(" ")
    expect(margin).to_have_attribute("data-present", "3,8")
    for role, way in (("m_plus", "ArrowLeft"), ("m_minus", "ArrowRight"), ("lambda_", "ArrowRight")):
        before = total(margin)
        margin.locator(f'[data-role="{role}"]').press(way)
        assert total(margin) != before, role


def test_a_finger_drags_a_bar_and_the_page_stays(alone: Callable[..., Any]) -> None:
    margin = alone("MarginLoss", PAGE, **PHONE)
    bar(margin, 5).scroll_into_view_if_needed()
    box, before = bar(margin, 5).bounding_box(), margin.page.evaluate("scrollY")
    assert box["width"] >= 24
    touch = margin.page.context.new_cdp_session(margin.page)
    for n, share in enumerate((0.8, 0.6, 0.4, 0.2)):
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + share * box["height"]}
        kind = "touchMove" if n else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert lengths(margin)[5] == pytest.approx(0.8, abs=0.02)
    assert margin.page.evaluate("scrollY") == before
