"""The book, built as `make book` builds it, and a browser that can reach nothing but it.

Every test here also fails when a page logs an error or asks for anything outside the book: `visit` checks both.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Playwright,
    Request,
    sync_playwright,
)

from tools.chromium import launch
from tools.translation.paths import LANGUAGE
from tools.translation.tree import build as build_chinese

ROOT = Path(__file__).resolve().parents[2]
ARTICLE = re.compile(r'(<article class="bd-article"[^>]*>).*(</article>)', re.DOTALL)
FIGURE = re.compile(r'<figure [^>]*data-widget="(\w+)".*?</figure>', re.DOTALL)
NEEDLESS = re.compile(
    r'<script [^>]*(?:mathjax|glass)[^>]*></script>|<nav id="pst-page-toc-nav".*?</nav>', re.DOTALL
)


def build(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build a book with every warning an error. `source` keeps its own `_build`."""
    command = shutil.which("jupyter-book", path=str(Path(sys.executable).parent)) or "jupyter-book"
    arguments = ["build", str(source), "--path-output", str(output), "-W", "-n", "--keep-going"]
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the book, built in both languages. Workers of pytest-xdist share it: the first builds."""
    run = tmp_path_factory.getbasetemp()
    output = (run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) / "book"
    with FileLock(f"{output}.lock"):
        if not (output / "is-built").exists():
            chinese = output / "_build" / "html" / LANGUAGE
            chinese.mkdir(
                parents=True, exist_ok=True
            )  # by which the English pages know that there are others
            with ThreadPoolExecutor() as both:
                status = both.submit(build_chinese, output.with_name("chinese"), chinese)
                result = build(ROOT, output)
            assert result.returncode == 0, result.stdout + result.stderr
            assert status.result() == 0
            (output / "is-built").touch()
    return output / "_build" / "html"


class Quiet(SimpleHTTPRequestHandler):
    """The book's files, without a line of log for each."""

    # Said here because Windows takes these from its registry, where .js may be plain text.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".css": "text/css",
    }

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def addresses(book: Path) -> Iterator[dict[str, str]]:
    """Where the book is found: over http, and on the disk."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(book)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"http": f"http://localhost:{server.server_address[1]}/", "file": f"{book.as_uri()}/"}
    server.shutdown()


@pytest.fixture
def address(addresses: dict[str, str]) -> str:
    """Over http. What may differ on the disk (a page's files, the weights) asks for `addresses["file"]`."""
    return addresses["http"]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """One for all browsers of a process."""
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """A Chromium. Where there is none the tests say so and are skipped, but never in CI."""
    alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"
    try:
        browser = launch(playwright, alone, "--disable-gpu")  # an emulated one takes a tenth longer
    except FileNotFoundError as missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))
    yield browser
    browser.close()


# A widget redraws with the screen: what was done to it shows by the second frame from now. What takes longer (a glide,
# a long computation, parts that take turns) is waited for with Playwright's `expect`, or with `until`.
FRAMES = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
)


NO_STORAGE = (
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })"
)


def settled(widget: Locator) -> Locator:
    """A widget, or a part of it, with all that was done to it drawn."""
    widget.page.evaluate(FRAMES)
    return widget


def until(holds: Callable[[], bool], otherwise: str = "") -> None:
    """Some seconds for what shows within a few frames."""
    assert any(holds() for _ in range(100)), otherwise


def attribute(widget: Locator, name: str) -> str:
    """`data-name` of a settled widget."""
    return settled(widget).get_attribute(f"data-{name}") or ""


def numbers(widget: Locator, name: str) -> list[float]:
    """`data-name` of a settled widget: numbers with commas or semicolons between them."""
    return [
        float(number) for number in attribute(widget, name).replace(";", ",").split(",") if number
    ]


def number(widget: Locator, name: str) -> float:
    """`data-name` of a settled widget, one number."""
    (found,) = numbers(widget, name)
    return found


def picture(canvas: Locator) -> str:
    """What a canvas of a settled widget shows, to be compared."""
    return settled(canvas).evaluate("canvas => canvas.toDataURL()")


