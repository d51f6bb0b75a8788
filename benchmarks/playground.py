"""Compare ten trainings in the page with ten in PyTorch, and write results/playground.json.

    python -m benchmarks.playground

They take turns on one machine, with the same digits, network, losses, batches and rate, each from
noise of its own, and test the average of their weights over the same steps. In the page: RaiseOne
in a Chromium at full speed, pictures and tests included, timed from the press of Train. In
PyTorch: `my_capsnet` on one thread.
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from playwright.sync_api import Page, sync_playwright
from scipy import stats
from torch import Tensor
from torch.optim.swa_utils import AveragedModel

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "book"))

import my_capsnet  # noqa: E402
from capsnet_book.assets import asset  # noqa: E402
from capsnet_book.palette import css_variables  # noqa: E402
from capsnet_book.widgets import _sources  # noqa: E402

from benchmarks.measure import machine, rounded  # noqa: E402
from capsnet_tutorial.data import digits  # noqa: E402
from capsnet_tutorial.files import write_json  # noqa: E402
from tools.chromium import launch  # noqa: E402

LEVELS = (90, 95, 97, 98)  # per cent right
# The seeds 1 to 10 chose the measure of error: the mean of the tests in the second half.
FIRST_SEED = 11
# Digits after which PyTorch's network is tested: about as often as the page's.
MOMENTS = (*range(500, 4000, 500), *range(4000, 24_000, 2000), *range(24_000, 100_000, 4000))
FADE_EVERY = 4000  # digits
BATCH = 16
MOVE = 2  # pixels, at most, that a digit is moved by
WINDOW = {"width": 1280, "height": 900}

Curve = list[list[float]]
"""Points of [digits, share of errors, seconds]."""

HTML = """<!doctype html><meta charset="utf-8"><style>{css}</style>
<figure class="live-widget"><div></div></figure>
<script id="esm" type="text/plain">{esm}</script>
<script type="module">
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const source = bytes(document.getElementById("esm").textContent);
const address = URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }}));
const {{ default: widget }} = await import(address);
const values = {{ settings: [{settings}], digits: {{}}, records: [] }};
const nothing = () => {{}};
const get = (name) => values[name];
const model = {{ get, set: nothing, on: nothing, off: nothing, save_changes: nothing }};
// a book's page has the pictures from a file of their own
const pictures = new DataView(bytes("{pictures}").buffer);
const host = {{ getModel: async () => ({{ get: () => pictures }}) }};
await widget.render({{ model, host, el: document.querySelector("figure div") }});
</script>"""

WATCH = """() => {
    const find = (role) => document.querySelector(`[data-role="${role}"]`);
    Object.assign(globalThis, { labels: [], long: [] });
    const note = (list) => long.push(...list.getEntries().map(({ duration }) => duration));
    new PerformanceObserver(note).observe({ type: "longtask" });
    document.querySelector('[data-pace="all"]').click();
    const pressed = performance.now();
    const curve = find("curve");
    const noteLabel = () => {
        labels.push([performance.now() - pressed, curve.getAttribute("aria-label")]);
    };
    new MutationObserver(noteLabel).observe(curve, { attributeFilter: ["aria-label"] });
    find("train").click();
}"""

# Milliseconds from a slider's input, at any time in a frame, until its drawing was painted. The
# drawing changes a little by itself, because the network learns: the slider that changes it most
# is taken.
SLIDE = """async () => {
    const canvas = document.querySelector('[data-role="redrawn"]');
    const look = () => canvas.getContext("2d").getImageData(0, 0, 28, 28).data;
    const apart = (one, other) => one.reduce((sum, x, k) => sum + Math.abs(x - other[k]), 0);
    const rest = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const slide = (slider, value) => {
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
    };
    const drawnAt = async (slider, value) => {
        slide(slider, value);
        await rest(300);
        return look();
    };
    const sliders = [];
    for (const slider of document.querySelectorAll(".sixteen input")) {
        const low = await drawnAt(slider, -0.25);
        const high = await drawnAt(slider, 0.25);
        sliders.push([apart(low, high), slider]);
        slide(slider, 0);
    }
    const [, slider] = sliders.sort(([p], [q]) => p - q).at(-1);
    const drawings = { [-0.25]: await drawnAt(slider, -0.25), 0.25: await drawnAt(slider, 0.25) };
    const delays = [];
    for (let n = 0; n < 20; n++) {
        await rest(200 + 100 * Math.random());
        const from = n % 2 ? -0.25 : 0.25;
        const to = -from;
        drawings[from] = look();
        const start = performance.now();
        slide(slider, to);
        const isOld = () => apart(look(), drawings[to]) > apart(look(), drawings[from]);
        do await painted(); while (isOld() && performance.now() - start < 1000);
        delays.push(performance.now() - start);
    }
    return delays;
}"""


# --- in the page


def write_page(folder: Path, seed: int, data: str = "digits") -> Path:
    """Write a page that holds the widget, its digits or animals, and nothing else."""
    script = _sources.module("raise_one.js").encode()
    sample = asset(f"digits/{data}.safetensors").read_bytes()
    page = HTML.format(
        css=css_variables() + _sources.stylesheet("raise_one.css"),
        esm=base64.b64encode(script).decode(),
        pictures=base64.b64encode(sample).decode(),
        settings=json.dumps({"seed": seed, "data": data}),
    )
    path = folder / f"{seed}.html"
    path.write_text(page, encoding="utf-8")
    return path


def train_in_page(page: Page, folder: Path, seed: int, until: int) -> dict[str, Any]:
    """Train in the page. Return its curve, its speed, and how often it held the page up."""
    page.goto(write_page(folder, seed).as_uri())
    page.wait_for_selector("[data-ready]")
    page.evaluate(WATCH)
    page.wait_for_function(
        "(end) => labels.some(([, words]) => words.endsWith(end))",
        arg=f"after {until} images",
    )
    labels, long = page.evaluate("() => [labels, long]")
    curve = curve_of(labels)
    learning = [point for point in curve if point[0] > 0]
    first = learning[0]
    last = learning[-1]
    return {
        "curve": curve,
        "ms_an_image": rounded(1000 * (last[2] - first[2]) / (last[0] - first[0])),
        "tasks_above_50_ms": sum(duration > 50 for duration in long),
    }


def curve_of(labels: list[tuple[float, str]]) -> Curve:
    """Return the curve from the chart's labels, each with its milliseconds after the press."""
    curve: Curve = []
    for milliseconds, words in labels:
        numbers = re.search(r"([\d.]+) % wrong after (\d+) images", words)
        if numbers is None:
            continue
        seen = int(numbers[2])
        if not curve or curve[-1][0] != seen:
            share = round(float(numbers[1]) / 100, 4)
            curve.append([seen, share, round(milliseconds / 1000, 2)])
    return curve


