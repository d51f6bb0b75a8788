"""What the built book holds: each network once, and every icon in its fonts. (test_pages.py watches requests.)"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from capsnet_book.networks import TRAINED
from fontTools.ttLib import TTFont

from .conftest import Visit

pytestmark = pytest.mark.slow

BASE64 = re.compile(r"[A-Za-z0-9+/]{1000,}")


def test_networks_lie_in_the_book_once(book: Path) -> None:
    buffers = sorted(path.suffix for path in (book / "_static" / "widget-buffers").iterdir())
    large = len({*TRAINED} - {"paper"}) + 1  # and the playground's digits
    assert buffers == [".js"] * large + [".safetensors"] * large, "for the disk, as a script, and for a server"
    for page in book.rglob("*.html"):
        longest = max(map(len, BASE64.findall(page.read_text(encoding="utf-8"))), default=0)
        assert longest < 100_000, f"{page.name} holds a buffer of {longest:,} letters"


ICONS = """() => [...document.querySelectorAll("*")].flatMap(element => ["::before", "::after"].map(part => {
    const style = getComputedStyle(element, part);
    return [style.content.replaceAll('"', ""), style.fontFamily];
})).filter(([content, family]) => family.includes("Font Awesome") && content.length === 1)"""


@pytest.mark.parametrize("page", ["book/index.html", "book/chapters/04-squash.html", "search.html"])
def test_the_icon_fonts_hold_every_icon(
    visit: Callable[..., Visit], addresses: dict[str, str], book: Path, page: str
) -> None:
    held: dict[str, set[str]] = {}
    for font in sorted((book / "_static" / "icons").glob("*.woff")):
        held.setdefault("Brands" if font.stem == "brands" else "Free", set()).update(
            map(chr, TTFont(font).getBestCmap())
        )
    shown = visit(addresses["http"] + page).page.evaluate(ICONS)
    assert len(shown) > 5
    missing = [(hex(ord(icon)), family) for icon, family in shown if icon not in held[family.strip('"').split()[-1]]]
    assert not missing, "book/_static/icons/icons.css says how to make the fonts"
