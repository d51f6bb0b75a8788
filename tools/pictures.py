"""Photograph the built book: a still of every widget, the front page, a loop.

    python -m tools.pictures          (after `make book`; `make stills` does both)

A still stands in a widget's place until the widget is awake, and for readers without JavaScript.
Each is taken four times: light and dark, for wide windows and for phones. The next build shows
them, and a notebook that is executed stores a small copy. A widget that is taller on another page
than on its still is in `stills/heights.json`: the page reserves that much. The stage, which waits
on some pages until it is touched, is taken in Chinese as well.

The loop of a wall that clears, on the front page and in the README, is made by the button *Share*
of the page "Raise one"; beside it lies its last moment, for readers who want nothing to move.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image
from PIL.GifImagePlugin import GifImageFile
from playwright.sync_api import Browser, Locator, Page, ViewportSize, sync_playwright

from .chromium import launch

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "_build" / "html" / "book"
FRONT = PAGES / "index.html"
CHINESE_FRONT = ROOT / "_build" / "html" / "zh_CN" / "book" / "index.html"
SCREENSHOT = ROOT / "book" / "_static" / "screenshot.png"  # in the README
LOOP = ROOT / "book" / "_static" / "raise-one.gif"  # on the front page and in the README
LOOP_STILL = LOOP.with_suffix(".png")
STILLS = ROOT / "book" / "_static" / "stills"
CHINESE_STILLS = ROOT / "book" / "locales" / "zh_CN" / "stills"

TALL = 3000  # pixels of a window in which every widget stands whole, without a header over it
SCREENSHOT_WINDOW: ViewportSize = {"width": 1200, "height": 630}
PIXEL_DENSITY = 2  # pixels of a still for one of the page; `_ext/widgets/stills.py` counts on it
HEIGHT_TOLERANCE = 8  # pixels: heights that differ by no more are the same
QUALITIES = (60, 45, 30)  # of WebP, tried in order until a still is small enough
MAX_BYTES = 60_000
LOOP_COLOURS = 32
LOOP_DIGITS = 12_000  # that the network of the loop learns from
LOOP_SEED = 7
LOOP_BYTES = 400_000

LIVING = "figure.live-widget, figure.glass"
QUIET_MS = 1000  # that heights stand still before they are measured: a first answer may add lines
HEIGHTS_STAND_STILL = """(quiet) => {
    const views = [...document.querySelectorAll(".live-view")];
    const heights = views.map((view) => view.offsetHeight).join();
    if (heights !== globalThis.lastHeights) {
        globalThis.lastHeights = heights;
        globalThis.changedAt = performance.now();
    }
    return performance.now() - globalThis.changedAt > quiet;
}"""

# page -> look, with a number from its second widget on -> suffix of the window -> pixels
Heights = dict[str, dict[str, dict[str, int]]]


@dataclass(frozen=True)
class View:
    """A window and a theme to take stills in; the suffixes stand in the files' names."""

    width: int
    width_suffix: str
    theme: Literal["light", "dark"]
    theme_suffix: str

    def file(self, look: str) -> str:
        """Return the name of a look's still."""
        return f"{look}{self.width_suffix}{self.theme_suffix}.webp"


VIEWS = (
    View(1280, "", "light", ""),
    View(1280, "", "dark", "-dark"),
    View(375, "-narrow", "light", ""),
    View(375, "-narrow", "dark", "-dark"),
)


def main() -> None:
    """Take all pictures."""
    pages = [path for path in sorted(PAGES.rglob("*.html")) if has_widgets(path)]
    if not pages:
        raise SystemExit("There is no book yet: `make book` builds it.")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        heights: Heights = {}
        for view in VIEWS:
            take_stills(browser, view, pages, heights)
            if CHINESE_FRONT.exists():
                page = open_page(browser, CHINESE_FRONT, view)
                take_widgets(page, view, {}, CHINESE_STILLS)
                page.close()
        take_screenshot(browser)
        take_loop(browser)
        browser.close()
    text = json.dumps(heights, indent=2)
    STILLS.joinpath("heights.json").write_text(f"{text}\n", encoding="utf-8")


def has_widgets(path: Path) -> bool:
    """Return True if a built page has a widget."""
    return "data-widget=" in path.read_text(encoding="utf-8")


# --- widgets


def take_stills(browser: Browser, view: View, pages: list[Path], heights: Heights) -> None:
    """Take the stills of a view, and note in `heights` which widgets differ from theirs."""
    still_heights: dict[str, int] = {}
    for path in pages:
        page = open_page(browser, path, view)
        for widget, height in take_widgets(page, view, still_heights, STILLS).items():
            heights.setdefault(path.stem, {}).setdefault(widget, {})[view.width_suffix] = height
        page.close()


