"""RoutingSteps in the built page: scrolling, buttons and keys move it, what is pointed at is lit, nobody is trapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from capsnet_tutorial import route

from .conftest import attribute, number, numbers, settled

PAGE = "book/chapters/06-routing.html"
NAME = "RoutingSteps"
U_HAT = [[[2.0, 1.0], [1.5, -1.2]], [[1.8, 1.2], [-1.6, 0.8]], [[-0.5, -1.5], [0.6, 1.2]]]
LAST = 14
PHONE = {"viewport": {"width": 375, "height": 760}, "has_touch": True, "is_mobile": True}
TRANSITIONS = """root => Promise.allSettled(root.getAnimations({ subtree: true })
    .filter((each) => each instanceof CSSTransition).map((each) => each.finished))"""


def part(widget: Any, role: str) -> Any:
    return widget.locator(f'[data-role="{role}"]')


def shows(widget: Any, step: int) -> None:
    expect(widget).to_have_attribute("data-step", str(step))


def opacity(widget: Any, kind: str) -> float:
    """How strongly the marks of a kind are drawn."""
    settled(widget).evaluate(TRANSITIONS)
    return min(
        float(each)
        for each in settled(widget)
        .locator(f".mark.of-{kind}")
        .evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).opacity)")
    )


@pytest.fixture
def pinned(alone: Callable[..., Any]) -> Any:
    """As the page has it."""
    widget = alone(NAME, PAGE, viewport={"width": 1280, "height": 900})
    expect(widget).to_have_attribute("data-pinned", "true")
    return widget


@pytest.fixture
def calm(alone: Callable[..., Any]) -> Any:
    """With less motion: not pinned, as in a notebook."""
    widget = alone(NAME, PAGE, reduced_motion="reduce")
    expect(widget).to_have_attribute("data-pinned", "false")
    return widget


def test_steps_show_pytorchs_rounds(calm: Any) -> None:
    _, trace = route(torch.tensor([U_HAT]), 3, return_trace=True)
    part(calm, "next").click()
    shows(calm, 0)
    for step in range(1, LAST - 1):
        part(calm, "next").click()
        shows(calm, step)
        if step < 2:
            continue
        r = number(calm, "round") - 1
        assert numbers(calm, "c") == pytest.approx(trace.c[int(r), 0].flatten().tolist(), abs=1e-5)
        if attribute(calm, "kind") == "squash":
            assert numbers(calm, "lengths") == pytest.approx(trace.v[int(r), 0].norm(dim=1).tolist(), abs=1e-5)
    for step in (LAST - 1, LAST):
        part(calm, "next").click()
        shows(calm, step)
    expect(part(calm, "next")).to_be_disabled()


def test_keys_and_the_rail_choose_a_step(calm: Any) -> None:
    rail = part(calm, "rail")
    rail.press("End")
    shows(calm, LAST)
    expect(rail).to_have_attribute("aria-valuenow", str(LAST + 1))
    rail.press("ArrowLeft")
    shows(calm, LAST - 1)
    part(calm, "back").press("ArrowLeft")
    shows(calm, LAST - 2)
    rail.press("Home")
    shows(calm, 0)
    box = rail.bounding_box()
    rail.click(position={"x": box["width"] - 4, "y": box["height"] / 2})
    shows(calm, LAST)


def test_a_line_leads_to_its_step_and_the_present_one_is_lit(calm: Any) -> None:
    calm.locator('[data-line="s"]').click()
    expect(calm).to_have_attribute("data-kind", "sum")
    expect(calm.locator(".line.lit")).to_have_attribute("data-line", "s")
    calm.locator('[data-line="b"]').click()
    expect(calm).to_have_attribute("data-kind", "agreement")
    expect(calm.locator(".line.lit")).to_have_count(2)


def test_pointing_at_a_symbol_lights_its_mark(calm: Any) -> None:
    part(calm, "rail").press("Home")
    for _ in range(4):
        part(calm, "next").click()
    calm.locator('[data-line="s"] code [data-mark="c"]').hover()
    assert opacity(calm, "c") == 1
    assert opacity(calm, "v") < 0.3
    calm.locator('[data-line="v"]').hover(position={"x": 3, "y": 3})
    assert opacity(calm, "v") == 1
    assert opacity(calm, "c") < 0.3
    part(calm, "title").hover()
    assert opacity(calm, "c") == opacity(calm, "v") == 1


def test_a_symbols_button_keeps_its_mark_lit(calm: Any) -> None:
    chip = calm.locator('.chip[data-mark="u_hat"]')
    chip.press("Enter")
    expect(chip).to_have_attribute("aria-pressed", "true")
    assert opacity(calm, "u_hat") == 1
    assert opacity(calm, "c") < 0.3
    chip.press("Enter")
    assert opacity(calm, "c") == 1


def scrolled_to(page: Page, widget: Any, share: float) -> None:
    """The page, so that this share of the track has gone by."""
    page.evaluate(
        """([track, share]) => {
          const stage = track.firstElementChild;
          const gone = share * (track.offsetHeight - stage.offsetHeight);
          const top = scrollY + track.getBoundingClientRect().top - parseFloat(stage.style.top);
          scrollTo({ top: top + gone, behavior: "instant" });
        }""",
        [widget.locator(".scroll-track").element_handle(), share],
    )


def test_scrolling_moves_it_and_it_stays_in_the_window(pinned: Any) -> None:
    page, stage = pinned.page, pinned.locator(".pinned-stage")
    scrolled_to(page, pinned, 0)
    shows(pinned, 0)
    place = settled(stage).bounding_box()["y"]
    seen = []
    for share in (0.2, 0.4, 0.6, 0.8, 1):
        scrolled_to(page, pinned, share)
        seen.append(int(number(pinned, "step")))
        assert settled(stage).bounding_box()["y"] == pytest.approx(place, abs=2)
    assert seen == sorted(set(seen))
    assert seen[-1] == LAST
    scrolled_to(page, pinned, 0.3)
    assert number(pinned, "step") < seen[1]


def test_the_wheel_leads_past_it(pinned: Any) -> None:
    """As far as it is tall, and no further: nothing holds the reader."""
    page = pinned.page
    scrolled_to(page, pinned, 0)
    before, height = page.evaluate("scrollY"), pinned.bounding_box()["height"]
    box = pinned.locator(".pinned-stage").bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    for _ in range(30):
        page.mouse.wheel(0, height / 30)
        page.wait_for_timeout(30)
    page.wait_for_function("there => Math.abs(scrollY - there) < 60", arg=before + height)
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") - before == pytest.approx(height, abs=60)
    assert pinned.locator(".pinned-stage").bounding_box()["y"] < 0


def test_buttons_and_keys_scroll_the_page_along(pinned: Any) -> None:
    page = pinned.page
    scrolled_to(page, pinned, 0)
    before = page.evaluate("scrollY")
    part(pinned, "next").click()
    shows(pinned, 1)
    part(pinned, "next").press("ArrowRight")
    shows(pinned, 2)
    page.wait_for_function("before => scrollY > before + 100", arg=before)
    part(pinned, "next").press("ArrowLeft")
    shows(pinned, 1)
    part(pinned, "skip").dispatch_event("click")  # at once, while the page glides
    below = "root => root.getBoundingClientRect().bottom < 100"  # only what the page's bar hides
    page.wait_for_function(below, arg=pinned.element_handle())
    page.wait_for_timeout(300)
    assert pinned.evaluate(below), "nothing takes the jump back"


def test_where_it_does_not_fit_it_is_not_pinned(alone: Callable[..., Any]) -> None:
    widget = alone(NAME, PAGE, viewport={"width": 1280, "height": 480})
    expect(widget).to_have_attribute("data-pinned", "false")
    assert widget.bounding_box()["height"] < 900
    part(widget, "next").click()
    shows(widget, 0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_finger_steps_on_a_phone(alone: Callable[..., Any], scheme: str) -> None:
    widget = alone(NAME, PAGE, color_scheme=scheme, **PHONE)
    expect(widget).to_have_attribute("data-pinned", "true")
    assert widget.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
    scrolled_to(widget.page, widget, 0)
    for role in ("back", "next", "rail"):
        box = part(widget, role).bounding_box()
        assert min(box["width"], box["height"]) >= 44, role
    part(widget, "next").tap()
    shows(widget, 1)
    widget.locator('.chip[data-mark="u_hat"]').tap()
    assert opacity(widget, "u_hat") == 1
    assert opacity(widget, "c") < 0.3
    for step in range(LAST + 1):
        scrolled_to(widget.page, widget, step / (LAST + 0.5))
        shows(widget, step)
        outside = (
            settled(widget)
            .locator(".routing-scene text")
            .evaluate_all(
                """texts => texts.filter((text) => {
              const { left, right, width } = text.getBoundingClientRect();
              return width && getComputedStyle(text).visibility !== "hidden" && (left < 0 || right > innerWidth);
            }).map((text) => text.textContent)"""
            )
        )
        assert not outside, f"beyond the picture's edge in step {step}"
