"""Every page of the built book: on a desk over http, on a phone from the disk, in both themes."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from capsnet_book.assets import asset
from fontTools.ttLib import TTFont
from playwright.sync_api import Page, expect

from tools.translation.checks import english_left
from tools.translation.paths import LANGUAGE

from .conftest import ROOT, Visit
from .layout import (
    CLIPPED,
    COVERED,
    FIGURES,
    SHRUNK,
    SLABS,
    SMALL_TARGETS,
    STRETCHES,
    THREE_OF_A_KIND,
)

pytestmark = pytest.mark.slow

PAGES = [
    f"{path}.html"
    for path in re.findall(r"(?:root|file): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
]
CHINESE = f"{LANGUAGE}/"
ALL = [*PAGES, *(CHINESE + page for page in PAGES)]
# Of solutions and Chinese pages a few by day, and at night all.
SAMPLE = {"book/index.html", "book/chapters/06-routing.html", "book/solutions/06-routing.html"}
DAY = [
    page
    for page in ALL
    if page.removeprefix(CHINESE) in SAMPLE or not re.match("zh_CN/|book/solutions/", page)
]
WITH_WIDGETS = ["book/chapters/01-try-it.html", "book/chapters/16-two-digits-at-once.html"]
TALL = [
    f"book/chapters/{name}.html"
    for name in ("06-routing", "13-what-the-numbers-mean", "18-does-routing-matter")
]
PHONE = {"width": 375, "height": 800}
AUDITED = {
    "include": [["article.bd-article"]],  # what the book says, not the theme around it
    "exclude": [[".citation-list"]],  # docutils marks it as a list whose items have another role
}
# Pages to look up a word or a row in: nobody reads three screens on end, a picture would be filler.
LOOKED_UP = {
    f"book/{name}.html"
    for name in ("glossary", "coming-from", "paper-and-code", "results", "references")
}
NIGHT = pytest.mark.nightly
IN_BOTH = [*DAY, *(pytest.param(page, marks=NIGHT) for page in ALL if page not in DAY)]
THEMES = {"light": {*DAY} - LOOKED_UP, "dark": SAMPLE}  # by day
IN_A_THEME = [
    pytest.param(by, page, marks=[NIGHT] * (page not in day))
    for by, day in THEMES.items()
    for page in ALL
]
COMPRESSED = {".html", ".css", ".js", ".svg", ".json"}
EQUATIONS = "div.math"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


@pytest.mark.parametrize(("scheme", "page"), IN_A_THEME)
def test_a_page_on_a_desk(
    visit: Callable[..., Visit], address: str, book: Path, scheme: str, page: str
) -> None:
    """Loaded once and read to the end: it works, is light enough, and legible in either theme."""
    seen = visit("about:blank", color_scheme=scheme)
    requests: set[str] = set()
    seen.page.on("request", lambda request: requests.add(urlsplit(request.url).path))
    seen.page.goto(address + page)
    expect(seen.page.locator("html")).to_have_attribute("data-theme", scheme)
    expect_all_alive(seen)
    for image in seen.page.locator("article img").all():
        if image.is_visible():
            image.scroll_into_view_if_needed()
    seen.page.wait_for_load_state("networkidle")
    expect_light(book, requests)
    assert serious_violations(seen.page) == []
    assert not seen.page.evaluate(CLIPPED, f"pre, table, {FIGURES}, {EQUATIONS}"), (
        "parts that are clipped"
    )
    assert seen.page.evaluate(COVERED) == [], "text under a note or a button"
    seen.page.emulate_media(color_scheme="dark")
    expect(seen.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert not seen.page.evaluate(SLABS), "figures that are light slabs in the dark"
    if page.removeprefix(CHINESE) not in LOOKED_UP:
        too_long = seen.page.evaluate(STRETCHES, 2700)
        assert not too_long, f"three screens without picture, plot or widget: {too_long}"
    if page.startswith(CHINESE):
        assert page.endswith("results.html") or not english_left(book / page)


@pytest.mark.parametrize("place", ["http", "file"])
@pytest.mark.parametrize(
    "page", ["index.html", "search.html?q=capsule", "genindex.html", "zh_CN/search.html?q=胶囊"]
)
def test_a_page_of_no_chapter(
    visit: Callable[..., Visit], addresses: dict[str, str], page: str, place: str
) -> None:
    expect_all_alive(visit(addresses[place] + page))


@pytest.mark.parametrize("page", IN_BOTH)
def test_a_page_from_the_disk_fits_a_phone(
    visit: Callable[..., Visit], addresses: dict[str, str], page: str
) -> None:
    seen = visit(addresses["file"] + page, viewport=PHONE, color_scheme="dark")
    expect_all_alive(seen)
    for scheme in ("dark", "light"):
        seen.page.emulate_media(color_scheme=scheme)
        expect(seen.page.locator("html")).to_have_attribute("data-theme", scheme)
        assert seen.page.evaluate(OVERFLOW) <= 0, f"the page scrolls sideways in the {scheme} theme"
    assert not seen.page.evaluate(CLIPPED, f"table, {FIGURES}, {EQUATIONS}"), (
        "parts that are clipped"
    )
    assert not seen.page.evaluate(SHRUNK), "figures whose letters cannot be read"
    assert not seen.page.evaluate(SMALL_TARGETS, [40, 34]), "targets too small for a finger"


@pytest.mark.parametrize("place", ["http", "file"])
def test_the_switch_keeps_page_and_place(
    visit: Callable[..., Visit], addresses: dict[str, str], place: str
) -> None:
    page = visit(addresses[place] + "book/chapters/06-routing.html#rounds-2-and-3").page
    for language, other in (("en", "中文"), ("zh-CN", "English"), ("en", "中文")):
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator("#rounds-2-and-3")).to_be_in_viewport()
        switch = page.get_by_role("link", name=other, exact=True)
        expect(switch).to_have_attribute("href", re.compile("#rounds-2-and-3$"))
        switch.click()


def expect_all_alive(seen: Visit) -> None:
    """Expect living widgets; `visit` checks errors and requests."""
    for widget in seen.all_alive():
        expect(widget.locator('.capsnet[data-ready="true"]')).to_have_count(1)
        expect(widget.locator("> figcaption")).to_have_text("")
        expect(widget.locator(".live-still")).to_have_count(0)


def serious_violations(page: Page) -> list[str]:
    """Return what axe finds: unreadable text, controls and pictures without names, and the like."""
    options = {"preload": False, "resultTypes": ["violations"]}
    page.evaluate(Axe().axe_script)
    page.evaluate(THREE_OF_A_KIND)
    violations = page.evaluate(
        "async (how) => (await axe.run(...how)).violations", [AUDITED, options]
    )
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in violations
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"]
    ]


def expect_light(book: Path, requests: set[str]) -> None:
    """Expect less than 2 MB over the wire, the network included."""
    files = {path: book / path.lstrip("/") for path in requests}
    sizes = {path: transferred(file) for path, file in files.items() if file.is_file()}
    by_size = sorted(sizes.items(), key=lambda item: -item[1])
    heaviest = "\n".join(f"{size:>9,} {path}" for path, size in by_size[:8])
    print(f"first visit: {sum(sizes.values()):,} bytes in {len(sizes)} files\n{heaviest}")
    assert sum(sizes.values()) < 2_000_000, heaviest


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_front_pages_film_stops_by_a_button(
    visit: Callable[..., Visit], address: str, motion: str
) -> None:
    page = visit(address + "book/index.html", reduced_motion=motion).page
    film = page.locator("img.moving")
    still = page.locator("img.at-rest")
    button = page.locator(".loop-foot button")
    if motion == "reduce":
        expect(film).to_be_hidden()
        button.click()
    for words in ("Pause the film", "Play the film"):
        expect(film).to_be_visible(visible=words.startswith("Pause"))
        expect(still).to_be_visible(visible=words.startswith("Play"))
        expect(button).to_have_text(words)
        button.press("Enter")
    expect(film).to_be_visible()


@pytest.mark.parametrize("place", ["http", "file"])
def test_the_front_page_opens_at_the_books_address(
    visit: Callable[..., Visit], addresses: dict[str, str], place: str
) -> None:
    seen = visit(addresses[place] + "index.html").page
    seen.wait_for_url("**/book/index.html")
    expect(seen.locator("article h1")).to_have_count(1)


@pytest.mark.parametrize("page", WITH_WIDGETS)
def test_without_javascript_a_picture_and_a_sentence_stay(
    visit: Callable[..., Visit], address: str, page: str
) -> None:
    seen = visit(address + page, java_script_enabled=False).page
    seen.wait_for_load_state("networkidle")
    figures = seen.locator("figure.live-widget").all()
    assert figures
    for figure in figures:
        figure.scroll_into_view_if_needed()
        picture = figure.locator(".live-still:visible img")
        assert picture.count() == 1, "one picture, for the theme that the page has"
        assert picture.bounding_box()["height"] > 100
        assert picture.get_attribute("alt")
        assert "JavaScript" in figure.locator("figcaption").inner_text()


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize(
    "page", [*WITH_WIDGETS, *(pytest.param(page, marks=NIGHT) for page in TALL)]
)
def test_nothing_jumps_when_a_widget_comes_alive(
    visit: Callable[..., Visit], addresses: dict[str, str], page: str, viewport: dict[str, int]
) -> None:
    """A widget is as high as its still; after a change `make stills` takes a new one."""
    still = visit("about:blank", viewport=viewport, tolerate=True).page
    still.route("**/live-host.js*", lambda route: route.abort())
    still.goto(addresses["http"] + page)
    alive = visit(addresses["http"] + page, viewport=viewport)
    for before, after in zip(still.locator(".live-widget").all(), alive.all_alive(), strict=True):
        assert before.bounding_box()["height"] == pytest.approx(
            after.bounding_box()["height"], abs=10
        )


def test_a_widgets_styles_outlast_the_next_ones(
    visit: Callable[..., Visit], addresses: dict[str, str]
) -> None:
    seen = visit(addresses["http"] + WITH_WIDGETS[0])
    assert len(seen.all_alive()) > 1
    expect(seen.page.locator(".sixteen .track").first).to_have_css("display", "grid")


def test_a_widget_that_cannot_start_says_so_and_keeps_its_picture(
    visit: Callable[..., Visit], address: str
) -> None:
    seen = visit(address + "search.html", tolerate=True)
    seen.page.context.route("**/widget-buffers/*", lambda route: route.fulfill(status=404))
    seen.page.goto(address + "book/chapters/10-sixteen-numbers.html")
    seen.page.locator("figure.live-widget").first.scroll_into_view_if_needed()
    caption = seen.page.locator("figure.live-widget > figcaption", has_text="could not start")
    caption.wait_for()
    expect(caption).to_contain_text("404")
    expect(seen.page.locator("figure.live-widget .live-still:visible")).to_have_count(1)
    assert any("404" in error for error in seen.errors)


def transferred(file: Path) -> int:
    """Return the bytes of a file on its way: servers compress text, and little else."""
    data = file.read_bytes()
    if file.suffix in COMPRESSED:
        data = gzip.compress(data, 6)
    return len(data)


# --- what the built book holds: titles without markup, each network once, every icon in its fonts

HEADING = re.compile(r"<article.*?<h1>(.*?)<a class=.headerlink.", re.DOTALL)
NUMBER = re.compile(r"<span class=.section-number.>.*?</span>")
CARD_TITLE = re.compile(r'<meta property="og:title" content="([^"]*)">')


def test_a_shared_link_says_the_pages_title_without_markup(book: Path) -> None:
    chapters = 0
    for path in book.glob("**/book/**/*.html"):
        text = path.read_text(encoding="utf-8")
        heading = HEADING.search(text)
        card = CARD_TITLE.search(text)
        if heading and card:
            assert unescape(card[1]) == plain(NUMBER.sub("", heading[1]))
            chapters += path.parent.name == "chapters"
    assert chapters >= 2 * len(list((ROOT / "book" / "chapters").glob("*.ipynb")))


def plain(html: str) -> str:
    """Return HTML without tags, as text in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


