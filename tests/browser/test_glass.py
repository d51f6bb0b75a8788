"""The stage, alive with the reader's digit and taken apart; closed it is the strip of a chapter."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from _ext.widgets.strip import NETWORK
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from .conftest import NO_STORAGE, Visit, attribute, picture, settled, until, write_a_one
from .test_pages import OVERFLOW, PAGES, PHONE

pytestmark = pytest.mark.slow

CHAPTERS = [page for page in PAGES if "/chapters/" in page]
TRY_IT, IDEA, PRIMARY, ROUTING, VOTES, TRIAL = (
    next(page for page in CHAPTERS if page.endswith(f"{name}.html"))
    for name in (
        "try-it",
        "why-capsules",
        "primary-capsules",
        "-routing",
        "who-votes-who-decides",
        "does-routing-matter",
    )
)
WITH_A_STAGE = {IDEA, VOTES, TRIAL}


def strip_of(page: Page) -> Locator:
    """Return the page's strip, alive."""
    strip = page.locator(".network-strip[data-live]")
    strip.wait_for()
    return strip


def stage_of(page: Page) -> Locator:
    """Return the page's stage, alive."""
    page.locator("figure.glass[data-live]").wait_for()
    return page.locator('[data-widget="Glass"].capsnet')


def hand(stage: Locator, part: str) -> Locator:
    """Return the area of a part that takes the pointer and the keys."""
    return stage.locator(f'.probe[data-part="{part}"]')


@pytest.fixture
def front(visit: Callable[..., Visit], address: str) -> Locator:
    return stage_of(visit(address + "book/index.html", reduced_motion="reduce").page)


@pytest.fixture
def votes(visit: Callable[..., Visit], address: str) -> Locator:
    """The strip of a chapter that has a stage as well."""
    return strip_of(visit(address + VOTES).page)


@pytest.fixture
def routing(visit: Callable[..., Visit], address: str) -> Locator:
    return strip_of(visit(address + ROUTING).page)


@pytest.mark.parametrize("place", ["http", "file"])
def test_the_chosen_digit_travels(
    visit: Callable[..., Visit], addresses: dict[str, str], place: str
) -> None:
    page = visit(addresses[place] + PRIMARY).page
    strip = strip_of(page)
    assert attribute(strip, "prediction") == "7"
    lit = strip.locator("summary .lit").evaluate_all(
        "parts => parts.map((part) => part.dataset.part)"
    )
    assert lit == NETWORK["chapters"]["primary-capsules"]
    strip.locator("summary").click()
    strip.get_by_role("button", name="A handwritten 3").click()
    expect(strip).to_have_attribute("data-prediction", "3")
    expect(strip.locator(".sentence")).to_contain_text("reads a 3")
    strip.get_by_role("link", name="Routing by agreement").click()
    page.wait_for_url(f"**/{ROUTING}")
    assert attribute(strip_of(page), "prediction") == "3"


def test_a_digit_from_a_pad_travels_and_an_empty_pad_does_not(
    visit: Callable[..., Visit], address: str
) -> None:
    seen = visit(address + TRY_IT)
    pad, strip = seen.widget("BendCapsule"), strip_of(seen.page)
    click = "(sample, strip) => { sample.click(); return strip.dataset.prediction; }"
    at_once = pad.locator('[data-role="digit"]').nth(4).evaluate(click, strip.element_handle())
    assert at_once == "7", "a drawing waits for the strip"
    expect(strip).to_have_attribute("data-prediction", "4")
    pad.locator('[data-role="clear"]').click()
    assert attribute(strip, "prediction") == "4"
    seen.page.goto(address + PRIMARY)
    assert attribute(strip_of(seen.page), "prediction") == "4"


@pytest.mark.parametrize("part", ["maps", "primary", "predictions", "classes"])
def test_a_part_that_is_pointed_at_says_what_it_does(front: Locator, part: str) -> None:
    signs = front.locator(".signs")
    lens = front.locator(".lens")
    words = front.locator(".words")
    signs_before = settled(signs).inner_html()
    lens_before = picture(lens)
    words_before = words.inner_text()
    hand(front, part).hover(position={"x": 30, "y": 60})
    until(lambda: settled(signs).inner_html() != signs_before)
    until(lambda: picture(lens) != lens_before)
    until(lambda: words.inner_text() != words_before)
    front.page.mouse.move(2, 2)
    until(
        lambda: settled(signs).inner_html() == signs_before,
        "what is looked at stays in the lens alone",
    )
    assert picture(lens) != lens_before


