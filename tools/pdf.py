"""Print the built book into one PDF: python -m tools.pdf (after `make book`; `make pdf` does both).

Chromium prints each page as a reader's browser would (`book/_static/print.css`); the outline of the
PDF has the parts and headings. Solutions, the playground and the votes to pull stay out. What a
link to another page leads to is left out, since it would be an address on this machine.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import yaml
from playwright.sync_api import Browser, Page, sync_playwright
from pypdf import PdfReader, PdfWriter

from .chromium import launch

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "_build" / "html"
OUTPUT = ROOT / "_build" / "capsnet-tutorial.pdf"
LEFT_OUT = ("book/solutions/", "book/raise-one", "book/pull-the-votes")

# Pictures out of sight load, and links to other pages lead nowhere.
PREPARE = """async () => {
    const pictures = [...document.querySelectorAll("article img")];
    for (const picture of pictures) picture.loading = "eager";
    await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})));
    for (const link of document.querySelectorAll("article a[href]"))
        if (link.protocol === "file:" && link.pathname !== location.pathname)
            link.removeAttribute("href");
    await document.fonts.ready;
}"""
LIVING = "**/_static/{live-host,glass}.js"  # without these, each widget is its still picture
FOOTER = """<div style="width: 100%; font: 8px serif; text-align: center; color: #666">
    <span class="title"></span> · <span class="pageNumber"></span></div>"""


def page_names(contents: Path) -> Iterator[str]:
    """Yield the pages of a table of contents that are printed, in reading order."""
    table = yaml.safe_load(contents.read_text(encoding="utf-8"))
    yield table["root"]
    for part in table["parts"]:
        for entry in part["chapters"]:
            if not entry["file"].startswith(LEFT_OUT):
                yield entry["file"]


def printed(page: Page, address: str) -> PdfReader:
    """Return a page of the book as a PDF with an outline."""
    page.goto(address)
    page.evaluate(PREPARE)
    pdf = page.pdf(
        prefer_css_page_size=True,
        print_background=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOTER,
        outline=True,
        tagged=True,
    )
    return PdfReader(io.BytesIO(pdf))


def joined(browser: Browser, names: Iterator[str]) -> PdfWriter:
    """Return the pages of the book as one PDF."""
    writer = PdfWriter()
    page = browser.new_page()
    page.route(LIVING, lambda route: route.abort())
    for name in names:
        writer.append(printed(page, (PAGES / f"{name}.html").as_uri()))
    return writer


def main() -> None:
    """Write the file, and say where it is."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        writer = joined(browser, page_names(ROOT / "_toc.yml"))
        browser.close()
    writer.compress_identical_objects()
    writer.write(OUTPUT)
    print(f"{len(writer.pages)} pages are in {OUTPUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
