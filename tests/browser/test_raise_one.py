"""RaiseOne in the built page: it trains, pauses, learns the reader's hand, and keeps networks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from capsnet_book.widgets import BendCapsule
from PIL import Image
from playwright.sync_api import expect
from safetensors.torch import load_file, save_file

from capsnet_tutorial import CapsNet, CapsNetConfig, load_weights, save_weights
from capsnet_tutorial.data import digits

from .conftest import attribute, number, numbers, picture, settled, until, wake, write_a_one

pytestmark = pytest.mark.slow

PAGE = "book/raise-one.html"
SECONDS = 1000
RECORD_RIGHTS = """(widget) => {  // from now on, `rights` has all that the widget shows
    globalThis.rights = [];
    const record = () => rights.push(widget.dataset.right);
    new MutationObserver(record).observe(widget, { attributeFilter: ["data-right"] });
}"""


@pytest.fixture
def raise_one(alone: Callable[..., Any]) -> Any:
    return alone("RaiseOne", PAGE)


def train(widget: Any, pace: str = "all") -> None:
    widget.locator(f'[data-pace="{pace}"]').click()
    widget.locator('[data-role="train"]').click()
    expect(widget).to_have_attribute("data-running", "true")


def has_seen(widget: Any, least: int, seconds: int = 60) -> None:
    widget.page.wait_for_function(
        "([widget, least]) => Number(widget.dataset.seen) >= least",
        arg=[widget.element_handle(), least],
        timeout=seconds * SECONDS,
    )


@pytest.mark.parametrize("place", ["http", "file"])  # the digits come by other ways
def test_it_learns_to_read(
    visit: Callable[..., Any], addresses: dict[str, str], place: str
) -> None:
    widget = visit(addresses[place] + PAGE).widget("RaiseOne")
    requests: list[str] = []
    widget.page.on("request", lambda request: requests.append(request.url))
    widget.page.wait_for_timeout(300)  # the wall has had its turn
    fog = picture(widget.locator('[data-role="wall"]').first)
    train(widget)
    has_seen(widget, 4000)
    assert number(widget, "right") > 85
    assert picture(widget.locator('[data-role="wall"]').first) != fog
    assert len([url for url in requests if "widget-buffers" in url]) == 1, (
        "the digits, once they are asked for"
    )


def test_it_can_be_followed_paused_and_started_over(raise_one: Any) -> None:
    """The pace that is set at first: digits come slowly, then ever faster."""
    press = raise_one.locator('[data-role="train"]')
    press.click()
    has_seen(raise_one, 48)
    assert number(raise_one, "seen") < 400, "the first moments can be seen"
    press.click()
    expect(raise_one).to_have_attribute("data-running", "false")
    raise_one.page.wait_for_timeout(300)  # what was on its way
    seen = number(raise_one, "seen")
    press.click()
    has_seen(raise_one, int(seen) + 16)
    press.click()
    raise_one.locator('[data-role="over"]').click()
    expect(raise_one).to_have_attribute(
        "data-seen", "0", timeout=30 * SECONDS
    )  # a new worker, and it draws the wall


TILE = """([canvas, n]) => {  // ink of the n-th tile, 0 to 1, [784]
    const brush = canvas.getContext("2d");
    const { data } = brush.getImageData((n % 10) * 30 + 1, Math.floor(n / 10) * 30 + 1, 28, 28);
    return Array.from({ length: 784 }, (_, k) => 1 - data[4 * k] / 255);
}"""


def test_the_written_digits_stand_in_the_wall_before_the_press(
    visit: Callable[..., Any], address: str
) -> None:
    seen = visit("about:blank")
    asked: list[str] = []
    seen.page.on("request", lambda request: asked.append(request.url))
    seen.page.goto(address + PAGE)
    widget = seen.widget("RaiseOne")
    wall = widget.locator('[data-role="wall"]').first
    expect(wall).to_have_attribute("aria-label", re.compile("handwritten"))
    expect(widget.locator(".wall-frame").first).to_contain_text("as they were written")
    sample = digits("test", source="sample").images[:100].flatten(1)
    for n in (0, 37, 99):  # the one that is watched, 7, has a frame
        ink = torch.tensor(wall.evaluate(f"(canvas, n) => ({TILE})([canvas, n])", n))
        assert torch.corrcoef(torch.stack([ink, sample[n]]))[0, 1] > 0.95
    digit = picture(widget.locator(".part-digit canvas"))
    wall.focus()
    seen.page.keyboard.press("ArrowRight")
    until(lambda: picture(widget.locator(".part-digit canvas")) != digit, "another is chosen")
    assert not [url for url in asked if "widget-buffers" in url], "nothing was fetched for it"


SEEN_AT_ONCE = (".train", ".passage", ".wall", ".timeline", ".curve", ".pad", ".ten")
TOPS = """(widget, parts) => {  // of each part, from the widget's top
    const { top } = widget.getBoundingClientRect();
    return parts.map((part) => {
        const box = widget.querySelector(part).getBoundingClientRect();
        return [box.top - top, box.bottom - top].map(Math.round);
    });
}"""


def test_all_is_seen_on_one_screen_and_stays_in_its_place(alone: Callable[..., Any]) -> None:
    widget = alone("RaiseOne", PAGE, viewport={"width": 1280, "height": 900})
    before = settled(widget).evaluate(TOPS, [*SEEN_AT_ONCE])
    header = 60
    assert max(bottom for _, bottom in before) <= 900 - header
    train(widget, "step")
    for pace in ("step", "all"):
        widget.locator(f'[data-pace="{pace}"]').click()
        has_seen(widget, 32 if pace == "step" else 1000)
        assert settled(widget).evaluate(TOPS, [*SEEN_AT_ONCE]) == before, "sentences move nothing"


def test_time_has_a_way_back(raise_one: Any) -> None:
    slider = raise_one.locator('[data-role="timeline"]')
    expect(slider).to_be_disabled()
    train(raise_one)
    has_seen(raise_one, 2000)
    raise_one.locator('[data-role="train"]').click()
    raise_one.page.wait_for_timeout(500)  # what was on its way
    wall = raise_one.locator('[data-role="wall"]').first
    filters = raise_one.locator(".part-filters canvas")
    curve = raise_one.locator('[data-role="curve"]')
    now = [attribute(raise_one, "seen"), picture(wall), picture(filters)]
    slider.focus()
    raise_one.page.keyboard.press("Home")
    expect(raise_one).to_have_attribute("data-seen", "0")
    expect(slider).to_have_attribute("aria-valuetext", "after 0 images")
    expect(curve).to_have_attribute("aria-label", re.compile("after 0 images$"))
    expect(raise_one.locator(".sentence")).to_contain_text("Back then: It names nothing")
    until(lambda: picture(wall) != now[1])
    until(lambda: picture(filters) != now[2])
    raise_one.page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "now")
    expect(raise_one).to_have_attribute("data-seen", now[0])
    until(lambda: [picture(wall), picture(filters)] == now[1:])
    raise_one.page.keyboard.press("Home")
    raise_one.locator('[data-role="train"]').click()  # goes on from now
    has_seen(raise_one, int(now[0]) + 16)


def test_the_chosen_tile_is_the_one_in_the_passage_at_every_moment(raise_one: Any) -> None:
    trained(raise_one, 500)
    framed = """(canvas) => {  // tiles in a frame of the accent
        const accent = getComputedStyle(canvas).getPropertyValue("--caps-accent").trim();
        const brush = canvas.getContext("2d");
        const probe = document.createElement("canvas").getContext("2d");
        probe.fillStyle = accent;
        probe.fillRect(0, 0, 1, 1);
        const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
        return Array.from({ length: 100 }, (_, n) => n).filter((n) => {
            const pixel = brush.getImageData((n % 10) * 30 + 15, Math.floor(n / 10) * 30 + 1, 1, 1);
            const [r, g, b] = pixel.data;
            return Math.abs(r - red) + Math.abs(g - green) + Math.abs(b - blue) < 12;
        });
    }"""
    wall = raise_one.locator('[data-role="wall"]').first
    digit = raise_one.locator(".part-digit canvas")
    first = picture(digit)
    until(lambda: wall.evaluate(framed) == [7])
    wall.focus()
    raise_one.page.keyboard.press("ArrowRight")
    until(lambda: picture(digit) != first)
    until(lambda: wall.evaluate(framed) == [8])
    raise_one.locator('[data-role="timeline"]').focus()
    raise_one.page.keyboard.press("Home")
    expect(raise_one).to_have_attribute("data-seen", "0")
    until(lambda: picture(digit) == first)
    until(lambda: wall.evaluate(framed) == [7], "what that moment has is the way of the 7")


def trained(widget: Any, digits: int = 1500) -> None:
    train(widget)
    has_seen(widget, digits)
    widget.locator('[data-role="train"]').click()
    expect(probe(widget, "primary")).to_be_visible()
    wall = widget.locator('[data-role="wall"]').first
    pictures = [""]

    def is_still() -> bool:  # what was on its way has come
        pictures.append(patient_picture(wall))
        return pictures[-1] == pictures[-2]

    until(is_still)


def patient_picture(canvas: Any) -> str:
    canvas.page.wait_for_timeout(500)
    return picture(canvas)


def probe(widget: Any, part: str) -> Any:
    return widget.locator(f'.probe[data-part="{part}"]')


def test_the_network_answers_to_the_pointer(raise_one: Any) -> None:
    """As the glass does: what is pointed at lights up, says what it is, stands in a lens."""
    looked = raise_one.locator('[data-role="looked"]')
    expect(looked).to_contain_text("Press Train")
    expect(probe(raise_one, "primary")).to_be_hidden()
    trained(raise_one)
    lens = raise_one.locator(".lens")
    lit = raise_one.locator(".passage .signs .vote")
    frames = raise_one.locator(".passage .signs .bold")
    pictures = set()
    for part, words, votes, squares in (
        ("maps", r"Feature map \d+: one filter", 0, 2),
        ("primary", r"Capsule \d+ sees this patch, is 0\.\d\d long", 10, 2),
        ("predictions", r"Capsule \d+ votes: “if this is a \d", 1, 2),
        ("classes", r"The \d is 0\.\d\d long\. (No c|C)apsule", 72, 0),
    ):
        probe(raise_one, part).hover()
        expect(looked).to_have_text(re.compile(words))
        expect(lit).to_have_count(votes)
        expect(frames).to_have_count(squares)
        pictures.add(picture(lens))
    assert len(pictures) == 4
    raise_one.locator(".curve").hover()
    expect(lit).to_have_count(0)
    expect(looked).to_have_text(re.compile(words))  # the lens keeps what was pointed at last
    raise_one.locator('[data-role="train"]').click()
    expect(looked).not_to_have_text(looked.inner_text(), timeout=20_000)  # also while it learns


def test_a_part_is_held_silent_by_keys_and_time_has_a_way_back(alone: Callable[..., Any]) -> None:
    widget = alone("RaiseOne", PAGE)
    trained(widget)
    keyboard = widget.page.keyboard
    capsules = probe(widget, "primary")
    capsules.focus()
    keyboard.press("ArrowRight")
    says = re.compile(r"Capsule \d+ sees .*Arrow keys; Enter holds it silent")
    expect(capsules).to_have_attribute("aria-label", says)
    name = capsules.get_attribute("aria-label")
    keyboard.press("ArrowDown")
    expect(capsules).not_to_have_attribute("aria-label", name)
    expect(widget.locator('[data-role="announcement"]').first).to_contain_text("Capsule")
    keyboard.press("Enter")
    looked = widget.locator('[data-role="looked"]')
    expect(looked).to_contain_text("is out: nobody hears it")
    expect(capsules).to_have_attribute("aria-label", re.compile("is out: nobody hears it"))
    expect(widget.locator(".passage .signs .out")).to_have_count(1)
    sentence = widget.locator(".sentence")
    expect(sentence).to_contain_text("Silent: one capsule")
    assert widget.page.url.endswith("#hand=1")

    seen = number(widget, "seen")
    press = widget.locator('[data-role="train"]')
    press.click()
    has_seen(widget, int(seen) + 300)
    press.click()
    expect(widget.locator(".passage .signs .out")).to_have_count(1)  # it learned without it
    slider = widget.locator('[data-role="timeline"]')
    slider.focus()
    for _ in range(60):
        if "before your hand" in slider.get_attribute("aria-valuetext"):
            break
        keyboard.press("ArrowLeft")
        widget.page.wait_for_timeout(50)
    expect(widget.locator(".passage .signs .out")).to_have_count(0)
    expect(press).to_contain_text("From here")
    press.click()
    has_seen(widget, int(seen) + 16)
    press.click()
    expect(widget.locator(".passage .signs .out")).to_have_count(0)
    until(lambda: "hand" not in widget.page.url)


def test_weights_are_nudged_by_hand_and_undone(raise_one: Any) -> None:
    trained(raise_one)
    wall = raise_one.locator('[data-role="wall"]').first
    now = [attribute(raise_one, "seen"), picture(wall)]
    probe(raise_one, "primary").click()
    back = raise_one.locator('[data-role="back"]')
    expect(back).to_have_attribute("aria-disabled", "true")
    for _ in range(4):
        raise_one.locator('[data-role="larger"]').click()
    expect(raise_one.locator(".sentence")).to_contain_text("Changed by your hand")
    until(lambda: patient_picture(wall) != now[1])
    for _ in range(4):
        back.click()
    expect(back).to_have_attribute("aria-disabled", "true")
    expect(raise_one).to_have_attribute("data-seen", now[0])
    until(lambda: patient_picture(wall) == now[1])


def test_a_hand_leaves_a_mark_on_the_curve(raise_one: Any) -> None:
    """Even where nothing else happens; whoever cannot see it has it in the curve's name."""
    trained(raise_one)
    probe(raise_one, "primary").click()
    labels = raise_one.locator('[data-role="curve"] .change .label')
    words = []
    for role, label in (("hold", "silent"), ("hold", "speaks"), ("smaller", "÷ 2")):
        raise_one.locator(f'[data-role="{role}"]').click()
        words.append(label)
        expect(labels).to_have_text(words)
    part = r"capsule \d+"
    name = re.compile(f"{part} held silent, .*{part} speaks again, .*weights of {part} ÷ 2, after")
    expect(raise_one.locator('[data-role="curve"]')).to_have_attribute("aria-label", name)
    raise_one.locator('[data-role="back"]').click()
    expect(labels).to_have_text(["silent", "speaks"])


