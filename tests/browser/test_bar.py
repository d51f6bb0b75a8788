"""The bar above every page: the menu, in a chapter the network's strip, and the tools."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from .conftest import Visit
from .test_glass import PRIMARY, ROUTING, strip_of
from .test_pages import CHINESE, OVERFLOW, PHONE

pytestmark = pytest.mark.slow

FRONT = "book/index.html"
WIDE = {"width": 1280, "height": 800}
HIGHEST = 60  # pixels
HEADS = ".page-bar:visible, .bd-header-article:visible, .network-strip:visible"
FOCUS = """() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
}"""
SHIFT = """() => new Promise((done) => {
    new PerformanceObserver((list) => {
        // Layout shifts in which a part of the bar moves by more than a pixel.
        const moved = ({ node, previousRect, currentRect }) =>
            node?.parentElement?.closest(".page-bar") &&
            Math.abs(previousRect.x - currentRect.x) + Math.abs(previousRect.y - currentRect.y) > 1;
        const shifts = list.getEntries().filter(({ sources }) => sources.some(moved));
        done(shifts.map(({ value }) => value));
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(done, 500, []);
})"""


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("page", [ROUTING, CHINESE + ROUTING, FRONT, "book/results.html"])
def test_one_bar_stays_at_the_top_of_every_page(
    visit: Callable[..., Visit], address: str, page: str, viewport: dict[str, int]
) -> None:
    seen = visit(address + page, viewport=viewport).page
    tops = {head.bounding_box()["y"] for head in seen.locator(HEADS).all()}
    ends = [head.bounding_box() for head in seen.locator(HEADS).all()]
    assert tops == {0}, "there is one row"
    assert max(box["height"] for box in ends) <= HIGHEST
    seen.mouse.wheel(0, 1500)
    seen.wait_for_function("scrollY > 1000")
    assert seen.locator(".page-bar").bounding_box()["y"] == 0
    assert seen.evaluate(OVERFLOW) <= 0


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_nothing_moves_when_the_strip_wakes(
    visit: Callable[..., Visit], address: str, viewport: dict[str, int]
) -> None:
    page = visit(address + PRIMARY, viewport=viewport).page
    strip_of(page)
    assert page.evaluate(SHIFT) == []


def test_keys_go_through_the_bar_in_the_order_that_is_seen(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + PRIMARY).page
    strip_of(page)
    page.keyboard.press("Tab")
    expect(page.locator("#pst-skip-link a")).to_be_focused()
    seen = [focus_next(page)]
    while page.locator(".page-bar :focus").count():
        seen.append(focus_next(page))
    lefts = [left for left, _, is_in_bar in seen if is_in_bar]
    assert len(lefts) >= 9, "menu, name, strip, Read, Build, language and four tools"
    assert lefts == sorted(lefts)
    assert all(width >= 2 for _, width, _ in seen), "each shows where the focus is"
    names = page.locator(".page-bar :is(a, button, summary):visible").evaluate_all(
        "nodes => nodes.map((node) => node.ariaLabel || node.title || node.textContent.trim())"
    )
    assert all(names), "each has a name"


def focus_next(page: Page) -> tuple[float, float, bool]:
    """Go to the next control; return where it begins, the width of its ring, whether in the bar."""
    page.keyboard.press("Tab")
    focus = page.locator(":focus")
    is_in_bar = page.locator(".page-bar :focus").count() == 1
    return focus.bounding_box()["x"], page.evaluate(FOCUS), is_in_bar


def test_on_a_phone_the_menu_holds_what_the_bar_has_no_room_for(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + ROUTING, viewport=PHONE, has_touch=True, color_scheme="light").page
    strip_of(page)
    expect(page.locator(".page-bar .tools")).to_be_hidden()
    page.locator(".page-bar .primary-toggle").tap()
    menu = page.locator("dialog.bd-sidebar-primary")
    expect(menu.get_by_role("button", name="Search")).to_be_visible()
    expect(menu.get_by_role("link", name="中文")).to_be_visible()
    expect(menu.get_by_role("link", name="Download")).to_be_visible()
    menu.get_by_role("button", name="Color mode").tap()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    menu.get_by_role("link", name="Rounds 2 and 3").tap()
    expect(menu).to_be_hidden()
    expect(page.locator("#rounds-2-and-3")).to_be_in_viewport()


def test_the_pages_contents_are_seen_beside_a_broad_picture(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + ROUTING).page
    page.locator("#pst-secondary-sidebar.hide").wait_for(state="attached")
    page.locator(".page-bar .secondary-toggle").click()
    link = page.locator("dialog").get_by_role("link", name="Rounds 2 and 3")
    expect(link).to_be_visible()
    expect(link.locator("xpath=ancestor::nav")).to_have_css("opacity", "1")
    link.click()
    expect(link).to_be_hidden()


def test_without_javascript_the_bar_has_what_works(
    visit: Callable[..., Visit], address: str
) -> None:
    for viewport in (WIDE, PHONE):
        page = visit(address + ROUTING, java_script_enabled=False, viewport=viewport).page
        bar = page.locator(".page-bar")
        expect(bar.locator("button:visible:not(.dropdown-toggle)")).to_have_count(0)
        expect(bar.locator("summary svg:visible")).to_have_count(6)
        bar.get_by_role("link", name="中文").click()
        page.wait_for_url(f"**/{CHINESE}{ROUTING}*")
