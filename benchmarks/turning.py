"""Measure what an image costs capsules that turn, and write results/turning_speed.json.

    python -m benchmarks.turning                (what an image costs)
    python -m benchmarks.turning --trainings    (how well whole trainings read)

One training step of PyTorch on one thread, beside one of the playground's network, in turns; the
same two in the page's own arithmetic in Chromium, in turns, and one picture read there. The fastest
of many counts of the processor's time, so that other work on the machine does little harm. Then
whole trainings in the page and in PyTorch, with the same 4,000 digits and the same plan, each from
noise of its own.
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from playwright.sync_api import Page, sync_playwright
from torch import Tensor, nn

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "book"))

import my_capsnet  # noqa: E402
from capsnet_book.assets import asset  # noqa: E402
from capsnet_book.experiments import arms  # noqa: E402
from capsnet_book.experiments import turning as trial  # noqa: E402
from capsnet_book.experiments.arms import between  # noqa: E402
from capsnet_book.experiments.cnn import scores_of  # noqa: E402
from capsnet_book.turning import digits_network, wholes_network  # noqa: E402
from capsnet_book.widgets import _sources  # noqa: E402

from benchmarks.measure import machine, rounded  # noqa: E402
from capsnet_tutorial.data import digits  # noqa: E402
from capsnet_tutorial.files import write_json  # noqa: E402
from tools.chromium import launch  # noqa: E402

BATCHES = (16, 64)
"""The playground's, and that of the turning network's trainings."""
TURNS = 40
RECORD = ROOT / "results" / "turning_speed.json"
SEEDS = (11, 12, 13)
"""Of the whole trainings."""
TRAINING_TESTS = 250
"""Digits of a training's test at either kind of angle, as in turning/plan.js."""
LOAD = """const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const load = (name) => {
        const code = new Blob([bytes(data.files[name])], { type: "text/javascript" });
        return import(URL.createObjectURL(code));
    };"""