def test_a_click_keeps_a_part_on_the_way_to_its_buttons(raise_one: Any) -> None:
    """The way from a capsule to the buttons crosses the votes, on which no hand can be laid."""
    trained(raise_one)
    looked = raise_one.locator('[data-role="looked"]')
    hold = raise_one.locator('[data-role="hold"]')
    mouse = raise_one.page.mouse
    probe(raise_one, "primary").click()
    expect(looked).to_contain_text("Kept here; Esc lets go")
    capsule = looked.inner_text()
    hold.scroll_into_view_if_needed()
    probe(raise_one, "predictions").hover()
    box = hold.bounding_box()
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=30)
    assert looked.inner_text() == capsule
    expect(raise_one.locator(".passage .signs .vote")).to_have_count(10)  # it stays lit
    expect(hold).to_have_attribute("aria-disabled", "false")
    mouse.down()
    mouse.up()
    expect(looked).to_contain_text("is out: nobody hears it")

    raise_one.page.keyboard.press("Escape")
    expect(looked).not_to_contain_text("Kept here")
    probe(raise_one, "classes").click()
    expect(looked).to_contain_text("Kept here")
    raise_one.locator(".sentence").click()
    expect(looked).not_to_contain_text("Kept here")


def test_a_grey_button_does_nothing(raise_one: Any) -> None:
    trained(raise_one, 500)
    train(raise_one)
    probe(raise_one, "predictions").click()
    for role in ("hold", "larger", "smaller", "back"):
        button = raise_one.locator(f'[data-role="{role}"]')
        expect(button).to_have_attribute("aria-disabled", "true")
        button.dispatch_event("click")
    has_seen(raise_one, int(number(raise_one, "seen")) + 300)
    expect(raise_one).to_have_attribute("data-running", "true")
    expect(raise_one.locator(".sentence")).not_to_contain_text("did not work")


