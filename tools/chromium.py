"""Find a Chromium and start it: for the browser tests and for the pictures of the book."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
MISSING = (
    "no Chromium found: install one (Debian, Ubuntu: apt install chromium), "
    "run `.venv/bin/playwright install chromium`, or name one in the variable CAPSNET_CHROMIUM"
)


def find_chromium(playwright: Playwright) -> str | None:
    """The path of a Chromium, Chrome or Edge: $CAPSNET_CHROMIUM, one on the PATH, or Playwright's own."""
    named = os.environ.get("CAPSNET_CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise SystemExit(f"CAPSNET_CHROMIUM names {named}, which is no file")
        return named
    found = [path for name in NAMES if (path := shutil.which(name))]
    found += [place for place in (*PLACES, playwright.chromium.executable_path) if Path(place).is_file()]
    return found[0] if found else None


def launch(playwright: Playwright, executable: str, *options: str) -> Browser:
    """Start it without a window. Containers run as root, where Chromium's sandbox does not work."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return playwright.chromium.launch(executable_path=executable, args=[*options, *["--no-sandbox"] * as_root])