def test_it_is_taken_apart_and_put_together(front: Locator) -> None:
    score = front.locator('[data-role="score"]')
    whole = score.inner_text()
    front.get_by_role("button", name="Take apart").click()
    hand(front, "primary").click(position={"x": 10, "y": 10})
    expect(score).to_contain_text("1 of 72 capsules out: still a 7")
    hand(front, "classes").click(position={"x": 20, "y": 255})
    expect(score).to_contain_text("1 of 72 capsules out, the 7 held down: now a")
    box, mouse = hand(front, "predictions").bounding_box(), front.page.mouse
    mouse.move(box["x"] + 20, box["y"] + 1)
    mouse.down()
    mouse.move(box["x"] + 20, box["y"] + 60, steps=6)
    mouse.up()
    expect(score).to_contain_text(
        re.compile(r"[1-9]\d* of 72 capsules out, \d+ votes cut, the 7 held down: ")
    )
    front.get_by_role("button", name="One round of routing fewer").click()
    expect(score).to_contain_text("2 voting rounds")
    front.get_by_role("button", name="Put it together").click()
    expect(score).to_have_text(whole)
    expect(front.locator('[data-role="announcement"]')).to_have_text(whole)


def test_keys_walk_a_part_and_take_it_out(front: Locator) -> None:
    capsules = hand(front, "primary")
    capsules.focus()
    capsules.press("ArrowLeft")
    expect(capsules).to_have_attribute("aria-label", re.compile("Capsule 70 sees"))
    capsules.press("Enter")
    expect(front.locator('[data-role="score"]')).to_contain_text("1 of 72 capsules out: ")
    expect(capsules).to_have_attribute("aria-label", re.compile("Capsule 70 is out"))
    capsules.press("Enter")
    expect(front.locator('[data-role="score"]')).to_contain_text("It reads a 7")


def test_a_fader_draws_anew_and_a_new_digit_sets_it_back(front: Locator) -> None:
    faders, canvas = hand(front, "faders"), front.locator('.picture[data-part="reconstruction"]')
    before = picture(canvas)
    faders.focus()
    for _ in range(4):
        faders.press("ArrowUp")
    until(lambda: picture(canvas) != before)
    label = faders.get_attribute("aria-label")
    faders.press("ArrowUp")
    expect(faders).to_have_attribute("aria-label", re.compile("Number 1 of the 7’s sixteen"))
    assert faders.get_attribute("aria-label") != label, "the number that it has now"
    score = front.locator('[data-role="score"]')
    expect(score).to_have_text(
        re.compile(r"You pushed number 1 by \+\d\.\d\d\. Shown its own drawing, it reads an? \d\.")
    )
    front.get_by_role("button", name="A handwritten 7").click()
    until(lambda: picture(canvas) == before)


def test_a_digit_is_drawn_on_the_stage_and_an_empty_page_is_read(front: Locator) -> None:
    write_a_one(front)
    expect(front).to_have_attribute("data-prediction", "1")
    front.locator('[data-role="clear"]').click()
    expect(front.locator('[data-role="score"]')).to_contain_text(
        "The page is empty, and the network reads"
    )


WATCH = """() => {
    // For each painting: whether it is in a frame, before the page is laid out, or after one.
    globalThis.painted = { pad: [], parts: [] };
    let inFrame = false;

    const request = requestAnimationFrame;
    globalThis.requestAnimationFrame = (work) => request((time) => {
        inFrame = true;
        work(time);
        inFrame = false;
    });

    const brush = CanvasRenderingContext2D.prototype;
    const { stroke, clearRect } = brush;
    brush.stroke = function (...points) {
        if (this.canvas.className === "pad") painted.pad.push(inFrame);
        return stroke.apply(this, points);
    };
    brush.clearRect = function (...box) {
        if (this.canvas.dataset.part) painted.parts.push(inFrame);
        return clearRect.apply(this, box);
    };
}"""


def test_the_pad_follows_the_hand_and_the_network_comes_after(front: Locator) -> None:
    page, mouse, pad = front.page, front.page.mouse, front.locator('[data-role="pad"]')
    front.locator('[data-role="clear"]').click()
    page.evaluate(WATCH)
    box = pad.bounding_box()
    mouse.move(box["x"] + 40, box["y"] + 30)
    mouse.down()
    for x, y in ((90, 120), (50, 70)):
        mouse.move(box["x"] + x, box["y"] + y, steps=10)
    until(lambda: page.evaluate("painted.parts.length > 6"), "before the hand rests")
    expect(front.locator('[data-role="score"]')).not_to_contain_text(
        "empty"
    )  # while the pen is down
    mouse.up()
    painted = page.evaluate("painted")
    assert len(painted["pad"]) > 1
    assert all(painted["pad"])
    assert not any(painted["parts"])
    drawn = picture(pad)
    page.emulate_media(color_scheme="dark")
    until(lambda: picture(pad) != drawn)
    page.emulate_media(color_scheme="light")
    until(lambda: picture(pad) == drawn, "what was drawn bit by bit is what is painted whole")


