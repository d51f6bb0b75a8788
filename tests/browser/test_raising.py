"""TurnDigit's mode "raise" in the built page: it learns, pauses, goes on, and reads the dial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from .conftest import OPEN_FOLDS, number, numbers, until, wake

pytestmark = pytest.mark.slow

PAGE = "book/chapters/19-capsules-that-turn.html"
SECONDS = 1000
PHONE = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
IS_WHOLE = """(curve) => {
    const [inside, outside] = [curve, curve.closest("figure")].map((node) =>
        node.getBoundingClientRect());
    return inside.top >= outside.top && inside.bottom <= outside.bottom;
}"""
HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""

HIDE_FOR = f"""async (milliseconds) => {{
    const hide = {HIDE};
    hide(true);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    hide(false);
}}"""


def raising_on(visit: Callable[..., Any], address: str, **options: Any) -> Locator:
    """Return the widget in the page, alive and with its folds open."""
    page = visit(address + PAGE, **options).page
    figure = page.locator('figure.live-widget[data-look="TurnDigit-raise"]')
    wake(figure)
    figure.evaluate(OPEN_FOLDS)
    return figure.locator('.capsnet[data-ready="true"]')


def press(widget: Locator) -> None:
    widget.locator('[data-role="raise"]').click()


def has_taken(widget: Locator, steps: int) -> None:
    """Wait until the network has taken so many steps."""
    widget.page.wait_for_function(
        "([widget, least]) => Number(widget.dataset.steps) >= least",
        arg=[widget.element_handle(), steps],
        timeout=120 * SECONDS,
    )


@pytest.mark.parametrize("place", ["http", "file"])  # the digits come by other ways
def test_it_learns_to_read_angles_that_it_is_never_shown(
    visit: Callable[..., Any], addresses: dict[str, str], place: str
) -> None:
    widget = raising_on(visit, addresses[place])
    press(widget)
    has_taken(widget, 100)
    shown, new = numbers(widget, "errors")
    assert shown < 0.5, "a guess misreads nine of ten"
    assert new < 0.5, "a guess misreads nine of ten"
    curve = widget.locator('[data-role="training-curve"]')
    label = curve.get_attribute("aria-label") or ""
    assert "never shown" in label or "further than it was ever shown" in label
    assert curve.evaluate(IS_WHOLE), "its figure cuts the curve off"


def test_the_dial_reads_with_the_readers_network_from_the_first_look(
    visit: Callable[..., Any], address: str
) -> None:
    widget = raising_on(visit, address)
    sentence = widget.locator('[data-role="sentence"]')
    own = widget.locator('[data-role="reads-own"]')
    expect(sentence).to_contain_text("The capsules that turn see a 4")
    expect(own).to_be_disabled()
    press(widget)
    expect(sentence).to_contain_text("Your network sees", timeout=30 * SECONDS)
    assert number(widget, "steps") < 100, "it has hardly learned"
    widget.locator('[data-role="reads-trained"]').click()
    expect(sentence).to_contain_text("The capsules that turn see a 4")
    own.click()
    expect(sentence).to_contain_text("Your network sees")


def test_it_pauses_goes_on_and_rests_while_its_tab_is_hidden(
    visit: Callable[..., Any], address: str
) -> None:
    widget = raising_on(visit, address)
    press(widget)
    has_taken(widget, 4)
    press(widget)
    expect(widget).to_have_attribute("data-phase", "paused")
    widget.page.wait_for_timeout(500)  # the slice that was under way
    steps = number(widget, "steps")
    widget.page.wait_for_timeout(1000)
    assert number(widget, "steps") == steps
    press(widget)
    has_taken(widget, int(steps) + 2)
    widget.page.evaluate(HIDE, True)
    expect(widget).to_have_attribute("data-phase", "paused")
    widget.page.evaluate(HIDE, False)
    expect(widget).to_have_attribute("data-phase", "learning")
    for milliseconds in range(2, 62, 2):  # a pause ends with a look at the network
        widget.page.evaluate(HIDE_FOR, milliseconds)
        widget.page.wait_for_timeout(150)
        expect(widget).to_have_attribute("data-phase", "learning")


def test_on_a_phone_each_button_is_large_enough(visit: Callable[..., Any], address: str) -> None:
    widget = raising_on(visit, address, **PHONE)
    for role in ("raise", "reads-trained", "reads-own"):
        box = widget.locator(f'[data-role="{role}"]').bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 40, role
    slider = widget.locator('[data-role="angle"]')
    before = widget.get_attribute("data-turn")
    slider.focus()
    widget.page.keyboard.press("Home")
    until(lambda: widget.get_attribute("data-turn") != before, "the digit turns by keys")
