"""The landscape of the evidence: a press, a key or a finger on a dot shows the claim's row."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Visit

pytestmark = pytest.mark.slow

RESULTS = "book/results.html"
CHAPTER = "book/chapters/18-does-routing-matter.html"
DOTS = ".landscape .lines a"
ROWS = ".landscape li"
SEEN = "visible=true"
FAR_FROM_ABOVE = """(dots) => {
    // [number, x, y] of the dot that is farthest to the side of the one on the line above it.
    const places = dots.map((dot) => {
        const { left, top, width, height } = dot.getBoundingClientRect();
        const share = dot.style.getPropertyValue("--mean") / 100;
        return [left + share * width, top + height / 2];
    });
    const away = (number) => {
        const isFirst = dots[number].previousElementSibling === null;
        return isFirst ? 0 : Math.abs(places[number][0] - places[number - 1][0]);
    };
    const numbers = dots.map((_, number) => number);
    const farthest = numbers.reduce((best, number) => (away(number) > away(best) ? number : best));
    return [farthest, ...places[farthest]];
}"""


def row_of(dot: Locator) -> Locator:
    """The row that a dot leads to."""
    return dot.page.locator(dot.get_attribute("href") or "")


def test_a_press_shows_a_dots_row_alone_and_open(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + RESULTS).page
    rows = page.locator(ROWS).locator(SEEN)
    expect(rows).to_have_count(1)  # the first is shown before the first press
    dot = page.locator(DOTS).nth(20)
    dot.scroll_into_view_if_needed()
    dot.click()
    expect(rows).to_have_count(1)
    expect(row_of(dot).locator("details p").first).to_be_visible()
    expect(row_of(dot).locator("code").first).to_be_visible()
    expect(row_of(dot).locator("summary")).to_be_in_viewport()
    expect(dot).to_have_attribute("aria-current", "true")
    expect(page.locator(f"{DOTS}[aria-current]")).to_have_count(1)


def test_arrow_keys_and_buttons_go_from_dot_to_dot(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + RESULTS).page
    dots = page.locator(DOTS)
    expect(page.locator(f'{DOTS}[tabindex="0"]')).to_have_count(1)
    dots.first.focus()
    for key, place in (("ArrowDown", 1), ("ArrowRight", 2), ("ArrowUp", 1), ("End", -1)):
        page.keyboard.press(key)
        expect(dots.nth(place)).to_be_focused()
        expect(row_of(dots.nth(place))).to_be_visible()
    claim = row_of(dots.last).locator("summary span").inner_text()
    expect(dots.last).to_have_accessible_name(re.compile(re.escape(claim)))
    page.keyboard.press("Enter")
    expect(row_of(dots.last).locator("summary")).to_be_focused()
    page.locator(".landscape .steps button").first.click()
    expect(row_of(dots.nth(-2))).to_be_visible()


def test_a_finger_near_a_dot_shows_its_row(visit: Callable[..., Visit], address: str) -> None:
    phone = {"viewport": {"width": 375, "height": 700}, "has_touch": True}
    page = visit(address + RESULTS, **phone).page
    dots = page.locator(DOTS)
    number, *_ = dots.evaluate_all(FAR_FROM_ABOVE)
    dot = dots.nth(number)
    dot.scroll_into_view_if_needed()
    _, x, y = dots.evaluate_all(FAR_FROM_ABOVE)
    page.touchscreen.tap(x, y - 5)  # on the line above, whose dot is far
    expect(row_of(dot)).to_be_visible()


def test_without_javascript_all_rows_stand_below(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + RESULTS, java_script_enabled=False).page
    rows = page.locator(ROWS)
    expect(rows.locator(SEEN)).to_have_count(rows.count())
    expect(page.locator(".landscape .steps")).to_be_hidden()
    page.locator(DOTS).nth(5).click()
    expect(row_of(page.locator(DOTS).nth(5))).to_be_in_viewport()


def test_on_paper_all_rows_are_there_with_their_numbers(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + RESULTS).page
    page.emulate_media(media="print")
    rows = page.locator(ROWS)
    expect(rows.locator("details p:first-of-type").locator(SEEN)).to_have_count(rows.count())


def test_a_chapter_begins_with_its_own_and_prints_no_others(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + CHAPTER).page
    expect(page.locator(ROWS).locator(SEEN)).to_have_class("lit chosen")
    other = page.locator(f"{DOTS}:not(.lit)").first
    other.scroll_into_view_if_needed()
    other.click()
    expect(row_of(other)).to_be_visible()
    page.emulate_media(media="print")
    own = page.locator(f"{ROWS}.lit")
    expect(own.first).to_be_visible()
    expect(page.locator(ROWS).locator(SEEN)).to_have_count(own.count())
