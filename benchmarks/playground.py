"""Ten trainings in the page and ten in PyTorch: ``python -m benchmarks.playground`` writes results/playground.json.

They take turns on one machine, with the same digits, network, losses, batches and rate, each from its own noise, and
test the average of their weights over the same steps: the page's RaiseOne in a Chromium at full speed, pictures, tests
and all, from the press on; `my_capsnet` on one thread.
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

LEVELS = (90, 95, 97, 98)
FIRST = 11
"""The first seed. Of the seeds 1 to 10 came the measure of error, the mean of the tests in the second half."""
MOMENTS = (*range(500, 4000, 500), *range(4000, 24_000, 2000), *range(24_000, 100_000, 4000))
"""Digits after which PyTorch's network is tested: about as often as the page's."""

HTML = """<!doctype html><meta charset="utf-8"><style>{css}</style>
<figure class="live-widget"><div></div></figure><script id="esm" type="text/plain">{esm}</script><script type="module">
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const source = bytes(document.getElementById("esm").textContent);
const {{ default: widget }} = await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})));
const values = {{ settings: [{{ seed: {seed} }}], digits: {{ digits: "" }}, records: [] }};
const model = {{ get: (name) => values[name], set() {{}}, on() {{}}, off() {{}}, save_changes() {{}} }};
const digits = new DataView(bytes("{digits}").buffer);  // a book's page has them from a file of their own
const host = {{ getModel: async () => ({{ get: () => digits }}) }};
await widget.render({{ model, host, el: document.querySelector("figure div") }});
</script>"""

WATCH = """() => {
    const find = (role) => document.querySelector(`[data-role="${role}"]`);
    Object.assign(globalThis, { told: [], long: [] });
    new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration)))
        .observe({ type: "longtask" });
    document.querySelector('[data-pace="all"]').click();
    const pressed = performance.now();
    const tell = () => told.push([performance.now() - pressed, find("curve").getAttribute("aria-label")]);
    new MutationObserver(tell).observe(find("curve"), { attributeFilter: ["aria-label"] });
    find("train").click();
}"""
SLIDE = """async () => {  // milliseconds from a slider's input, at any time in a frame, until its drawing was painted
    const canvas = document.querySelector('[data-role="redrawn"]');
    const look = () => canvas.getContext("2d").getImageData(0, 0, 28, 28).data;
    const apart = (one, other) => one.reduce((sum, x, k) => sum + Math.abs(x - other[k]), 0);
    const rest = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const slide = (slider, value) => {
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
    };
    const drawnAt = async (slider, value) => (slide(slider, value), await rest(300), look());
    const sliders = [];  // by how much they change the drawing, which changes a little by itself: the network learns
    for (const slider of document.querySelectorAll(".sixteen input")) {
        sliders.push([apart(await drawnAt(slider, -0.25), await drawnAt(slider, 0.25)), slider]);
        slide(slider, 0);
    }
    const [, slider] = sliders.sort(([p], [q]) => p - q).at(-1);
    const drawn = { [-0.25]: await drawnAt(slider, -0.25), 0.25: await drawnAt(slider, 0.25) };
    const waited = [];
    for (let n = 0; n < 20; n++) {
        await rest(200 + 100 * Math.random());
        const [here, there] = n % 2 ? [-0.25, 0.25] : [0.25, -0.25];
        drawn[here] = look();
        const at = performance.now();
        slide(slider, there);
        const waits = () => performance.now() - at;
        do await painted(); while (apart(look(), drawn[there]) > apart(look(), drawn[here]) && waits() < 1000);
        waited.push(waits());
    }
    return waited;
}"""


def in_page(page: Page, folder: Path, seed: int, until: int) -> dict[str, Any]:
    """One training in the page: its curve, [digits, share of errors, seconds after the press], and how free it was."""
    texts = [
        _sources.module("raise_one.js").encode(),
        asset("digits/digits.safetensors").read_bytes(),
    ]
    esm, sample = (base64.b64encode(text).decode() for text in texts)
    style = css_variables() + _sources.stylesheet("raise_one.css")
    path = folder / f"{seed}.html"
    path.write_text(HTML.format(css=style, esm=esm, digits=sample, seed=seed), encoding="utf-8")
    page.goto(path.as_uri())
    page.wait_for_selector("[data-ready]")
    page.evaluate(WATCH)
    page.wait_for_function(
        "(end) => told.some(([, words]) => words.endsWith(end))", arg=f"after {until} digits"
    )
    told, long = page.evaluate("() => [told, long]")
    curve: list[list[float]] = []
    for milliseconds, words in told:
        if found := re.search(r"([\d.]+) % wrong after (\d+) digits", words):
            point = [int(found[2]), round(float(found[1]) / 100, 4)]
            if not curve or curve[-1][0] != point[0]:
                curve.append([*point, round(milliseconds / 1000, 2)])
    (first, *_, last) = (point for point in curve if point[0] > 0)
    return {
        "curve": curve,
        "ms_an_image": rounded(1000 * (last[2] - first[2]) / (last[0] - first[0])),
        "tasks_above_50_ms": sum(duration > 50 for duration in long),
    }


def slid(page: Page) -> dict[str, float]:
    """Milliseconds that a slider's drawing takes while it trains: the median and the most of twenty."""
    pad: Any = page.locator(".pad").bounding_box()
    page.mouse.move(pad["x"] + 80, pad["y"] + 30)
    page.mouse.down()
    page.mouse.move(pad["x"] + 80, pad["y"] + 120)
    page.mouse.up()
    page.locator(".sixteen").evaluate("(node) => (node.closest('details').open = true)")
    page.wait_for_timeout(500)
    waited = page.evaluate(SLIDE)
    return {
        "slider_ms": rounded(statistics.median(waited)),
        "slider_ms_at_most": rounded(max(waited)),
    }