BASE64 = re.compile(r"[A-Za-z0-9+/]{1000,}")


def test_networks_lie_in_the_book_once(book: Path) -> None:
    assets = ROOT / "book" / "capsnet_book" / "assets"
    files = [path for path in assets.glob("weights/*.safetensors") if path.stem != "paper"]
    files += [*assets.glob("digits/*.safetensors"), asset("weights/small.safetensors")]
    hashes = {hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    buffers = [path.name for path in (book / "_static" / "widget-buffers").iterdir()]
    for_the_disk = [f"{digest}.js" for digest in hashes]
    for_a_server = [f"{digest}.safetensors" for digest in hashes]
    assert sorted(buffers) == sorted(for_the_disk + for_a_server)
    for page in book.rglob("*.html"):
        longest = max(map(len, BASE64.findall(page.read_text(encoding="utf-8"))), default=0)
        assert longest < 100_000, f"{page.name} holds a buffer of {longest:,} letters"


FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)


def test_the_mathematical_letters_hold_every_sign_of_a_formula(book: Path) -> None:
    letters = TTFont(book / "_static" / "fonts" / "stix-two-math.woff")
    assert "MATH" in letters, "without this table no root and no bracket grows"
    signs: set[str] = set()
    for page in book.rglob("*.html"):
        for formula in FORMULA.findall(page.read_text(encoding="utf-8")):
            signs.update(unescape(re.sub(r"<[^>]+>", "", formula)))
    assert len(signs) > 80
    latin = {sign for sign in signs if ord(sign) < 0x2E80}  # a word in Chinese has its own letters
    missing = latin - set(map(chr, letters.getBestCmap()))
    assert missing == set(), "book/_static/page.css says how to make the font"


