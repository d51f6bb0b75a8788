"""Measure everything that is claimed about speed: ``python -m benchmarks``, or ``make bench``.

Prints the tables and writes results/speed.json (of a GPU, results/speed-cuda.json), from which the book's tables and
figures are drawn. Wants a quiet machine; --quick takes small sizes and writes nothing, unless --output says where.
"""

from __future__ import annotations

import argparse
import sys
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


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0, or 2 if what was asked for cannot be measured."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few turns, to see that it runs"
    )
    parser.add_argument(
        "--threads", type=int, default=torch.get_num_threads(), help="of the processor"
    )
    parser.add_argument(
        "--device", choices=tuple(FILES), default="cpu", help="what computes (default: cpu)"
    )
    parser.add_argument(
        "--output", type=Path, help="the JSON file (default: that of results/; none with --quick)"
    )
    options = parser.parse_args(arguments)
    output = options.output or (None if options.quick else RESULTS / FILES[options.device])
    try:
        expect(
            options.device == "cpu" or torch.cuda.is_available(), "a GPU for --device cuda", "none"
        )
        expect_count("threads", options.threads)
        if output is not None:
            expect(output.parent.is_dir(), f"the folder {output.parent} to exist", "no such folder")
        torch.set_num_threads(options.threads)
        Target.device = options.device
        found = measure(options.quick)
        if output is not None:
            write_json(output, found)
            print(f"-> {output}")
    except (InputError, OSError) as problem:
        print(f"benchmarks: {problem}", file=sys.stderr)
        return 2
    return 0


def measure(quick: bool) -> dict[str, Any]:
    """Everything, printed as it comes."""
    sizes = layer.Sizes(batch=16, in_capsules=72) if quick else layer.Sizes()
    presets, batch, many, few = (("small",), 16, 2, 2) if quick else (("small", "paper"), 128, 9, 5)
    here = machine()
    print(table("What the machine can do", {here["name"]: here["peak"]}))
    rows = layer.compare(layer.layers(), sizes, many)
    print(table("Routing layer, forward and backward", rows))
    half = layer.half_precision(sizes)
    print(
        table(
            "How far v is off with bfloat16 in",
            {name: {"distance": off} for name, off in half.items()},
        )
    )
    networks: dict[str, Any] = {preset: {} for preset in presets}
    compiled: dict[str, Any] = {}
    for preset in presets:
        config, turns = PRESETS[preset](), few if preset == "paper" else 3 * many
        for title, make in (
            ("training step", network.training_step),
            ("recognition", network.recognition),
        ):
            networks[preset][title] = network.compare(
                make, network.VARIANTS, config, batch=batch, turns=turns
            )
            print(table(f"{preset}: {title}, {batch} images", networks[preset][title]))
        compiled[preset] = network.compile_gain(config, batch=batch, turns=few)
        print(
            table(
                f"{preset}: torch.compile of ours, a training step",
                {"compiled": compiled[preset]["compiled"]},
            )
        )
    axes = {axis: layer.growth(axis, few) for axis in (("batch",) if quick else layer.AXES)}
    for axis, grown in axes.items():
        print(
            table(
                f"Exponents along {axis}",
                {name: row["exponents"] for name, row in grown["layers"].items()},
            )
        )
    device = "" if Target.device == "cpu" else f" --device {Target.device}"
    return {
        "command": f"python -m benchmarks{device}" + " --quick" * quick,
        "machine": here,
        "layer": {"sizes": vars(sizes), "rows": rows},
        "half_precision": half,
        "network": networks,
        "compile": compiled,
        "growth": {"base": vars(layer.BASE), **axes},
    }


def table(title: str, rows: dict[str, dict[str, Any]]) -> str:
    """A title, a line of column names and a line for each row, in columns."""
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    cells = [["", *(column.replace("_", " ") for column in columns)]]
    cells += [
        [name, *(f"{row[column]:,g}" if column in row else "" for column in columns)]
        for name, row in rows.items()
    ]
    widths = [max(len(line[k]) for line in cells) for k in range(len(columns) + 1)]
    lines = [
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
            ]
        )
        for line in cells
    ]
    return "\n".join(["", title, *lines])


if __name__ == "__main__":
    sys.exit(main())
