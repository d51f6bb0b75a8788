"""Draw the picture that is shown beside a link to a chapter.

    python -m tools.cards          (`make stills` does it, too)

A card has the chapter's number and its drawing (`_ext/pages/emblems.py`), and no words: it serves
both languages. `_ext/pages/sharing.py` names it in the page.
"""

from __future__ import annotations

import io
from base64 import b64encode
from pathlib import Path

from _ext.pages.emblems import emblem
from _ext.pages.reading_time import chapters_by_part
from capsnet_book.palette import css_variables
from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from .chromium import launch

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "book" / "_static"
CARDS = STATIC / "cards"
SIZE: ViewportSize = {"width": 1200, "height": 630}  # pixels, as networks ask for
COLOURS = 32
NUMBERS = STATIC / "fonts" / "source-serif-4-latin-700-normal.woff2"

PAGE = """
<style>
  {palette}
  @font-face {{ font-family: Numbers; src: url("data:font/woff2;base64,{font}"); }}
  body {{ margin: 0; background: var(--caps-surface); }}
  b {{
    position: absolute; top: 28px; left: 64px;
    font: 120px/1 Numbers; color: var(--caps-contrast);
  }}
  hr {{
    position: absolute; top: 150px; left: 64px; width: 120px; height: 6px;
    margin: 0; border: 0; background: var(--caps-accent);
  }}
  div svg {{
    position: absolute; top: 50px; left: 160px; width: 960px;
    fill: none; stroke: var(--caps-ink); stroke-width: 1.8;
    stroke-linecap: round; stroke-linejoin: round;
  }}
  body > svg {{ position: absolute; bottom: 36px; left: 64px; width: 120px; height: auto; }}
</style>
<body><b>{number}</b><hr><div>{drawing}</div>{mark}
"""


def main() -> None:
    """Draw all cards."""
    CARDS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for number, chapter in enumerate(chapters(), 1):
            card(browser, number, chapter).save(CARDS / f"{chapter}.png", optimize=True)
        browser.close()


def chapters() -> list[str]:
    """Return the names of the chapters, `06-routing`, in order."""
    parts = chapters_by_part(ROOT).values()
    return [path.stem for paths in parts for path in paths]


def card(browser: Browser, number: int, chapter: str) -> Image.Image:
    """Return a chapter's card."""
    html = PAGE.format(
        palette=css_variables(),
        font=b64encode(NUMBERS.read_bytes()).decode(),
        number=number,
        drawing=emblem(chapter),
        mark=(STATIC / "logo.svg").read_text(encoding="utf-8"),
    )
    page = browser.new_page(viewport=SIZE, color_scheme="light")
    page.set_content(html)
    page.evaluate("document.fonts.ready")
    picture = Image.open(io.BytesIO(page.screenshot()))
    page.close()
    return picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