def time_sliders(page: Page) -> dict[str, float]:
    """Return how long a slider's drawing takes while it trains: median and maximum of twenty."""
    pad: Any = page.locator(".pad").bounding_box()
    page.mouse.move(pad["x"] + 80, pad["y"] + 30)
    page.mouse.down()
    page.mouse.move(pad["x"] + 80, pad["y"] + 120)
    page.mouse.up()
    page.locator(".sixteen").evaluate("(node) => { node.closest('details').open = true; }")
    page.wait_for_timeout(500)
    delays = page.evaluate(SLIDE)
    return {
        "slider_ms": rounded(statistics.median(delays)),
        "slider_ms_at_most": rounded(max(delays)),
    }


# --- in PyTorch


def moved(images: Tensor) -> Tensor:
    """Return images [B, 1, 28, 28], each moved by up to two pixels in both directions."""
    padded = F.pad(images, (MOVE, MOVE, MOVE, MOVE))
    corners = torch.randint(0, 2 * MOVE + 1, (len(images), 2)).tolist()
    pieces = [
        image[:, down : down + 28, right : right + 28]
        for image, (down, right) in zip(padded, corners, strict=True)
    ]
    return torch.stack(pieces)


def average_share(old: Tensor, new: Tensor, steps: Tensor | int) -> Tensor:
    """Return the average of the weights after one more step: of the last tenth, at most fifty."""
    share = max(1 / 50, 10 / (10 + int(steps)))
    return old + share * (new - old)


def train_in_pytorch(sample: list[tuple[Tensor, Tensor]], seed: int, until: int) -> dict[str, Any]:
    """Train `my_capsnet` as the page trains. Return its curve and its speed."""
    torch.manual_seed(seed)
    (images, labels), test = sample
    network = my_capsnet.CapsNet()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.005)
    average = AveragedModel(network, avg_fn=average_share)
    curve: Curve = []
    seen = 0
    learning = 0.0  # seconds, without tests
    start = time.perf_counter()
    for chosen in endless_batches(len(images)):
        step_start = time.perf_counter()
        my_capsnet.one_step(network, optimizer, moved(images[chosen]), labels[chosen])
        average.update_parameters(network)
        learning += time.perf_counter() - step_start
        seen += len(chosen)
        if any(seen - BATCH < moment <= seen for moment in MOMENTS):
            error = 1 - my_capsnet.accuracy(average, *test)
            curve.append([seen, round(error, 4), round(time.perf_counter() - start, 2)])
        if seen % FADE_EVERY == 0:
            optimizer.param_groups[0]["lr"] *= 0.9
        if seen >= until:
            break
    return {"curve": curve, "ms_an_image": rounded(1000 * learning / seen)}


