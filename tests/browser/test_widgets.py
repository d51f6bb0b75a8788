"""Every widget in the built page: by mouse, keys, finger and prompt; and what some do besides."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from .conftest import attribute, number, picture, until, write_a_one

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
Point = tuple[float, float]
Shown = Callable[[Locator], str]  # a widget -> something that it shows, to be compared


def data(name: str) -> Shown:
    """Return what compares an attribute data-… of a widget."""
    return lambda widget: attribute(widget, name)


def canvas(role: str) -> Shown:
    """Return what compares the picture on a canvas of a widget."""
    return lambda widget: picture(widget.locator(f'canvas[data-role="{role}"]'))


@dataclass(frozen=True)
class Drag:
    """A part of a widget that is dragged, from and to in shares of its width and height."""

    part: str
    start: Point = (0.5, 0.5)
    end: Point = (0.5, 0.5)


@dataclass(frozen=True, kw_only=True)
class Gestures:
    """A widget on a page, and what a reader does to it; each changes what it `shows`."""

    page: str
    shows: Shown
    drag: Drag
    focus: str  # the part that takes the keys
    keys: tuple[str, ...]
    button: str = ""
    traits: dict[str, Any] = field(default_factory=dict)  # as a prompt sets them


GESTURES = {
    "BendCapsule": Gestures(
        page="book/chapters/01-try-it.html",
        shows=canvas("redrawn"),
        drag=Drag('[data-dimension="0"]', end=(0.9, 0.5)),
        focus='[data-dimension="4"]',
        keys=("ArrowRight",) * 20,
        button='[data-keep="7"]',
        traits={"index": 3, "keep": "longest"},
    ),
    "FaceParts": Gestures(
        page="book/chapters/02-why-capsules.html",
        shows=data("length"),
        drag=Drag('[data-part="2"]', end=(3, -3)),
        focus='[data-part="3"]',
        keys=("ArrowRight",) * 9,
        button='[data-role="picasso"]',
        traits={"shown": [True, True, False, True], "poses": [[0.5, 0.5, 90, 1]] * 4},
    ),
    "CutFeatures": Gestures(
        page="book/chapters/03-primary-capsules.html",
        shows=data("way"),
        drag=Drag('[data-role="cut"]', end=(0.6, 0.6)),
        focus='[data-role="cut"]',
        keys=("ArrowRight",),
        button='[data-role="maps"]',
        traits={"way": "group"},
    ),
    "SquashVector": Gestures(
        page="book/chapters/04-squash.html",
        shows=data("s"),
        drag=Drag('[data-role="plane"]', start=(0.6, 0.4), end=(0.9, 0.2)),
        focus='[data-role="handle"]',
        keys=("ArrowLeft", "ArrowUp"),
        traits={"s": [3, 0]},
    ),
    "PartVotes": Gestures(
        page="book/chapters/05-prediction-vectors.html",
        shows=data("apart"),
        drag=Drag('[data-role="triangle"]', end=(2, 2)),
        focus='[data-role="turn-rectangle"]',
        keys=("ArrowLeft",) * 4,
        button='[data-role="make-house"]',
        traits={"poses": [[0, 0, 0], [90, 1, 1]]},
    ),
    "PullVotes": Gestures(
        page="book/chapters/06-routing.html",
        shows=data("shares"),
        drag=Drag('[data-vote="3-0"] .knob', end=(0.5, 8)),
        focus='[data-vote="6-1"]',
        keys=("ArrowDown",) * 9,
        button='[data-value="tight"]',
        traits={"scene": "shout", "rule": "nearness", "pulled": {}},
    ),
    "RoutingSteps": Gestures(
        page="book/chapters/06-routing.html",
        shows=data("step"),
        drag=Drag('[data-role="time"]', start=(0.02, 0.5), end=(0.7, 0.5)),
        focus='[data-role="time"]',
        keys=("End",),
        button='[data-role="next"]',
    ),
    "MarginLoss": Gestures(
        page="book/chapters/07-margin-loss.html",
        shows=data("total"),
        drag=Drag('.bar-rail[data-class="8"]', end=(0.5, 0.1)),
        focus='.bar-rail[data-class="3"]',
        keys=("ArrowUp",) * 9,
        button='[data-role="scene-blank"]',
        traits={"present": [3, 8]},
    ),
    "TwoDigits": Gestures(
        page="book/chapters/16-two-digits-at-once.html",
        shows=data("lengths"),
        drag=Drag('[data-role="stage"]', end=(0.8, 0.3)),
        focus='[data-digit="1"]',
        keys=("ArrowRight", "ArrowUp"),
        button="[data-case] >> nth=1",
        traits={"first": 3, "at": [0, 0, 4, 4]},
    ),
    "TurnDial": Gestures(
        page="book/chapters/17-new-viewpoints.html",
        shows=data("turn"),
        drag=Drag('[data-role="handle"]', end=(-1.5, 1.5)),
        focus='[data-role="handle"]',
        keys=("ArrowRight",) * 9,
        button='[data-role="show"]',
        traits={"turn": 45, "revealed": True},
    ),
    "TurnDigit": Gestures(
        page="book/chapters/19-capsules-that-turn.html",
        shows=data("turn"),
        drag=Drag('[data-role="handle"]', end=(3, 3)),
        focus='[data-role="angle"]',
        keys=("ArrowRight",) * 20,
        button='[data-role="digit"] >> nth=7',
        traits={"angle": 137},
    ),
    "TurnScene": Gestures(
        page="book/chapters/17-new-viewpoints.html",
        shows=data("lengths"),
        drag=Drag('[data-role="angle"]', end=(0.8, 0.5)),
        focus='[data-role="clutter"]',
        keys=("ArrowRight",) * 4,
        traits={"angle": 120},
    ),
}


def expect_change(widget: Locator, shows: Shown, work: Callable[[], object]) -> None:
    """Do something, and wait until the widget shows another thing; a glide may take its time."""
    before = shows(widget)
    work()
    until(lambda: shows(widget) != before, "what it shows is what it was")


STEPS = 10  # of a drag


def points_of(part: Locator, drag: Drag) -> list[Point]:
    """Return the points of a drag, in pixels of the window."""
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    points = []
    for step in range(STEPS + 1):
        share = step / STEPS
        x = drag.start[0] + (drag.end[0] - drag.start[0]) * share
        y = drag.start[1] + (drag.end[1] - drag.start[1]) * share
        points.append((box["x"] + x * box["width"], box["y"] + y * box["height"]))
    return points


def drag_by_mouse(widget: Locator, drag: Drag) -> None:
    """Drag a part with the mouse."""
    mouse = widget.page.mouse
    first, *others = points_of(widget.locator(drag.part), drag)
    mouse.move(*first)
    mouse.down()
    for point in others:
        mouse.move(*point)
    mouse.up()


def drag_by_finger(widget: Locator, drag: Drag) -> None:
    """Drag a part with a finger."""
    session = widget.page.context.new_cdp_session(widget.page)

    def send(kind: str, *points: Point) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    first, *others = points_of(widget.locator(drag.part), drag)
    send("touchStart", first)
    for point in others:
        send("touchMove", point)
    send("touchEnd")


def press_keys(widget: Locator, focus: str, keys: tuple[str, ...]) -> None:
    """Press keys on a part of a widget."""
    widget.locator(focus).focus()
    for key in keys:
        widget.page.keyboard.press(key)


@pytest.mark.parametrize("name", GESTURES)
def test_by_mouse_by_keys_by_prompt_and_in_another_theme(
    alone: Callable[..., Any], name: str
) -> None:
    """Opened once for all gestures: a page takes seconds."""
    gestures = GESTURES[name]
    widget = alone(
        name,
        gestures.page,
        values=gestures.traits,
        color_scheme="light",
        reduced_motion="reduce",
    )
    expect_change(widget, gestures.shows, lambda: drag_by_mouse(widget, gestures.drag))
    expect_change(widget, gestures.shows, lambda: press_keys(widget, gestures.focus, gestures.keys))
    if name == "RoutingSteps":  # at the last step nothing is next
        expect_change(widget, gestures.shows, widget.locator('[data-role="back"]').click)
    if gestures.button:
        expect_change(widget, gestures.shows, widget.locator(gestures.button).click)
    if gestures.traits:
        expect_change(widget, gestures.shows, widget.page.locator(".live-prompt").click)
    sentence = widget.locator('[data-role="sentence"], [data-role="text"]')
    assert len(sentence.inner_text()) > 20, "it says what happened"

    light = widget.screenshot()
    widget.page.emulate_media(color_scheme="dark")
    expect(widget.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert attribute(widget, "error") == ""
    assert widget.screenshot() != light


@pytest.mark.parametrize("name", GESTURES)
def test_by_finger_on_a_phone_in_the_dark(alone: Callable[..., Any], name: str) -> None:
    gestures = GESTURES[name]
    widget = alone(name, gestures.page, color_scheme="dark", reduced_motion="reduce", **PHONE)
    expect_change(widget, gestures.shows, lambda: drag_by_finger(widget, gestures.drag))
    assert widget.page.evaluate("document.documentElement.scrollWidth") <= 375


# --- what some do besides


def test_a_digit_drawn_by_keys_alone_is_read(alone: Callable[..., Any]) -> None:
    pad = alone("BendCapsule", GESTURES["BendCapsule"].page)
    write_a_one(pad)
    assert attribute(pad, "prediction") == "1"
    expect(pad.locator('[data-role="sentence"]')).to_contain_text("I see a 1")
    expect(pad.locator(".pad-frame [aria-live]")).to_have_text("Pen up")
    for _ in range(2):  # a key that is held is pressed once
        pad.page.keyboard.down(" ")
    expect(pad.locator(".pad-frame [aria-live]")).to_have_text("Pen down")


def test_a_digit_is_guessed_turned_and_lost(alone: Callable[..., Any]) -> None:
    widget = alone("TurnDial", GESTURES["TurnDial"].page, reduced_motion="reduce")
    sentence = widget.locator('[data-role="sentence"]')
    guess = widget.locator('[data-role="guess"]')
    assert widget.get_by_role("img", name="Nothing is drawn before you have guessed").count() == 1
    expect(guess).to_be_disabled()  # upright is no guess
    press_keys(widget, '[data-role="handle"]', ("ArrowLeft",) * 20)
    expect(sentence).to_contain_text("Up to 60° to the left?")
    guess.click()
    expect(sentence).to_contain_text("The capsule follows to 33° to the left. You guessed 60°.")
    expect(sentence).to_contain_text("Here the network reads a 2.")
    expect(sentence).to_contain_text("the CNN follows to 33°", timeout=30_000)
    expect(sentence).to_contain_text("the capsules that turn still follow", timeout=30_000)
    widget.locator('[data-role="all"]').click()
    expect(sentence).to_contain_text("the capsules that turn follow all the way", timeout=30_000)
    handle = widget.get_by_role("slider", name=re.compile("^Turn the digit"))
    expect(handle).to_have_attribute("aria-valuetext", re.compile("The capsule is 0.97 long"))


PATCH = "book/chapters/02-why-capsules.html"


def test_a_patch_is_turned_and_made_faint(alone: Callable[..., Any]) -> None:
    widget = alone("TurnDial", PATCH, reduced_motion="reduce")
    sentence = widget.locator('[data-role="sentence"]')
    expect(sentence).to_contain_text("this is the patch that it looks for")
    for _ in range(2):
        widget.locator('[data-role="turn"]').click()
    expect(sentence).to_contain_text("as it does to a patch of contrast 0.50 that is not turned.")
    expect(sentence).to_contain_text("The capsule is 1.00 long and points to 60°.")
    handle = widget.get_by_role("slider", name=re.compile("^Turn the patch"))
    expect(handle).to_have_attribute("aria-valuetext", "turned by 60°")
    press_keys(widget, '[data-role="handle"]', ("Shift+ArrowRight", "ArrowLeft"))
    expect(handle).to_have_attribute("aria-valuenow", "72")
    press_keys(widget, '[data-role="contrast"]', ("ArrowLeft",) * 10)
    expect(sentence).to_contain_text("The capsule is 0.50 long and points to 72°.")
    drag = Drag('[data-role="handle"]', end=(-3, 0.5))  # along the ring's foot, to the left
    expect_change(widget, data("values"), lambda: drag_by_mouse(widget, drag))
    expect(sentence).to_contain_text("The capsule is 0.50 long")


def test_a_patch_is_turned_by_a_finger(alone: Callable[..., Any]) -> None:
    widget = alone("TurnDial", PATCH, color_scheme="dark", reduced_motion="reduce", **PHONE)
    drag = Drag('[data-role="handle"]', end=(0, 3))
    expect_change(widget, data("values"), lambda: drag_by_finger(widget, drag))
    assert widget.page.evaluate("document.documentElement.scrollWidth") <= 375
    touch = widget.locator('[data-role="handle"] .touch').bounding_box()
    assert min(touch["width"], touch["height"]) >= 40


def test_the_page_stays_under_a_finger_that_turns_a_digit(alone: Callable[..., Any]) -> None:
    page = GESTURES["TurnDial"].page
    widget = alone("TurnDial", page, reduced_motion="reduce", **PHONE)
    widget.locator(".dial").evaluate("dial => dial.scrollIntoView({ block: 'center' })")
    place = widget.page.evaluate("scrollY")
    drag_by_finger(widget, Drag('[data-role="handle"]', end=(-2, 2)))  # along the ring: down, too
    assert widget.page.evaluate("scrollY") == place
    assert abs(number(widget, "turn")) > 30


def test_the_digit_that_the_page_keeps_is_on_the_dial(
    alone: Callable[..., Any], addresses: dict[str, str]
) -> None:
    stroke = [255 if abs(k % 28 - 14) < 2 and 112 < k < 672 else 0 for k in range(28 * 28)]
    kept = {"name": "capsnet:digit", "value": base64.b64encode(bytes(stroke)).decode()}
    origin = {"origin": addresses["http"].rstrip("/"), "localStorage": [kept]}
    page = GESTURES["TurnDial"].page
    widget = alone("TurnDial", page, storage_state={"cookies": [], "origins": [origin]})
    expect(widget.locator('[data-role="sentence"]')).to_contain_text("Turn the 1 as far")


def test_animals_in_colour_are_bent_and_the_mask_is_chosen(alone: Callable[..., Any]) -> None:
    animals = alone("BendCapsule", "book/chapters/20-your-own-pictures.html")
    expect(animals.locator(".choices .capsule")).to_have_count(12)
    press = animals.locator('[data-role="digit"] >> nth=7').click
    expect_change(animals, canvas("redrawn"), press)
    mask = alone("BendCapsule", "book/chapters/08-masking-and-decoder.html")
    expect_change(mask, data("squared-error"), mask.locator('[data-keep="none"]').click)
    expect(mask.locator('[data-role="sentence"]')).to_contain_text("160 zeros go in")
    assert mask.locator('[data-dimension="0"]').is_disabled()


def test_each_number_of_a_digit_has_a_name_and_a_move_is_said(alone: Callable[..., Any]) -> None:
    widget = alone("BendCapsule", GESTURES["BendCapsule"].page)
    names = widget.locator(".sixteen .name").all_inner_texts()
    assert len(names) == 16
    assert all(names)
    press_keys(widget, '[data-dimension="4"]', ("End",))
    sentence = widget.locator('[data-role="sentence"]')
    expect(sentence).to_contain_text("Number 5 moved by +0.25: the drawing is thicker")
    expect(sentence).to_contain_text("Shown its own drawing, the network reads")


def test_undo_takes_the_last_stroke_back_by_button_and_by_key(alone: Callable[..., Any]) -> None:
    widget = alone("BendCapsule", GESTURES["BendCapsule"].page)
    write_a_one(widget)
    one = attribute(widget, "lengths")
    pad = widget.locator('[data-role="pad"]')
    for undo in (
        lambda: pad.press("Backspace"),
        lambda: widget.locator('[data-role="undo"]').press("Enter"),
    ):
        pad.focus()
        for key in (" ", *("ArrowRight",) * 9, " "):
            pad.press(key)
        until(lambda: attribute(widget, "lengths") != one, "a second stroke changes the answer")
        undo()
        until(lambda: attribute(widget, "lengths") == one, "without it the answer is as before")
    pad.press("Backspace")
    expect(widget.locator('[data-role="sentence"]')).to_contain_text("Nothing drawn yet")


def test_a_press_takes_the_digit_whose_ink_is_nearer_and_home_centres_it(
    alone: Callable[..., Any],
) -> None:
    widget = alone("TwoDigits", GESTURES["TwoDigits"].page, viewport={"width": 1280, "height": 900})
    boxes = widget.locator("[data-digit]")
    sizes = {boxes.nth(n).evaluate("box => box.style.width") for n in range(2)}
    assert len(sizes) == 2, "a box fits its digit's ink"
    lower = widget.locator('[data-digit="1"]')
    area, box = (part.bounding_box() for part in (widget.locator('[data-role="stage"]'), lower))
    # In its box's corner no ink of the digit lies: of two inks this one is nearer all the same.
    corner = {
        "x": box["x"] + box["width"] - area["x"],
        "y": box["y"] + box["height"] - area["y"],
    }
    widget.locator('[data-role="stage"]').click(position=corner)
    expect(lower).to_be_focused()
    widget.page.keyboard.press("Home")
    expect(lower).to_have_attribute("aria-valuetext", "0 to the right of the middle, 0 below it")


def test_the_margin_loss_goes_down_to_nothing_and_the_news_is_of_today(
    alone: Callable[..., Any],
) -> None:
    gestures = GESTURES["MarginLoss"]
    widget = alone("MarginLoss", gestures.page, values=gestures.traits)
    button = widget.locator('[data-role="step-margin"]')
    expect(button).to_be_hidden()  # it would tell the answer
    widget.locator('[data-role="show-loss"]').click()
    expect(button).to_be_visible()  # what is hidden takes no focus
    button.focus()
    for _ in range(60):
        widget.page.keyboard.press("Enter")
    assert number(widget, "total") == pytest.approx(0, abs=1e-3)
    sentence = widget.locator('[data-role="sentence"]')
    expect(sentence).to_contain_text("A step")
    widget.locator('button.digit[data-class="8"]').click()
    widget.page.locator(".live-prompt").click()
    expect(sentence).to_contain_text("Class 8 is present: the loss is")  # the one that changed


@pytest.fixture
def above_routing(alone: Callable[..., Any]) -> Any:
    """RoutingSteps where motion is welcome, and the page at its top."""
    widget = alone(
        "RoutingSteps", GESTURES["RoutingSteps"].page, viewport={"width": 1280, "height": 900}
    )
    expect(widget.locator("[data-pinned]")).to_have_count(1)
    widget.page.evaluate("scrollTo(0, 0)")
    return widget


def test_scrolling_steps_through_routing_and_lets_go(above_routing: Any) -> None:
    widget = above_routing
    stage = widget.locator(".pinned-stage")
    widget.page.mouse.move(640, 450)
    steps: set[int] = set()
    places: set[int] = set()
    for _ in range(75):
        widget.page.mouse.wheel(0, 90)
        step = int(attribute(widget, "step"))
        steps.add(step)
        if 0 in steps and 0 < step < 12:
            places.add(round(stage.bounding_box()["y"]))
    assert steps >= set(range(13)), "every step is met on the way"
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
    stage = widget.page.locator(".pinned-stage").bounding_box()
    strip = widget.page.locator(".network-strip summary").bounding_box()
    assert stage["y"] + stage["height"] < strip["height"] + 20, "the text after it stands on top"


@pytest.fixture
def votes(alone: Callable[..., Any]) -> Any:
    """PullVotes where motion is not wanted."""
    return alone("PullVotes", GESTURES["PullVotes"].page, reduced_motion="reduce")


def test_a_vote_says_where_it_lies_and_what_its_part_gives(votes: Any) -> None:
    vote = votes.get_by_role("slider", name="Part 4, its vote for House.")
    expect(vote).to_have_attribute(
        "aria-valuetext", re.compile(r"at 1\.26, 1\.02: \d+ % to House and \d+ % to Boat")
    )
    vote.focus()
    votes.page.keyboard.press("Shift+ArrowDown")
    expect(vote).to_have_attribute("aria-valuetext", re.compile(r"^at 1\.26, 0\.52: "))
    expect(votes.locator('[data-role="sentence"]')).to_contain_text("Part 4 gives")
    votes.locator('[data-role="back"]').click()
    expect(vote).to_have_attribute("aria-valuetext", re.compile(r"^at 1\.26, 1\.02: "))


def test_the_field_is_the_slider_of_rounds(votes: Any) -> None:
    field = votes.get_by_role("slider", name="Round of routing")
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    votes.page.mouse.click(box["x"] + 0.65 * box["width"], box["y"] + box["height"] / 2)
    expect(votes).to_have_attribute("data-round", re.compile("[67]"))
    field.focus()
    votes.page.keyboard.press("Home")
    expect(votes).to_have_attribute("data-round", "1")
    expect(field).to_have_attribute("aria-valuetext", re.compile("^round 1: House .* long"))
    votes.locator('[data-role="play"]').click()
    expect(votes).to_have_attribute("data-round", "10")


def test_the_votes_of_a_real_digit_are_fetched_when_asked(votes: Any) -> None:
    votes.locator('[data-value="digit"]').click()
    sentence = votes.locator('[data-role="sentence"]')
    expect(sentence).to_contain_text("Capsule 71 is", timeout=30_000)
    expect(votes.get_by_role("slider", name="Capsule 71, its vote for the 7.")).to_have_count(1)


def test_the_pad_of_votes_is_no_wider_than_a_hand_needs(votes: Any) -> None:
    box = votes.locator('[data-role="pad"]').bounding_box()
    assert box["width"] <= 320


def test_the_address_of_the_page_of_votes_holds_what_is_shown(
    visit: Callable[..., Any], address: str
) -> None:
    page = f"{address}book/pull-the-votes.html#scene=tight&rule=nearness&round=4"
    widget = visit(page, reduced_motion="reduce").widget("PullVotes")
    expect(widget).to_have_attribute("data-round", "4")
    expect(widget.locator('[data-role="sentence"]')).to_contain_text("the opposite verdict")
    widget.locator('[data-value="shout"]').click()
    named = "#scene=shout&rule=nearness&round=3&strength=1"
    expect(widget.page).to_have_url(f"{address}book/pull-the-votes.html{named}")


def test_a_failed_download_is_not_remembered(visit: Callable[..., Any], address: str) -> None:
    seen = visit("about:blank", tolerate=True)
    buffers = "**/widget-buffers/*"
    seen.page.route(buffers, lambda route: route.abort())
    seen.page.goto(address + GESTURES["BendCapsule"].page)
    figure = seen.page.locator('figure[data-widget="BendCapsule"]')
    figure.scroll_into_view_if_needed()
    again = figure.get_by_role("button", name="Try again")
    again.wait_for()
    seen.page.unroute(buffers)
    again.click()
    expect(figure.locator('.capsnet[data-ready="true"]')).to_have_count(1)
    expect(figure.locator("> figcaption")).to_have_text("")


def test_a_guess_of_squash_is_drawn_and_measured_once_the_curve_shows(
    alone: Callable[..., Any],
) -> None:
    widget = alone("SquashVector", GESTURES["SquashVector"].page)
    expect(widget.locator(".answer")).to_be_hidden()
    first = widget.locator('[data-knob="0"]')
    first.focus()
    for _ in range(10):
        widget.page.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-valuenow", "0")
    drag_by_mouse(widget, Drag(".guess-field", start=(0.3, 0.6), end=(0.99, 0.1)))
    widget.locator('[data-role="show"]').click()
    expect(widget.locator(".answer")).to_be_visible()
    sentence = widget.locator('[data-role="sentence"]')
    expect(sentence).to_contain_text("Your line is off by")
    widget.locator('[data-role="again"]').click()
    expect(sentence).to_contain_text("How long should v come out?")


def test_a_bug_is_hunted_by_mouse_and_by_keys(alone: Callable[..., Any]) -> None:
    widget = alone("Choose", "book/chapters/11-bugs-in-the-wild.html")
    bars = widget.locator(".outcome rect.bar-of")
    edges = [bar.bounding_box() for bar in bars.all()[-2:]]
    assert edges[0]["x"] + edges[0]["width"] < edges[1]["x"]

    lines = widget.locator(".option")
    lines.nth(1).click()
    expect(widget.locator(".sentence")).to_contain_text("Line 2 is right.")
    expect(widget.locator(".mended")).to_be_hidden()
    for _ in range(3):
        widget.page.keyboard.press("ArrowDown")
    expect(widget.locator(".sentence")).to_contain_text("softmax-axis")
    expect(widget.locator(".mended")).to_be_visible()
    widget.locator('[data-role="next"]').click()
    expect(widget.locator(".count")).to_have_text("2 of 8")


QUESTIONS = {
    "03-primary-capsules": ["capsules"],
    "04-squash": ["squash"],
    "05-prediction-vectors": ["predictions"],
    "06-routing": ["agreement", "sharing"],
    "07-margin-loss": ["margin"],
    "08-masking-and-decoder": ["mask"],
    "09-training": ["step"],
}
"""The questions of a page, one at each place where its notebook leaves a line to write."""


@pytest.mark.parametrize("chapter", QUESTIONS)
def test_a_chapter_asks_for_its_lines_in_read_alone(
    visit: Callable[..., Any], address: str, chapter: str
) -> None:
    page = visit(f"{address}book/chapters/{chapter}.html").page
    figures = page.locator('.for-read figure[data-widget="Choose"]')
    expect(figures).to_have_count(len(QUESTIONS[chapter]))
    for place, question in enumerate(QUESTIONS[chapter]):
        figure = figures.nth(place)
        figure.scroll_into_view_if_needed()
        widget = figure.locator('.capsnet[data-ready="true"]')
        expect(widget).to_have_attribute("data-question", question)
        expect(widget.locator("input:checked")).to_have_count(0)
    blanks = page.locator(".tag_your-turn:has(+ .for-read)")
    expect(blanks).to_have_count(len(QUESTIONS[chapter]))
    expect(blanks.first).to_be_hidden()
    page.get_by_role("button", name="Build").click()
    expect(blanks.first).to_be_visible()
    expect(figures.first).to_be_hidden()


def test_a_chosen_line_runs_and_its_damage_is_seen(visit: Callable[..., Any], address: str) -> None:
    widget = visit(address + "book/chapters/04-squash.html").widget("Choose")
    lines = widget.get_by_role("radio")
    drawing = widget.locator("figure.result")
    solution = widget.page.locator(".for-read + details")
    expect(solution).not_to_have_attribute("open", "")
    lines.nth(0).click()
    expect(drawing).to_have_class(re.compile("broken"))
    expect(widget.locator(".option.wrong")).to_have_count(1)
    expect(widget.locator(".sentence")).to_contain_text("0 divided by 0 is nan")
    for _ in range(2):
        widget.page.keyboard.press("ArrowDown")
    expect(lines.nth(2)).to_be_checked()
    expect(widget.locator(".option.right")).to_have_count(1)
    expect(drawing).not_to_have_class(re.compile("broken"))
    expect(widget.locator(".sentence")).to_contain_text("It reads a 7")


def test_two_questions_of_a_page_are_answered_apart(
    visit: Callable[..., Any], address: str
) -> None:
    page = visit(address + "book/chapters/06-routing.html").page
    agreement, sharing = page.locator('.for-read figure[data-widget="Choose"]').all()
    for figure in (agreement, sharing):
        figure.scroll_into_view_if_needed()
        figure.locator('.capsnet[data-ready="true"]').wait_for()
    sharing.get_by_role("radio").nth(1).click()
    expect(sharing.locator(".option.right")).to_have_count(1)
    expect(agreement.locator("input:checked")).to_have_count(0)


def test_a_loss_is_found_for_each_slip(alone: Callable[..., Any]) -> None:
    widget = alone("Choose", "book/chapters/12-when-it-does-not-learn.html")
    sentence = widget.locator(".sentence")
    bars = widget.locator(".outcome rect.bar-of")
    losses = widget.get_by_role("radio")
    expect(losses.nth(3)).to_have_accessible_name(re.compile("A loss: first 0.90, later 0.90"))
    losses.nth(1).click()
    expect(sentence).to_contain_text("Another slip does that.")
    expect(bars.nth(7)).to_have_class(re.compile("wrong"))
    for _ in range(2):
        widget.page.keyboard.press("ArrowRight")
    expect(sentence).to_contain_text("That is the one. It stays at 0.90")
    expect(bars.nth(7)).to_have_class(re.compile("right"))
    widget.locator('[data-role="next"]').click()
    expect(widget.locator(".count")).to_have_text("2 of 4")
    expect(widget.locator("input:checked")).to_have_count(0)
