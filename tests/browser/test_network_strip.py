"""The strip above each chapter: alive with the reader's digit, from page to page; the way through the book."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from network_strip import NETWORK
from playwright.sync_api import Locator, Page, expect

from .conftest import Visit, attribute, picture
from .test_pages import OVERFLOW, PAGES, PHONE

pytestmark = pytest.mark.slow

CHAPTERS = [page for page in PAGES if "/chapters/" in page]
TRY_IT, PRIMARY, ROUTING, TRAINING = (
    next(page for page in CHAPTERS if page.endswith(f"{name}.html"))
    for name in ("try-it", "primary-capsules", "-routing", "-training")
)


def strip_of(page: Page) -> Locator:
    """The page's strip, alive."""
    strip = page.locator(".network-strip[data-live]")
    strip.wait_for()
    return strip


@pytest.fixture
def routing(visit: Callable[..., Visit], address: str) -> Locator:
    return strip_of(visit(address + ROUTING).page)


def test_a_chapter_lights_its_parts(routing: Locator) -> None:
    lit = routing.locator("summary .lit").evaluate_all("parts => parts.map((part) => part.dataset.part)")
    assert lit == NETWORK["chapters"]["routing"]
    assert routing.locator("summary [data-part]").count() == len(NETWORK["strip"])


@pytest.mark.parametrize("place", ["http", "file"])
def test_the_chosen_digit_travels(visit: Callable[..., Visit], addresses: dict[str, str], place: str) -> None:
    page = visit(addresses[place] + PRIMARY).page
    strip = strip_of(page)
    assert attribute(strip, "prediction") == "7"
    strip.locator("summary").click()
    strip.get_by_role("button", name="A handwritten 3").click()
    assert attribute(strip, "prediction") == "3"
    expect(strip.locator(".sentence")).to_contain_text("reads a 3")
    strip.get_by_role("link", name="Routing by agreement").click()
    page.wait_for_url(f"**/{ROUTING}")
    assert attribute(strip_of(page), "prediction") == "3"


def test_a_digit_from_a_pad_travels_and_an_empty_pad_does_not(visit: Callable[..., Visit], address: str) -> None:
    seen = visit(address + TRY_IT)
    pad, strip = seen.widget("DrawDigit"), strip_of(seen.page)
    click = "(sample, strip) => { sample.click(); return strip.dataset.prediction; }"
    at_once = pad.locator('[data-role="digit"]').nth(4).evaluate(click, strip.element_handle())
    assert at_once == "7", "a drawing waits for the strip"
    expect(strip).to_have_attribute("data-prediction", "4")
    pad.locator('[data-role="clear"]').click()
    assert attribute(strip, "prediction") == "4"
    seen.page.goto(address + PRIMARY)
    assert attribute(strip_of(seen.page), "prediction") == "4"


def test_a_capsule_that_is_pointed_at_keeps_its_votes_alone(routing: Locator) -> None:
    routing.locator("summary").click()
    votes = routing.locator('.whole [data-part="predictions"] canvas')
    classes, sentence = routing.locator('.whole [data-part="classes"] .picture'), routing.locator(".sentence")
    all_votes = picture(votes)
    classes.hover(position={"x": 20, "y": 5})
    expect(sentence).to_contain_text("Capsule 0:")
    assert picture(votes) != all_votes
    routing.locator('.whole [data-part="primary"] .picture').hover(position={"x": 5, "y": 299})
    expect(sentence).to_contain_text("Capsule 71 below")
    routing.page.mouse.move(5, 500)
    assert picture(votes) == all_votes
    classes.focus()
    classes.press("ArrowDown")
    expect(sentence).to_contain_text("Capsule 1:")


def test_keys_open_and_close_it(routing: Locator) -> None:
    summary, whole = routing.locator("summary"), routing.locator(".whole")
    summary.focus()
    summary.press("Enter")
    expect(whole).to_be_visible()
    routing.page.keyboard.press("Tab")
    routing.page.keyboard.press("Escape")
    expect(whole).to_be_hidden()
    expect(summary).to_be_focused()