def in_pytorch(sample: list[tuple[Tensor, Tensor]], seed: int, until: int) -> dict[str, Any]:
    """The same with `my_capsnet`: each digit moved by up to two pixels, batches of 16, Adam, weights averaged."""
    torch.manual_seed(seed)
    (images, labels), test = sample
    network = my_capsnet.CapsNet()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.005)
    share = lambda steps: max(1 / 50, 10 / (10 + steps))  # noqa: E731
    average = AveragedModel(
        network, avg_fn=lambda old, new, steps: old + share(steps) * (new - old)
    )
    curve, seen, began, learning = [], 0, time.perf_counter(), 0.0
    while seen < until:
        for chosen in torch.randperm(len(images)).split(16):
            started = time.perf_counter()
            padded = F.pad(images[chosen], (2, 2, 2, 2))
            moved = [
                image[:, down : down + 28, right : right + 28]
                for image, (down, right) in zip(
                    padded, torch.randint(0, 5, (16, 2)).tolist(), strict=True
                )
            ]
            my_capsnet.one_step(network, optimizer, torch.stack(moved), labels[chosen])
            average.update_parameters(network)
            learning += time.perf_counter() - started
            seen += len(chosen)
            if any(seen - 16 < moment <= seen for moment in MOMENTS):
                wrong = 1 - my_capsnet.accuracy(average, *test)
                curve.append([seen, round(wrong, 4), round(time.perf_counter() - began, 2)])
            if seen % 4000 == 0:
                optimizer.param_groups[0]["lr"] *= 0.9
            if seen >= until:
                break
    return {"curve": curve, "ms_an_image": rounded(1000 * learning / seen)}


def seconds_to(level: int, curve: list[list[float]]) -> float:
    """When a curve first meets so many per cent right; infinite where it does not."""
    return next(
        (seconds for _, wrong, seconds in curve if 100 * wrong <= 100 - level + 1e-9), math.inf
    )


def summary(runs: dict[str, list[dict[str, Any]]], until: int) -> dict[str, Any]:
    """Seconds to each level, milliseconds an image, and errors: in the second half of the tests, and in the last."""
    found: dict[str, Any] = {"seconds": {}}
    for level in LEVELS:
        rows = {}
        for where, trainings in runs.items():
            took = sorted(seconds_to(level, run["curve"]) for run in trainings)
            met = [second for second in took if second < math.inf]
            middle = statistics.median(took)
            rows[where] = {
                "median": rounded(middle) if middle < math.inf else None,
                "from": rounded(met[0]) if met else None,
                "to": rounded(met[-1]) if met else None,
                "met_by": len(met),
            }
        found["seconds"][str(level)] = rows
    found["ms_an_image"] = {
        where: rounded(statistics.median(run["ms_an_image"] for run in trainings))
        for where, trainings in runs.items()
    }
    found["tasks_above_50_ms"] = [run["tasks_above_50_ms"] for run in runs["page"]]
    for name, since in (("percent_wrong", until / 2), ("percent_wrong_last", until)):
        errors = {
            where: [_error(run["curve"], since) for run in trainings]
            for where, trainings in runs.items()
        }
        low, high = stats.ttest_ind(
            errors["page"], errors["pytorch"], equal_var=False
        ).confidence_interval()
        found[name] = {
            **{where: round(statistics.mean(each), 2) for where, each in errors.items()},
            "difference": round(
                statistics.mean(errors["page"]) - statistics.mean(errors["pytorch"]), 2
            ),
            "low": round(float(low), 2),
            "high": round(float(high), 2),
        }
    return found


def _error(curve: list[list[float]], since: float) -> float:
    """Per cent wrong, mean of the tests from so many digits on, every 2,000: of one test 0.2 are a single digit."""
    return statistics.mean(
        100 * wrong for seen, wrong, _ in curve if seen >= since and seen % 2000 == 0
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the trainings, turn by turn, and write what came."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.playground", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--digits", type=int, default=24_000, help="that each learns from (default: 24,000)"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "playground.json")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    sample = [
        ((split.images * 15).round() / 15, split.labels)  # the page has them in four bits
        for split in (digits(name, source="sample") for name in ("train", "test"))
    ]
    runs: dict[str, list[dict[str, Any]]] = {"page": [], "pytorch": []}
    here = machine()
    if options.output.exists():  # it goes on where it was interrupted
        before = json.loads(options.output.read_text(encoding="utf-8"))
        runs = before["runs"] if before["digits"] == options.digits else runs
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = launch(playwright)
        while True:
            found = {
                "command": "python -m benchmarks.playground",
                "machine": here | {"browser": f"Chromium {browser.version}"},
                "digits": options.digits,
                **(summary(runs, options.digits) if len(runs["page"]) > 1 else {}),
                "runs": runs,
            }
            write_json(options.output, found)  # what there is, if it is interrupted
            if len(runs["page"]) >= options.seeds:
                break
            seed = FIRST + len(runs["page"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            runs["page"].append(in_page(page, Path(folder), seed, options.digits) | slid(page))
            page.close()
            runs["pytorch"].append(in_pytorch(sample, seed, options.digits))
            print(
                seed,
                *(_error(run[-1]["curve"], options.digits) for run in runs.values()),
                flush=True,
            )
    print(json.dumps({name: value for name, value in found.items() if name != "runs"}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
