"""The runs of experiments on examples that are made on demand: training, records, a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from capsnet_book.experiments import records
from capsnet_tutorial.files import write_json

Network = TypeVar("Network", bound=nn.Module)
Run = dict[str, Any]
"""``arm``, ``seed`` and measurements."""
Arms = Mapping[str, Any]
"""Networks that are compared, by name; each has a ``summary``."""
SEEDS = range(10, 20)


def between(ends: tuple[float, float], count: int, generator: torch.Generator) -> Tensor:
    """Return numbers between two ends, all with the same chance: [count]."""
    low, high = ends
    return low + (high - low) * torch.rand(count, generator=generator)


def trained(
    build: Callable[[], Network],
    loss: Callable[[Network, torch.Generator], Tensor],
    seed: int,
    rate: float,
    steps: int,
) -> Network:
    """Train a fresh network; first weights and examples follow from the seed.

    Args:
        build: makes the network.
        loss: of the network on new examples from a generator.
        seed: of all chance.
        rate: the largest learning rate of a one-cycle schedule.
        steps: of Adam.

    Returns:
        The network in eval mode.
    """
    torch.manual_seed(seed)
    network = build()
    generator = torch.Generator().manual_seed(10_000 + seed)
    adam = torch.optim.Adam(network.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        adam, rate, total_steps=steps, cycle_momentum=False
    )
    for _ in range(steps):
        adam.zero_grad()
        loss(network, generator).backward()
        adam.step()
        schedule.step()
    return network.eval()


def do_missing(
    name: str,
    arms: Arms,
    about: dict[str, Any],
    run: Callable[[str, int], Run],
    jobs: Sequence[tuple[int, str]] | None = None,
) -> None:
    """Do the runs that a file of results/ lacks, one after another, and write it after each.

    Whatever stops it, the next call goes on.

    Args:
        name: of the module and of its file.
        arms: all arms.
        about: what the file has of all runs together.
        run: does one run, of an arm and a seed.
        jobs: seeds and arms in their order; None: every arm with each of `SEEDS`, seed by seed.
    """
    path = records.folder() / f"{name}.json"
    record = records.read(path) if path.exists() else {"runs": []}
    about["arms"] = {key: arm.summary for key, arm in arms.items()}
    record["about"] = {"command": f"python -m capsnet_book.experiments.{name}", **about}
    done = {(run["arm"], run["seed"]) for run in record["runs"]}
    for seed, arm in product(SEEDS, arms) if jobs is None else jobs:
        if (arm, seed) not in done:
            record["runs"].append({"arm": arm, "seed": seed, **run(arm, seed)})
            write_json(path, record)
            print(f"{arm}, seed {seed}", flush=True)


def table_of_errors(
    record: dict[str, Any],
    arms: Arms,
    titles: Sequence[str],
    errors: Callable[[Run], Sequence[float]],
) -> str:
    """Return a table in Markdown of errors in per cent, the mean over the seeds, a row an arm.

    Args:
        record: a file of `do_missing`.
        arms: the rows.
        titles: of the columns; "seeds" may be the last.
        errors: one for each column, from 0 to 1.
    """
    lines = [f"| wrong, % | {' | '.join(titles)} |", "|:--|" + "--:|" * len(titles)]
    for name, arm in arms.items():
        runs = [errors(run) for run in record["runs"] if run["arm"] == name]
        cells = [arm.summary]
        for seeds in zip(*runs, strict=True):
            cells.append(f"{fmean(100 * error for error in seeds):.1f}")
        if titles[-1] == "seeds":
            cells.append(f"{len(runs)}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
