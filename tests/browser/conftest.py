"""The book, built as `make book` builds it, and a browser that can reach nothing but it.

Every test here also fails when a page logs an error or asks for anything outside the book: `visit`
checks both.
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
from tools.translation.sharing import share
from tools.translation.tree import build as build_chinese

ROOT = Path(__file__).resolve().parents[2]
ARTICLE = re.compile(r'(<article class="bd-article"[^>]*>).*(</article>)', re.DOTALL)
FIGURE = re.compile(r'<figure [^>]*data-widget="(\w+)".*?</figure>', re.DOTALL)
NEEDLESS = re.compile(
    r'<script [^>]*(?:glass)[^>]*></script>|<nav id="pst-page-toc-nav".*?</nav>', re.DOTALL
)


def build(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build the book in `source` into `output`, with every warning an error."""
    command = shutil.which("jupyter-book", path=str(Path(sys.executable).parent)) or "jupyter-book"
    arguments = ["build", str(source), "--path-output", str(output), "-W", "-n", "--keep-going"]
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the pages in both languages; of pytest-xdist's workers the first builds it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # all workers share it
    output = folder / "book"
    with FileLock(f"{output}.lock"):
        if not (output / "is-built").exists():
            build_both_languages(output)
            (output / "is-built").touch()
    return output / "_build" / "html"


def build_both_languages(output: Path) -> None:
    """Build the English and the Chinese book at the same time."""
    chinese = output / "_build" / "html" / LANGUAGE
    # The English pages link to the Chinese ones where this folder is.
    chinese.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor() as executor:
        status = executor.submit(build_chinese, output.with_name("chinese"), chinese)
        result = build(ROOT, output)
    assert result.returncode == 0, result.stdout + result.stderr
    assert status.result() == 0
    share(chinese.parent, chinese)


class Quiet(SimpleHTTPRequestHandler):
    """The book's files on a server that logs nothing."""

    # Windows takes these from its registry, where .js may be plain text.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".css": "text/css",
    }

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def addresses(book: Path) -> Iterator[dict[str, str]]:
    """The addresses of the book: over http, and on the disk."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(book)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"http": f"http://localhost:{server.server_address[1]}/", "file": f"{book.as_uri()}/"}
    server.shutdown()


@pytest.fixture
def address(addresses: dict[str, str]) -> str:
    """The address over http; tests of what may differ on the disk take `addresses["file"]`."""
    return addresses["http"]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright, one for all browsers of a process."""
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """A Chromium that reaches this machine alone; without one skip the test, in CI fail it."""
    only_local = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"
    no_gpu = "--disable-gpu"  # an emulated one takes a tenth longer
    try:
        browser = launch(playwright, only_local, no_gpu)
    except FileNotFoundError as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    yield browser
    browser.close()


# A widget redraws with the screen: a change shows by the second frame from now. What takes longer
# (a glide, a long computation, parts that take turns) is waited for with Playwright's `expect`, or
# with `until`.
FRAMES = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
)


NO_STORAGE = (
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })"
)


def settled(widget: Locator) -> Locator:
    """Return a widget, or a part of it, once all changes are drawn."""
    widget.page.evaluate(FRAMES)
    return widget


def until(holds: Callable[[], bool], otherwise: str = "") -> None:
    """Wait some seconds for what shows within a few frames; fail with the sentence `otherwise`."""
    assert any(holds() for _ in range(100)), otherwise


def attribute(widget: Locator, name: str) -> str:
    """Return `data-name` of a settled widget."""
    return settled(widget).get_attribute(f"data-{name}") or ""


def numbers(widget: Locator, name: str) -> list[float]:
    """Return the numbers in `data-name` of a settled widget, divided by commas or semicolons."""
    texts = attribute(widget, name).replace(";", ",").split(",")
    return [float(text) for text in texts if text]


def number(widget: Locator, name: str) -> float:
    """Return the one number in `data-name` of a settled widget."""
    (single,) = numbers(widget, name)
    return single


def picture(canvas: Locator) -> str:
    """Return the picture on a canvas of a settled widget, to be compared."""
    return settled(canvas).evaluate("canvas => canvas.toDataURL()")


def write_a_one(pad: Locator) -> None:
    """Empty a widget's pad, and draw a stroke from top to bottom by keys."""
    pad.locator('[data-role="clear"]').press("Enter")
    canvas = pad.locator('[data-role="pad"]')
    canvas.focus()
    for key in ("ArrowUp",) * 8 + (" ",) + ("ArrowDown",) * 16 + (" ",):
        canvas.press(key)


