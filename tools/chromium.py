"""Start a Chromium: for the browser tests and for the pictures of the book."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Playwright

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "msedge",
)
"""The first is without windows, as Playwright's own: it takes half the processor time of a whole Chromium."""
MISSING = (
    "no Chromium found: install one (Debian: apt install chromium-headless-shell), "
    "run `.venv/bin/playwright install chromium`, or name one in the variable CAPSNET_CHROMIUM"
)


def launch(playwright: Playwright, *options: str) -> Browser:
    """Start $CAPSNET_CHROMIUM, a Chromium or Chrome on the PATH, or Playwright's own, without a window.

    Raises:
        FileNotFoundError: there is none.
    """
    named = os.environ.get("CAPSNET_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    program = Path(named or playwright.chromium.executable_path)
    if not program.is_file():
        raise FileNotFoundError(MISSING)
    as_root = (
        hasattr(os, "geteuid") and os.geteuid() == 0
    )  # in containers, where Chromium's sandbox does not work
    return playwright.chromium.launch(
        executable_path=program, args=[*options, *["--no-sandbox"] * as_root]
    )
