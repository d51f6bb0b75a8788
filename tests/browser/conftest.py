"""The book, built as `make book` builds it, and a browser that can reach nothing but it.

Every test here also fails when a page logs an error or asks for anything outside the book: `visit` checks both.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from chromium import MISSING, find_chromium, launch
from playwright.sync_api import Browser, Page, Route, sync_playwright
from serve import serve

ROOT = Path(__file__).resolve().parents[2]


def build(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build a book with every warning an error. `source` keeps its own `_build`."""
    command = shutil.which("jupyter-book", path=str(Path(sys.executable).parent)) or "jupyter-book"
    arguments = ["build", str(source), "--path-output", str(output), "-W", "-n", "--keep-going"]
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built book."""
    output = tmp_path_factory.mktemp("book")
    result = build(ROOT, output)
    assert result.returncode == 0, result.stdout + result.stderr
    return output / "_build" / "html"


@pytest.fixture(scope="session")
def addresses(book: Path) -> Iterator[dict[str, str]]:
    """Where the book is found: over http, and on the disk."""
    server = serve(book)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"http": f"http://localhost:{server.server_address[1]}/", "file": f"{book.as_uri()}/"}
    server.shutdown()


@pytest.fixture(params=["http", "file"])
def address(request: pytest.FixtureRequest, addresses: dict[str, str]) -> str:
    """Each of the two, in turn."""
    return addresses[request.param]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A Chromium. Where there is none the tests say so and are skipped, but never in CI."""
    with sync_playwright() as playwright:
        executable = find_chromium(playwright)
        if executable is None:
            assert not os.environ.get("CI"), MISSING
            pytest.skip(MISSING)
        browser = launch(playwright, executable)
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page, and what went on while it was open."""

    page: Page
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def widget(self, name: str) -> Any:
        """The root of the page's first widget of a class, alive."""
        figure = self.page.locator(f'figure.live-widget[data-widget="{name}"]').first
        figure.scroll_into_view_if_needed()
        figure.and_(self.page.locator("[data-live]")).wait_for()
        return figure.locator('.capsnet[data-ready="true"]')


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """Open a page. Options are those of a Playwright context; `tolerate=True` leaves errors to the test."""
    opened: list[tuple[Visit, bool]] = []

    def open_page(url: str, *, tolerate: bool = False, **options: Any) -> Visit:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        seen = Visit(context.new_page())
        base = url[: url.index("/", 8) + 1] if url.startswith("http") else "file:///"

        def only_the_book(route: Route) -> None:
            if route.request.url.startswith((base, "data:", "blob:")):
                route.continue_()
            else:
                seen.outside.append(route.request.url)
                route.abort()

        context.route("**/*", only_the_book)
        seen.page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        opened.append((seen, tolerate))
        seen.page.goto(url)
        return seen

    yield open_page
    for seen, tolerate in opened:
        seen.page.context.close()
        assert not seen.outside, "the page asked for something outside the book"
        assert tolerate or not seen.errors, "the page logged an error"
