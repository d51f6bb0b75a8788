"""What the built files would make a browser load, read from the files themselves: nothing from anywhere else.

(test_pages.py watches real requests; this one also sees what only some reader's click would fetch.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from capsnet_book.networks import TRAINED
from fontTools.ttLib import TTFont

from .conftest import Visit

pytestmark = pytest.mark.slow

BASE64 = re.compile(r"[A-Za-z0-9+/]{1000,}")
ELSEWHERE = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
LOADED_LINKS = {"stylesheet", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "icon", "manifest"}
CSS_LOADS = re.compile(r"""(?:url\(\s*|@import\s+)["']?\s*((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
JS_LOADS = re.compile(
    r"""(?:\bimport\s*\(?|\bfrom|\bimportScripts\(|\bfetch\(|new\s+(?:Worker|WebSocket|EventSource)\(|\.(?:src|href)\s*=)"""
    r"""\s*["'`]\s*((?:https?:|wss?:)?//[^"'`\s]+)""",
    re.IGNORECASE,
)


class Loads(HTMLParser):
    """What a page's own tags load from other places."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.inside = tag
        loaded = [given.get(name, "") for name in ("src", "poster", "data") if tag != "a"]
        loaded += re.split(r",\s+", given.get("srcset", ""))
        if tag == "link" and LOADED_LINKS & set(given.get("rel", "").lower().split()):
            loaded.append(given.get("href", ""))
        self.found += [f"<{tag}> {url}" for url in loaded if ELSEWHERE.match(url)]
        self.found += CSS_LOADS.findall(given.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.found += JS_LOADS.findall(data)
        elif self.inside == "style":
            self.found += CSS_LOADS.findall(data)


def loads(path: Path) -> list[str]:
    """The outside addresses that a built file would make a browser load."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        return CSS_LOADS.findall(text)
    if path.suffix == ".js":
        return JS_LOADS.findall(text)
    page = Loads()
    page.feed(text)
    return page.found


def test_no_file_of_the_book_loads_anything_from_elsewhere(book: Path) -> None:
    files = [path for path in sorted(book.rglob("*")) if path.suffix in {".html", ".css", ".js"}]
    assert len(files) > 30
    found = {str(path.relative_to(book)): found for path in files if (found := loads(path))}
    assert not found


def test_networks_lie_in_the_book_once(book: Path) -> None:
    buffers = sorted(path.suffix for path in (book / "_static" / "widget-buffers").iterdir())
    large = (
        len({*TRAINED} - {"paper"}) + 1
    )  # networks, and the playground's digits: for a server and, as a script, for the disk
    assert buffers == [".js"] * large + [".safetensors"] * large
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
