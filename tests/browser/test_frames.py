"""How much work the browser has with what a widget changes: counted, since times vary.

`python -m tools.frames` measures frames and answers a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from .conftest import Visit, settled
from .test_pages import PHONE

pytestmark = pytest.mark.slow

ADDED = 5
ADD_NODES = f"""(root) => {{
    for (let n = 0; n < {ADDED}; n++) {{
        root.append(document.createElement("span"));
        getComputedStyle(root).color; // the browser looks for styles now
    }}
}}"""
FEW = 50  # elements; a page has several hundred


def styled_elements(page: Page, work: Callable[[], object]) -> int:
    """Return how many elements, in all, the browser styles anew while `work` runs."""
    browser = page.context.browser
    assert browser, "the context is of a browser that was launched"
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    work()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    return sum(
        event["args"].get("elementCount", 0)
        for event in events
        if event["name"] == "UpdateLayoutTree"
    )


@pytest.mark.parametrize("page", ["index", "raise-one", "chapters/17-new-viewpoints"])
def test_few_elements_are_styled_anew_for_a_node_that_a_widget_adds(
    visit: Callable[..., Visit], address: str, page: str
) -> None:
    """`:has()` before a universal selector would have the browser style the whole page."""
    seen = visit(f"{address}book/{page}.html", viewport=PHONE, reduced_motion="reduce")
    seen.all_alive()
    root = settled(seen.page.locator(".capsnet").first)
    count = styled_elements(seen.page, lambda: root.evaluate(ADD_NODES))
    assert 0 < count <= ADDED * FEW