def test_the_one_stage_stands_in_the_opened_strip_and_goes_back(votes: Locator) -> None:
    figure = votes.page.locator("figure.glass")
    height = figure.bounding_box()["height"]
    votes.locator("summary").click()
    expect(votes.locator(".capsnet")).to_be_visible()
    assert figure.bounding_box()["height"] == pytest.approx(height, abs=1)
    votes.locator("summary").click()
    expect(figure.locator(".capsnet")).to_be_visible()


def test_without_a_stage_in_the_page_it_stands_in_the_opened_strip_alone(routing: Locator) -> None:
    stage = routing.page.locator('[data-widget="Glass"].capsnet')
    expect(stage).to_have_count(1)
    expect(stage).not_to_be_in_viewport()
    routing.locator("summary").click()
    expect(stage).to_be_in_viewport()
    expect(routing.locator(".lens")).to_be_visible()
    routing.locator("summary").click()
    expect(stage).not_to_be_in_viewport()


def test_the_strip_says_where_a_chapters_network_is_another(
    visit: Callable[..., Visit], address: str
) -> None:
    pairs = next(page for page in CHAPTERS if page.endswith("two-digits-at-once.html"))
    strip = visit(address + pairs).page.locator(".network-strip")
    strip.locator("summary").click()
    expect(strip.locator(".other")).to_be_visible()


def test_it_says_yours_on_the_readers_own_network(front: Locator, book: Path) -> None:
    front.page.evaluate(
        """async () => {
            const names = performance.getEntriesByType("resource").map(({ name }) => name);
            const weights = names.find((name) => name.endsWith(".safetensors"));
            const bytes = await (await fetch(weights)).arrayBuffer();
            capsnetOwn.change({ bytes: new Uint8Array(bytes), asked: true });
        }"""
    )
    yours = front.get_by_role("button", name="Yours.")
    yours.click()
    expect(front.get_by_role("button", name="Take your own network")).to_be_visible()


def test_below_the_stage_capsules_that_turn_read_its_digit_upside_down(front: Locator) -> None:
    page = front.page
    turned = page.locator(".turned-place .capsnet[data-ready]")
    turned.wait_for()
    front.locator('[data-role="digit"] >> nth=4').click()
    expect(turned).to_have_attribute("data-prediction", "4")
    place = page.locator(".turned-place")
    height = place.evaluate("(node) => parseFloat(getComputedStyle(node).minHeight)")
    slider = turned.locator('[data-role="angle"]')
    slider.press("Home")  # upside down
    sentence = turned.locator('[data-role="sentence"]')
    expect(sentence).to_contain_text("The capsules that turn read a 4, turned by 1")
    expect(sentence).not_to_contain_text("The network above reads a 4")
    assert place.bounding_box()["height"] == height  # what comes into the place moves nothing
    rules = {"preload": False, "resultTypes": ["violations"]}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        assert Axe().run(page, {"include": [[".turned-place"]]}, rules).response["violations"] == []


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, PHONE], ids=["wide", "phone"])
def test_nothing_moves_when_it_wakes(
    visit: Callable[..., Visit], address: str, viewport: dict[str, int]
) -> None:
    options = {"viewport": viewport, "tolerate": True}
    page = visit("about:blank", **options).page
    page.route("**/glass.js*", lambda route: route.abort())
    page.goto(address + IDEA)
    asleep = page.locator("figure.glass").bounding_box()
    page = visit(address + IDEA, **options).page
    stage_of(page)
    assert page.locator("figure.glass").bounding_box() == pytest.approx(asleep, abs=1)


def test_keys_open_and_close_it_and_so_does_a_press_outside(routing: Locator) -> None:
    summary, whole = routing.locator("summary"), routing.locator(".whole")
    summary.focus()
    summary.press("Enter")
    expect(whole).to_be_visible()
    routing.page.keyboard.press("Tab")
    routing.page.keyboard.press("Escape")
    expect(whole).to_be_hidden()
    expect(summary).to_be_focused()
    summary.click()
    expect(whole).to_be_visible()
    routing.page.set_viewport_size({"width": 1280, "height": 1600})
    routing.page.mouse.click(20, 1580)
    expect(whole).to_be_hidden()


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_chapter_has_a_strip_whose_links_lead_somewhere_and_three_have_a_stage(
    book: Path, page: str
) -> None:
    text = (book / page).read_text(encoding="utf-8")
    assert text.count('<figure class="glass') == int(page in WITH_A_STAGE)
    assert 'data-widget="Glass" data-model' not in text  # the stage stands in the widget's place
    strip = text[text.index('<nav class="network-strip') :].partition("</nav>")[0]
    links = [part.split('"')[0] for part in strip.split('<a href="')[1:]]
    assert len(links) >= len(NETWORK["strip"])
    for link in links:
        target = urlsplit(urljoin(f"/{page}", "" if link == "#" else link))
        text = (book / target.path.lstrip("/")).read_text(encoding="utf-8")
        assert not target.fragment or f'id="{target.fragment}"' in text, link


