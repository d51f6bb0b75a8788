"""Measure everything that is claimed about speed: ``python -m benchmarks``, or ``make bench``.

Prints the tables and writes results/speed.json, from which the book's tables and figures are drawn. --quick takes less
than two minutes and writes nothing, unless --output says where.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks import growth, layer, machine, network
from benchmarks.baselines import BASELINES
from benchmarks.tables import table
from capsnet_tutorial.allocator import keep_freed_memory
from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.model import CapsNetConfig
from capsnet_tutorial.results import write_json

RESULTS = Path(__file__).resolve().parent.parent / "results" / "speed.json"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0, or 2 if what was asked for cannot be measured."""
    try:
        options = _parser().parse_args(arguments)
        expect_count("turns", options.turns or 1)
        expect_count("threads", options.threads)
        expect(options.device == "cpu" or torch.cuda.is_available(), "a CUDA device, for --device cuda", "none")
        if options.device == "cpu" and not options.quick:
            machine.expect_room(12)
        torch.set_num_threads(options.threads)
        layers = layer.chosen_layers(options.baselines or (["einsum"] if options.quick else list(BASELINES)))
        output = options.output or (None if options.quick else RESULTS)
        if output is not None:
            expect(output.parent.is_dir(), f"the folder {output.parent} to exist", "no such folder")
        found = _measure(options, layers)
        if output is not None:
            write_json(output, found)
            print(f"-> {output.name}")
    except (ValueError, OSError) as problem:
        print(f"benchmarks: {problem}", file=sys.stderr)
        return 2
    return 0


def _measure(options: argparse.Namespace, layers: dict[str, layer.Layer]) -> dict[str, Any]:
    quick, device = options.quick, options.device
    few, many = ((options.turns,) * 2) if options.turns else ((1, 3) if quick else (5, 9))
    found: dict[str, Any] = {"command": "python -m benchmarks" + (" --quick" if quick else "")}
    found["machine"] = machine.describe(device)
    print(table("What the machine can do", {found["machine"]["name"]: found["machine"]["peak"]}))
    sizes = layer.Sizes()

    found["layer"] = {"sizes": vars(sizes), "allocator as it comes": layer.compare(layers, sizes, many, device)}
    print(table("Routing layer, forward and backward", found["layer"]["allocator as it comes"]))
    if device == "cpu" and keep_freed_memory():
        found["layer"]["freed memory kept"] = layer.compare(layers, sizes, many, device)
        print(table("The same, with freed memory kept", found["layer"]["freed memory kept"]))
    found["half_precision"] = layer.half_precision(sizes)
    print(table("How far v is off with bfloat16 in", {name: {"distance": off} for name, off in
                                                      found["half_precision"].items()}))  # fmt: skip

    for preset in ("paper", "small"):
        config = CapsNetConfig.preset(preset)
        turns = few if preset == "paper" else 3 * many
        variants = {name: each for name, each in network.VARIANTS.items() if not (quick and each.half)}
        for title, make in (("training step", network.training_step), ("recognition", network.recognition)):
            rows = network.compare(make, variants, config, batch=128, turns=turns, device=device)
            found.setdefault("network", {}).setdefault(preset, {})[title] = rows
            print(table(f"{preset}: {title}, 128 images", rows))
    if not quick:
        found["compile"] = {
            preset: network.compile_gain(CapsNetConfig.preset(preset), batch=128, turns=few, device=device)
            for preset in ("small", "paper")
        }
        print(table("torch.compile", {preset: {"seconds_to_compile": row["seconds_to_compile"], **row["compiled"]}
                                      for preset, row in found["compile"].items()}))  # fmt: skip
    axes = ("batch",) if quick else tuple(growth.AXES)
    found["growth"] = {"base": vars(growth.BASE)} | {axis: growth.sweep(axis, few, device) for axis in axes}
    for axis in axes:
        rows = {name: row["exponents"] for name, row in found["growth"][axis]["layers"].items()}
        print(table(f"Exponents along {axis}", rows))
    if quick:
        return found
    found["fits"] = network.largest_batches(CapsNetConfig.paper(), (4, 8, 16), device)
    print(table("Largest batch of a training step, paper's size",
                {name: row["largest_batch"] for name, row in found["fits"].items()}))  # fmt: skip
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="less of everything, in under two minutes")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="of the processor")
    parser.add_argument("--turns", type=int, help="how often each is run (default: as often as serves)")
    parser.add_argument(
        "--baselines", nargs="+", help=f"among {', '.join(BASELINES)} (default: all; with --quick einsum)"
    )
    parser.add_argument("--output", type=Path, help="the JSON file (default: results/speed.json; none with --quick)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