def test_a_finger_points_at_the_network(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    widget = alone("RaiseOne", PAGE, **phone)
    trained(widget, 500)
    probe(widget, "classes").tap()
    looked = widget.locator('[data-role="looked"]')
    expect(looked).to_have_text(re.compile(r"The \d is 0\.\d\d long"))
    expect(looked).to_contain_text("Kept here")
    probe(widget, "primary").tap()
    expect(looked).to_contain_text("Capsule")
    expect(looked).to_contain_text("Kept here")
    widget.locator('[data-role="hold"]').tap()
    expect(looked).to_contain_text("is out")
    assert widget.page.evaluate("document.documentElement.scrollWidth") <= 375


def saved(widget: Any, n: int, path: Path) -> Image.Image:
    """Save the n-th of the pictures to share, and return it."""
    with widget.page.expect_download() as event:
        widget.locator('[data-role="save"]').nth(n).click()
    event.value.save_as(path)
    return Image.open(path)


def test_share_makes_a_card_a_loop_and_an_address(
    visit: Callable[..., Any], addresses: dict[str, str], tmp_path: Path
) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    seen = visit(f"{addresses['http']}{PAGE}#seed=7", permissions=permissions)
    widget = seen.widget("RaiseOne")
    share = widget.locator('[data-role="share"]')
    expect(share).to_be_disabled()  # nothing was measured
    train(widget)
    has_seen(widget, 1000)
    share.press("Enter")
    words = widget.locator('[data-role="shared"]')
    expect(words).to_contain_text("is copied. The loop has", timeout=30 * SECONDS)
    expect(widget).to_have_attribute("data-running", "false")
    address = f"{addresses['http']}{PAGE}#seed=7"
    assert seen.page.evaluate("navigator.clipboard.readText()") == address
    expect(widget.locator(".shared img").first).to_have_attribute(
        "alt", re.compile(r"^\d+ of 100 after \d+ s, in my browser, seed 7$")
    )
    assert saved(widget, 0, tmp_path / "card.png").size == (1200, 630)
    loop = saved(widget, 1, tmp_path / "loop.gif")
    assert loop.n_frames > 2
    assert (tmp_path / "loop.gif").stat().st_size <= 1_500_000
    first = loop.convert("RGB")
    loop.seek(loop.n_frames - 1)
    assert first.tobytes() != loop.convert("RGB").tobytes(), "the wall has cleared"
    seen.page.keyboard.press("Escape")
    expect(share).to_be_focused()


RECORD_WORDS = """() => {  // from now on, `words` has all that is written on canvases
    globalThis.words = [];
    CanvasRenderingContext2D.prototype.fillText = (text) => words.push(text);
}"""


def test_share_tells_no_path_of_a_file_and_gives_a_link_to_copy(
    visit: Callable[..., Any], addresses: dict[str, str]
) -> None:
    """Under reduced motion nothing moves."""
    seen = visit(addresses["file"] + PAGE, reduced_motion="reduce")
    seen.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    widget = seen.widget("RaiseOne")
    train(widget)
    has_seen(widget, 100)
    seen.page.evaluate(RECORD_WORDS)
    widget.locator('[data-role="share"]').click()
    expect(widget.locator('[data-role="shared"]')).to_contain_text("copy it from here")
    assert widget.locator(".share input").input_value().endswith("raise-one.html#seed=1")
    assert "seed=1" in seen.page.evaluate("words")
    assert not [text for text in seen.page.evaluate("words") if "file:" in text]
    expect(widget.locator(".shared img")).to_have_count(1)


def test_a_hidden_tab_rests(raise_one: Any) -> None:
    train(raise_one)
    has_seen(raise_one, 100)
    turn = """(hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    raise_one.page.evaluate(turn, True)
    expect(raise_one).to_have_attribute("data-running", "false")
    raise_one.page.evaluate(turn, False)
    expect(raise_one).to_have_attribute("data-running", "true")


def test_a_tile_goes_through_the_network(raise_one: Any) -> None:
    train(raise_one)
    has_seen(raise_one, 100)
    raise_one.locator('[data-role="train"]').click()
    passage = raise_one.locator(".passage")
    expect(passage).to_have_attribute("aria-label", re.compile("reads a 7 and"))
    raise_one.locator('[data-role="wall"]').first.focus()
    raise_one.page.keyboard.press("ArrowRight")
    expect(passage).to_have_attribute("aria-label", re.compile("reads a 8 and"))


def test_it_learns_the_readers_hand_and_slides_its_numbers(raise_one: Any) -> None:
    answers = raise_one.locator('[data-role="is"]')
    says = raise_one.locator('[data-role="says"]')
    expect(answers.first).to_be_disabled()
    train(raise_one)
    has_seen(raise_one, 2000)
    expect(says).to_have_text("Draw a digit: it says what it sees.")
    expect(answers.first).to_be_disabled()
    write_a_one(raise_one.locator(".hand"))
    expect(says).to_contain_text("It says")
    answers.nth(4).click()  # it insists that its ones are fours
    expect(says).to_have_text("Draw a digit: it says what it sees.")  # and nothing besides
    expect(raise_one.locator(".own")).to_contain_text("1 of 1 right", timeout=60 * SECONDS)
    assert raise_one.locator(".own canvas").bounding_box()["width"] < 60, "room for one digit"
    write_a_one(raise_one.locator(".hand"))
    expect(says.locator("b")).to_have_text("4", timeout=30 * SECONDS)
    raise_one.locator('[data-role="train"]').click()
    raise_one.page.wait_for_timeout(300)
    drawing = raise_one.locator('[data-role="redrawn"]')
    before = picture(drawing)
    slider = raise_one.locator(".sixteen input").first
    for _ in range(25):
        slider.press("ArrowRight")
    raise_one.page.wait_for_function(
        "([canvas, before]) => canvas.toDataURL() !== before",
        arg=[drawing.element_handle(), before],
    )
    expect(raise_one.locator(".sixteen output").first).to_contain_text("(+0.25)")
    ends = raise_one.locator(".sixteen .slider").first.locator("canvas")
    assert picture(ends.nth(1)) == picture(drawing), "the high end draws what the slider is at"
    assert picture(ends.nth(0)) != picture(ends.nth(1))
    raise_one.locator('.hand [data-role="clear"]').press("Enter")
    expect(slider).to_be_disabled()  # nothing was read: there is nothing to slide


FAIL_ONCE = """
    const post = Worker.prototype.postMessage;
    let failed = false;
    Worker.prototype.postMessage = function (message, ports) {  // the first reading of a pad fails
        if (message.name !== "read" || failed) return post.call(this, message, ports);
        failed = true;
        const data = { id: message.id, error: new Error("no memory is left") };
        setTimeout(() => this.onmessage({ data }));
    };
"""


def test_a_pad_that_could_not_be_read_is_read_again(
    visit: Callable[..., Any], address: str
) -> None:
    seen = visit("about:blank")
    seen.page.add_init_script(FAIL_ONCE)
    seen.page.goto(address + PAGE)
    widget = seen.widget("RaiseOne")
    train(widget)
    has_seen(widget, 100)
    widget.locator('[data-role="train"]').click()
    says = widget.locator('[data-role="says"]')
    write_a_one(widget.locator(".hand"))
    expect(says).to_contain_text("It says")


def test_the_address_holds_the_settings(alone: Callable[..., Any]) -> None:
    widget = alone("RaiseOne", PAGE)
    rounds = widget.locator('[data-setting="rounds"]')
    rounds.focus()
    rounds.select_option("1")
    expect(rounds).to_be_focused()  # a new one, in the old one's place
    expect(widget.page).to_have_url(re.compile("#rounds=1$"))
    widget.locator('[data-role="beside"]').click()
    widget.locator('[data-setting="rounds"]').nth(1).select_option("3")
    expect(widget.page).to_have_url(re.compile("#rounds=1,3$"))
    widget.page.evaluate("location.hash = '#seed=5&bug=softmax-axis&colour=<img src=x>'")
    expect(widget.locator('[data-setting="bug"]')).to_have_count(1)  # one network again
    expect(widget.locator('[data-setting="bug"]')).to_have_value("softmax-axis")
    expect(widget.locator('[data-setting="seed"]')).to_have_value("5")
    sentence = widget.locator(".sentence")
    expect(sentence).to_have_text("There is no setting colour.")
    widget.page.evaluate("location.hash = '#seed=1.5'")
    expect(sentence).to_have_text("For seed, expected a whole number from 0 to 999,999; got 1.5.")
    widget.locator('[data-setting="rounds"]').select_option("1")
    expect(widget.page).to_have_url(re.compile("#rounds=1$"))
    widget.page.evaluate("location.hash = '#qwerty'")
    expect(sentence).to_contain_text("names no setting")
    expect(widget.locator('[data-setting="rounds"]')).to_have_value("1")  # nothing is lost
    for role in ("download", "keep"):
        widget.locator(f'[data-role="{role}"]').click()
        expect(widget.locator('[data-role="kept"]')).to_have_text(
            "Not done: there is no network yet: press Train."
        )


def test_an_experiment_asks_takes_a_guess_and_trains_two(alone: Callable[..., Any]) -> None:
    widget = alone("RaiseOne", PAGE, viewport={"width": 1280, "height": 900})
    cards = widget.locator('[data-role="experiment"]')
    assert max(bottom for _, bottom in settled(widget).evaluate(TOPS, [".cards"])) < 300
    widget.locator("details").evaluate_all("(folds) => folds.forEach((f) => { f.open = false; })")
    assert settled(widget).evaluate(TOPS, [".settings"])[0][0] < 800, "settings are in sight"
    cards.nth(0).click()
    expect(widget.page).to_have_url(re.compile("#rounds=1,3$"))
    expect(cards.nth(0)).to_have_attribute("aria-pressed", "true")
    question = widget.locator(".question")
    expect(question).to_contain_text("one round of routing, or three? First guess")
    expect(widget.locator(".sentence")).to_contain_text("your guess starts both")
    guesses = widget.locator('[data-role="guess"]')
    guesses.nth(2).focus()
    widget.page.keyboard.press("Enter")
    expect(widget).to_have_attribute("data-running", "true", timeout=30 * SECONDS)
    expect(question).to_have_text("You say: three rounds. Watch.")
    expect(guesses.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(guesses.first).to_be_disabled()
    cards.nth(0).click()  # again: only the usual network is left
    expect(widget.locator(".asked")).to_be_hidden()
    expect(widget.locator('[data-setting="rounds"]')).to_have_count(1)


def test_a_cnn_races_the_capsules_and_shows_what_it_has(raise_one: Any) -> None:
    raise_one.locator('[data-pace="all"]').click()
    raise_one.locator('[data-role="experiment"]').last.click()
    expect(raise_one.page).to_have_url(re.compile("#net=capsules,cnn$"))
    raise_one.locator('[data-role="guess"]').first.click()
    has_seen(raise_one, 1000)
    expect(raise_one.locator('[data-role="curve"] .line')).to_have_count(2)
    expect(raise_one.locator(".part-votes")).to_be_visible()
    raise_one.locator('[data-role="wall"]').nth(1).click(position={"x": 20, "y": 20})
    expect(raise_one.locator(".part-votes")).to_be_hidden()
    expect(raise_one.locator(".part-lengths figcaption")).to_contain_text("shares of a softmax")
    expect(raise_one.locator('[data-role="looked"]')).to_contain_text("A CNN")
    raise_one.locator('[data-role="wall"]').first.click(position={"x": 20, "y": 20})
    expect(raise_one.locator(".part-votes")).to_be_visible()


def test_two_learn_side_by_side_and_each_pair_drops_a_dot(alone: Callable[..., Any]) -> None:
    """In the smallest network, since both of a pair learn from 8,000 digits."""
    widget = alone("RaiseOne", "book/chapters/18-does-routing-matter.html")
    for k in (0, 1):
        widget.locator('[data-setting="types"]').nth(k).select_option("2")
    train(widget)
    has_seen(widget, 500)
    assert len(attribute(widget, "right").split(",")) == 2
    assert widget.locator('[data-role="wall"]:visible').count() == 2
    titles = widget.locator(".wall-title:visible")
    expect(titles).to_have_text(["rounds of routing: 1", "rounds of routing: 3"])
    captions = widget.locator(".walls figcaption")
    expect(captions.first).to_contain_text("Orange: taken for another")
    expect(captions.nth(1)).to_be_empty()
    assert widget.locator(".curve .line").count() == 2
    expect(widget.locator(".dot.pair")).to_have_count(1, timeout=60 * SECONDS)
    expect(widget.locator(".dot.record")).to_have_count(0)


def test_more_seeds_end_where_training_goes_on(alone: Callable[..., Any]) -> None:
    widget = alone("RaiseOne", "book/chapters/18-does-routing-matter.html")
    with widget.page.expect_worker() as begun:
        widget.locator('[data-role="seeds"]').click()
    train(widget)
    has_seen(widget, 100)
    assert begun.value not in widget.page.workers


def download(widget: Any, file: Path) -> CapsNet:
    """Train a little, download the network, and return it as Python loads it."""
    train(widget)
    has_seen(widget, 1000)
    widget.locator('[data-role="train"]').click()
    with widget.page.expect_download() as event:
        widget.locator('[data-role="download"]').click()
    event.value.save_as(file)
    return load_weights(file)


def rights_of(network: CapsNet) -> int:
    """Return how many of the page's 100 test digits a network reads."""
    sample = digits("test", source="sample")
    return int((network.predict(sample.images[:100]) == sample.labels[:100]).sum())


def open_file(widget: Any, file: Path, words: str) -> None:
    """Open a file of weights; expect these words of the widget."""
    widget.locator('[data-role="file"]').set_input_files(file)
    expect(widget.locator('[data-role="kept"]')).to_contain_text(words)


def test_a_network_is_downloaded_and_opened_again(
    alone: Callable[..., Any], tmp_path: Path
) -> None:
    widget = alone("RaiseOne", PAGE)
    network = download(widget, tmp_path / "my_capsnet.safetensors")
    right = rights_of(network)
    assert abs(right - number(widget, "right")) <= 1  # the page has its digits in 4 bits

    widget.evaluate(RECORD_RIGHTS)
    open_file(widget, tmp_path / "my_capsnet.safetensors", "Opened")
    expect(widget).to_have_attribute("data-seen", "0")
    rights = [int(text) for text in widget.page.evaluate("rights")]
    assert all(abs(shown - right) <= 1 for shown in rights), "only the opened network shows"

    tensors = load_file(tmp_path / "my_capsnet.safetensors")
    config = {"config": json.dumps(asdict(network.config))}
    save_file(tensors | {"conv.bias": tensors["conv.bias"][:3]}, tmp_path / "torn", config)
    (tmp_path / "none").write_bytes(b"no network at all")
    (tmp_path / "one byte").write_bytes(b"1")
    for name, words in (
        ("torn", "expected conv.bias [64]; got [3]"),
        ("none", "weights: expected a whole"),
        ("one byte", "weights: expected a whole"),
    ):
        open_file(widget, tmp_path / name, f"Not done: {words}")
        assert number(widget, "right") == pytest.approx(right, abs=1), "nothing is lost"


def test_a_kept_network_serves_other_widgets(alone: Callable[..., Any], tmp_path: Path) -> None:
    widget = alone("RaiseOne", PAGE)
    page = widget.page
    network = download(widget, tmp_path / "my_capsnet.safetensors")
    widget.locator('[data-role="keep"]').click()
    expect(widget.locator('[data-role="kept"]')).to_contain_text("Kept")
    page.goto(page.url.rpartition("/book/")[0] + "/book/chapters/09-training.html")
    figure = page.locator('figure.live-widget[data-widget="BendCapsule"]')
    wake(figure)
    switch = figure.locator(".own-network")
    expect(switch).to_contain_text("your own network")
    drawing = figure.locator(".capsnet")
    own_lengths = attribute(drawing, "lengths")
    pad = BendCapsule()
    pad.index = 5  # as the notebook sets it
    samples = torch.frombuffer(bytearray(pad.images), dtype=torch.uint8).view(10, 1, 28, 28)
    lengths = network(samples[[pad.index]] / 255).lengths[0].tolist()
    assert numbers(drawing, "lengths") == pytest.approx(lengths, abs=1e-5)
    switch.click()
    expect(switch).to_contain_text("Take your own")
    expect(figure.locator(".capsnet")).not_to_have_attribute("data-lengths", own_lengths)


def draw_a_cross(pad: Any, n: int) -> None:
    """Draw two strokes by the mouse, the n-th a little otherwise than those before."""
    box = pad.bounding_box()
    mouse = pad.page.mouse
    low = 0.25 + 0.01 * (n % 3)
    high = 0.75 - 0.01 * (n % 4)
    for start, end in (((low, low), (high, high)), ((low, high), (high, low))):
        mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
        mouse.down()
        mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=12)
        mouse.up()


