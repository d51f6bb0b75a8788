"""What pages store in the browser: a store that does not answer, and what others have written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .conftest import Visit, wake

pytestmark = pytest.mark.slow

PAGE = "book/chapters/04-squash.html"
TRAINING = "book/chapters/09-training.html"
LAST = "book/chapters/21-where-next.html"
BEND_CAPSULE = 'figure.live-widget[data-widget="BendCapsule"]'

MUTE_STORE = "IDBFactory.prototype.open = () => ({});"
"""A request whose events never fire, as some browsers had it at the first load."""


def test_a_widget_wakes_although_the_store_does_not_answer(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit("about:blank").page
    page.add_init_script(MUTE_STORE)
    page.goto(address + TRAINING)
    wake(page.locator(BEND_CAPSULE))
    lasts = page.evaluate("capsnetOwn.change({ asked: false })")
    assert lasts is False, "what was not stored is not said to last"


LISTENERS = """
    globalThis.listeners = new Set();  // of the page's widgets, to their models and the document
    for (const [name, change] of [["addEventListener", "add"], ["removeEventListener", "delete"]]) {
        const method = EventTarget.prototype[name];
        EventTarget.prototype[name] = function (type, listener, ...options) {
            const isOurs = this === document || this.constructor.name === "Model";
            if (isOurs) listeners[change](listener);
            return method.call(this, type, listener, ...options);
        };
    }
"""


def test_two_renders_of_one_figure_leave_one_widget(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit("about:blank").page
    page.add_init_script(LISTENERS)
    page.goto(address + TRAINING)
    figure = page.locator(BEND_CAPSULE)
    wake(figure)
    page.wait_for_timeout(500)
    before = page.evaluate("listeners.size")
    page.evaluate(
        "Promise.all([capsnetOwn.change({ asked: true }), capsnetOwn.change({ asked: false })])"
    )
    page.wait_for_timeout(4000)  # one out of the page waits sixty frames
    expect(figure.locator(".live-view > *")).to_have_count(1)
    assert page.evaluate("listeners.size") == before, "the widget that was replaced listens no more"


@pytest.mark.parametrize("name", ["#%", "#100%", "#%E0%A4%A"])
def test_an_address_with_a_lone_per_cent_sign_is_no_error(
    visit: Callable[..., Visit], address: str, name: str
) -> None:
    page = visit(address + PAGE + name).page
    expect(page.get_by_role("button", name="Read")).to_have_attribute("aria-pressed", "true")


def test_a_way_of_reading_that_another_project_stored_is_not_taken(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + PAGE).page
    page.evaluate("localStorage.setItem('way', 'zzz')")
    page.reload()
    expect(page.get_by_role("button", name="Read")).to_have_attribute("aria-pressed", "true")
    page.evaluate("localStorage.setItem('way', 'build')")  # of an earlier version of the book
    page.reload()
    expect(page.get_by_role("button", name="Build")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Read").click()
    page.reload()
    expect(page.get_by_role("button", name="Read")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("key", ["guesses", "capsnet:guesses"])
@pytest.mark.parametrize(
    "entry",
    ['{"said": [1e308, "x", null], "how": 2}', '{"said": [0, 1], "how": 1}', "null", '"x"', "3"],
)
def test_guesses_that_are_none_are_left_alone(
    visit: Callable[..., Visit], address: str, key: str, entry: str
) -> None:
    page = visit(address + PAGE).page
    page.evaluate(
        """([key, entry]) => {
            const names = [...document.querySelectorAll(".guess")].map((node) => node.dataset.key);
            const entries = names.map((name) => `"${name}": ${entry}`);
            localStorage.setItem(key, `{${entries.join()}}`);
        }""",
        [key, entry],
    )
    page.reload()
    expect(page.locator(".guessed").locator("visible=true")).to_have_count(0)


def test_guesses_of_an_earlier_version_still_count(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + LAST).page
    page.evaluate("""localStorage.setItem("guesses", '{"a": {"said": 1, "how": 0}}')""")
    page.reload()
    expect(page.locator(".guess-tally")).to_contain_text("you made 1: 1 right")
