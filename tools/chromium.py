"""Start a Chromium: for the browser tests, the pictures of the book and a benchmark."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Playwright

# The first has no windows, as Playwright's own: it takes half the processor time of a whole one.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "msedge",
)
MISSING = (
    "no Chromium found: install one (Debian: apt install chromium-headless-shell), "
    "run `.venv/bin/playwright install chromium`, or name one in the variable CAPSNET_CHROMIUM"
)


def launch(playwright: Playwright, *options: str) -> Browser:
    """Start $CAPSNET_CHROMIUM, a Chromium or Chrome on the PATH, or Playwright's own.

    Raises:
        FileNotFoundError: there is none.
    """
    program = Path(named_program() or playwright.chromium.executable_path)
    if not program.is_file():
        raise FileNotFoundError(MISSING)
    arguments = list(options)
    if is_root():  # as in containers, where Chromium's sandbox does not work
        arguments.append("--no-sandbox")
    return playwright.chromium.launch(executable_path=program, args=arguments)


def named_program() -> str | None:
    """Return the program that the environment names, or that is on the PATH."""
    programs = [os.environ.get("CAPSNET_CHROMIUM"), *map(shutil.which, NAMES)]
    return next(filter(None, programs), None)


def is_root() -> bool:
    """Return True for the user root; Windows has none."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