def test_a_sign_of_the_readers_own_is_learned_and_called_by_its_name(
    alone: Callable[..., Any],
) -> None:
    """Ten drawings, and it reads them; in other widgets its capsule has the sign's name."""
    widget = alone("RaiseOne", PAGE)
    page = widget.page
    widget.locator('[data-pace="all"]').click()
    widget.locator('[data-role="sign"]').click()
    says = widget.locator('[data-role="says"]')
    expect(says).to_contain_text("Ten times")
    pad = widget.locator(".pad")
    pad.scroll_into_view_if_needed()
    for n in range(10):
        draw_a_cross(pad, n)
        if n:
            expect(says).to_contain_text(f"{n} of 10")
        widget.locator('[data-role="next"]').click()
    expect(widget).to_have_attribute("data-running", "true")  # it learns at once
    has_seen(widget, 4000, 120)
    sentence = widget.locator(".sentence")
    expect(sentence).to_contain_text("Your sign ★ has the place of the 8")
    widget.locator('[data-role="train"]').click()
    signs = re.search(r"It reads (\d+) of (\d+) pictures", sentence.inner_text())
    assert signs
    assert int(signs[1]) > 0.8 * int(signs[2])
    pad.scroll_into_view_if_needed()
    draw_a_cross(pad, 11)  # as none of the ten was
    expect(says).to_contain_text("It says ★")
    expect(widget.locator(".part-lengths .digit").nth(8)).to_have_text("★")
    assert page.url.endswith("#sign=8")

    widget.locator('[data-role="keep"]').click()
    expect(widget.locator('[data-role="kept"]')).to_contain_text("Kept")
    page.goto(page.url.rpartition("/book/")[0] + "/book/chapters/09-training.html")
    figure = page.locator('figure.live-widget[data-widget="BendCapsule"]')
    wake(figure)
    expect(figure.locator(".own-network")).to_contain_text("your own network")
    choices = figure.locator(".choices button")
    expect(choices.nth(8)).to_contain_text("★")
    expect(choices.nth(7)).to_contain_text("7")
    choices.nth(8).click()
    expect(figure.locator(".capsnet")).to_contain_text("by capsule ★")


