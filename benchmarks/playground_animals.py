"""Train the playground's animals in a Chromium, and write results/playground_animals.json.

    python -m benchmarks.playground_animals

How well does the page's network read animals by artists whom it never saw, beside new pictures by
artists from whose drawings it learns? Three seeds, usual settings, at full speed.
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from capsnet_book import animals
from playwright.sync_api import Page, sync_playwright

from benchmarks.measure import machine, rounded
from benchmarks.playground import ROOT, WINDOW, write_page
from capsnet_tutorial.files import write_json
from tools.chromium import launch

OUTPUT = ROOT / "results" / "playground_animals.json"
SEEDS = (1, 2, 3)
MOMENTS = (4000, 8000, 16_000)
"""Images after which the errors are noted: those of the last test."""
SECONDS = 240
"""That a training may take to the next moment."""

SEEN = """(least) => {
    const seen = () => Number(document.querySelector("[data-seen]").dataset.seen);
    return seen() >= least && document.querySelector("[data-artist] .result").textContent !== "";
}"""


def train(page: Page, folder: Path, seed: int) -> dict[str, Any]:
    """Train in the page; return what it read at each moment."""
    page.goto(write_page(folder, seed, "animals").as_uri())
    page.wait_for_selector("[data-ready]")
    page.locator('[data-pace="all"]').click()
    page.locator('[data-role="train"]').click()
    moments = []
    for images in MOMENTS:
        page.wait_for_function(SEEN, arg=images, timeout=1000 * SECONDS)
        counts = read_by_artist(page)
        seconds = page.locator(".counters b").nth(2).inner_text()
        moments.append({"images": images, "seconds": seconds_of(seconds), **errors(counts)})
    return {"seed": seed, "moments": moments}


def seconds_of(words: str) -> float:
    """Return the seconds that the page's counter says."""
    return float(words.removesuffix(" s"))


def read_by_artist(page: Page) -> dict[str, tuple[int, int]]:
    """Return of each artist's pictures how many were read, and how many there are."""
    counts = {}
    for line in page.locator("[data-artist]").all():
        words = line.text_content() or ""
        numbers = re.search(r"reads (\d+) of (\d+)", words)
        if numbers is None:
            raise ValueError(f"expected “reads … of …” in the page's line; got {words!r}")
        counts[line.get_attribute("data-artist") or ""] = (int(numbers[1]), int(numbers[2]))
    return counts


def errors(counts: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """Return per cent wrong: of artists known and unseen, and of each that is unseen."""
    artists = list(counts)  # in the order of `animals.drawings`
    known = [counts[artists[row]] for row in animals.SHOWN]
    unseen = {artists[row]: counts[artists[row]] for row in animals.UNSEEN}
    return {
        "known": percent_wrong(known),
        "unseen": percent_wrong(list(unseen.values())),
        "by_artist": {artist: percent_wrong([count]) for artist, count in unseen.items()},
    }


def percent_wrong(counts: list[tuple[int, int]]) -> float:
    """Return the per cent of all pictures that were not read."""
    read = sum(right for right, _ in counts)
    pictures = sum(total for _, total in counts)
    return round(100 * (1 - read / pictures), 2)


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return means over the seeds, and the least and largest error on unseen artists."""
    rows = []
    for k, images in enumerate(MOMENTS):
        moments = [run["moments"][k] for run in runs]
        unseen = [moment["unseen"] for moment in moments]
        by_artist = {
            artist: rounded(statistics.mean(moment["by_artist"][artist] for moment in moments))
            for artist in moments[0]["by_artist"]
        }
        rows.append(
            {
                "images": images,
                "seconds": rounded(statistics.median(moment["seconds"] for moment in moments)),
                "known": rounded(statistics.mean(moment["known"] for moment in moments)),
                "unseen": rounded(statistics.mean(unseen)),
                "unseen_from": min(unseen),
                "unseen_to": max(unseen),
                "by_artist": by_artist,
            }
        )
    return rows


def main() -> int:
    """Train from each seed, and write what came out."""
    runs = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = launch(playwright)
        about = machine() | {"browser": f"Chromium {browser.version}"}
        for seed in SEEDS:
            page = browser.new_page(viewport=WINDOW)
            runs.append(train(page, Path(folder), seed))
            page.close()
            print(seed, runs[-1]["moments"][-1], flush=True)
    report = {
        "command": "python -m benchmarks.playground_animals",
        "machine": about,
        "percent_wrong": summary(runs),
        "runs": runs,
    }
    write_json(OUTPUT, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