def test_a_press_outside_closes_it(routing: Locator) -> None:
    routing.locator("summary").click()
    expect(routing.locator(".whole")).to_be_visible()
    routing.page.mouse.click(20, 780)
    expect(routing.locator(".whole")).to_be_hidden()


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_chapter_has_a_strip_whose_links_lead_somewhere(book: Path, page: str) -> None:
    text = (book / page).read_text(encoding="utf-8")
    strip = text[text.index('<nav class="network-strip') : text.index('<div class="bd-content">')]
    links = [part.split('"')[0] for part in strip.split('<a href="')[1:]]
    assert len(links) >= len(NETWORK["strip"])
    for link in links:
        target = urlsplit(urljoin(f"/{page}", "" if link == "#" else link))
        text = (book / target.path.lstrip("/")).read_text(encoding="utf-8")
        assert not target.fragment or f'id="{target.fragment}"' in text, link


def test_it_works_where_nothing_may_be_stored(visit: Callable[..., Visit], address: str) -> None:
    seen = visit("about:blank", tolerate=True)  # the theme's own script does complain
    refuse = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })"
    seen.page.route("**/network-strip.js", lambda route: prefixed(route, refuse))
    seen.page.goto(address + ROUTING)
    strip = strip_of(seen.page)
    strip.locator("summary").click()
    strip.get_by_role("button", name="A handwritten 1").click()
    assert attribute(strip, "prediction") == "1"


def prefixed(route: object, script: str) -> None:
    response = route.fetch()
    route.fulfill(response=response, body=f"{script};\n{response.text()}")


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, PHONE], ids=["wide", "phone"])
def test_no_heading_that_a_link_leads_to_is_covered(
    visit: Callable[..., Visit], address: str, viewport: dict[str, int]
) -> None:
    page = visit(address + ROUTING, viewport=viewport).page
    strip = strip_of(page)
    for heading in page.locator("article h2").all()[:3]:
        section = heading.evaluate("heading => heading.closest('section').id")
        page.evaluate("id => { location.hash = id }", section)
        page.wait_for_function("id => document.getElementById(id).getBoundingClientRect().top < 200", arg=section)
        bar, top = strip.locator("summary").bounding_box(), heading.bounding_box()["y"]
        assert bar["y"] == 0, "it stays while one reads"
        assert top >= bar["height"], section


def test_on_a_phone_all_fits_and_can_be_hit(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + PRIMARY, viewport=PHONE, has_touch=True).page
    strip = strip_of(page)
    strip.locator("summary").tap()
    assert page.evaluate(OVERFLOW) <= 0
    for target in strip.locator("summary, a, button").all():
        box = target.bounding_box()
        assert box["height"] >= 44, target.inner_text()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    for part in strip.locator("summary .picture").all():
        assert part.bounding_box()["width"] > 30


@pytest.mark.parametrize("page", [ROUTING])
def test_axe_finds_nothing_in_both_themes(visit: Callable[..., Visit], address: str, page: str) -> None:
    seen = visit(address + page, color_scheme="light", reduced_motion="reduce").page
    strip_of(seen).locator("summary").click()
    for scheme in ("light", "dark"):
        seen.emulate_media(color_scheme=scheme)
        expect(seen.locator("html")).to_have_attribute("data-theme", scheme)
        response = (
            Axe()
            .run(seen, {"include": [[".network-strip"]]}, {"preload": False, "resultTypes": ["violations"]})
            .response
        )
        assert response["violations"] == []


def test_less_motion_is_no_motion(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + TRAINING, reduced_motion="reduce").page
    strip = strip_of(page)
    strip.locator("summary").click()
    strip.get_by_role("button", name="A handwritten 5").click()
    assert page.evaluate("document.querySelector('.network-strip').getAnimations({ subtree: true }).length") == 0


def test_without_javascript_it_opens_and_leads_on(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + PRIMARY, java_script_enabled=False).page
    page.locator(".network-strip summary").click()
    expect(page.locator(".network-strip .whole .name:visible")).to_have_count(len(NETWORK["strip"]))
    page.locator(".network-strip .whole").get_by_role("link", name="Squash").click()
    page.wait_for_url("**/*squash.html")


def test_the_picture_that_heads_a_notebook_is_left_out_under_the_strip(book: Path) -> None:
    assert "The whole network, with its first parts lit" not in (book / PRIMARY).read_text(encoding="utf-8")
