"""Measure all claims about speed: ``python -m benchmarks``, or ``make bench``.

Prints tables and writes results/speed.json (of a GPU, results/speed-cuda.json), from which the
book's tables and figures are drawn. It needs a quiet machine. With --quick the sizes are small, and
nothing is written without --output.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks import layer, network
from benchmarks.measure import Target, machine
from capsnet_tutorial.errors import InputError, expect, expect_count
from capsnet_tutorial.files import write_json
from capsnet_tutorial.model import PRESETS

RESULTS = Path(__file__).resolve().parent.parent / "results"
FILES = {"cpu": "speed.json", "cuda": "speed-cuda.json"}


@dataclass(frozen=True)
class Plan:
    """Sizes and repetitions of all measurements."""

    layer: layer.Sizes
    presets: tuple[str, ...]
    batch: int
    many: int
    """Turns of a quick measurement."""
    few: int
    """Turns of a slow one."""
    axes: tuple[str, ...]
    """The sizes of the layer along which its cost is measured."""


FULL = Plan(layer.Sizes(), ("small", "paper"), batch=128, many=9, few=5, axes=tuple(layer.AXES))
QUICK = Plan(
    layer.Sizes(batch=16, in_capsules=72), ("small",), batch=16, many=2, few=2, axes=("batch",)
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 0, or 2 if the options cannot be measured."""
    options = parser().parse_args(arguments)
    output = options.output
    if output is None and not options.quick:
        output = RESULTS / FILES[options.device]
    try:
        has_device = options.device == "cpu" or torch.cuda.is_available()
        expect(has_device, "a GPU for --device cuda", "none")
        expect_count("threads", options.threads)
        if output is not None:
            expect(output.parent.is_dir(), f"the folder {output.parent} to exist", "no such folder")
        torch.set_num_threads(options.threads)
        Target.device = options.device
        measurements = measure(QUICK if options.quick else FULL)
        command = f"python -m benchmarks{'' if options.device == 'cpu' else ' --device cuda'}"
        command += " --quick" if options.quick else ""
        if output is not None:
            write_json(output, {"command": command, **measurements})
            print(f"-> {output}")
    except (InputError, OSError) as problem:
        print(f"benchmarks: {problem}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks", description=(__doc__ or "").partition("\n")[0]
    )
    options.add_argument(
        "--quick", action="store_true", help="small sizes and few turns, to see that it runs"
    )
    options.add_argument(
        "--threads", type=int, default=torch.get_num_threads(), help="of the processor"
    )
    options.add_argument(
        "--device", choices=tuple(FILES), default="cpu", help="what computes (default: cpu)"
    )
    options.add_argument(
        "--output", type=Path, help="the JSON file (default: that of results/; none with --quick)"
    )
    return options


def measure(plan: Plan) -> dict[str, Any]:
    """Measure everything, and print each table when it is done."""
    here = machine()
    show("What the machine can do", {here["name"]: here["peak"]})
    rows = layer.compare(layer.layers(), plan.layer, plan.many)
    show("Routing layer, forward and backward", rows)
    half = layer.half_precision(plan.layer)
    distances = {name: {"distance": distance} for name, distance in half.items()}
    show("How far v is off with bfloat16 in", distances)
    networks, compiled = measure_networks(plan)
    axes = {}
    for axis in plan.axes:
        axes[axis] = layer.growth(axis, plan.few)
        exponents = {name: row["exponents"] for name, row in axes[axis]["layers"].items()}
        show(f"Exponents along {axis}", exponents)
    return {
        "machine": here,
        "layer": {"sizes": vars(plan.layer), "rows": rows},
        "half_precision": half,
        "network": networks,
        "compile": compiled,
        "growth": {"base": vars(layer.BASE), **axes},
    }


def measure_networks(plan: Plan) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure whole networks by preset: their variants, and the gain of torch.compile."""
    networks: dict[str, Any] = {}
    compiled: dict[str, Any] = {}
    tasks = {"training step": network.training_step, "recognition": network.recognition}
    for preset in plan.presets:
        config = PRESETS[preset]()
        turns = plan.few if preset == "paper" else 3 * plan.many
        networks[preset] = {}
        for title, make in tasks.items():
            rows = network.compare(make, network.VARIANTS, config, batch=plan.batch, turns=turns)
            show(f"{preset}: {title}, {plan.batch} images", rows)
            networks[preset][title] = rows
        compiled[preset] = network.compile_gain(config, batch=plan.batch, turns=plan.few)
        gain = {"compiled": compiled[preset]["compiled"]}
        show(f"{preset}: torch.compile of ours, a training step", gain)
    return networks, compiled


def show(title: str, rows: dict[str, dict[str, Any]]) -> None:
    """Print a title, a line of column names and a line for each row, in columns."""
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    lines = [["", *(column.replace("_", " ") for column in columns)]]
    for name, row in rows.items():
        lines.append([name, *(f"{row[column]:,g}" if column in row else "" for column in columns)])
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns) + 1)]
    print(f"\n{title}")
    for name, *numbers in lines:
        padded = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
        print("  ".join([name.ljust(widths[0]), *padded]))


if __name__ == "__main__":
    sys.exit(main())
