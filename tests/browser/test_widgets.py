"""Every widget in the built page: alive, by mouse, by keys, by finger, told from outside; and what some do besides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from .conftest import attribute, number, picture, until, write_a_one

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
CHAPTER = "book/chapters/{}.html"


@dataclass(frozen=True)
class Hand:
    """What a hand does to a widget, and what of it has to be another one afterwards."""

    page: str
    shows: str  # the attribute data-… of its root, or a canvas by its role
    drag: tuple[
        str, tuple[float, float], tuple[float, float]
    ]  # a part, from and to, in shares of it
    keys: tuple[str, tuple[str, ...]]  # a part that takes the focus, and keys
    press: str  # a button
    set: dict[str, Any] = field(default_factory=dict)  # traits, as a prompt sets them


PAD = '[data-role="pad"]'
HANDS = {
    "PoseSliders": Hand(
        CHAPTER.format("01-try-it"),
        "canvas redrawn",
        (".large input", (0.5, 0.5), (0.9, 0.5)),
        (".large input", ("ArrowRight",) * 20),
        '[data-role="digit"] >> nth=7',
        {"index": 3},
    ),
    "DrawDigit": Hand(
        CHAPTER.format("01-try-it"),
        "lengths",
        (PAD, (0.1, 0.1), (0.9, 0.4)),
        (PAD, (" ", *("ArrowDown",) * 9, " ")),
        '[data-role="digit"] >> nth=7',
        {"digit": 3},
    ),
    "FaceParts": Hand(
        CHAPTER.format("02-why-capsules"),
        "length",
        ('[data-part="2"]', (0.5, 0.5), (3, -3)),
        ('[data-part="3"]', ("ArrowRight",) * 9),
        '[data-role="picasso"]',
        {"shown": [True, True, False, True], "poses": [[0.5, 0.5, 90, 1]] * 4},
    ),
    "SquashVector": Hand(
        CHAPTER.format("04-squash"),
        "s",
        ('[data-role="plane"]', (0.6, 0.4), (0.9, 0.2)),
        ('[data-role="handle"]', ("ArrowLeft", "ArrowUp")),
        "",
        {"s": [3, 0]},
    ),
    "PartVotes": Hand(
        CHAPTER.format("05-prediction-vectors"),
        "apart",
        ('[data-role="triangle"]', (0.5, 0.5), (2, 2)),
        ('[data-role="turn-rectangle"]', ("ArrowLeft",) * 4),
        '[data-role="make-house"]',
        {"poses": [[0, 0, 0], [90, 1, 1]]},
    ),
    "RoutingSteps": Hand(
        CHAPTER.format("06-routing"),
        "step",
        ('[data-role="time"]', (0.02, 0.5), (0.7, 0.5)),
        ('[data-role="time"]', ("End",)),
        '[data-role="next"]',
    ),
    "MarginLoss": Hand(
        CHAPTER.format("07-margin-loss"),
        "total",
        ('.bar-rail[data-class="8"]', (0.5, 0.5), (0.5, 0.1)),
        ('.bar-rail[data-class="3"]', ("ArrowUp",) * 9),
        '[data-role="step-margin"]',
        {"present": [3, 8]},
    ),
    "DecodeCapsule": Hand(
        CHAPTER.format("08-masking-and-decoder"),
        "squared-error",
        ('[data-keep="5"]', (0.5, 0.5), (0.5, 0.5)),
        ('[data-keep="none"]', ("Enter",)),
        '[data-role="digit"] >> nth=7',
        {"keep": "all"},
    ),
    "TwoDigits": Hand(
        CHAPTER.format("16-two-digits-at-once"),
        "lengths",
        ('[data-role="stage"]', (0.5, 0.5), (0.8, 0.3)),
        ('[data-digit="1"]', ("ArrowRight", "ArrowUp")),
        "[data-case] >> nth=1",
        {"first": 3, "at": [0, 0, 4, 4]},
    ),
    "BendDigit": Hand(
        CHAPTER.format("17-new-viewpoints"),
        "canvas bent",
        ('[data-way="turn"]', (0.5, 0.5), (0.7, 0.4)),
        ('[data-way="turn"]', ("ArrowRight",) * 20),
        '[data-role="digit"] >> nth=2',
        {"turn": 45, "right": -3},
    ),
    "TurnDigit": Hand(
        CHAPTER.format("20-capsules-that-turn"),
        "turn",
        ('[data-role="handle"]', (0.5, 0.5), (3, 3)),
        ('[data-role="angle"]', ("ArrowRight",) * 20),
        '[data-role="digit"] >> nth=7',
        {"angle": 137},
    ),
    "TurnScene": Hand(
        CHAPTER.format("17-new-viewpoints"),
        "lengths",
        ('[data-role="angle"]', (0.5, 0.5), (0.8, 0.5)),
        ('[data-role="clutter"]', ("ArrowRight",) * 4),
        "",
        {"angle": 120},
    ),
}


def shown(widget: Locator, what: str) -> str:
    kind, _, role = what.rpartition(" ")
    return (
        picture(widget.locator(f'canvas[data-role="{role}"]')) if kind else attribute(widget, what)
    )


def changes(widget: Locator, what: str, work: Callable[[], object]) -> None:
    """`work` has to change what is shown; a glide may take its time."""
    before = shown(widget, what)
    work()
    until(lambda: shown(widget, what) != before, f"{what} is what it was")


def dragged(part: Locator, start: tuple[float, float], end: tuple[float, float], move: Any) -> None:
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    for k in range(11):
        x, y = (box[side] + (a + (b - a) * k / 10) * box[length] for side, length, a, b in (
            ("x", "width", start[0], end[0]), ("y", "height", start[1], end[1])))  # fmt: skip
        move(k, x, y)


def by_mouse(part: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    mouse = part.page.mouse

    def move(k: int, x: float, y: float) -> None:
        mouse.move(x, y)
        if k == 0:
            mouse.down()

    dragged(part, start, end, move)
    mouse.up()


def by_finger(part: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    session = part.page.context.new_cdp_session(part.page)

    def send(kind: str, *points: dict[str, float]) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    dragged(
        part, start, end, lambda k, x, y: send("touchMove" if k else "touchStart", {"x": x, "y": y})
    )
    send("touchEnd")


@pytest.mark.parametrize("name", HANDS)
def test_by_mouse_by_keys_by_prompt_and_in_another_theme(
    alone: Callable[..., Any], name: str
) -> None:
    hand = HANDS[name]
    widget = alone(name, hand.page, values=hand.set, color_scheme="light", reduced_motion="reduce")
    part, start, end = hand.drag
    changes(widget, hand.shows, lambda: by_mouse(widget.locator(part), start, end))
    focus, keys = hand.keys

    def press() -> None:
        widget.locator(focus).focus()
        for key in keys:
            widget.page.keyboard.press(key)

    changes(widget, hand.shows, press)
    if hand.press:
        if name == "RoutingSteps":
            changes(
                widget, hand.shows, widget.locator('[data-role="back"]').click
            )  # at the last step nothing is next
        changes(widget, hand.shows, widget.locator(hand.press).click)
    if hand.set:
        changes(widget, hand.shows, widget.page.locator(".live-prompt").click)
    words = widget.locator('[data-role="sentence"], [data-role="text"]')
    assert len(words.inner_text()) > 20, "it says what happened"
    before = widget.screenshot()
    widget.page.emulate_media(color_scheme="dark")
    expect(widget.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert attribute(widget, "error") == "" and widget.screenshot() != before


@pytest.mark.parametrize("name", HANDS)
def test_by_finger_on_a_phone_in_the_dark(alone: Callable[..., Any], name: str) -> None:
    hand = HANDS[name]
    widget = alone(name, hand.page, color_scheme="dark", reduced_motion="reduce", **PHONE)
    part, start, end = hand.drag
    changes(widget, hand.shows, lambda: by_finger(widget.locator(part), start, end))
    assert widget.page.evaluate("document.documentElement.scrollWidth") <= 375


# --- what some do besides ---------------------------------------------------------------------------------------------


def test_a_digit_drawn_by_keys_alone_is_read(alone: Callable[..., Any]) -> None:
    pad = alone("DrawDigit", HANDS["DrawDigit"].page)
    write_a_one(pad)
    assert attribute(pad, "prediction") == "1"
    expect(pad.locator('[data-role="sentence"]')).to_contain_text("I see a 1")
    expect(pad.locator(".pad-frame [aria-live]")).to_have_text("Pen up")
    for _ in range(2):  # a key that is held is pressed once
        pad.page.keyboard.down(" ")
    expect(pad.locator(".pad-frame [aria-live]")).to_have_text("Pen down")


def test_strips_say_where_each_network_goes_wrong(alone: Callable[..., Any]) -> None:
    widget = alone("BendDigit", HANDS["BendDigit"].page)
    said = widget.locator('[data-role="sentence"]')
    expect(said).to_contain_text("By turn alone: CapsNet reads it from", timeout=30_000)
    runs = "runs => runs.flatMap(run => Array(Number(run.style.flexGrow)).fill(run.className + run.textContent))"
    answers = widget.locator('[data-role="strip-capsnet"] .run').evaluate_all(runs)
    assert len(answers) == 37 and answers[18] == "run right7"
    slider, strip = (
        widget.locator(part).bounding_box()
        for part in ('[data-way="turn"]', '[data-role="strip-cnn"]')
    )
    half = (
        (slider["width"] - 18) / 36 / 2
    )  # a strip's first place has its middle under the thumb at that end
    assert strip["x"] == pytest.approx(slider["x"] + 9 - half, abs=1)


def test_the_margin_loss_goes_down_to_nothing_and_the_news_is_of_today(
    alone: Callable[..., Any],
) -> None:
    hand = HANDS["MarginLoss"]
    widget = alone("MarginLoss", hand.page, values=hand.set)
    button = widget.locator('[data-role="step-margin"]')
    button.focus()
    for _ in range(60):
        widget.page.keyboard.press("Enter")
    assert number(widget, "total") == pytest.approx(0, abs=1e-3)
    sentence = widget.locator('[data-role="sentence"]')
    expect(sentence).to_contain_text("A step")
    widget.page.locator(".live-prompt").click()
    expect(sentence).to_contain_text("Class 8 is present: the loss is")  # the one that changed


@pytest.fixture
def above_routing(alone: Callable[..., Any]) -> Any:
    """RoutingSteps where motion is welcome, and the page at its top."""
    widget = alone(
        "RoutingSteps", HANDS["RoutingSteps"].page, viewport={"width": 1280, "height": 900}
    )
    expect(widget.locator("[data-pinned]")).to_have_count(1)
    widget.page.evaluate("scrollTo(0, 0)")
    return widget


def test_scrolling_steps_through_routing_and_lets_go(above_routing: Any) -> None:
    widget = above_routing
    page, stage = widget.page, widget.locator(".pinned-stage")
    page.mouse.move(640, 450)
    seen, places = set(), set()
    for _ in range(75):
        page.mouse.wheel(0, 90)
        step = attribute(widget, "step")
        seen.add(step)
        if "0" in seen and 0 < int(step) < 12:
            places.add(round(stage.bounding_box()["y"]))
    assert seen >= {str(step) for step in range(13)}, "every step is met on the way"
    assert len(places) == 1, "the stage stands still while its track scrolls past"
    assert stage.bounding_box()["y"] < 0, "and goes along with the page in the end"


def test_routing_goes_to_a_step_and_past_all(above_routing: Any) -> None:
    widget = above_routing
    widget.locator('[data-role="time"]').focus()
    widget.page.keyboard.press("Home")
    for step in ("1", "2", "3"):
        widget.locator('[data-role="next"]').click()
        expect(widget).to_have_attribute("data-step", step)
    widget.locator('[data-role="skip"]').click()
    box, bar = (
        widget.page.locator(part).bounding_box()
        for part in (".pinned-stage", ".network-strip summary")
    )
    assert box["y"] + box["height"] < bar["height"] + 20, (
        "what comes after it stands below the strip"
    )


def test_a_failed_download_is_not_remembered(visit: Callable[..., Any], address: str) -> None:
    seen = visit("about:blank", tolerate=True)
    blip = [True]
    pattern = "**/widget-buffers/*"
    seen.page.route(pattern, lambda route: route.abort() if blip[0] else route.continue_())
    seen.page.goto(address + HANDS["DrawDigit"].page)
    figure = seen.page.locator('figure[data-widget="DrawDigit"]')
    figure.scroll_into_view_if_needed()
    again = figure.get_by_role("button", name="Try again")
    again.wait_for()
    blip[0] = False
    again.click()
    expect(figure.locator('.capsnet[data-ready="true"]')).to_have_count(1)
    expect(figure.locator("> figcaption")).to_have_text("")
