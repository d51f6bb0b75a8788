"""A training step and recognising images: the whole network, ours against the textbook's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from benchmarks.baselines import rounds_by_einsum
from benchmarks.measure import Function, against, peak_bytes, work
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT, margin_loss, reconstruction_loss, route, route_last
from capsnet_tutorial.layers import Routing
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts


@dataclass(frozen=True)
class Variant:
    """How the network is run."""

    routing: Routing = route
    half: bool = False
    """bfloat16 autocast, channels last."""
    compiled: bool = False

    @contextmanager
    def precision(self, device: str) -> Iterator[None]:
        with torch.autocast(device, torch.bfloat16, enabled=self.half):
            yield

    def build(self, config: CapsNetConfig, device: str) -> CapsNet:
        torch.manual_seed(0)
        network = CapsNet(config, Parts(routing=self.routing)).to(device)
        return network.to(memory_format=torch.channels_last) if self.half else network  # type: ignore[call-overload]


VARIANTS = {
    "textbook": Variant(rounds_by_einsum),
    "all rounds": Variant(),
    "last round": Variant(route_last),
    "last round, bfloat16": Variant(route_last, half=True),
}


def training_step(variant: Variant, config: CapsNetConfig, batch: int, device: str = "cpu") -> Function:
    """One step of Adam on random images."""
    network = variant.build(config, device)
    images, labels = _batch(config, batch, device)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, fused=variant.routing is not rounds_by_einsum)

    def loss() -> Tensor:
        with variant.precision(device):
            output = network(images, labels)
        reconstruction = reconstruction_loss(output.reconstruction.float(), images)
        return margin_loss(output.lengths.float(), labels) + RECONSTRUCTION_WEIGHT * reconstruction

    forward: Callable[[], Tensor] = loss
    if variant.compiled:  # on a GPU the whole step is then replayed as a CUDA graph
        forward = torch.compile(loss, fullgraph=True, mode="reduce-overhead" if device == "cuda" else None)

    def run() -> None:
        optimizer.zero_grad()
        forward().backward()
        optimizer.step()

    return run


def recognition(variant: Variant, config: CapsNetConfig, batch: int, device: str = "cpu") -> Function:
    """The class of each of a batch of images."""
    network = variant.build(config, device).eval()
    images, _ = _batch(config, batch, device)

    def run() -> Tensor:
        with variant.precision(device):
            return network.predict(images)

    return run


def compare(
    make: Callable[..., Function],
    variants: dict[str, Variant],
    config: CapsNetConfig,
    *,
    batch: int,
    turns: int,
    device: str = "cpu",
) -> dict[str, dict[str, Any]]:
    """Time, images a second, work and memory of each variant beside the first."""
    runs = {name: make(variant, config, batch, device) for name, variant in variants.items()}
    rows = against(next(iter(runs)), runs, turns)
    for name, run in runs.items():
        rows[name] |= {
            "images_a_second": round(1000 * batch / rows[name]["ms"], 1),
            "megabytes": round(peak_bytes(run, device) / 1e6, 1),
        }
        if not variants[name].compiled:
            rows[name]["gigaflops"] = round(work(run).flops / 1e9, 3)
    return rows


def compile_gain(config: CapsNetConfig, *, batch: int, turns: int, device: str = "cpu") -> dict[str, Any]:
    """What torch.compile (on a GPU with CUDA graphs) costs once and gives every step, gradient through all rounds."""
    torch.compiler.reset()
    compiled = training_step(Variant(compiled=True), config, batch, device)
    started = time.perf_counter()
    with torch.compiler.config.patch(force_disable_caches=True):  # type: ignore[attr-defined]  # an earlier run's
        compiled()
    seconds = time.perf_counter() - started
    runs = {"eager": training_step(Variant(), config, batch, device), "compiled": compiled}
    rows = against("eager", runs, turns)
    return {"seconds_to_compile": round(seconds, 1), **rows}


def largest_batches(config: CapsNetConfig, gigabytes: tuple[int, ...], device: str = "cpu") -> dict[str, Any]:
    """Which batch still fits: memory is a line in the batch's size; measured at three sizes, then read off.

    What stays (weights, gradients, Adam's two moments) is counted on top.
    """
    sizes = (16, 32, 64)
    answer: dict[str, Any] = {}
    for name, variant in VARIANTS.items():
        if variant.half:
            continue
        weights = sum(each.nbytes for each in variant.build(config, "cpu").parameters())
        peaks = []
        for batch in sizes:
            run = training_step(variant, config, batch, device)
            run()  # Adam's moments are there from the second step on
            peaks.append(peak_bytes(run, device))
        each = (peaks[-1] - peaks[0]) / (sizes[-1] - sizes[0])
        fixed = peaks[0] - each * sizes[0] + 4 * weights
        answer[name] = {
            "megabytes_an_image": round(each / 1e6, 2),
            "megabytes_besides": round(fixed / 1e6, 1),
            "off_the_line": round(abs(peaks[1] - peaks[0] - each * (sizes[1] - sizes[0])) / peaks[1], 4),
            "largest_batch": {f"{size} GB": int((size * 1e9 - fixed) / each) for size in gigabytes},
        }
    return answer


def _batch(config: CapsNetConfig, count: int, device: str) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(count, config.in_channels, config.image_size, config.image_size, generator=generator)
    return images.to(device), torch.randint(0, config.classes, (count,), generator=generator).to(device)