SLOW_FILES = """
    const read = Blob.prototype.arrayBuffer;
    File.prototype.arrayBuffer = async function () {
        if (this.name === "slow") await new Promise((done) => setTimeout(done, 500));
        return read.call(this);
    };
"""


def test_of_two_files_opened_quickly_the_second_counts(
    visit: Callable[..., Any], address: str, tmp_path: Path
) -> None:
    save_weights(CapsNet(CapsNetConfig.small()), tmp_path / "slow", torch.float32)
    (tmp_path / "one byte").write_bytes(b"1")
    seen = visit("about:blank")
    seen.page.add_init_script(SLOW_FILES)
    seen.page.goto(address + PAGE)
    widget = seen.widget("RaiseOne")
    for name in ("slow", "one byte"):
        widget.locator('[data-role="file"]').set_input_files(tmp_path / name)
    seen.page.wait_for_timeout(4000)
    expect(widget.locator('[data-role="kept"]')).to_contain_text("Not done: weights")
    expect(widget.locator('[data-role="over"]')).to_be_disabled()  # no network was begun


def test_without_webassembly_and_store_it_learns_still(
    visit: Callable[..., Any], address: str
) -> None:
    """Plain JavaScript learns, and a kept network lasts as long as the page."""
    seen = visit("about:blank")
    seen.page.add_init_script("""
        const Whole = Blob;
        Blob = function (parts, type) {
            return new Whole(["delete globalThis.WebAssembly;", ...parts], type);
        };
        indexedDB.open = () => { throw Error(); };
    """)
    seen.page.goto(address + PAGE)
    widget = seen.widget("RaiseOne")
    train(widget)
    has_seen(widget, 64)
    expect(widget.locator(".sentence")).to_contain_text("plain JavaScript")
    widget.locator('[data-role="keep"]').click()
    expect(widget.locator('[data-role="kept"]')).to_contain_text(
        "while this page is open", timeout=30 * SECONDS
    )


