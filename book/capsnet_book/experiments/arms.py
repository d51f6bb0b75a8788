"""What viewpoints.py and pictures.py share: training on what is made as it is needed, the runs, their table."""

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
"""``arm``, ``seed``, and what was measured."""
Arms = Mapping[str, Any]
"""Networks that are compared, by name; each has a ``summary``."""
SEEDS = range(10, 20)


def between(ends: tuple[float, float], count: int, generator: torch.Generator) -> Tensor:
    """Numbers between two ends, all with the same chance: [count]."""
    low, high = ends
    return low + (high - low) * torch.rand(count, generator=generator)


def trained(
    build: Callable[[], Network],
    loss: Callable[[Network, torch.Generator], Tensor],
    seed: int,
    rate: float,
    steps: int,
) -> Network:
    """A fresh network that minimises a loss, each step's of new chance; all of it follows from the seed."""
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
        arms: those that there are.
        about: what the file says of all runs besides.
        run: does one, of an arm and a seed.
        jobs: seeds and arms in their order; without it, every arm with each of `SEEDS`, seed by seed.
    """
    path = records.folder() / f"{name}.json"
    found = records.read(path) if path.exists() else {"runs": []}
    about["arms"] = {each: arm.summary for each, arm in arms.items()}
    found["about"] = {"command": f"python -m capsnet_book.experiments.{name}", **about}
    done = {(each["arm"], each["seed"]) for each in found["runs"]}
    for seed, arm in product(SEEDS, arms) if jobs is None else jobs:
        if (arm, seed) not in done:
            found["runs"].append({"arm": arm, "seed": seed, **run(arm, seed)})
            write_json(path, found)
            print(f"{arm}, seed {seed}", flush=True)


def table_of_errors(
    found: dict[str, Any],
    arms: Arms,
    titles: Sequence[str],
    errors: Callable[[Run], Sequence[float]],
) -> str:
    """Per cent wrong, the mean over the seeds, a row an arm: a table in Markdown.

    Args:
        found: a file that `do_missing` wrote.
        arms: the rows.
        titles: of the columns; "seeds" may be the last.
        errors: one for each column, from 0 to 1.
    """
    lines = [f"| wrong, % | {' | '.join(titles)} |", "|:--|" + "--:|" * len(titles)]
    for name, arm in arms.items():
        runs = [errors(each) for each in found["runs"] if each["arm"] == name]
        cells = [
            f"{fmean(100 * each for each in column):.1f}" for column in zip(*runs, strict=True)
        ]
        cells += [f"{len(runs)}"] * (titles[-1] == "seeds")
        lines.append(f"| {' | '.join([arm.summary, *cells])} |")
    return "\n".join(lines) + "\n"
