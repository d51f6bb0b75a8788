"""Measure how smoothly widgets follow a hand on a phone: frames and the network's answers.

    python -m tools.frames [--page file:///…/_build/html/] [--seconds 4] [--rounds 3]

A finger draws or drags in a window 375 pixels wide, with the processor as it is and slowed down
four times (Chromium's own emulation of a middling phone, which slows the page and not its
workers). The two take turns, since others may use the machine as well. Printed are the gaps
between frames (median, and the 95th percentile), frames and answers a second, and the processor
time that the page's own thread took for a frame: at 60 frames a second there are 16.7 ms. It needs
a built book.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import CDPSession, Locator, Page, sync_playwright

from .chromium import launch

ROOT = Path(__file__).resolve().parents[1]
BOOK = (ROOT / "_build" / "html").as_uri() + "/"
PHONE = {"width": 375, "height": 800}
RATES = (1, 4)  # how many times slower the processor is
MOVES = 60  # of the finger, a second
SPEED = 4.0  # radians a second of the finger's curve
SWING_MS = 4000  # in which the digit on the dial turns to 90 degrees by itself
TRAINING_MS = 4000  # of the network that is raised, before a hand draws

WATCH = """() => {
    globalThis.measured = { gaps: [], answers: 0 };
    let last;
    const step = (time) => {
        if (last !== undefined) measured.gaps.push(time - last);
        last = time;
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
}"""
COUNT_CHANGES = """([selector, attribute]) => {
    const count = (changes) => { measured.answers += changes.length; };
    const node = document.querySelector(selector);
    new MutationObserver(count).observe(node, { attributeFilter: [attribute] });
}"""
COUNT_PAINTINGS = """([selector, method]) => {
    const brush = CanvasRenderingContext2D.prototype;
    const paint = brush[method];
    brush[method] = function (...given) {
        if (this.canvas.matches(selector)) measured.answers += 1;
        return paint.apply(this, given);
    };
}"""
CENTRE = "(node) => node.scrollIntoView({ block: 'center', behavior: 'instant' })"


@dataclass(frozen=True)
class Scene:
    """A widget on a page, and where a finger moves: prepare(page) returns that place."""

    name: str
    page: str
    prepare: Callable[[Page], Locator]


@dataclass(frozen=True)
class Smoothness:
    """What was measured while a finger moved.

    Milliseconds between frames, two rates a second, and milliseconds of the page's thread a frame.
    """

    median: float
    slow: float
    frames: float
    answers: float
    work: float


def awake(page: Page, name: str) -> Locator:
    """Return a widget's root once it is alive."""
    figure = page.locator(f'figure[data-widget="{name}"]').first
    figure.scroll_into_view_if_needed()
    figure.and_(page.locator("[data-live]")).wait_for()
    return figure.locator(".capsnet").first


def prepare_glass(page: Page) -> Locator:
    """Return the pad of the front page's network."""
    stage = awake(page, "Glass")
    page.evaluate(COUNT_PAINTINGS, ['[data-part="classes"]', "clearRect"])
    return stage.locator('[data-role="pad"]')


def prepare_two_digits(page: Page) -> Locator:
    """Return the stage on which two digits are dragged."""
    widget = awake(page, "TwoDigits")
    page.evaluate(COUNT_CHANGES, ['[data-widget="TwoDigits"].capsnet', "data-lengths"])
    return widget.locator('[data-role="stage"]')


def prepare_dial(page: Page) -> Locator:
    """Return the handle by which a digit is turned, at the top of its ring."""
    widget = awake(page, "TurnDial")
    widget.locator('[data-role="show"]').click()
    page.wait_for_timeout(SWING_MS)
    handle = widget.locator('[data-role="handle"]')
    for _ in range(6):
        handle.press("Shift+ArrowRight")  # by 15 degrees
    page.evaluate(COUNT_CHANGES, ['[data-widget="TurnDial"].capsnet', "data-values"])
    return handle


def prepare_raised(page: Page) -> Locator:
    """Return the pad beside a network that has learned for some seconds and goes on learning."""
    widget = awake(page, "RaiseOne")
    widget.locator('[data-role="train"]').click()
    page.wait_for_timeout(TRAINING_MS)
    page.evaluate(COUNT_PAINTINGS, ['[data-role="redrawn"]', "putImageData"])
    return widget.locator('.hand [data-role="pad"]')


SCENES = (
    Scene("glass", "book/index.html", prepare_glass),
    Scene("TwoDigits", "book/chapters/16-two-digits-at-once.html", prepare_two_digits),
    Scene("TurnDial", "book/chapters/17-new-viewpoints.html", prepare_dial),
    Scene("RaiseOne", "book/raise-one.html", prepare_raised),
)


def draw(page: Page, cdp: CDPSession, place: Locator, seconds: float) -> Smoothness:
    """Move a finger over a place for some seconds, and return what was measured meanwhile."""
    place.evaluate(CENTRE)
    box = place.bounding_box()
    assert box, "the place is in the page"
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    reach = max(60.0, 0.35 * min(box["width"], box["height"]))

    def touch(kind: str, points: list[dict[str, float]]) -> None:
        cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", [{"x": middle[0], "y": middle[1]}])
    page.evaluate("Object.assign(measured, { gaps: [], answers: 0, start: performance.now() })")
    work_before = seconds_of_work(cdp)
    start = time.perf_counter()
    step = 0
    while time.perf_counter() - start < seconds:
        angle = SPEED * (time.perf_counter() - start)
        x = middle[0] + reach * math.sin(angle)
        y = middle[1] + reach * math.sin(1.3 * angle)
        touch("touchMove", [{"x": x, "y": y}])
        step += 1
        time.sleep(max(0.0, start + step / MOVES - time.perf_counter()))
    measured = page.evaluate("({ ...measured, ms: performance.now() - measured.start })")
    work = seconds_of_work(cdp) - work_before
    touch("touchEnd", [])

    gaps = sorted(measured["gaps"]) or [measured["ms"]]
    per_second = 1000 / measured["ms"]
    return Smoothness(
        median=statistics.median(gaps),
        slow=gaps[int(0.95 * (len(gaps) - 1))],
        frames=len(gaps) * per_second,
        answers=measured["answers"] * per_second,
        work=1000 * work / len(gaps),
    )


def seconds_of_work(cdp: CDPSession) -> float:
    """Return the processor time that the page's thread has taken; others' load does not count."""
    metrics = cdp.send("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def measure(page: Page, scene: Scene, seconds: float, rounds: int) -> dict[int, list[Smoothness]]:
    """Measure a scene `rounds` times at each of `RATES`, in turn."""
    page.evaluate(WATCH)
    place = scene.prepare(page)
    cdp = page.context.new_cdp_session(page)
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    results: dict[int, list[Smoothness]] = {rate: [] for rate in RATES}
    for _ in range(rounds):
        for rate in RATES:
            cdp.send("Emulation.setCPUThrottlingRate", {"rate": rate})
            results[rate].append(draw(page, cdp, place, seconds))
    return results


def main() -> None:
    """Measure all scenes, or those that are named, and print a line for each rate."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("scenes", nargs="*", help="names; by default all")
    parser.add_argument("--page", default=BOOK, help="where the built book lies")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("widget     slowed  gap ms: median  95 %   frames/s  answers/s  ms/frame  (medians)")
    with sync_playwright() as playwright:
        browser = launch(playwright, "--disable-gpu")
        for scene in SCENES:
            if options.scenes and scene.name not in options.scenes:
                continue
            context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
            page = context.new_page()
            page.goto(options.page + scene.page)
            results = measure(page, scene, options.seconds, options.rounds)
            for rate, rounds in results.items():
                print(line_of(scene.name, rate, rounds), flush=True)
            context.close()
        browser.close()


def line_of(name: str, rate: int, rounds: list[Smoothness]) -> str:
    """Return a line of the table: the medians of some rounds."""

    def middle(number: str) -> float:
        return statistics.median(getattr(one, number) for one in rounds)

    return (
        f"{name:10} {rate:>5} x {middle('median'):>14.1f} {middle('slow'):>7.1f}"
        f" {middle('frames'):>9.1f} {middle('answers'):>10.1f} {middle('work'):>9.1f}"
    )


if __name__ == "__main__":
    main()
