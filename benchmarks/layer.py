"""The routing layer, forward and backward: ours against the textbook's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.baselines import BASELINES
from benchmarks.measure import Function, against, peak_bytes, work
from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.fast import route_capsules
from capsnet_tutorial.functional import prediction_vectors, route, squash

Layer = Callable[[Tensor, Tensor, int], Tensor]

OURS: dict[str, Layer] = {
    "all rounds": partial(route_capsules, gradient="all"),
    "last round": partial(route_capsules, gradient="last"),
}
"""What the gradient flows through."""


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


def chosen_layers(names: list[str]) -> dict[str, Layer]:
    """Baselines by name, then ours."""
    for name in names:
        expect(name in BASELINES, f"baselines among {', '.join(BASELINES)}", repr(name))
    return {name: BASELINES[name] for name in names} | OURS


def pass_through(layer: Layer, sizes: Sizes, device: str = "cpu") -> Function:
    """A run of the layer forward and backward, on capsules of a trained network's length."""
    generator = torch.Generator().manual_seed(0)
    u = squash(torch.randn(sizes.batch, sizes.in_capsules, sizes.in_dim, generator=generator)).to(device)
    shape = (sizes.in_capsules, sizes.out_capsules, sizes.in_dim, sizes.out_dim)
    weight = (torch.randn(shape, generator=generator) * 0.1).to(device)
    direction = torch.randn(sizes.batch, sizes.out_capsules, sizes.out_dim, generator=generator).to(device)
    inputs = u.requires_grad_(), weight.requires_grad_()

    def run() -> tuple[Tensor, ...]:
        v = layer(*inputs, sizes.iterations)
        return v.detach(), *torch.autograd.grad(v, inputs, direction)

    return run


def compare(layers: dict[str, Layer], sizes: Sizes, turns: int, device: str = "cpu") -> dict[str, dict[str, Any]]:
    """Time and memory of each beside the first. Says so if one of them computes something else."""
    runs = {name: pass_through(layer, sizes, device) for name, layer in layers.items()}
    reference = next(iter(runs))
    expected: Any = runs[reference]()
    for name, run in runs.items():
        compared: Any = run()
        for ours, theirs in list(zip(compared, expected, strict=True))[: 1 if name == "last round" else None]:
            off = ((ours - theirs).norm() / theirs.norm()).item()
            expect(off < 1e-5, f"{name} to compute what {reference} computes, to 1e-5", f"{off:.1g}")
    rows = against(reference, runs, turns)
    memory = {name: peak_bytes(run, device) for name, run in runs.items()}
    for name, run in runs.items():
        flops, moved = work(run)
        rows[name] |= {
            "megabytes": round(memory[name] / 1e6, 1),
            "share_of_memory": round(memory[name] / memory[reference], 3),
            "gigaflops": round(flops / 1e9, 3),
            "gigabytes_moved": round(moved / 1e9, 3),
        }
    return rows


def half_precision(sizes: Sizes) -> dict[str, float]:
    """How far v is off if what comes in is bfloat16: as we do it, and if routing itself were in bfloat16.

    The largest distance between a v and the one computed in float64 from the very same numbers.
    """
    generator = torch.Generator().manual_seed(0)
    u = squash(torch.randn(sizes.batch, sizes.in_capsules, sizes.in_dim, generator=generator)).bfloat16()
    shape = (sizes.in_capsules, sizes.out_capsules, sizes.in_dim, sizes.out_dim)
    weight = (torch.randn(shape, generator=generator) * 0.1).bfloat16()
    exact = route(prediction_vectors(u.double(), weight.double()), sizes.iterations)

    def distance(v: Tensor) -> float:
        return float(f"{(v.double() - exact).norm(dim=-1).max().item():.2g}")

    inside = route_capsules(u.float(), weight.float(), sizes.iterations)
    return {
        "float32 inside": distance(inside),
        "float32 inside, v handed back as bfloat16": distance(route_capsules(u, weight, sizes.iterations)),
        "bfloat16 throughout": distance(BASELINES["einsum"](u, weight, sizes.iterations)),
    }
