"""Measure everything that is claimed about speed: ``python -m benchmarks``, or ``make bench``.

Prints the tables and writes results/speed.json, from which the book's tables and figures are drawn. --quick takes less
than two minutes and writes nothing, unless --output says where.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import torch
from capsnet_book.experiments.records import write_json

from benchmarks import layer, machine
from benchmarks.baselines import BASELINES
from benchmarks.sections import QUICK, SECTIONS, Effort
from benchmarks.tables import table
from capsnet_tutorial.errors import expect, expect_count

RESULTS = Path(__file__).resolve().parent.parent / "results" / "speed.json"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0, or 2 if what was asked for cannot be measured."""
    try:
        options = _parser().parse_args(arguments)
        output = options.output or (None if options.quick else RESULTS)
        effort = _effort(options)
        wanted = options.only or (QUICK if options.quick else tuple(SECTIONS))
        for name in wanted:
            expect(name in SECTIONS, f"parts among {', '.join(SECTIONS)}", repr(name))
        if output is not None:
            expect(output.parent.is_dir(), f"the folder {output.parent} to exist", "no such folder")
        if options.device == "cpu" and "fits" in wanted:
            machine.expect_room(12)
        torch.set_num_threads(options.threads)
        found = machine.describe(options.device)
        before = _before(output, found) if options.only and output is not None else {}
        print(table("What the machine can do", {found["name"]: found["peak"]}))
        command = "python -m benchmarks" + (" --quick" if options.quick else "")
        measured = {"command": command, "machine": found, **before}
        measured |= {name: SECTIONS[name](effort) for name in wanted}
        if output is not None:
            write_json(output, measured)
            print(f"-> {output.name}")
    except (ValueError, OSError) as problem:
        print(f"benchmarks: {problem}", file=sys.stderr)
        return 2
    return 0


def _effort(options: argparse.Namespace) -> Effort:
    expect_count("turns", options.turns or 1)
    expect_count("threads", options.threads)
    expect(options.device == "cpu" or torch.cuda.is_available(), "a CUDA device, for --device cuda", "none")
    names = options.baselines or (["einsum"] if options.quick else list(BASELINES))
    many, few = ((options.turns,) * 2) if options.turns else ((3, 1) if options.quick else (9, 5))
    return Effort(layer.chosen_layers(names), many, few, options.quick, options.device)


def _before(output: Path, found: dict[str, Any]) -> dict[str, Any]:
    """What stays in the file when only some parts are measured again: it must be of the same machine."""
    if not output.exists():
        return {}
    before = json.loads(output.read_text(encoding="utf-8"))
    for key in ("device", "name", "cores", "threads", "versions"):
        was = before["machine"][key]
        expect(was == found[key], f"the {key} of the other parts in {output.name}, {was}", f"{found[key]}")
    return before


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="less of everything, in under two minutes")
    parser.add_argument("--only", nargs="+", metavar="PART", help=f"among {', '.join(SECTIONS)}; the others stay")
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
