"""RoutingRounds in the built page: rounds go by, votes are dragged, and couplings and lengths follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from capsnet_book.widgets import _parts
from playwright.sync_api import expect

from capsnet_tutorial import load_pretrained, prediction_vectors, route

from .conftest import attribute, number, numbers, picture

PAGE = "book/chapters/06-routing.html"
LOUD = "71"  # the capsule that is chosen at first
# In the page itself: on a slow machine round 4 may come before a click from outside.
PAUSE_IN_ROUND_THREE = """root => {
  const watcher = new MutationObserver(() => {
    if (root.dataset.round !== "3") return;
    watcher.disconnect();
    root.querySelector('[data-role="play"]').click();
  });
  watcher.observe(root, { attributes: true });
}"""


@pytest.fixture
def rounds(alone: Callable[..., Any]) -> Any:
    return alone("RoutingRounds", PAGE, reduced_motion="reduce")


def shows(widget: Any, name: str, value: str) -> None:
    expect(widget).to_have_attribute(f"data-{name}", value)


def lengths(widget: Any) -> list[float]:
    return numbers(widget, "lengths")


def part(widget: Any, role: str) -> Any:
    return widget.locator(f'[data-role="{role}"]')


def pixels(widget: Any) -> str:
    return picture(part(widget, "couplings").locator("canvas"))


def drag_vote(widget: Any, x: float, y: float) -> None:
    """To (x, y) of the plane, which shows ±5 and ±2.2."""
    part(widget, "plane").scroll_into_view_if_needed()
    knob, plane = part(widget, "vote").locator(".knob").bounding_box(), part(widget, "plane").bounding_box()
    mouse = widget.page.mouse
    mouse.move(knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2)
    mouse.down()
    to = plane["x"] + plane["width"] * (0.5 + x / 10), plane["y"] + plane["height"] * (0.5 - y / 4.4)
    mouse.move(*to, steps=4)
    mouse.up()


def test_every_round_is_pytorchs(rounds: Any) -> None:
    digits, labels = _parts.one_of_each()
    model = load_pretrained("small")
    with torch.no_grad():
        u = model.primary_capsules(torch.from_numpy(digits).unsqueeze(1).float() / 255)
        _, trace = route(prediction_vectors(u, model.routed.weight), 10, return_trace=True)
    for index in (7, 2):
        part(rounds, "digit").nth(index).click()
        part(rounds, "time").press("Home")
        for r in range(10):
            shows(rounds, "index", str(index))
            shows(rounds, "round", str(r + 1))
            shows(rounds, "chosen", str(labels[index]))
            assert lengths(rounds) == pytest.approx(trace.v[r, index].norm(dim=1).tolist(), abs=2e-5)
            bits = torch.special.entr(trace.c[r, index]).sum(1).mean() / torch.log(torch.tensor(2.0))
            assert number(rounds, "entropy") == pytest.approx(float(bits), abs=2e-5)
            coupling = trace.c[r, index, int(number(rounds, "capsule")), labels[index]]
            assert number(rounds, "coupling") == pytest.approx(float(coupling), abs=2e-5)
            part(rounds, "time").press("ArrowRight")
        shows(rounds, "round", "10")


def test_a_vote_dragged_away_breaks_the_agreement_at_once_and_reset_mends_it(rounds: Any) -> None:
    for _ in range(2):
        part(rounds, "time").press("ArrowRight")
    expect(part(rounds, "reset")).to_be_hidden()
    whole, before = lengths(rounds), pixels(rounds)
    shows(rounds, "capsule", LOUD)
    drag_vote(rounds, -2, 1)
    expect(rounds).to_have_attribute("data-moved", "1")
    assert numbers(rounds, "vote") == pytest.approx([-2, 1], abs=0.05)
    assert lengths(rounds)[7] < 0.3 < 0.9 < whole[7]
    assert pixels(rounds) != before, "the couplings should be drawn anew"
    expect(part(rounds, "sentence")).to_contain_text("broken")

    part(rounds, "reset").click()
    expect(rounds).to_have_attribute("data-moved", "0")
    assert lengths(rounds) == whole
    assert pixels(rounds) == before


def test_a_loud_vote_turns_the_capsule_around(rounds: Any) -> None:
    """What the chapter says: long again, and pointing the other way."""
    part(rounds, "time").press("Home")
    for _ in range(5):
        part(rounds, "time").press("ArrowRight")
    drag_vote(rounds, -4.9, 0)
    expect(rounds).to_have_attribute("data-moved", "1")
    shows(rounds, "round", "6")
    assert lengths(rounds)[7] > 0.9
    expect(part(rounds, "sentence")).to_contain_text("the other way")


def test_everything_works_by_keyboard(rounds: Any) -> None:
    time, vote, couplings = (part(rounds, role) for role in ("time", "vote", "couplings"))
    time.press("End")
    shows(rounds, "round", "10")
    time.press("ArrowLeft")
    expect(time).to_have_attribute("aria-valuetext", "Round 9 of 10")

    x = float(vote.get_attribute("aria-valuenow"))
    vote.press("ArrowLeft")
    expect(vote).to_have_attribute("aria-valuenow", f"{x - 0.2:.2f}")
    vote.press("PageDown")
    expect(couplings).to_have_attribute("aria-valuenow", "70")
    vote.press("ArrowUp")
    expect(rounds).to_have_attribute("data-moved", "2")
    vote.press("Escape")
    expect(rounds).to_have_attribute("data-moved", "0")

    couplings.press("Home")
    shows(rounds, "capsule", "0")
    couplings.press("PageUp")
    shows(rounds, "capsule", "9")

    part(rounds, "class").nth(7).press("ArrowRight")
    shows(rounds, "chosen", "8")
    expect(part(rounds, "class").nth(8)).to_be_focused()
    expect(part(rounds, "class").nth(8)).to_have_attribute("aria-checked", "true")


def test_a_click_chooses_a_class_and_a_capsule(rounds: Any) -> None:
    part(rounds, "class").nth(2).click()
    shows(rounds, "chosen", "2")
    box = part(rounds, "couplings").bounding_box()
    part(rounds, "couplings").click(position={"x": 3, "y": box["height"] / 2})
    shows(rounds, "capsule", "0")


def test_play_goes_through_the_rounds_and_pauses(alone: Callable[..., Any]) -> None:
    rounds = alone("RoutingRounds", PAGE)
    rounds.evaluate(PAUSE_IN_ROUND_THREE)
    part(rounds, "play").click()
    expect(rounds).to_have_attribute("data-playing", "true")
    expect(rounds).to_have_attribute("data-playing", "false")
    rounds.page.wait_for_timeout(1600)
    assert attribute(rounds, "round") == "3", "paused"


def test_a_finger_drags_a_vote_on_a_phone(alone: Callable[..., Any]) -> None:
    options = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    rounds = alone("RoutingRounds", PAGE, **options)
    assert rounds.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
    for column in part(rounds, "class").all():
        box = column.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    part(rounds, "time").press("ArrowRight")
    part(rounds, "plane").scroll_into_view_if_needed()
    touch, plane = part(rounds, "vote").locator(".touch").bounding_box(), part(rounds, "plane").bounding_box()
    assert min(touch["width"], touch["height"]) >= 44
    x, y = touch["x"] + 10, touch["y"] + touch["height"] / 2  # near the edge of what a finger may hit
    finger = rounds.page.context.new_cdp_session(rounds.page)
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": plane["x"] + plane["width"] * 0.4, "y": y}]),
        ("touchMove", [{"x": plane["x"] + plane["width"] * 0.3, "y": plane["y"] + plane["height"] * 0.3}]),
        ("touchEnd", []),
    ):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(rounds).to_have_attribute("data-moved", "1")
    assert numbers(rounds, "vote")[0] == pytest.approx(-2, abs=0.1)
