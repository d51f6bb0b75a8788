"""A page on paper: light, without controls, with all its code, and no empty sheet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tools.pdf import page_names, printed

from .conftest import ROOT, Visit

pytestmark = pytest.mark.slow

PAGE = "book/chapters/06-routing.html"  # its scrolling stage left two sheets empty
CONTROLS = (
    "button:not(.live-prompt), input, select, .hands, .more, .guess, .network-strip, "
    ".bd-header-article"
)


def test_on_paper_a_page_is_light_and_whole_and_comes_back(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + PAGE, color_scheme="dark").page
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.emulate_media(media="print")
    expect(root).to_have_attribute("data-theme", "light")
    expect(root).to_have_attribute("data-way", "build")
    expect(page.locator(f"article :is({CONTROLS})").locator("visible=true")).to_have_count(0)
    expect(page.get_by_text("def route(u_hat, iterations=3):").last).to_be_visible()
    page.emulate_media(media="screen")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_attribute("data-way", "read")


def test_a_chapter_is_printed_without_empty_sheets_and_addresses_of_this_machine(
    chromium: Browser, book: Path
) -> None:
    page = chromium.new_page()
    pdf = printed(page, (book / PAGE).as_uri())
    page.close()
    sheets = [sheet for sheet in pdf.pages if len(sheet.extract_text()) > 200 or sheet.images]
    assert len(sheets) == len(pdf.pages)
    assert "Routing by agreement" in pdf.pages[0].extract_text()
    annotations = [entry.get_object() for sheet in pdf.pages for entry in sheet.get("/Annots", [])]
    addresses = [entry["/A"].get("/URI", "") for entry in annotations if "/A" in entry]
    assert not [address for address in addresses if address.startswith("file:")]
    assert pdf.outline


def test_the_pdf_has_every_chapter_in_order_and_no_solutions() -> None:
    names = list(page_names(ROOT / "_toc.yml"))
    assert names[:3] == [
        "book/index",
        "book/chapters/01-try-it",
        "book/chapters/02-why-capsules",
    ]
    assert "book/glossary" in names
    assert not [name for name in names if "solutions" in name]
