"""The slides from the disk: their widgets are alive, fit the window, and leave the keys alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tools import teaching

WIDTH, HEIGHT = 1280, 720
SHOWN = "section.present:not(:has(section.present)) iframe"


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The slides, made into a folder of their own."""
    folder = tmp_path_factory.mktemp("teaching")
    before = teaching.TEACHING
    teaching.TEACHING = folder
    try:
        teaching.slides()
    finally:
        teaching.TEACHING = before
    return folder / "slides.html"


@pytest.fixture
def page(chromium: Browser, slides: Path) -> Iterator[Page]:
    """The slides in a window; nothing may be asked of a server."""
    page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    remote = []
    page.on("request", lambda request: remote.append(request.url))
    page.goto(slides.as_uri())
    page.locator(".reveal.ready").wait_for(timeout=60_000)
    yield page
    assert [url for url in remote if url.startswith("http")] == []
    page.close()


def test_a_widget_lives_on_its_slide_and_the_arrows_move_on(page: Page) -> None:
    for _ in range(5):
        if page.locator(SHOWN).count():
            break
        page.keyboard.press("ArrowRight")
    frame = page.frame_locator(SHOWN)
    frame.locator('figure[data-live="true"]').wait_for(timeout=60_000)
    page.wait_for_timeout(1000)  # the slide comes in from the side
    box = page.locator(SHOWN).bounding_box()
    assert box
    assert box["x"] >= 0 and box["x"] + box["width"] <= WIDTH
    assert box["y"] >= 0 and box["y"] + box["height"] <= HEIGHT

    place = page.url
    frame.locator("input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.url == place, "the arrow is the slider's"
    page.keyboard.press("Escape")
    page.wait_for_function("document.activeElement === document.body")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"location.href !== {place!r}")