def test_without_a_worker_it_says_so(visit: Callable[..., Any], address: str) -> None:
    seen = visit("about:blank")
    seen.page.add_init_script("Worker = () => { throw Error(); };")
    seen.page.goto(address + PAGE)
    widget = seen.widget("RaiseOne")
    widget.locator('[data-role="train"]').click()
    expect(widget.locator(".sentence")).to_contain_text("nothing can be trained here")
    expect(widget).to_have_attribute("data-running", "false")


def test_on_a_phone_the_wall_comes_first(alone: Callable[..., Any]) -> None:
    phone = {
        "viewport": {"width": 375, "height": 800},
        "has_touch": True,
        "is_mobile": True,
        "color_scheme": "dark",
    }
    widget = alone("RaiseOne", PAGE, **phone)
    widget.evaluate("(widget) => widget.scrollIntoView()")
    parts = [".train", ".wall", ".sentence", ".pad", ".passage", ".curve"]
    tops = [top for top, _ in settled(widget).evaluate(TOPS, parts)]
    assert tops == sorted(tops)
    _, (_, wall_ends), *_ = settled(widget).evaluate(TOPS, parts)
    assert wall_ends < 600, "it is on the first screen"
    train(widget)
    has_seen(widget, 100)
    assert widget.page.evaluate("document.documentElement.scrollWidth") <= 375


