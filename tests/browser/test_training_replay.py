"""TrainingReplay in the built page: by mouse, finger and keyboard through the run; playing, or one moment a press."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from capsnet_book.experiments.recordings import recorded_run
from playwright.sync_api import expect

from .conftest import number, picture, settled

PAGE = "book/chapters/18-when-it-does-not-learn.html"
run = recorded_run()


@pytest.fixture
def replay(alone: Callable[..., Any]) -> Any:
    return alone("TrainingReplay", PAGE)


@pytest.fixture
def open_replay(alone: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **options: alone("TrainingReplay", PAGE, **options)


def drawn(replay: Any) -> str:
    return picture(replay.locator('[data-role="drawn"]').first)


def shows(replay: Any, epoch: int) -> None:
    """Everything on it is of that moment of the recording."""
    moment = run.epochs.index(epoch)
    expect(replay).to_have_attribute("data-epoch", str(epoch))
    cards = replay.locator(".card")
    expect(cards).to_have_count(len(run.labels))
    for k, (prediction, label) in enumerate(zip(run.predictions[moment], run.labels, strict=True)):
        expect(cards.nth(k)).to_have_attribute("data-prediction", str(prediction))
        expect(cards.nth(k)).to_have_text(
            re.compile(r"✓\s*$" if prediction == label else r"✗\s*$"), use_inner_text=True
        )
    digit = int(replay.get_attribute("data-digit"))
    lengths = [float(length) for length in replay.get_attribute("data-lengths").split(",")]
    assert lengths == pytest.approx(run.lengths[moment, digit].tolist(), abs=1e-4)
    if epoch:
        point = run.curve[epoch - 1]
        expect(replay.locator('[data-role="error"]')).to_contain_text(f"{100 * point['validation_error']:.2f} %")
        expect(replay.locator('[data-role="loss"]')).to_contain_text(f"{point['loss']:.4f}")


def test_it_starts_in_the_middle_of_the_run(replay: Any) -> None:
    shows(replay, 8)


def test_the_scrubber_works_by_keyboard(replay: Any) -> None:
    scrubber = replay.locator('[data-role="time"]')
    scrubber.focus()
    seen = set()
    scrubber.press("Home")
    for epoch in run.epochs:
        shows(replay, epoch)
        seen.add(drawn(replay))
        scrubber.press("ArrowRight")
    shows(replay, 60)  # and there it stays
    assert len(seen) == len(run.epochs)
    scrubber.press("ArrowLeft")
    shows(replay, 50)
    scrubber.press("End")
    shows(replay, 60)
    last = f"validation error {100 * run.curve[-1]['validation_error']:.2f} %"
    expect(scrubber).to_have_attribute("aria-valuetext", re.compile(re.escape(last)))


def test_a_drag_over_the_chart_goes_through_the_run(replay: Any) -> None:
    chart = replay.locator('[data-role="chart"]')
    chart.scroll_into_view_if_needed()
    box, mouse = chart.bounding_box(), chart.page.mouse
    middle = box["y"] + box["height"] / 2
    mouse.move(box["x"] + 42, middle)
    mouse.down()
    shows(replay, 0)
    seen = []
    for share in (0.3, 0.5, 0.7, 0.99):
        mouse.move(box["x"] + share * box["width"], middle)
        seen.append(number(replay, "epoch"))
    mouse.up()
    assert seen == sorted(set(seen)) and seen[-1] == 60
    mouse.move(box["x"] + 42, middle)
    settled(replay)
    shows(replay, 60)


def test_a_digit_is_chosen_by_mouse_and_by_key(replay: Any) -> None:
    remark = replay.locator('[data-role="sentence"]')
    couplings = replay.locator('[data-role="couplings"]')
    before = picture(couplings)
    replay.locator('[data-digit="0"].card').click()
    shows(replay, 8)
    expect(replay).to_have_attribute("data-digit", "0")
    expect(remark).to_contain_text("Written as a 7, and recognised")
    assert picture(couplings) != before
    replay.locator('[data-digit="4"].card').press("Enter")
    expect(replay).to_have_attribute("data-digit", "4")
    expect(replay.locator('.card[aria-pressed="true"]')).to_have_count(1)


def test_it_plays_to_the_end_and_can_be_stopped(open_replay: Callable[..., Any]) -> None:
    replay = open_replay(reduced_motion="no-preference")
    play, page = replay.locator('[data-role="play"]'), replay.page
    page.clock.install(time="2026-01-01T00:00:00")
    page.clock.pause_at("2026-01-01T00:01:00")  # from here on time goes only where it is told to
    play.click()
    expect(play).to_have_accessible_name("Pause")
    expect(replay).to_have_attribute("data-playing", "true")
    shows(replay, 0)  # the first time it begins at the beginning
    page.clock.run_for(1500)
    shows(replay, run.epochs[2])
    play.click()
    page.clock.run_for(3000)
    shows(replay, run.epochs[2])
    play.click()
    page.clock.run_for(30_000)
    shows(replay, 60)
    expect(play).to_have_accessible_name("Play again")
    expect(replay).to_have_attribute("data-playing", "false")
    play.click()
    shows(replay, 0)


def test_where_less_motion_is_wished_for_nothing_moves_by_itself(open_replay: Callable[..., Any]) -> None:
    replay = open_replay(reduced_motion="reduce")
    play, page = replay.locator('[data-role="play"]'), replay.page
    page.clock.install()
    expect(play).to_have_accessible_name("Next step")
    play.click()
    shows(replay, 10)
    page.clock.run_for(5000)
    shows(replay, 10)


def test_a_finger_scrubs_on_a_phone_and_the_page_does_not_scroll_sideways(open_replay: Callable[..., Any]) -> None:
    replay = open_replay(viewport={"width": 375, "height": 800}, has_touch=True, is_mobile=True)
    chart, page = replay.locator('[data-role="chart"]'), replay.page
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] - 50, box["y"] + 60)
    shows(replay, 60)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for target in replay.locator("button, input").all():
        size = target.bounding_box()
        assert min(size["width"], size["height"]) >= 44


def test_the_curve_is_drawn_and_its_handle_stands_over_its_epoch(replay: Any) -> None:
    for name in ("loss", "error"):
        path = replay.locator(f"path.line.of-{name}").get_attribute("d")
        assert path.count("L") == len(run.curve) - 1
    dot, knob = (replay.locator(which).bounding_box() for which in (".dot.of-error", ".moment"))
    assert dot["x"] + dot["width"] / 2 == pytest.approx(knob["x"] + knob["width"] / 2, abs=1)