def wake(figure: Locator) -> None:
    """Scroll to a widget until it is awake: others that wake above may move it out of sight."""
    awake = figure.and_(figure.page.locator("[data-live]"))
    for _ in range(60):
        figure.scroll_into_view_if_needed()
        with suppress(Error):
            return awake.wait_for(timeout=500)
    return awake.wait_for()


OPEN_FOLDS = """(figure) => {
    for (const fold of figure.querySelectorAll("details")) fold.open = true;
}"""


@dataclass
class Visit:
    """A page, the errors that it logged, and what it asked for outside the book."""

    page: Page
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def widget(self, name: str) -> Any:
        """Return the root of the page's first widget of a class, alive and with its folds open."""
        figure = self.page.locator(f'figure.live-widget[data-widget="{name}"]').first
        wake(figure)
        figure.evaluate(OPEN_FOLDS)
        return figure.locator('.capsnet[data-ready="true"]')

    def all_alive(self) -> list[Locator]:
        """Return the places of the page's widgets, once all are awake and all files are loaded."""
        for place in self.page.locator("figure.live-widget, figure.glass:not([data-waits])").all():
            wake(place)
        self.page.wait_for_load_state("networkidle")
        return self.page.locator("figure.live-widget").all()


@pytest.fixture
def visit(chromium: Browser, addresses: dict[str, str]) -> Iterator[Callable[..., Visit]]:
    """A function that opens a page and, after the test, fails for its errors and requests.

    Options are those of a Playwright context; `tolerate=True` leaves errors to the test.
    """
    visits: list[tuple[Visit, bool]] = []

    def open_page(url: str, *, tolerate: bool = False, **options: Any) -> Visit:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        seen = Visit(context.new_page())
        watch(seen, (*addresses.values(), "data:", "blob:"))
        visits.append((seen, tolerate))
        seen.page.goto(url)
        return seen

    yield open_page
    for seen, tolerate in visits:
        seen.page.context.close()
        assert not seen.outside, "the page asked for something outside the book"
        assert tolerate or not seen.errors, "the page logged an error"


def watch(seen: Visit, inside: tuple[str, ...]) -> None:
    """Note a page's errors, and its requests of addresses that begin otherwise than `inside`."""

    def note_request(request: Request) -> None:
        if not request.url.startswith(inside):
            seen.outside.append(request.url)

    def note_message(message: ConsoleMessage) -> None:
        url = message.location["url"]
        is_icon = url.endswith("/favicon.ico")  # index.html, which leads on, has none
        if message.type == "error" and not is_icon:
            seen.errors.append(f"{message.text} ({url})")

    seen.page.on("request", note_request)
    seen.page.on("console", note_message)
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))


@pytest.fixture
def alone(visit: Callable[..., Visit], addresses: dict[str, str], book: Path) -> Callable[..., Any]:
    """A function that opens a page whose article holds one widget alone, and returns the widget.

    `values` make a prompt beside it. Such a page loads in a third of the time; test_pages.py tries
    how widgets fit among text, formulas and figures.
    """

    def open_alone(
        name: str, page: str, values: dict[str, Any] | None = None, **options: Any
    ) -> Any:
        suffix = ".prompt" if values else ""
        path = page.replace(".html", f".{name}{suffix}.html")
        if not (book / path).exists():
            text = (book / page).read_text(encoding="utf-8")
            write_whole(book / path, page_of_one_widget(text, name, values))
        return visit(addresses["http"] + path, **options).widget(name)

    return open_alone


def page_of_one_widget(page: str, name: str, values: dict[str, Any] | None) -> str:
    """Return a page with the first widget of a class alone in its article, and a prompt for it."""
    figure = next(match[0] for match in FIGURE.finditer(page) if match[1] == name)
    model = figure.split('data-model="')[1].split('"')[0]
    prompt = ""
    if values:
        data = escape(json.dumps(values))
        prompt = f'<a class="live-prompt" href="#{model}" data-values="{data}">a prompt</a>'
    room = '<div style="height: 100vh"></div>'  # to scroll in
    article = f"<section>{room}{figure}{prompt}{room}</section>"
    return ARTICLE.sub(lambda match: match[1] + article + match[2], NEEDLESS.sub("", page))


def write_whole(path: Path, text: str) -> None:
    """Write a file that other workers see whole or not at all."""
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