def test_it_works_where_nothing_may_be_stored(visit: Callable[..., Visit], address: str) -> None:
    seen = visit("about:blank", tolerate=True)  # the theme's own script does complain
    seen.page.add_init_script(NO_STORAGE)
    seen.page.goto(address + ROUTING)
    strip = strip_of(seen.page)
    strip.locator("summary").click()
    strip.get_by_role("button", name="A handwritten 1").click()
    expect(strip).to_have_attribute("data-prediction", "1")


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, PHONE], ids=["wide", "phone"])
def test_no_heading_that_a_link_leads_to_is_covered(
    visit: Callable[..., Visit], address: str, viewport: dict[str, int]
) -> None:
    page = visit(address + ROUTING, viewport=viewport).page
    strip = strip_of(page)
    for heading in page.locator("article h2").all()[:3]:
        section = heading.evaluate("heading => heading.closest('section').id")
        page.evaluate("id => { location.hash = id }", section)
        page.wait_for_function(
            "id => document.getElementById(id).getBoundingClientRect().top < 200", arg=section
        )
        bar, top = strip.locator("summary").bounding_box(), heading.bounding_box()["y"]
        assert bar["y"] == 0, "it stays while one reads"
        assert top >= bar["height"], section


def test_on_a_phone_all_fits_and_can_be_hit(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + PRIMARY, viewport=PHONE, has_touch=True).page
    strip = strip_of(page)
    strip.locator("summary").tap()
    assert page.evaluate(OVERFLOW) <= 0
    for target in strip.locator("summary:visible, a:visible, button:visible").all():
        box = target.bounding_box()
        assert box["height"] >= 44, target.inner_text()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    for part in strip.locator("summary .picture").all():
        assert part.bounding_box()["width"] > 30


ANSWER = """(stage) => {
    const signs = stage.querySelector(".signs");
    const [rail, length] = [".rail", ".length"].map((part) =>
        signs.querySelector(part).getBoundingClientRect());
    const words = signs.querySelector('.part-name[text-anchor="end"]').textContent;
    return [length.width / rail.width, words, rail.y];
}"""
"""How much of its rail the answer's bar fills, its length in words, and where the rail lies, of one
moment: the signs are made anew with each answer."""


def test_on_a_phone_the_answer_stands_above_the_pad_while_one_draws(
    visit: Callable[..., Visit], address: str
) -> None:
    options = {"viewport": PHONE, "has_touch": True, "reduced_motion": "reduce"}
    stage = stage_of(visit(address + "book/index.html", **options).page)
    mouse, reading = stage.page.mouse, stage.locator(".reading")
    stage.locator('[data-role="digit"]').nth(3).click()
    expect(reading).to_have_text("reads 3")
    pad = stage.locator('[data-role="pad"]')
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    middle = box["x"] + box["width"] / 2
    mouse.move(middle, box["y"] + 20)
    mouse.down()
    mouse.move(middle, box["y"] + box["height"] - 20, steps=20)
    expect(reading).to_have_text("reads 1")  # before the hand rests
    share, answer, top = stage.evaluate(ANSWER)
    assert share == pytest.approx(float(answer), abs=0.01)
    assert box["y"] - 40 < top < box["y"]
    mouse.up()


def test_axe_finds_nothing_in_both_themes(visit: Callable[..., Visit], address: str) -> None:
    seen = visit(address + VOTES, color_scheme="light", reduced_motion="reduce").page
    places = {"include": [[".network-strip"], ["figure.glass"]]}
    rules = {"preload": False, "resultTypes": ["violations"]}
    strip_of(seen).locator("summary").click()
    for scheme in ("light", "dark"):
        seen.emulate_media(color_scheme=scheme)
        expect(seen.locator("html")).to_have_attribute("data-theme", scheme)
        assert Axe().run(seen, places, rules).response["violations"] == []


def test_without_javascript_it_opens_and_leads_on(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + IDEA, java_script_enabled=False).page
    page.locator(".network-strip summary").click()
    expect(page.locator("figure.glass .live-still:visible")).to_have_count(1)
    expect(page.locator(".network-strip .whole .name:visible")).to_have_count(len(NETWORK["strip"]))
    page.locator(".network-strip .whole").get_by_role("link", name="Squash").click()
    page.wait_for_url("**/*squash.html")
