"""Photograph the built book: a still of every widget, for readers without JavaScript, and the README's picture.

    python tools/stills.py          (after `make book`; `make stills` does both)

Each widget is taken four times: light and dark, for wide windows and for phones. The files land in
book/_static/stills; the next build shows them. A notebook that is executed
stores a small copy. A chapter whose widget an earlier one has shown, or that has none, tags a cell `card`: its
figure is the chapter's picture on the front page.
"""

from __future__ import annotations

import io
import threading
from pathlib import Path

import notebook_pictures
from chromium import MISSING, find_chromium, launch
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from serve import BOOK, serve

ROOT = Path(__file__).resolve().parent.parent
STATIC = ROOT / "book" / "_static"
WIDTHS = {"": 1280, "-narrow": 375}  # suffix of the file -> width of the window
THEMES = {"": "light", "-dark": "dark"}
SCALE = 2  # pixels of a still for one of the page; live_widgets.py counts on it
HEAVY = 60_000  # bytes
CARD = "tag_card"  # the class of a cell so tagged
TALL = 3000  # a window in which every widget stands whole, so that no part of the page lies over it


def main() -> None:
    """Take all pictures."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted((BOOK / "book").rglob("*.html"))}
    if not pages:
        raise SystemExit("There is no book yet: `make book` builds it.")
    server = serve(BOOK)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://localhost:{server.server_address[1]}/"
    (STATIC / "stills").mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        executable = find_chromium(playwright)
        if executable is None:
            raise SystemExit(MISSING)
        browser = launch(playwright, executable)
        for window, width in WIDTHS.items():
            for theme, scheme in THEMES.items():
                taken: set[str] = set()
                for path, text in pages.items():
                    if "data-widget=" in text or CARD in text:
                        place = address + path.relative_to(BOOK).as_posix()
                        page = opened(browser, place, (width, TALL), scheme, SCALE)
                        take_widgets(page, f"{window}{theme}", taken)
                        if CARD in text and not window:
                            take_card(page, f"{path.stem}{theme}")
                        page.close()
        page = opened(browser, address + "book/index.html", (1280, 800), "light", 1)
        save(page.screenshot(), STATIC / "screenshot.png")
        browser.close()
    server.shutdown()
    notebook_pictures.main()


def opened(browser: Browser, address: str, window: tuple[int, int], scheme: str, scale: int) -> Page:
    """A page with all its widgets alive, at its top."""
    page = browser.new_page(
        viewport={"width": window[0], "height": window[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=scale,
        reduced_motion="reduce",
    )
    page.goto(address)
    for widget in page.locator("figure.live-widget").all():
        widget.scroll_into_view_if_needed()
        widget.and_(page.locator("[data-live]")).wait_for()
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_load_state("networkidle")
    return page


def take_widgets(page: Page, suffix: str, taken: set[str]) -> None:
    """The first widget of each class on the page, unless an earlier page had one."""
    for widget in page.locator("figure.live-widget").all():
        name = widget.get_attribute("data-widget") or ""
        if name not in taken:
            taken.add(name)
            save(widget.locator(".live-view").screenshot(), STATIC / "stills" / f"{name}{suffix}.webp")


def take_card(page: Page, name: str) -> None:
    """The figure of the page's cell tagged `card`."""
    figure = page.locator(f".{CARD} img").screenshot()
    notebook_pictures.save_thumbnail(Image.open(io.BytesIO(figure)), name)


def save(png: bytes, path: Path) -> None:
    """Write a picture, small: it is what readers without JavaScript see, four times a widget."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    if path.suffix != ".webp":
        picture.save(path, optimize=True)
    else:
        for quality in (60, 45, 30):
            picture.save(path, quality=quality, method=6)
            if path.stat().st_size <= HEAVY:
                break
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