COVERED = """(node) => {  // whether something lies over the top of a part
    const { left, width, top } = node.getBoundingClientRect();
    return !node.contains(document.elementFromPoint(left + width / 2, top + 4));
}"""


def test_on_a_phone_the_button_stays_in_sight_and_leads_to_pad_and_wall(
    alone: Callable[..., Any],
) -> None:
    phone = {"viewport": {"width": 375, "height": 667}, "has_touch": True, "is_mobile": True}
    widget = alone("RaiseOne", PAGE, reduced_motion="reduce", **phone)
    press = widget.locator('[data-role="train"]')
    for place in ("pad", "wall"):
        part = widget.locator(f'[data-role="{place}"]').first
        widget.locator(f'[data-role="to-{place}"]').tap()
        expect(part).to_be_focused()
        expect(part).to_be_in_viewport(ratio=1)
        expect(press).to_be_in_viewport(ratio=1)
        assert not settled(part).evaluate(COVERED)
        assert not settled(press).evaluate(COVERED)
    assert widget.locator(".main").bounding_box()["height"] <= 64, "it takes little of the page"
    for button in widget.locator(".main button:visible").all():
        assert button.bounding_box()["height"] >= 40


def test_the_switch_brings_animals_and_only_when_it_is_asked(
    visit: Callable[..., Any], address: str, tmp_path: Path
) -> None:
    seen = visit("about:blank", viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    seen.page.on("request", lambda request: asked.append(request.url))
    seen.page.goto(address + PAGE)
    widget = seen.widget("RaiseOne")
    seen.page.wait_for_timeout(300)
    assert not [url for url in asked if "widget-buffers" in url]
    digits_of_wall = picture(widget.locator('[data-role="wall"]').first)

    widget.locator('[data-set="animals"]').click()
    expect(seen.page).to_have_url(re.compile("#data=animals$"))
    expect(widget.locator('[data-set="animals"]')).to_have_attribute("aria-pressed", "true")
    expect(widget.locator("[data-artist]")).to_have_count(9)
    until(lambda: picture(widget.locator('[data-role="wall"]').first) != digits_of_wall)
    assert len([url for url in asked if "widget-buffers" in url]) == 1, "the drawings alone"

    file = tmp_path / "animals.safetensors"
    network = download(widget, file)
    assert network.class_names[1] == "cat"
    assert number(widget, "right") > 40, "of artists whom it never saw; chance reads ten"
    expect(widget.locator('[data-role="sentence"]')).to_contain_text("whom it never saw")
    widget.locator('[data-role="keep"]').click()
    expect(widget.locator('[data-role="kept"]')).to_contain_text("this network reads animals")

    widget.locator("details").evaluate_all("(folds) => folds.forEach((f) => { f.open = true; })")
    widget.locator('[data-role="take"]').click()
    answer = widget.locator('[data-role="says"] b')
    expect(answer).to_have_text(re.compile("|".join(network.class_names)))
    expect(widget.locator("[data-artist] .result").first).to_have_text(
        re.compile(r"reads \d+ of 50")
    )

    widget.locator('[data-set="digits"]').click()
    expect(widget.locator('[data-role="is"]').first).to_have_text("0")
    expect(widget.locator("[data-artist]").first).to_be_hidden()
    open_file(widget, file, "Opened")
    expect(widget.locator('[data-role="is"]').nth(1)).to_have_text("cat")
    expect(seen.page).to_have_url(re.compile("data=animals"))


def test_a_training_that_was_left_is_one_press_away(alone: Callable[..., Any]) -> None:
    """After the switch of the pictures, and after another seed."""
    widget = alone("RaiseOne", PAGE, viewport={"width": 1280, "height": 900})
    back = widget.locator('[data-role="bring-back"]')
    expect(back).to_be_hidden()
    trained(widget, 12_000)  # some seconds
    before = attribute(widget, "seen"), attribute(widget, "right")
    wall = patient_picture(widget.locator('[data-role="wall"]').first)
    for press in ('[data-set="animals"]', '[data-role="another"]'):
        address = widget.page.url
        widget.locator(press).click()
        expect(back).to_contain_text(f"{before[1]} of 100 right after {int(before[0]):,} images")
        expect(widget.locator(".sentence")).to_contain_text("The network before is kept")
        expect(widget).to_have_attribute("data-seen", "0")
        back.click()
        expect(widget).to_have_attribute("data-seen", before[0])
        assert attribute(widget, "right") == before[1]
        until(lambda: patient_picture(widget.locator('[data-role="wall"]').first) == wall)
        assert widget.page.url.rstrip("#") == address.rstrip("#")
        expect(back).to_be_hidden()  # what had learned nothing is not kept
        expect(widget.locator('[data-role="train"]')).to_contain_text("Go on")


def test_a_sign_takes_an_animals_place(alone: Callable[..., Any]) -> None:
    widget = alone("RaiseOne", PAGE)
    widget.locator('[data-set="animals"]').click()
    widget.locator('[data-role="sign"]').click()
    place = widget.locator('[data-role="place"]')
    expect(place.locator("option").nth(1)).to_have_text("in the place of the cat")
    place.select_option("1")
    for _ in range(10):
        write_a_one(widget.locator(".hand"))
        widget.locator('[data-role="next"]').click()
    has_seen(widget, 200)
    expect(widget.locator('[data-role="is"]').nth(1)).to_have_text("★")
    expect(widget.locator('[data-role="sign"]')).to_have_text("Give the cat its place back")
    expect(widget.locator('[data-role="sentence"]')).to_contain_text("has the place of the cat")