def write_a_one(pad: Locator) -> None:
    """By keys alone: a stroke from top to bottom on a widget's emptied pad."""
    pad.locator('[data-role="clear"]').press("Enter")
    canvas = pad.locator('[data-role="pad"]')
    canvas.focus()
    for key in ("ArrowUp",) * 8 + (" ",) + ("ArrowDown",) * 16 + (" ",):
        canvas.press(key)


def wake(figure: Locator) -> None:
    """Scroll to the place of a widget until it is awake: what wakes above it may move it out of sight again."""
    awake = figure.and_(figure.page.locator("[data-live]"))
    for _ in range(60):
        figure.scroll_into_view_if_needed()
        with suppress(Error):
            return awake.wait_for(timeout=500)
    return awake.wait_for()


@dataclass
class Visit:
    """A page, and what went on while it was open."""

    page: Page
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def widget(self, name: str) -> Any:
        """The root of the page's first widget of a class, alive and with its folds open."""
        figure = self.page.locator(f'figure.live-widget[data-widget="{name}"]').first
        wake(figure)
        figure.evaluate(
            "figure => figure.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
        )
        return figure.locator('.capsnet[data-ready="true"]')

    def all_alive(self) -> list[Locator]:
        """The places of the page's widgets, all awake, and nothing on its way any more."""
        for place in self.page.locator("figure.live-widget, figure.glass:not([data-waits])").all():
            wake(place)
        self.page.wait_for_load_state("networkidle")
        return self.page.locator("figure.live-widget").all()


@pytest.fixture
def visit(chromium: Browser, addresses: dict[str, str]) -> Iterator[Callable[..., Visit]]:
    """Open a page. Options are those of a Playwright context; `tolerate=True` leaves errors to the test."""
    opened: list[tuple[Visit, bool]] = []

    def open_page(url: str, *, tolerate: bool = False, **options: Any) -> Visit:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        seen = Visit(context.new_page())

        def asked(request: Request) -> None:
            if not request.url.startswith((*addresses.values(), "data:", "blob:")):
                seen.outside.append(request.url)

        def logged(message: ConsoleMessage) -> None:
            url = message.location["url"]
            if message.type == "error" and not url.endswith(
                "/favicon.ico"
            ):  # index.html, which leads on, has none
                seen.errors.append(f"{message.text} ({url})")

        seen.page.on("request", asked)
        seen.page.on("console", logged)
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        opened.append((seen, tolerate))
        seen.page.goto(url)
        return seen

    yield open_page
    for seen, tolerate in opened:
        seen.page.context.close()
        assert not seen.outside, "the page asked for something outside the book"
        assert tolerate or not seen.errors, "the page logged an error"


@pytest.fixture
def alone(visit: Callable[..., Visit], addresses: dict[str, str], book: Path) -> Callable[..., Any]:
    """Open a page whose article holds one widget and nothing else, and give the widget, alive.

    `values` make a prompt beside it. That page loads in a third of the time. How the widget fits among text, formulas
    and figures, test_pages.py tries.
    """

    def open_alone(
        name: str, page: str, values: dict[str, Any] | None = None, **options: Any
    ) -> Any:
        path = page.replace(".html", f".{name}{'.prompt' * bool(values)}.html")
        if not (book / path).exists():
            text = (book / page).read_text(encoding="utf-8")
            figure = next(found[0] for found in FIGURE.finditer(text) if found[1] == name)
            room = '<div style="height: 100vh"></div>'  # to scroll in
            model = figure.split('data-model="')[1].split('"')[0]
            link = f'<a class="live-prompt" href="#{model}" data-values="{escape(json.dumps(values))}">a prompt</a>'
            article = f"<section>{room}{figure}{link if values else ''}{room}</section>"
            text = ARTICLE.sub(lambda found: found[1] + article + found[2], NEEDLESS.sub("", text))
            draft = (book / path).with_suffix(f".{os.getpid()}")
            draft.write_text(text, encoding="utf-8")
            draft.replace(book / path)  # whole, for the other workers too
        return visit(addresses["http"] + path, **options).widget(name)

    return open_alone
