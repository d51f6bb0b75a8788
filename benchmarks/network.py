"""Training steps and recognition of whole networks: ours against the textbook's."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from benchmarks.baselines import rounds_by_einsum
from benchmarks.measure import Function, Target, against, peak_bytes, work
from capsnet_tutorial.functional import route, route_last
from capsnet_tutorial.layers import Routing
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts
from capsnet_tutorial.train import in_float32, paper_objective


@dataclass(frozen=True)
class Variant:
    """A way to run the network."""

    routing: Routing = route
    half: bool = False
    """bfloat16 autocast, channels last."""
    compiled: bool = False

    def precision(self) -> AbstractContextManager[None]:
        """Return the context of a forward pass."""
        return torch.autocast(Target.device, torch.bfloat16, enabled=self.half)

    def build(self, config: CapsNetConfig) -> CapsNet:
        """Return a fresh network on the measured device."""
        torch.manual_seed(0)
        network = CapsNet(config, Parts(routing=self.routing)).to(Target.device)
        return network.to(memory_format=torch.channels_last) if self.half else network  # type: ignore[call-overload]


VARIANTS = {
    "textbook": Variant(rounds_by_einsum),
    "textbook, compiled": Variant(rounds_by_einsum, compiled=True),
    "all rounds": Variant(),
    "last round": Variant(route_last),
    "all rounds, bfloat16": Variant(half=True),
    "last round, bfloat16": Variant(route_last, half=True),
}


def training_step(variant: Variant, config: CapsNetConfig, batch: int) -> Function:
    """Return a function that does one step of Adam on random images."""
    network = variant.build(config)
    images, labels = _batch(config, batch)
    objective = paper_objective()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)

    def loss() -> Tensor:
        with variant.precision():
            output = network(images, labels)
        return objective(in_float32(output), images, labels)

    forward: Callable[[], Tensor] = (
        torch.compile(loss, fullgraph=True) if variant.compiled else loss
    )

    def run() -> None:
        optimizer.zero_grad()
        forward().backward()
        optimizer.step()

    return run


def recognition(variant: Variant, config: CapsNetConfig, batch: int) -> Function:
    """Return a function that classifies a batch of random images."""
    network = variant.build(config).eval()
    images, _ = _batch(config, batch)
    predict: Callable[[Tensor], Tensor] = (
        torch.compile(network.predict) if variant.compiled else network.predict
    )

    def run() -> Tensor:
        with variant.precision():
            return predict(images)

    return run


def compare(
    make: Callable[..., Function],
    variants: dict[str, Variant],
    config: CapsNetConfig,
    *,
    batch: int,
    turns: int,
) -> dict[str, dict[str, Any]]:
    """Measure time, images a second, memory and work of variants beside the first."""
    torch.compiler.reset()
    runs = {name: make(variant, config, batch) for name, variant in variants.items()}
    rows = against(next(iter(runs)), runs, turns)
    for name, run in runs.items():
        rows[name] |= {
            "images_a_second": round(1000 * batch / rows[name]["ms"], 1),
            "megabytes": round(peak_bytes(run) / 1e6, 1),
        }
        if not variants[name].compiled:
            rows[name]["gigaflops"] = round(work(run).flops / 1e9, 3)
    return rows


def compile_gain(config: CapsNetConfig, *, batch: int, turns: int) -> dict[str, Any]:
    """Measure torch.compile of our training step: its cost once, and its gain in every step."""
    torch.compiler.reset()
    compiled = training_step(Variant(compiled=True), config, batch)
    start = time.perf_counter()
    # The cache of an earlier run would hide the cost.
    with torch.compiler.config.patch(force_disable_caches=True):  # type: ignore[attr-defined]
        compiled()
    seconds = time.perf_counter() - start
    eager = training_step(Variant(), config, batch)
    rows = against("eager", {"eager": eager, "compiled": compiled}, turns)
    return {"seconds_to_compile": round(seconds, 1), **rows}


def _batch(config: CapsNetConfig, count: int) -> tuple[Tensor, Tensor]:
    """Return random images and labels, on the measured device."""
    generator = torch.Generator().manual_seed(0)
    shape = (count, *config.image_shape)
    images = torch.rand(shape, generator=generator)
    labels = torch.randint(0, config.classes, (count,), generator=generator)
    return images.to(Target.device), labels.to(Target.device)
