"""The built pages in Firefox and in Safari's engine: widgets wake, answer, keep their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright

from tests.browser.conftest import Visit

from .conftest import CHAPTERS, absent

BEYOND = """(figure) => [...figure.querySelectorAll(".capsnet *")]
    .filter((node) => node.getBoundingClientRect().right > figure.getBoundingClientRect().right + 1)
    .filter((node) => !node.closest(".unseen"))
    .map((node) => node.className.baseVal ?? node.className)"""
SLIDER = 'figure.live-widget input[type="range"]:enabled >> visible=true'


@pytest.fixture(scope="module", params=["firefox", "webkit"])
def chromium(request: pytest.FixtureRequest, playwright: Playwright) -> Iterator[Browser]:
    """Instead of a Chromium, which the other browser tests have."""
    kind = getattr(playwright, request.param)
    if not Path(kind.executable_path).exists():
        absent(f"no {request.param}: `.venv/bin/playwright install --with-deps {request.param}`")
    browser = kind.launch()
    yield browser
    browser.close()


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("chapter", [path.stem for path in CHAPTERS])
def test_widgets_wake_answer_and_stay_in_their_place(
    visit: Callable[..., Visit], address: str, chapter: str, width: int
) -> None:
    seen = visit(f"{address}book/chapters/{chapter}.html", viewport={"width": width, "height": 900})
    for figure in seen.all_alive():
        assert figure.evaluate(BEYOND) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    slider = seen.page.locator(SLIDER).first
    if slider.count():
        before = slider.input_value()
        slider.press("ArrowRight")
        if slider.input_value() == before:  # it stood at its end
            slider.press("ArrowLeft")
        assert slider.input_value() != before


def test_a_network_is_trained_in_the_page(visit: Callable[..., Visit], address: str) -> None:
    widget = visit(f"{address}book/raise-one.html").widget("RaiseOne")
    widget.locator('[data-pace="all"]').click()
    widget.locator('[data-role="train"]').click()
    learned = "(widget) => Number(widget.dataset.seen) >= 2000 && Number(widget.dataset.right) > 75"
    widget.page.wait_for_function(learned, arg=widget.element_handle(), timeout=60_000)


@pytest.fixture
def address(addresses: dict[str, str]) -> str:
    """Where the book is served."""
    return addresses["http"]
