"""The picture that goes with a link to the book: the cover's title beside its digit, bent.

    python tools/social_card.py     (after `make book`; `make stills` does both)

1200 × 630 pixels, as those who show links want it. The cover itself is photographed, in its own letters and colours:
its title and its widget are moved side by side, and all else is left out.
"""

from __future__ import annotations

import threading
from pathlib import Path

from chromium import MISSING, find_chromium, launch
from playwright.sync_api import Page, sync_playwright
from serve import BOOK, serve

PICTURE = Path(__file__).resolve().parent.parent / "book" / "_static" / "social-card.png"
SIZE = {"width": 1200, "height": 630}
COMPOSE = """() => {
    const article = document.querySelector("article.bd-article");
    const [title, lead] = [article.querySelector("h1"), article.querySelector("h1 ~ p")];
    title.querySelectorAll("a").forEach((link) => link.remove());
    const name = Object.assign(document.createElement("p"), { className: "name" });
    name.textContent = "Capsule networks, live";
    const words = document.createElement("div");
    words.append(name, title, lead);
    const card = Object.assign(document.createElement("div"), { id: "social-card", className: "bd-article" });
    card.append(words, article.querySelector(".live-view"));
    document.body.append(card);
}"""
STYLE = """
#social-card {
  position: fixed; inset: 0; z-index: 99999; display: grid; grid-template-columns: 1fr 570px; gap: 40px;
  align-items: center; padding: 48px; border-bottom: 14px solid var(--caps-accent); background: var(--caps-surface);
}
#social-card h1 { margin: 0 0 24px; font-size: 56px; line-height: 1.08; }
#social-card p { margin: 0; color: var(--caps-muted); font-size: 24px; line-height: 1.4; text-wrap: balance; }
#social-card .name { margin-bottom: 18px; color: var(--caps-contrast); font-weight: 700; }
#social-card .live-view { width: 700px; zoom: 0.81; }
#social-card .layout { display: block; }
#social-card :is(.hands, .more, .sentence) { display: none !important; }
"""


def main() -> None:
    """Take the picture."""
    server = serve(BOOK)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        executable = find_chromium(playwright)
        if executable is None:
            raise SystemExit(MISSING)
        browser = launch(playwright, executable)
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.goto(f"http://localhost:{server.server_address[1]}/book/index.html")
        compose(page)
        page.screenshot(path=PICTURE)
        browser.close()
    server.shutdown()


def compose(page: Page) -> None:
    """Make the cover a card: wake its widget, bend its digit, set title and widget side by side."""
    widget = page.locator("figure.live-widget").first
    widget.scroll_into_view_if_needed()
    widget.and_(page.locator("[data-live]")).wait_for()
    slider = widget.locator(".hands input[type=range]").first
    slider.focus()
    slider.press("End")
    page.add_style_tag(content=STYLE)
    page.evaluate(COMPOSE)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


if __name__ == "__main__":
    main()