STEPS = """async (data) => {
    %s
    const { TurningNetwork } = await load("turning/network.js");
    const { begin } = await load("turning/parameters.js");
    const { SIZES } = await load("turning/plan.js");
    const { Adam } = await load("turning/adam.js");
    const { loadKernels } = await load("turning/kernels.js");
    const { makeNetwork } = await load("playground/network.js");
    const { loadKernels: loadOthers } = await load("playground/kernels.js");
    const images = Float32Array.from(data.pixels.flat());
    const { labels } = data;
    const turning = new TurningNetwork(SIZES, await loadKernels());
    begin(turning.parameters, SIZES, 0);
    turning.renew();
    const adam = new Adam(turning.numbers.length);
    const settings = {
        rounds: 3, types: 8, batch: labels.length, seed: 1,
        m_plus: 0.9, m_minus: 0.1, lambda: 0.5, drawing: 0.0005, bug: "",
    };
    const playground = makeNetwork(settings, await loadOthers());
    globalThis.works = {
        training() {
            turning.gradients(images, labels);
            adam.step(turning.numbers, turning.slopesOfAll, 1e-3);
            turning.renew();
        },
        playground() {
            playground.gradients(images, labels);
            playground.update(1e-3);
        },
        reading() {
            labels.forEach((_, n) => turning.read(images.subarray(n * 784, (n + 1) * 784)));
        },
    };
}"""
TRAIN = """async (data) => {
    %s
    const { startTraining } = await load("turning/training.js");
    const { readSafetensors } = await load("shared/core.js");
    const { tensors } = readSafetensors(bytes(data.digits).buffer);
    const training = await startTraining(tensors, data.seed);
    await training.run();
    return training.look().tests;
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


class InPage:
    """A page of Chromium with some of the book's modules.

    Args:
        page: of Playwright.
        modules: files among the widgets' sources.
    """

    def __init__(self, page: Page, modules: Sequence[str]) -> None:
        self.page = page
        self.files = {name: _encoded(_sources.module(name).encode()) for name in modules}
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.set_default_timeout(0)

    def run(self, script: str, **given: Any) -> Any:
        """Return what a script makes of the given values and of the modules."""
        return self.page.evaluate(script % LOAD, {"files": self.files, **given})

    def seconds(self) -> float:
        """Return the processor's time that the page has taken so far."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime")


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@contextmanager
def chromium() -> Iterator[Page]:
    """Give a page of a browser."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser.new_page()
        browser.close()


def time_page() -> dict[str, float]:
    """Return milliseconds an image of the page's arithmetic: ``training`` and ``reading`` of this
    network, and training the ``playground``'s.
    """
    images, labels = first_digits(BATCHES[-1])
    modules = (
        "turning/network.js",
        "turning/parameters.js",
        "turning/plan.js",
        "turning/adam.js",
        "turning/kernels.js",
        "playground/network.js",
        "playground/kernels.js",
    )
    least = dict.fromkeys(("training", "playground", "reading"), math.inf)
    with chromium() as page:
        within = InPage(page, modules)
        within.run(STEPS, pixels=images.flatten(1).tolist(), labels=labels.tolist())
        for _ in range(TURNS):
            for name in least:
                start = within.seconds()
                page.evaluate("(name) => works[name]()", name)
                least[name] = min(least[name], within.seconds() - start)
    return {name: rounded(1000 * seconds / len(labels)) for name, seconds in least.items()}


def train_in_page(seed: int) -> dict[str, Any]:
    """Return the processor's ``seconds`` and the ``errors`` of a whole training in the page:
    [steps, share wrong at familiar angles, share wrong at new ones] of each test.
    """
    file = _encoded(asset("digits/digits.safetensors").read_bytes())
    with chromium() as page:
        within = InPage(page, ("turning/training.js", "shared/core.js"))
        tests = within.run(TRAIN, digits=file, seed=seed)
        return {"seconds": rounded(within.seconds()), "errors": tests}


def train_in_pytorch(seed: int) -> list[float]:
    """Return the shares wrong, at familiar and at new angles, after a training in PyTorch with the
    page's digits and plan.
    """
    data, held_out = digits("train", "sample"), digits("test", "sample")
    task = trial.DIGITS

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        angles = between((-trial.FAMILIAR, trial.FAMILIAR), trial.BATCH, generator)
        chosen = torch.randint(data.count, (trial.BATCH,), generator=generator)
        images = trial.turned(data.images[chosen], angles, generator)
        return F.cross_entropy(network(images), data.labels[chosen])

    network = arms.trained(digits_network, loss, seed, rate=0.02, steps=task.steps)
    errors = []
    for view in ("familiar", "new"):
        generator = torch.Generator().manual_seed(trial.TEST_SEED)
        angles = between(trial.VIEWS[view], TRAINING_TESTS, generator)
        images = trial.turned(held_out.images[:TRAINING_TESTS], angles, generator)
        scores = scores_of(network, images)
        wrong = scores.argmax(dim=1) != held_out.labels[:TRAINING_TESTS]
        errors.append(rounded(wrong.double().mean().item()))
    return errors


def measure_speed() -> dict[str, Any]:
    """Return what a step costs in PyTorch and in the page, and on which machine."""
    torch.manual_seed(0)
    steps = {str(batch): time_steps(batch) for batch in BATCHES}
    return {
        "command": "python -m benchmarks.turning",
        "machine": machine(),
        "step_ms_an_image": steps,
        "page_ms_an_image": time_page(),
    }


def read_record() -> dict[str, Any]:
    """Return results/turning_speed.json."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def train_all() -> None:
    """Do the whole trainings that the record lacks, and write it after each."""
    missing = {"seeds": list(SEEDS), "page": [], "pytorch": []}
    trainings = read_record().get("trainings", missing)
    for name, train in (("page", train_in_page), ("pytorch", train_in_pytorch)):
        for seed in SEEDS[len(trainings[name]) :]:
            trainings[name].append(train(seed))
            write_json(RECORD, read_record() | {"trainings": trainings})
            print(name, seed, trainings[name][-1], flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--trainings", action="store_true", help="do the whole trainings that lack, and no more"
    )
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if options.trainings:
        train_all()
        return
    record = read_record() | measure_speed()
    write_json(RECORD, record)
    print(record["step_ms_an_image"], record["page_ms_an_image"])


if __name__ == "__main__":
    main()
