"""The routing layer, forward and backward: ours against the textbook's and its compiled form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.baselines import BASELINES, by_einsum
from benchmarks.measure import Function, Target, against, peak_bytes, rounded, take_turns, work
from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.fast import route_capsules
from capsnet_tutorial.functional import prediction_vectors, route, squash

Layer = Callable[[Tensor, Tensor, int], Tensor]

OURS: dict[str, Layer] = {
    "all rounds": partial(route_capsules, gradient="all"),
    "last round": partial(route_capsules, gradient="last"),
}
"""The rounds through which the gradient flows -> a layer."""
COMPILED = ", compiled"


def readable(u: Tensor, weight: Tensor, iterations: int = 3) -> Tensor:
    """Route by `route` as it is written: the layer's way on every device but a processor."""
    return route(prediction_vectors(u, weight), iterations)


def layers() -> dict[str, Layer]:
    """Return every way to route: the textbook's first, its compiled form, others, ours."""
    first = {"einsum": by_einsum, f"einsum{COMPILED}": torch.compile(by_einsum, fullgraph=True)}
    if Target.device == "cpu":
        return first | BASELINES | OURS
    ours = {"readable": readable, f"readable{COMPILED}": torch.compile(readable, fullgraph=True)}
    return first | BASELINES | ours | OURS


@dataclass(frozen=True)
class Sizes:
    """The sizes of a routing layer; the defaults are the paper's."""

    batch: int = 128
    in_capsules: int = 1152
    in_dim: int = 8
    out_capsules: int = 10
    out_dim: int = 16
    iterations: int = 3

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            expect_count(name, value)

    def inputs(self) -> tuple[Tensor, Tensor]:
        """Return u, of a trained network's lengths, and W."""
        generator = torch.Generator().manual_seed(0)
        u = squash(torch.randn(self.batch, self.in_capsules, self.in_dim, generator=generator))
        shape = (self.in_capsules, self.out_capsules, self.in_dim, self.out_dim)
        weight = torch.randn(shape, generator=generator) * 0.1
        return u.to(Target.device), weight.to(Target.device)


def pass_through(layer: Layer, sizes: Sizes) -> Function:
    """Return a function that runs the layer forward and backward, and returns v and gradients."""
    u, weight = (tensor.requires_grad_() for tensor in sizes.inputs())
    shape = (sizes.batch, sizes.out_capsules, sizes.out_dim)
    direction = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    direction = direction.to(Target.device)

    def run() -> tuple[Tensor, ...]:
        v = layer(u, weight, sizes.iterations)
        return v.detach(), *torch.autograd.grad(v, (u, weight), direction)

    return run


def compare(layers: dict[str, Layer], sizes: Sizes, turns: int) -> dict[str, dict[str, Any]]:
    """Measure time, memory and work of layers beside the first.

    Raises:
        ValueError: a layer computes something else than the first.
    """
    runs = {name: pass_through(layer, sizes) for name, layer in layers.items()}
    reference = next(iter(runs))
    expected: Any = runs[reference]()
    for name, run in runs.items():
        # Only v is the same if the gradient flows through the last round alone.
        tensors = 1 if name == "last round" else len(expected)
        _expect_close(name, reference, run(), expected, tensors)
    rows = against(reference, runs, turns)
    memory = {name: peak_bytes(run) for name, run in runs.items()}
    for name, run in runs.items():
        rows[name] |= {
            "megabytes": round(memory[name] / 1e6, 1),
            "share_of_memory": round(memory[name] / memory[reference], 3),
        }
        if not name.endswith(COMPILED):
            flops, moved = work(run)
            rows[name] |= {
                "gigaflops": round(flops / 1e9, 3),
                "gigabytes_moved": round(moved / 1e9, 3),
            }
    return rows


def _expect_close(name: str, reference: str, results: Any, expected: Any, tensors: int) -> None:
    """Raise `InputError` unless the first tensors of both are the same, to rounding."""
    tolerance = 1e-5 if Target.device == "cpu" else 1e-4
    for k in range(tensors):
        distance = ((results[k] - expected[k]).norm() / expected[k].norm()).item()
        wanted = f"{name} to compute what {reference} computes, to {tolerance:g}"
        expect(distance < tolerance, wanted, f"{distance:.1g}")


def half_precision(sizes: Sizes) -> dict[str, float]:
    """Return how far v is off with inputs in bfloat16: by our layer, and with routing in bfloat16.

    It is the largest distance to the v that float64 computes from the same numbers.
    """
    u, weight = (tensor.bfloat16() for tensor in sizes.inputs())
    exact = route(prediction_vectors(u.double(), weight.double()), sizes.iterations)

    def distance(v: Tensor) -> float:
        return float(f"{(v.double() - exact).norm(dim=-1).max().item():.2g}")

    in_float32 = route_capsules(u.float(), weight.float(), sizes.iterations)
    handed_back = route_capsules(u, weight, sizes.iterations)
    return {
        "float32 inside": distance(in_float32),
        "float32 inside, v handed back as bfloat16": distance(handed_back),
        "bfloat16 throughout": distance(by_einsum(u, weight, sizes.iterations)),
    }


# --- how its cost grows

BASE = Sizes(batch=32, in_capsules=288)
AXES = {
    "batch": (8, 16, 32, 64, 128),
    "in_capsules": (72, 144, 288, 576, 1152),
    "out_capsules": (4, 8, 16, 32, 64),
    "iterations": (1, 2, 4, 8, 16),
}
MEASURES = ("ms", "megabytes", "gigaflops", "gigabytes_moved")


def growth(axis: str, turns: int) -> dict[str, Any]:
    """Measure the layer along one of its sizes, and fit exponents: cost ∝ size^exponent."""
    ways: dict[str, Layer] = {"einsum": by_einsum, **OURS}
    rows: dict[str, dict[str, Any]] = {}
    for name in ways:
        rows[name] = {measure: [] for measure in MEASURES}
    for value in AXES[axis]:
        sizes = replace(BASE, **{axis: value})
        runs = {name: pass_through(way, sizes) for name, way in ways.items()}
        seconds = take_turns(runs, turns)
        for name, run in runs.items():
            flops, moved = work(run)
            rows[name]["ms"].append(rounded(1000 * min(seconds[name])))
            rows[name]["megabytes"].append(rounded(peak_bytes(run) / 1e6))
            rows[name]["gigaflops"].append(rounded(flops / 1e9))
            rows[name]["gigabytes_moved"].append(rounded(moved / 1e9))
    for row in rows.values():
        row["exponents"] = {measure: exponent(AXES[axis], row[measure]) for measure in MEASURES}
    return {"values": list(AXES[axis]), "layers": rows}


def exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    """Return the slope of log cost over log size, by least squares."""
    return round(float(np.polyfit(np.log(sizes), np.log(costs), 1)[0]), 3)
