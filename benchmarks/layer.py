"""The routing layer, forward and backward: ours against the textbook's, and against what a compiler makes of that."""

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
"""What the gradient flows through."""
COMPILED = ", compiled"


def readable(u: Tensor, weight: Tensor, iterations: int = 3) -> Tensor:
    """`route` as it is written: what the layer runs on everything but a processor."""
    return route(prediction_vectors(u, weight), iterations)


def layers() -> dict[str, Layer]:
    """Every way to route: the textbook's first, then what a user would try to make it fast, others, ours."""
    first = {"einsum": by_einsum, f"einsum{COMPILED}": torch.compile(by_einsum, fullgraph=True)}
    if Target.device == "cpu":
        return first | BASELINES | OURS
    ours = {"readable": readable, f"readable{COMPILED}": torch.compile(readable, fullgraph=True)}
    return first | BASELINES | ours | OURS


@dataclass(frozen=True)
class Sizes:
    """Of a routing layer. The defaults are the paper's."""

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
        """u, of a trained network's lengths, and W."""
        generator = torch.Generator().manual_seed(0)
        u = squash(torch.randn(self.batch, self.in_capsules, self.in_dim, generator=generator))
        shape = (self.in_capsules, self.out_capsules, self.in_dim, self.out_dim)
        weight = torch.randn(shape, generator=generator) * 0.1
        return u.to(Target.device), weight.to(Target.device)


def pass_through(layer: Layer, sizes: Sizes) -> Function:
    """A run of the layer forward and backward."""
    u, weight = (each.requires_grad_() for each in sizes.inputs())
    direction = torch.randn(
        sizes.batch, sizes.out_capsules, sizes.out_dim, generator=torch.Generator().manual_seed(1)
    )
    direction = direction.to(Target.device)

    def run() -> tuple[Tensor, ...]:
        v = layer(u, weight, sizes.iterations)
        return v.detach(), *torch.autograd.grad(v, (u, weight), direction)

    return run


def compare(layers: dict[str, Layer], sizes: Sizes, turns: int) -> dict[str, dict[str, Any]]:
    """Time, memory and work of each beside the first. Says so if one of them computes something else."""
    runs = {name: pass_through(layer, sizes) for name, layer in layers.items()}
    reference = next(iter(runs))
    expected: Any = runs[reference]()
    most = 1e-5 if Target.device == "cpu" else 1e-4
    for name, run in runs.items():
        compared: Any = run()
        for ours, theirs in list(zip(compared, expected, strict=True))[
            : 1 if name == "last round" else None
        ]:
            off = ((ours - theirs).norm() / theirs.norm()).item()
            expect(
                off < most,
                f"{name} to compute what {reference} computes, to {most:g}",
                f"{off:.1g}",
            )
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


def half_precision(sizes: Sizes) -> dict[str, float]:
    """How far v is off if what comes in is bfloat16: as we do it, and if routing itself were in bfloat16.

    The largest distance between a v and the one computed in float64 from the very same numbers.
    """
    u, weight = (each.bfloat16() for each in sizes.inputs())
    exact = route(prediction_vectors(u.double(), weight.double()), sizes.iterations)

    def distance(v: Tensor) -> float:
        return float(f"{(v.double() - exact).norm(dim=-1).max().item():.2g}")

    return {
        "float32 inside": distance(route_capsules(u.float(), weight.float(), sizes.iterations)),
        "float32 inside, v handed back as bfloat16": distance(
            route_capsules(u, weight, sizes.iterations)
        ),
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
    """Time, memory, FLOPs and bytes along one axis, and the exponents that fit them: cost ∝ size^exponent."""
    ways: dict[str, Layer] = {"einsum": by_einsum, **OURS}
    rows: dict[str, dict[str, Any]] = {name: {measure: [] for measure in MEASURES} for name in ways}
    for value in AXES[axis]:
        runs = {
            name: pass_through(way, replace(BASE, **{axis: value})) for name, way in ways.items()
        }
        seconds = take_turns(runs, turns)
        for name, run in runs.items():
            flops, moved = work(run)
            found = (1000 * min(seconds[name]), peak_bytes(run) / 1e6, flops / 1e9, moved / 1e9)
            for measure, number in zip(MEASURES, found, strict=True):
                rows[name][measure].append(rounded(number))
    for row in rows.values():
        row["exponents"] = {measure: exponent(AXES[axis], row[measure]) for measure in MEASURES}
    return {"values": list(AXES[axis]), "layers": rows}


def exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    """The slope of log cost over log size, by least squares."""
    return round(float(np.polyfit(np.log(sizes), np.log(costs), 1)[0]), 3)
