"""No widget's answer to a key forces a layout: it reads nothing of the page's places after it has written."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator

from tests.browser.conftest import Visit, settled

from .conftest import CHAPTERS

HANDS = ('input[type="range"]:enabled', '[role="slider"][tabindex="0"]', '[role="radio"][tabindex="0"]')
TIMELINE = ["-*", "devtools.timeline", "disabled-by-default-devtools.timeline.stack"]


@pytest.mark.parametrize("chapter", [path.stem for path in CHAPTERS])
def test_no_key_forces_a_layout(visit: Callable[..., Visit], pages: str, chromium: Browser, chapter: str) -> None:
    forced = []
    seen = visit(f"{pages}chapters/{chapter}.html", reduced_motion="reduce")  # nothing else is under way
    for figure in seen.all_alive():
        figure.evaluate("figure => figure.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        for hands in HANDS:
            hand = figure.locator(f"{hands} >> visible=true").first
            if hand.count():
                hand.press("ArrowRight")  # with the first key the ring of the focus comes, which is the browser's own
                forced += [(figure.get_attribute("data-widget"), hands, *stack) for stack in layouts(chromium, hand)]
    assert not forced, "what a widget did while Chromium had to lay the page out, from the inside out"


def layouts(chromium: Browser, hand: Locator) -> list[list[str]]:
    """Where a widget's module forced a layout while it answered a key: functions and lines, the innermost first."""
    settled(hand)
    chromium.start_tracing(page=hand.page, categories=TIMELINE)
    hand.page.keyboard.press("ArrowRight")
    settled(hand)
    events = json.loads(chromium.stop_tracing())["traceEvents"]
    begun = [event["args"].get("beginData", {}) for event in events if event["name"] == "Layout"]
    stacks = [data["stackTrace"] for data in begun if "stackTrace" in data]  # those that a script asked for
    return [
        [f"{call['functionName']}:{call['lineNumber']}" for call in stack]
        for stack in stacks
        if any(call["url"].startswith("blob:") for call in stack)  # a widget's module
    ]
