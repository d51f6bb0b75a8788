"""How far MNIST's test digits can be bent before a network fails: ``python -m benchmarks.bent_curves RUN …``.

Each run is a folder that `capsnet train` wrote. Every test digit is turned, sheared, resized and shifted, one thing at
a time, and every network reads it; results/bent.json holds how many are read wrongly. A quarter of an hour on one core
for six small networks.
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
    """Bend, read, count and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders with weights.safetensors")
    options = parser.parse_args(arguments)
    data = digits("test", "mnist")
    wrong: dict[str, dict[str, list[int]]] = {}
    for run in options.runs:
        network = load_network(run / "weights.safetensors")
        wrong[run.name] = {
            sweep.name: (~read_right(network, data, sweep)).sum(dim=1).tolist() for sweep in SWEEPS
        }
        print(run.name, wrong[run.name], flush=True)
    found = {
        "command": "python -m benchmarks.bent_curves " + " ".join(f"runs/{name}" for name in wrong),
        "digits": len(data.labels),
        "amounts": {sweep.name: list(sweep.amounts) for sweep in SWEEPS},
        "wrong": wrong,
    }
    write_json(RESULT, found)


if __name__ == "__main__":
    main()
