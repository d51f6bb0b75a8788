"""Errors on MNIST's test digits, bent by more and more: ``python -m benchmarks.bent_curves RUN …``.

A run is a folder of `capsnet train`. Every test digit is turned, sheared, resized and shifted, one
at a time, and every network classifies it; results/bent.json holds how many are misread. It takes a
quarter of an hour on one core for six small networks.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from capsnet_book.experiments.affine import SWEEPS, read_right
from capsnet_book.networks import load_network

from capsnet_tutorial.data import digits
from capsnet_tutorial.files import write_json

RESULT = Path(__file__).resolve().parent.parent / "results" / "bent.json"


def main(arguments: list[str] | None = None) -> None:
    """Bend the digits, count the misread ones and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders with weights.safetensors")
    options = parser.parse_args(arguments)
    data = digits("test", "mnist")
    wrong: dict[str, dict[str, list[int]]] = {}
    for run in options.runs:
        network = load_network(run / "weights.safetensors")
        wrong[run.name] = {}
        for sweep in SWEEPS:
            is_right = read_right(network, data, sweep)
            wrong[run.name][sweep.name] = (~is_right).sum(dim=1).tolist()
        print(run.name, wrong[run.name], flush=True)
    record = {
        "command": "python -m benchmarks.bent_curves " + " ".join(f"runs/{name}" for name in wrong),
        "digits": len(data.labels),
        "amounts": {sweep.name: list(sweep.amounts) for sweep in SWEEPS},
        "wrong": wrong,
    }
    write_json(RESULT, record)


if __name__ == "__main__":
    main()