def test_formulas_need_no_script(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + "book/chapters/06-routing.html", java_script_enabled=False).page
    formula = page.locator("div.math").nth(1)
    formula.scroll_into_view_if_needed()
    assert "\\" not in formula.inner_text(), "the formula is TeX"
    fraction = formula.locator("mfrac")
    numerator = fraction.locator("> *").first.bounding_box()
    denominator = fraction.locator("> *").last.bounding_box()
    assert numerator and denominator and numerator["y"] < denominator["y"]


def test_a_dark_page_without_script_has_light_letters(
    visit: Callable[..., Visit], address: str
) -> None:
    url = address + "book/chapters/06-routing.html"
    page = visit(url, java_script_enabled=False, color_scheme="dark").page
    letters = page.locator("article.bd-article p").first
    color = letters.evaluate("text => getComputedStyle(text).color")
    assert min(map(int, re.findall(r"\d+", color)[:3])) > 200, color


ICONS = """() => {
    const icons = [];
    for (const element of document.querySelectorAll("*"))
        for (const part of ["::before", "::after"]) {
            const { content, fontFamily } = getComputedStyle(element, part);
            const sign = content.replaceAll('"', "");
            if (fontFamily.includes("Font Awesome") && sign.length === 1)
                icons.push([sign, fontFamily]);
        }
    return icons;
}"""


@pytest.mark.parametrize("page", ["book/index.html", "book/chapters/04-squash.html", "search.html"])
def test_the_icon_fonts_hold_every_icon(
    visit: Callable[..., Visit], address: str, book: Path, page: str
) -> None:
    signs_of: dict[str, set[str]] = {"Brands": set(), "Free": set()}
    for font in (book / "_static" / "icons").glob("*.woff"):
        family = "Brands" if font.stem == "brands" else "Free"
        signs_of[family].update(map(chr, TTFont(font).getBestCmap()))
    icons = visit(address + page).page.evaluate(ICONS)
    assert len(icons) > 5
    missing = []
    for sign, fonts in icons:
        family = fonts.strip('"').split()[-1]  # "Font Awesome 6 Free"
        if sign not in signs_of[family]:
            missing.append((hex(ord(sign)), fonts))
    assert missing == [], "book/_static/icons/icons.css says how to make the fonts"
