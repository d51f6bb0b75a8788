"""Photograph the built book: a still of every widget, and the front page.

    python tools/pictures.py          (after `make book`; `make stills` does both)

A still stands in a widget's place until the widget is awake, and for readers without JavaScript. Each is taken four
times: light and dark, for wide windows and for phones. The next build shows them, and a notebook that is executed
stores a small copy. A widget that is taller on another page than on its still is in `stills/heights.json`: the page
reserves that much. The stage, which waits on some pages until it is touched, is taken in Chinese as well.

The notebooks show the network as a picture, `figures.network_still`: the stage's scene, in light, with the parts of a
chapter enlarged. These pictures are taken from the front page, in both languages.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

from chromium import launch
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "_build" / "html" / "book"
STATIC = ROOT / "book" / "_static"
CHINESE = ROOT / "_build" / "html" / "zh_CN" / "book" / "index.html"
CHINESE_STILLS = ROOT / "book" / "locales" / "zh_CN" / "stills"
NETWORK_STILLS = ROOT / "book" / "capsnet_book" / "assets" / "stills"
NETWORK = ROOT / "book" / "capsnet_book" / "network.json"
WIDTHS = {"": 1280, "-narrow": 375}  # suffix of the file -> width of the window
THEMES = {"": "light", "-dark": "dark"}
SCALE = 2  # pixels of a still for one of the page; live_widgets.py counts on it
HEAVY = 60_000  # bytes
TALL = 3000  # a window in which every widget stands whole, so that no part of the page lies over it
SAME = 8  # pixels: heights that differ by no more than this are one
ALIVE = "figure.live-widget, figure.glass"
ENLARGE = """
document.addEventListener("DOMContentLoaded", () => {
  document.querySelector("figure.glass").dataset.lit = %s;
});
"""  # the parts that the stage enlarges, before it wakes


def main() -> None:
    """Take all pictures."""
    pages = [
        path
        for path in sorted(PAGES.rglob("*.html"))
        if has_pictures(path.read_text(encoding="utf-8"))
    ]
    if not pages:
        raise SystemExit("There is no book yet: `make book` builds it.")
    heights: dict[str, dict[str, dict[str, int]]] = {}
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for window, width in WIDTHS.items():
            for theme, scheme in THEMES.items():
                taken: dict[str, int] = {}
                for path in pages:
                    page = opened(browser, path, {"width": width, "height": TALL}, scheme, SCALE)
                    taller = take_widgets(page, window, theme, taken)
                    page.close()
                    for name, height in taller.items():
                        heights.setdefault(path.stem, {}).setdefault(name, {})[window] = height
                if CHINESE.exists():
                    page = opened(browser, CHINESE, {"width": width, "height": TALL}, scheme, SCALE)
                    take_widgets(page, window, theme, {}, CHINESE_STILLS)
                    page.close()
        front = opened(browser, PAGES / "index.html", {"width": 1200, "height": 630}, "light", 1)
        front.screenshot(
            path=STATIC / "screenshot.png"
        )  # in the README, and with a link to the book
        front.close()
        take_networks(browser, PAGES / "index.html", NETWORK_STILLS)
        if CHINESE.exists():
            take_networks(browser, CHINESE, CHINESE_STILLS)
        browser.close()
    STATIC.joinpath("stills", "heights.json").write_text(
        f"{json.dumps(heights, indent=2)}\n", encoding="utf-8"
    )


def has_pictures(html: str) -> bool:
    """Whether a page has a widget."""
    return "data-widget=" in html


def opened(browser: Browser, path: Path, window: dict[str, int], scheme: str, scale: int) -> Page:
    """A page with all its widgets alive, at its top."""
    page = browser.new_page(
        viewport={"width": window["width"], "height": window["height"]},
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=scale,
        reduced_motion="reduce",
    )
    page.goto(path.as_uri())
    for widget in page.locator(ALIVE).all():
        widget.scroll_into_view_if_needed()
        widget.dispatch_event("pointerenter")  # where a stage waits for a reader
        widget.and_(page.locator("[data-live]")).wait_for()
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_load_state("networkidle")
    return page


def take_widgets(
    page: Page, window: str, theme: str, taken: dict[str, int], folder: Path = STATIC / "stills"
) -> dict[str, int]:
    """The first widget of each class; `taken` has the stills' heights. Gives those of others that are not so high."""
    others = {}
    for widget in page.locator(ALIVE).all():
        name = widget.get_attribute("data-widget") or ""
        view = widget.locator(".live-view")
        height = round(view.evaluate("view => view.offsetHeight"))
        if name not in taken:
            taken[name] = height
            picture = Image.open(io.BytesIO(view.screenshot()))
            save(picture.convert("RGB"), folder / f"{name}{window}{theme}.webp")
        elif abs(height - taken[name]) > SAME:
            others[name] = height
    return others


def take_networks(browser: Browser, path: Path, folder: Path) -> None:
    """Write the network's pictures that the notebooks ask for, taken from the stage of a page."""
    parts_of = json.loads(NETWORK.read_text(encoding="utf-8"))["chapters"]
    for chapter in network_stills_asked_for():
        page = browser.new_page(viewport={"width": 1280, "height": TALL}, color_scheme="light")
        page.add_init_script(ENLARGE % json.dumps(" ".join(parts_of.get(chapter, ()))))
        page.goto(path.as_uri())
        stage = page.locator("figure.glass[data-live]")
        stage.wait_for()
        page.add_style_tag(content=".scene button { visibility: hidden; }")  # nothing to press
        page.wait_for_load_state("networkidle")
        scene = Image.open(io.BytesIO(stage.locator(".scene").screenshot())).convert("RGB")
        page.close()
        name = f"network-{chapter}.png" if chapter else "network.png"
        folder.mkdir(parents=True, exist_ok=True)
        scene.quantize(32, kmeans=1, dither=Image.Dither.NONE).save(folder / name, optimize=True)
        print(f"{(folder / name).relative_to(ROOT)}: {(folder / name).stat().st_size // 1000} kB")


def network_stills_asked_for() -> list[str]:
    """Return the chapters whose parts a notebook's picture of the network enlarges; "" is none."""
    calls = re.compile(r'network_still\((?:\\"([\w-]+)\\")?\)')  # in a notebook's JSON
    notebooks = (ROOT / "book" / "chapters").glob("*.ipynb")
    return sorted({name for path in notebooks for name in calls.findall(path.read_text("utf-8"))})


def save(picture: Image.Image, path: Path) -> None:
    """Write a still, small."""
    for quality in (60, 45, 30):
        picture.save(path, quality=quality, method=6)
        if path.stat().st_size <= HEAVY:
            break
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
