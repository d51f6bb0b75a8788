"""JupyterLab: what a reader sees of a chapter before running it, and its widgets after Run All."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from engines import free_port, wait_for
from playwright.sync_api import Browser, Page
from stored_widgets import OURS

from .conftest import CHAPTERS, ROOT, short

RUN = ("01-try-it", "06-routing", "14-two-digits-at-once")  # the others run in test_versions.py, without a page
SETTINGS = {"windowingMode": "none"}  # cells out of sight are in the page, too


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab, with a copy of the book."""
    folder, port = tmp_path_factory.mktemp("lab"), free_port()
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("_static", "_ext"))
    settings = folder / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps(SETTINGS), encoding="utf-8")
    environment = os.environ | {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"), "PYTHONPATH": str(ROOT)}
    options = [f"--port={port}", "--no-browser", "--IdentityProvider.token=", "--expose-app-in-browser", "--allow-root"]
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={folder / 'book'}"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        address = f"http://localhost:{port}"
        urllib.request.urlopen(f"{address}/api").close()
        yield address
    finally:
        process.terminate()
        process.wait(60)


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
    return sum(OURS in output.get("metadata", {}) for cell in cells for output in cell.get("outputs", []))


def said(page: Page) -> str:
    """What the notebook says."""
    return page.locator(".jp-Notebook").inner_text()


@pytest.mark.parametrize("path", CHAPTERS, ids=short)
def test_before_it_runs_each_widget_is_a_picture(page: Page, lab: str, path: Path) -> None:
    widgets = opened(page, lab, path)
    pictures = page.locator('.jp-OutputArea-output img[src^="data:image/jpeg"]')
    if widgets:
        pictures.nth(widgets - 1).wait_for()
    assert pictures.count() == widgets
    text = said(page)
    for trouble in (
        "Loading widget",
        "Error displaying widget",
        "cannot start",
        "{dropdown}",
        "{admonition}",
        "{cite}",
    ):
        assert trouble not in text
    assert page.locator(".jp-MarkdownOutput details[open]").count() == 0


@pytest.mark.parametrize("path", [path for path in CHAPTERS if path.stem in RUN], ids=short)
def test_after_it_ran_the_widgets_live(page: Page, lab: str, path: Path) -> None:
    widgets = opened(page, lab, path)
    page.evaluate("window.jupyterapp.serviceManager.ready")
    kernel = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
    page.wait_for_function(f"{kernel}?.status === 'idle'", timeout=120_000)
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.locator('.jp-OutputArea-output .capsnet[data-ready="true"]').nth(widgets - 1).wait_for(timeout=300_000)
    assert page.locator(".jp-OutputArea-output img[src^='data:image/jpeg']").count() == 0
    assert "Error displaying widget" not in said(page)
