"""How the cost of the routing layer grows with each of its sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.layer import Sizes, chosen_layers, pass_through
from benchmarks.measure import peak_bytes, take_turns, work
from capsnet_tutorial.errors import expect

BASE = Sizes(batch=32, in_capsules=288)
AXES = {
    "batch": (8, 16, 32, 64, 128),
    "in_capsules": (72, 144, 288, 576, 1152),
    "out_capsules": (4, 8, 16, 32, 64),
    "iterations": (1, 2, 4, 8, 16),
}
MEASURES = ("ms", "megabytes", "gigaflops", "gigabytes_moved")


def sweep(axis: str, turns: int, device: str = "cpu") -> dict[str, Any]:
    """Time, memory, FLOPs and bytes along one axis, and the exponents that fit them: cost ∝ size^exponent."""
    expect(axis in AXES, f"an axis, one of {', '.join(AXES)}", repr(axis))
    layers = chosen_layers(["einsum"])
    rows: dict[str, dict[str, Any]] = {name: {measure: [] for measure in MEASURES} for name in layers}
    for value in AXES[axis]:
        sizes = replace(BASE, **{axis: value})
        runs = {name: pass_through(layer, sizes, device) for name, layer in layers.items()}
        seconds = take_turns(runs, turns)
        for name, run in runs.items():
            flops, moved = work(run)
            found = (1000 * min(seconds[name]), peak_bytes(run, device) / 1e6, flops / 1e9, moved / 1e9)
            for measure, number in zip(MEASURES, found, strict=True):
                rows[name][measure].append(float(f"{number:.4g}"))
    for row in rows.values():
        row["exponents"] = {measure: exponent(AXES[axis], row[measure]) for measure in MEASURES}
    return {"values": list(AXES[axis]), "layers": rows}


def exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    """The slope of log cost over log size, by least squares."""
    expect(len(sizes) == len(costs) >= 2 and min(costs) > 0, "two costs or more, above 0", f"{costs}")
    return round(float(np.polyfit(np.log(sizes), np.log(costs), 1)[0]), 3)
