"""JupyterLab: what a reader sees of a chapter before running it, and its widgets after Run All."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from _ext.widgets.models import OURS
from playwright.sync_api import Browser, Page, expect

from .conftest import CHAPTERS, ROOT

RUN = [
    path for path in CHAPTERS if path.stem.endswith(("try-it", "routing"))
]  # test_versions.py runs all
PICTURES = '.jp-OutputArea-output img[src^="data:image/png"][alt^="The widget"]'
WIDGETS = '.jp-OutputArea-output .capsnet[data-ready="true"]'
STILLS = ".jp-OutputArea-output .capsnet-still"
TROUBLE = (
    "Loading widget",
    "Error displaying widget",
    "cannot start",
    "{dropdown}",
    "{admonition}",
    "{cite}",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab, with a copy of the book."""
    with served(tmp_path_factory.mktemp("lab")) as address:
        yield address


@pytest.fixture(scope="module")
def lab_without_anywidget(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab without anywidget's extension, as where the kernel has its own environment."""
    folder = tmp_path_factory.mktemp("plain-lab")
    settings = folder / "config" / "labconfig"
    settings.mkdir(parents=True)
    disabled = json.dumps({"disabledExtensions": {"anywidget": True}})
    (settings / "page_config.json").write_text(disabled, encoding="utf-8")
    with served(folder) as address:
        yield address


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Run JupyterLab with a copy of the book in a folder; the address."""
    shutil.copytree(
        ROOT / "book",
        folder / "book",
        ignore=shutil.ignore_patterns("_static", "_ext", "node_modules"),
    )
    settings = folder / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    cells_out_of_sight_too = json.dumps({"windowingMode": "none"})
    (settings / "tracker.jupyterlab-settings").write_text(cells_out_of_sight_too, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    packages = os.pathsep.join([str(ROOT), str(ROOT / "book")])
    environment = os.environ | {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "PYTHONPATH": packages,
    }
    options = [
        f"--port={port}",
        "--no-browser",
        "--IdentityProvider.token=",
        "--expose-app-in-browser",
        "--allow-root",
    ]
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        *options,
        f"--ServerApp.root_dir={folder / 'book'}",
    ]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(60)


def wait_for(port: int) -> None:
    """Wait until something listens there."""
    for _ in range(600):
        with socket.socket() as knocking:
            if knocking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}")


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Page:
    """A Chromium's page."""
    return chromium.new_page(viewport={"width": 1280, "height": 900})


def opened(page: Page, lab: str, path: Path) -> int:
    """Open a notebook; how many widgets it shows."""
    page.goto(f"{lab}/lab/tree/{path.parent.name}/{path.name}?reset", timeout=120_000)
    page.locator(".jp-Notebook .jp-MarkdownOutput h1").first.wait_for(timeout=120_000)
    page.wait_for_function("window.jupyterapp !== undefined")
    cells = nbformat.read(path, as_version=4).cells
    return sum(
        OURS in output.get("metadata", {}) for cell in cells for output in cell.get("outputs", [])
    )


def run_all(page: Page) -> None:
    """Run all cells of the notebook that is open, without waiting for their ends."""
    page.evaluate("window.jupyterapp.serviceManager.ready")
    kernel = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
    page.wait_for_function(f"{kernel}?.status === 'idle'", timeout=120_000)
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")


def said(page: Page) -> str:
    """What the notebook says."""
    return page.locator(".jp-Notebook").inner_text()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_before_it_runs_each_widget_is_a_picture(page: Page, lab: str, path: Path) -> None:
    if widgets := opened(page, lab, path):
        page.locator(PICTURES).nth(widgets - 1).wait_for()
    assert page.locator(PICTURES).count() == widgets
    assert [trouble for trouble in TROUBLE if trouble in said(page)] == []
    assert page.locator(".jp-MarkdownOutput details[open]").count() == 0


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.stem)
def test_after_it_ran_the_widgets_live(page: Page, lab: str, path: Path) -> None:
    widgets = opened(page, lab, path)
    run_all(page)
    page.locator(WIDGETS).nth(widgets - 1).wait_for(timeout=300_000)
    assert page.locator(PICTURES).count() == 0
    assert page.locator(STILLS).count() == widgets
    assert page.locator(STILLS).filter(visible=True).count() == 0
    assert "Error displaying widget" not in said(page)
    prompt = page.locator('.jp-Notebook a[href^="#try-BendCapsule?offsets.15=0.25"]')
    if prompt.count():  # a link in the text moves a slider
        prompt.click()
        page.wait_for_function(
            "document.querySelector('input[data-dimension=\"15\"]').value === '0.25'"
        )
        drawing = "document.querySelector('[data-role=redrawn]').getContext('2d')"
        corner = f"{drawing}.getImageData(0, 0, 1, 1).data[0]"
        assert page.evaluate(corner) > 200, "paper, not the black of a widget without colours"
    if path.stem.endswith("try-it"):  # and a network is trained beside the kernel
        page.locator('[data-widget="RaiseOne"] [data-role="train"]').click()
        page.wait_for_function(
            "document.querySelector('[data-widget=RaiseOne]').dataset.seen > 200", timeout=120_000
        )
        page.locator('[data-widget="RaiseOne"] [data-role="keep"]').click()
        kept = page.locator('[data-widget="RaiseOne"] [data-role="kept"]')
        expect(kept).to_contain_text("raised.network()")
        expect(kept).not_to_contain_text("look under it")  # no switch is under a widget here


def test_without_anywidgets_extension_the_still_pictures_stay(
    page: Page, lab_without_anywidget: str
) -> None:
    path = next(path for path in RUN if path.stem.endswith("routing"))
    widgets = opened(page, lab_without_anywidget, path)
    run_all(page)
    stills = page.locator(STILLS).filter(visible=True)
    expect(stills).to_have_count(widgets, timeout=300_000)
    for still in stills.all():
        expect(still).to_contain_text("Install anywidget")
        height = still.locator("img").evaluate("async (i) => (await i.decode(), i.height)")
        assert height > 100
    assert page.locator(WIDGETS).count() == 0
    assert [trouble for trouble in TROUBLE if trouble in said(page)] == []
    assert "javascript error" not in said(page)


@pytest.mark.parametrize(
    ("link", "heading"),
    [("#does-it-take-agreement", "Does it take agreement?"), ("#four-promises", "Four promises")],
    ids=["in the same notebook", "in another notebook"],
)
def test_links_move_to_sections(page: Page, lab: str, link: str, heading: str) -> None:
    path = next(path for path in CHAPTERS if path.stem.endswith("does-routing-matter"))
    opened(page, lab, path)
    run_all(page)
    page.locator(WIDGETS).first.wait_for(timeout=300_000)
    page.locator(f'.jp-Notebook a[href$="{link}"]').first.click()
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook h2")
    expect(shown.filter(has_text=heading)).to_be_in_viewport(timeout=60_000)
