"""The parts of the benchmark: each measures, prints its tables and returns what goes into the JSON file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks import growth, layer, network
from benchmarks.tables import table
from capsnet_tutorial.model import CapsNetConfig

PRESETS = ("small", "paper")
BATCH = 128


class Effort(NamedTuple):
    """How thoroughly, and on what."""

    layers: dict[str, layer.Layer]
    turns: int
    """Of what takes well below a second."""
    turns_of_the_large: int
    quick: bool
    device: str


def layers(effort: Effort) -> dict[str, Any]:
    """The routing layer at the paper's size, with glibc's allocator as it comes and as `capsnet train` sets it."""
    sizes = layer.Sizes()
    found: dict[str, Any] = {"sizes": vars(sizes)}
    found["allocator as it comes"] = layer.compare(effort.layers, sizes, effort.turns, effort.device)
    print(table("Routing layer, forward and backward", found["allocator as it comes"]))
    return found


def half_precision(effort: Effort) -> dict[str, Any]:
    """How far v is off with bfloat16 in."""
    found = layer.half_precision(layer.Sizes())
    print(table("How far v is off with bfloat16 in", {name: {"distance": off} for name, off in found.items()}))
    return found


def networks(effort: Effort) -> dict[str, Any]:
    """A training step and recognition, both presets."""
    variants = {name: each for name, each in network.VARIANTS.items() if not (effort.quick and each.half)}
    found: dict[str, Any] = {preset: {} for preset in PRESETS}
    for preset in PRESETS:
        turns = effort.turns_of_the_large if preset == "paper" else 3 * effort.turns
        for title, make in (("training step", network.training_step), ("recognition", network.recognition)):
            rows = network.compare(
                make, variants, CapsNetConfig.preset(preset), batch=BATCH, turns=turns, device=effort.device
            )
            found[preset][title] = rows
            print(table(f"{preset}: {title}, {BATCH} images", rows))
    return found


def compiled(effort: Effort) -> dict[str, Any]:
    """What torch.compile costs and gives."""
    found = {
        preset: network.compile_gain(
            CapsNetConfig.preset(preset), batch=BATCH, turns=effort.turns_of_the_large, device=effort.device
        )
        for preset in PRESETS
    }
    rows = {
        preset: {"seconds_to_compile": row["seconds_to_compile"], **row["compiled"]} for preset, row in found.items()
    }
    print(table("torch.compile, a training step", rows))
    return found


def growths(effort: Effort) -> dict[str, Any]:
    """How the layer's cost grows."""
    found: dict[str, Any] = {"base": vars(growth.BASE)}
    for axis in ("batch",) if effort.quick else growth.AXES:
        found[axis] = growth.sweep(axis, effort.turns_of_the_large, effort.device)
        rows = {name: row["exponents"] for name, row in found[axis]["layers"].items()}
        print(table(f"Exponents along {axis}", rows))
    return found


def fits(effort: Effort) -> dict[str, Any]:
    """The largest batch of a training step."""
    found = network.largest_batches(CapsNetConfig.paper(), (4, 8, 16), effort.device)
    print(table("Largest batch of a training step, paper's size",
                {name: row["largest_batch"] for name, row in found.items()}))  # fmt: skip
    return found


SECTIONS: dict[str, Callable[[Effort], dict[str, Any]]] = {
    "layer": layers,
    "half_precision": half_precision,
    "network": networks,
    "compile": compiled,
    "growth": growths,
    "fits": fits,
}
QUICK = ("layer", "half_precision", "network", "growth")
