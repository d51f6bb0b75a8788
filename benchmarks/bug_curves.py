"""How a small network learns with each bug of the catalogue: ``python -m benchmarks.bug_curves``.

Trains the small network on the bundled sample, right and with each bug, with several starts, and writes
book/capsnet_book/assets/recordings/bugs.json. Needs nothing but the repository, and about four minutes on one core.
"""

from __future__ import annotations

import argparse
import math
import statistics
from pathlib import Path
from typing import Any

import torch
from capsnet_book.bugs import BUGS, piece_of
from capsnet_book.bugs.planted import planted_objective, planted_parts
from capsnet_book.experiments.records import write_json

from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.train import Evaluation, evaluate

RECORDED = Path(__file__).resolve().parent.parent / "book" / "capsnet_book" / "assets" / "recordings" / "bugs.json"
EVERY, BATCH, RATE = 20, 64, 3e-3


def main(arguments: list[str] | None = None) -> None:
    """Train, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--bugs", nargs="+", choices=list(BUGS), default=list(BUGS))
    parser.add_argument("--output", type=Path, default=RECORDED)
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {
        "command": "python -m benchmarks.bug_curves",
        "steps": list(range(EVERY, options.steps + 1, EVERY)),
        "batch_size": BATCH,
        "learning_rate": RATE,
        "seeds": options.seeds,
        "runs": {},
    }
    for bug in (None, *options.bugs):
        runs, alone = zip(*(learn(bug, options.steps, seed) for seed in options.seeds), strict=True)
        found["runs"][bug or "none"] = {"planted_in": piece_of(bug) if bug else None, "error_alone": alone} | {
            name: [[point[name] for point in run] for run in runs] for name in Evaluation._fields
        }
        last = statistics.mean(run[-1]["error"] for run in runs)
        print(f"{bug or 'none':20} {last:.3f}, image by image {statistics.mean(alone):.3f}", flush=True)
    write_json(options.output, found)


def learn(bug: str | None, steps: int, seed: int) -> tuple[list[dict[str, float]], float]:
    """One run: what the network does on the sample's test digits after every so many steps; and the error at the end
    if it sees them one by one instead of all together.

    All runs of a seed begin with the same weights and see the same batches. The right losses measure them all, and
    nan is an error of 1.
    """
    torch.manual_seed(seed)
    network = CapsNet(CapsNetConfig.small(), planted_parts(bug))
    objective = planted_objective(bug)
    data, test = digits("train", source="sample"), digits("test", source="sample")
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    generator = torch.Generator().manual_seed(seed)
    curve = []
    for step in range(1, steps + 1):
        chosen = torch.randint(data.count, (BATCH,), generator=generator)
        images, labels = data.images[chosen], data.labels[chosen]
        loss = objective(network(images, labels), images, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % EVERY == 0:
            curve.append(_point(network, test))
    return curve, _point(network, test, batch_size=1)["error"]


def _point(network: CapsNet, test: Digits, batch_size: int = 500) -> dict[str, float]:
    there = {name: round(value, 4) for name, value in evaluate(network, test, batch_size)._asdict().items()}
    lost = not all(map(math.isfinite, there.values()))
    return dict.fromkeys(there, 1.0) if lost else there


if __name__ == "__main__":
    main()