def endless_batches(count: int) -> Iterator[Tensor]:
    """Yield batches of indices below `count`, each index once a pass."""
    while True:
        yield from torch.randperm(count).split(BATCH)


# --- what came out


def seconds_to(level: int, curve: Curve) -> float:
    """Return when a curve first meets so many per cent right; infinity where it does not."""
    for _, share, seconds in curve:
        if 100 * share <= 100 - level + 1e-9:
            return seconds
    return math.inf


def level_summary(level: int, trainings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return median and range of the seconds to a level, and how many trainings met it."""
    seconds = sorted(seconds_to(level, run["curve"]) for run in trainings)
    finite = [second for second in seconds if second < math.inf]
    median = statistics.median(seconds)
    return {
        "median": rounded(median) if median < math.inf else None,
        "from": rounded(finite[0]) if finite else None,
        "to": rounded(finite[-1]) if finite else None,
        "met_by": len(finite),
    }


def mean_error(curve: Curve, since: float) -> float:
    """Return the per cent wrong, mean of the tests every 2,000 digits from `since` on.

    A single test would be too coarse: 0.2 points are one digit.
    """
    return statistics.mean(
        100 * share for seen, share, _ in curve if seen >= since and seen % 2000 == 0
    )


def error_summary(runs: dict[str, list[dict[str, Any]]], since: float) -> dict[str, float]:
    """Return both mean errors, their difference and its 95 % interval."""
    errors = {
        place: [mean_error(run["curve"], since) for run in trainings]
        for place, trainings in runs.items()
    }
    means = {place: statistics.mean(values) for place, values in errors.items()}
    test = stats.ttest_ind(errors["page"], errors["pytorch"], equal_var=False)
    low, high = test.confidence_interval()
    return {
        **{place: round(mean, 2) for place, mean in means.items()},
        "difference": round(means["page"] - means["pytorch"], 2),
        "low": round(float(low), 2),
        "high": round(float(high), 2),
    }


def summary(runs: dict[str, list[dict[str, Any]]], until: int) -> dict[str, Any]:
    """Return seconds to each level, milliseconds an image, and errors."""
    seconds = {}
    for level in LEVELS:
        seconds[str(level)] = {
            place: level_summary(level, trainings) for place, trainings in runs.items()
        }
    speeds = {
        place: rounded(statistics.median(run["ms_an_image"] for run in trainings))
        for place, trainings in runs.items()
    }
    return {
        "seconds": seconds,
        "ms_an_image": speeds,
        "tasks_above_50_ms": [run["tasks_above_50_ms"] for run in runs["page"]],
        "percent_wrong": error_summary(runs, until / 2),
        "percent_wrong_last": error_summary(runs, until),
    }


# --- the command


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the command's options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.playground", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--digits", type=int, default=24_000, help="that each learns from (default: 24,000)"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "playground.json")
    return parser.parse_args(arguments)


def stored_runs(path: Path, until: int) -> dict[str, list[dict[str, Any]]]:
    """Return the runs of a benchmark that was interrupted; none if it had other digits."""
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["digits"] == until:
            return before["runs"]
    return {"page": [], "pytorch": []}


def sample_of_page() -> list[tuple[Tensor, Tensor]]:
    """Return training and test digits as the page has them: in four bits."""
    splits = [digits(name, source="sample") for name in ("train", "test")]
    return [((split.images * 15).round() / 15, split.labels) for split in splits]


def main(arguments: list[str] | None = None) -> int:
    """Run the trainings, turn by turn, and write what came out after each pair."""
    options = parse(arguments)
    torch.set_num_threads(1)
    sample = sample_of_page()
    runs = stored_runs(options.output, options.digits)
    report: dict[str, Any] = {"command": "python -m benchmarks.playground", "machine": machine()}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = launch(playwright)
        report["machine"] |= {"browser": f"Chromium {browser.version}"}
        while True:
            report["digits"] = options.digits
            if len(runs["page"]) > 1:
                report |= summary(runs, options.digits)
            report["runs"] = report.pop("runs", runs)  # last in the file
            write_json(options.output, report)
            if len(runs["page"]) >= options.seeds:
                break
            seed = FIRST_SEED + len(runs["page"])
            page = browser.new_page(viewport=WINDOW)
            run = train_in_page(page, Path(folder), seed, options.digits)
            runs["page"].append(run | time_sliders(page))
            page.close()
            runs["pytorch"].append(train_in_pytorch(sample, seed, options.digits))
            errors = [mean_error(pair[-1]["curve"], options.digits) for pair in runs.values()]
            print(seed, *errors, flush=True)
    shown = {name: value for name, value in report.items() if name != "runs"}
    print(json.dumps(shown, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
