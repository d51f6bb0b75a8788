"""Curves of a small network that learns with each bug: ``python -m benchmarks.bug_curves``.

Trains the small network on the bundled sample, right and with each bug, with several starts, and
writes book/capsnet_book/assets/recordings/bugs.json. It needs the repository alone, and about four
minutes on one core.
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

ROOT = Path(__file__).resolve().parent.parent
RECORDING = ROOT / "book" / "capsnet_book" / "assets" / "recordings" / "bugs.json"
SEEDS = [0, 1]
STEPS = 200
EVERY = 20
"""Steps from one test to the next."""
BATCH = 64
RATE = 3e-3


def main() -> None:
    """Train with every bug, print errors and write the recording."""
    recording: dict[str, Any] = {
        "command": "python -m benchmarks.bug_curves",
        "steps": list(range(EVERY, STEPS + 1, EVERY)),
        "batch_size": BATCH,
        "learning_rate": RATE,
        "seeds": SEEDS,
        "runs": {},
    }
    for bug in (None, *BUGS):
        runs = [learn(bug, seed) for seed in SEEDS]
        piece = piece_of(bug) if bug else None
        recording["runs"][bug or "none"] = {"planted_in": piece, "error": runs}
        print(f"{bug or 'none':20} {statistics.mean(run[-1] for run in runs):.3f}", flush=True)
    write_json(RECORDING, recording)


def learn(bug: str | None, seed: int) -> list[float]:
    """Train once; return the error on the sample's test digits after every `EVERY` steps.

    A network with nan has an error of 1. All runs of a seed start from the same weights and train
    on the same batches.
    """
    torch.manual_seed(seed)
    network = CapsNet(CapsNetConfig.small(), planted_parts(bug))
    objective = planted_objective(bug)
    data = digits("train", source="sample")
    test = digits("test", source="sample")
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
            evaluation = evaluate(network, test)
            is_finite = all(math.isfinite(value or 0) for value in evaluation)
            curve.append(round(evaluation.error, 4) if is_finite else 1.0)
    return curve


if __name__ == "__main__":
    main()