def open_page(browser: Browser, path: Path, view: View) -> Page:
    """Return a page with all its widgets alive, at its top."""
    page = browser.new_page(
        viewport={"width": view.width, "height": TALL},
        color_scheme=view.theme,
        device_scale_factor=PIXEL_DENSITY,
        reduced_motion="reduce",
    )
    page.goto(path.as_uri())
    wake_widgets(page)
    return page


def wake_widgets(page: Page) -> None:
    """Wait until all widgets of a page are alive and have their height, and return to its top."""
    for widget in page.locator(LIVING).all():
        widget.scroll_into_view_if_needed()
        widget.dispatch_event("pointerenter")  # a stage may wait for a reader
        widget.and_(page.locator("[data-live]")).wait_for()
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_load_state("networkidle")
    page.wait_for_function(HEIGHTS_STAND_STILL, arg=QUIET_MS)


def take_widgets(
    page: Page, view: View, still_heights: dict[str, int], folder: Path
) -> dict[str, int]:
    """Take a still of the first widget of each look that has none in `still_heights`.

    Returns the heights of the other widgets that are not as high as their look's still.
    """
    others = {}
    counts: Counter[str] = Counter()
    for look, place in living_widgets(page):
        counts[look] += 1
        height = round(place.evaluate("view => view.offsetHeight"))
        if look not in still_heights:
            still_heights[look] = height
            save_still(screenshot(place), folder / view.file(look))
        elif abs(height - still_heights[look]) > HEIGHT_TOLERANCE:
            key = look if counts[look] == 1 else f"{look} {counts[look]}"
            others[key] = height
    return others


def living_widgets(page: Page) -> Iterator[tuple[str, Locator]]:
    """Yield the look of each widget of a page and the element that it has drawn.

    Its look is its class, or such as "Choose-squash"; the stage has its class alone.
    """
    for widget in page.locator(LIVING).all():
        look = widget.get_attribute("data-look") or widget.get_attribute("data-widget")
        yield look or "", widget.locator(".live-view")


def screenshot(element: Locator) -> Image.Image:
    """Return a picture of an element."""
    return Image.open(io.BytesIO(element.screenshot())).convert("RGB")


def save_still(picture: Image.Image, path: Path) -> None:
    """Write a still in the best quality that is small enough."""
    for quality in QUALITIES:
        picture.save(path, quality=quality, method=6)
        if path.stat().st_size <= MAX_BYTES:
            break
    report(path)


def report(path: Path) -> None:
    """Print the size of a picture."""
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


# --- the front page and its loop


def take_screenshot(browser: Browser) -> None:
    """Take the picture of the front page."""
    page = browser.new_page(
        viewport=SCREENSHOT_WINDOW, color_scheme="light", reduced_motion="reduce"
    )
    page.goto(FRONT.as_uri())
    wake_widgets(page)
    page.screenshot(path=SCREENSHOT)
    page.close()


def take_loop(browser: Browser) -> None:
    """Train a network in its page and save the loop that the button *Share* makes of it."""
    page = browser.new_page(viewport=SCREENSHOT_WINDOW, color_scheme="light")
    page.goto(f"{(PAGES / 'raise-one.html').as_uri()}#seed={LOOP_SEED}")
    widget = page.locator('figure[data-widget="RaiseOne"]')
    wake_widgets(page)
    widget.locator('[data-role="train"]').click()
    learned = "(least) => Number(document.querySelector('[data-seen]').dataset.seen) >= least"
    page.wait_for_function(learned, arg=LOOP_DIGITS, timeout=0)
    widget.locator('[data-role="share"]').click()
    with page.expect_download() as event:
        widget.locator('[data-role="save"]').last.click()
    event.value.save_as(LOOP)
    page.close()
    lighten(LOOP)
    with GifImageFile(LOOP) as loop:
        loop.seek(loop.n_frames - 1)
        loop.convert("RGB").quantize(LOOP_COLOURS).save(LOOP_STILL, optimize=True)
    for path in (LOOP, LOOP_STILL):
        report(path)


def lighten(path: Path) -> None:
    """Leave every second picture out of a loop, its last one excepted, until it is light enough."""
    while path.stat().st_size > LOOP_BYTES:
        with GifImageFile(path) as loop:
            frames, durations = [], []
            for n in range((loop.n_frames - 1) % 2, loop.n_frames, 2):
                loop.seek(n)
                frames.append(loop.copy())
                durations.append(loop.info["duration"])
        first, *others = frames
        first.save(path, save_all=True, append_images=others, duration=durations, loop=0)


if __name__ == "__main__":
    main()
