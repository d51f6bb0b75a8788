"""How a small network learns with each bug of the catalogue: ``python -m benchmarks.bug_curves``.

Trains the small network on the bundled sample, right and with each bug, with several starts, and writes
book/capsnet_book/assets/recordings/bugs.json. Needs nothing but the repository, and about four minutes on one core.
"""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import torch
from capsnet_book.bugs import BUGS, piece_of
from capsnet_book.bugs.planted import planted_objective, planted_parts

from capsnet_tutorial.data import digits
from capsnet_tutorial.files import write_json
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.train import evaluate

RECORDED = (
    Path(__file__).resolve().parent.parent
    / "book"
    / "capsnet_book"
    / "assets"
    / "recordings"
    / "bugs.json"
)
SEEDS, STEPS, EVERY, BATCH, RATE = [0, 1], 200, 20, 64, 3e-3


def main() -> None:
    """Train, print and write."""
    found: dict[str, Any] = {
        "command": "python -m benchmarks.bug_curves",
        "steps": list(range(EVERY, STEPS + 1, EVERY)),
        "batch_size": BATCH,
        "learning_rate": RATE,
        "seeds": SEEDS,
        "runs": {},
    }
    for bug in (None, *BUGS):
        runs = [learn(bug, seed) for seed in SEEDS]
        found["runs"][bug or "none"] = {"planted_in": piece_of(bug) if bug else None, "error": runs}
        print(f"{bug or 'none':20} {statistics.mean(run[-1] for run in runs):.3f}", flush=True)
    write_json(RECORDED, found)


def learn(bug: str | None, seed: int) -> list[float]:
    """One run: the error on the sample's test digits after every so many steps; nan in a network is an error of 1.

    All runs of a seed begin with the same weights and see the same batches.
    """
    torch.manual_seed(seed)
    network = CapsNet(CapsNetConfig.small(), planted_parts(bug))
    objective = planted_objective(bug)
    data, test = digits("train", source="sample"), digits("test", source="sample")
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    generator = torch.Generator().manual_seed(seed)
    curve = []
    for step in range(1, STEPS + 1):
        chosen = torch.randint(data.count, (BATCH,), generator=generator)
        images, labels = data.images[chosen], data.labels[chosen]
        loss = objective(network(images, labels), images, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % EVERY == 0:
            there = evaluate(network, test)
            curve.append(round(there.error, 4) if all(map(math.isfinite, there)) else 1.0)
    return curve


if __name__ == "__main__":
    main()
