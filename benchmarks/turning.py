"""Measure what an image costs capsules that turn, and write results/turning_speed.json.

    python -m benchmarks.turning

One training step of PyTorch on one thread, beside one of the playground's network, in turns, and
one picture read by the page's own JavaScript in Chromium. The fastest of many counts, so that other
work on the machine does little harm; of PyTorch the processor's time is counted.
"""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from playwright.sync_api import sync_playwright
from torch import Tensor, nn

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "book"))

import my_capsnet  # noqa: E402
from capsnet_book.assets import asset  # noqa: E402
from capsnet_book.turning import digits_network, wholes_network  # noqa: E402
from capsnet_book.widgets import _sources  # noqa: E402

from benchmarks.measure import machine, rounded  # noqa: E402
from capsnet_tutorial.data import digits  # noqa: E402
from capsnet_tutorial.files import write_json  # noqa: E402
from tools.chromium import launch  # noqa: E402

BATCHES = (16, 64)
"""The playground's, and that of the turning network's trainings."""
TURNS = 40
PICTURES, REPETITIONS = 20, 20
READ = """async ({ network, core, weights, pixels, repetitions }) => {
    const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const load = (source) => {
        const code = new Blob([bytes(source)], { type: "text/javascript" });
        return import(URL.createObjectURL(code));
    };
    const { makeTurningNet } = await load(network);
    const { convolve } = await load(core);
    const { forward, about: { kinds, turns } } = await makeTurningNet(bytes(weights).buffer);
    const images = pixels.map((image) => Float32Array.from(image));
    const fastest = (work) => images.map((image) => {
        const milliseconds = Array.from({ length: repetitions }, () => {
            const start = performance.now();
            work(image);
            return performance.now() - start;
        });
        return Math.min(...milliseconds);
    });
    // the bank's convolution alone, as forward does it: 11 x 11, three pixels of border
    const O = kinds * turns;
    const columns = new Float32Array(11 * 11 * O).fill(0.1);
    const look = { O, C: 1, kernel: 11, stride: 1, columns, bias: new Float32Array(O) };
    const convolved = (image) => {
        const padded = new Float32Array(34 * 34);
        for (let row = 0; row < 28; row++)
            padded.set(image.subarray(row * 28, (row + 1) * 28), (row + 3) * 34 + 3);
        convolve(padded, 34, look);
    };
    return { reading: fastest(forward), convolution: fastest(convolved) };
}"""


def first_digits(count: int) -> tuple[Tensor, Tensor]:
    """Return the first test digits, [count, 1, 28, 28], and their labels."""
    data = digits("test", "sample")
    return data.images[:count], data.labels[:count]


def step_of(network: nn.Module, batch: int) -> Callable[[], None]:
    """Return a function that does one training step of a turning network."""
    images, labels = first_digits(batch)
    adam = torch.optim.Adam(network.parameters())

    def step() -> None:
        adam.zero_grad()
        F.cross_entropy(network(images), labels % 8).backward()
        adam.step()

    return step


def playground_step(batch: int) -> Callable[[], None]:
    """Return a function that does one training step of the playground's network."""
    images, labels = first_digits(batch)
    network = my_capsnet.CapsNet()
    adam = torch.optim.Adam(network.parameters())
    return lambda: my_capsnet.one_step(network, adam, images, labels)


def time_steps(batch: int) -> dict[str, float]:
    """Return milliseconds of the processor an image, the fastest of `TURNS` turns, by network."""
    steps = {
        "playground": playground_step(batch),
        "digits": step_of(digits_network(), batch),
        "wholes": step_of(wholes_network(), batch),
    }
    for step in steps.values():
        step()
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(TURNS):
        for name, step in steps.items():
            start = time.process_time()
            step()
            seconds[name].append(time.process_time() - start)
    return {name: rounded(1000 * min(durations) / batch) for name, durations in seconds.items()}


def time_reading() -> dict[str, float]:
    """Return milliseconds of the page's JavaScript for ``reading`` a picture, and for the
    ``convolution`` in it.
    """
    images = digits("test", "sample").images[:PICTURES].flatten(1)
    weights = asset("weights/small-turning.safetensors").read_bytes()
    files = {
        "network": _sources.module("shared/turning_net.js").encode(),
        "core": _sources.module("shared/core.js").encode(),
        "weights": weights,
    }
    given: dict[str, Any] = {
        name: base64.b64encode(content).decode() for name, content in files.items()
    }
    given |= {"pixels": images.tolist(), "repetitions": REPETITIONS}
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        milliseconds = page.evaluate(READ, given)
        browser.close()
    return {name: rounded(min(times)) for name, times in milliseconds.items()}


def main() -> None:
    """Measure, and write the record."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    steps = {str(batch): time_steps(batch) for batch in BATCHES}
    record: dict[str, Any] = {
        "command": "python -m benchmarks.turning",
        "machine": machine(),
        "step_ms_an_image": steps,
        "page_ms_an_image": time_reading(),
    }
    write_json(ROOT / "results" / "turning_speed.json", record)
    print(record["step_ms_an_image"], record["page_ms_an_image"])


if __name__ == "__main__":
    main()
