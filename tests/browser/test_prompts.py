"""Prompts in the text: pressed by mouse and by key, they set the state of a widget, awake or not."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from .conftest import Visit

pytestmark = pytest.mark.slow

VALUES = '{"index": 7, "offsets.2": 0.25}'


@pytest.fixture
def page(visit: Callable[..., Visit], address: str) -> Page:
    """A chapter with a prompt far below its first widget."""
    seen = visit("about:blank").page

    def with_prompt(route: Route) -> None:
        response = route.fetch()
        text = response.text()
        model = text.split('data-model="')[1].split('"')[0]
        link = f'<a class="live-prompt" href="#{model}" data-values="{escape(VALUES)}">another digit</a>'
        prompt = f'<p style="margin-top: 3000px">Try {link}.</p>'
        route.fulfill(response=response, body=text.replace("</article>", f"{prompt}</article>", 1))

    seen.route("**/01-try-it.html", with_prompt)
    seen.goto(address + "book/chapters/01-try-it.html")
    return seen


@pytest.mark.parametrize("press", [Locator.click, lambda button: button.press("Enter")], ids=["mouse", "key"])
def test_a_prompt_sets_the_widgets_state_and_brings_it_into_view(page: Page, press: Callable[[Locator], None]) -> None:
    press(page.get_by_role("button", name="another digit"))
    sliders = page.locator('[data-widget="PoseSliders"] .capsnet')
    expect(sliders).to_have_attribute("data-index", "7")
    values = sliders.locator("input[type=range]").evaluate_all(
        "all => Object.fromEntries(all.map((input) => [input.dataset.dimension, input.valueAsNumber]))"
    )
    assert {d: value for d, value in values.items() if value} == {"2": 0.25}
    expect(sliders).to_be_in_viewport()
