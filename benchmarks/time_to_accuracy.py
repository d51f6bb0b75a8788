"""Accuracy after 30, 60 and 120 seconds of training on a processor: ``python benchmarks/time_to_accuracy.py``.

Runs the shipped command for each budget and seed, one after the other, and writes results/time-to-accuracy.json. Needs
MNIST, and a machine that does nothing else: the learning rate follows the clock.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from capsnet_book.experiments.__main__ import main as experiments
from capsnet_book.experiments.records import write_json

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, nargs="+", default=[30.0, 60.0, 120.0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    rows = []
    for seconds in options.seconds:
        runs = [train(seconds, seed) for seed in options.seeds]
        accuracy = [round(100 * (1 - run["test"]["error"]), 4) for run in runs]
        rows.append({"seconds": seconds, "accuracy": accuracy, "runs": runs})
        spread = statistics.stdev(accuracy) if len(accuracy) > 1 else float("nan")
        print(f"{seconds:.0f} s: {statistics.mean(accuracy):.2f} ± {spread:.2f} %, {runs[0]['steps']} steps")
    write_json(ROOT / "results" / "time-to-accuracy.json", {"rows": rows})


def train(seconds: float, seed: int) -> dict:
    """One run of the shipped command; what it wrote down."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["train", "--seconds", str(seconds), "--seed", str(seed), "--output", folder]
        # As a minute is used best: the gradient of the last round alone makes a step shorter.
        if experiments([*arguments, "--source", "mnist", "--change", "stop-gradient"]) != 0:
            raise SystemExit("the run failed")
        result = json.loads((Path(folder) / "result.json").read_text(encoding="utf-8"))
    result["command"] = result["command"].replace(folder, "runs/timed")
    return result


if __name__ == "__main__":
    main()
