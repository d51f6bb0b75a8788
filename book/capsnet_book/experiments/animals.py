"""Animals of artists that a network never saw: how well does it read them, beside a CNN?

Twelve animals, drawn by nine artists (`capsnet_book.animals`): the drawings of six are for
training, those of three for testing. `python -m capsnet_book.experiments.animals` does the runs
that results/animals.json lacks, and writes the weights of the chapter.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from capsnet_book import animals
from capsnet_book.experiments import arms
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, cross_entropy, scores_of
from capsnet_book.experiments.statistics import Difference, paired
from capsnet_book.networks import save_network
from capsnet_tutorial.files import write_tensors
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.train import Objective, paper_objective

SEEDS = (10, 11, 12)
PROJECT_SEEDS = (11, 12, 13)
"""Of the worked project, whose plan is results/animals.toml."""
STEPS = 1000
BATCH = 128
RATE = 0.003
"""The largest learning rate, of both networks."""
TESTED = 3000
"""Pictures of each test: of the artists shown, and of each of the others."""
TEST_SEED = 40_000
STORED = 10
"""The seed whose CapsNet, of the arm capsnet-16, the chapter loads."""
WEIGHTS = Path("runs") / "animals"
"""Where a run leaves its CapsNet, in eight bits a number."""
ASSETS = Path("book") / "capsnet_book" / "assets"
PICTURES_SEED = 50_000
"""Of the pictures that the widget shows."""
PICTURED = (0, 1, 2, 4, 5, 6, 7, 8, 10, 11)
"""The animals that it shows: a page carries ten pictures, not twelve."""

SIZES = replace(
    CapsNetConfig.small(image_size=animals.SIDE, in_channels=3, classes=len(animals.ANIMALS)),
    decoder_hidden=(128, 64),
)
"""Of the CapsNet: 547,328 parameters, 314,688 of which recognise."""


class Arm(NamedTuple):
    """A kind of network, and how it is trained."""

    summary: str
    build: Callable[[], nn.Module]
    objective: Objective


def convolutional() -> ConvNet:
    """Return a CNN with as many parameters as the CapsNet, to 0.1 %."""
    sizes = ConvNetConfig(
        image_size=animals.SIDE,
        in_channels=3,
        channels=(32, 64, 64),
        stride=2,
        hidden=(319, 192),
        classes=len(animals.ANIMALS),
    )
    return ConvNet(sizes)


ARMS = {
    "capsnet": Arm("CapsNet", lambda: CapsNet(SIZES), paper_objective()),
    "cnn": Arm("CNN of the same size", convolutional, cross_entropy),
    "capsnet-4": Arm(
        "CapsNet, the drawing weighs four times as much",
        lambda: CapsNet(SIZES),
        paper_objective(4 * RECONSTRUCTION_WEIGHT),
    ),
    "capsnet-16": Arm(
        "CapsNet, the drawing weighs sixteen times as much",
        lambda: CapsNet(SIZES),
        paper_objective(16 * RECONSTRUCTION_WEIGHT),
    ),
}
"""capsnet-4 has one seed; capsnet-16 is an arm of the worked project."""


def train(arm: Arm, seed: int, steps: int = STEPS) -> nn.Module:
    """Train a network on pictures that are made on demand, the same for every arm of a seed."""

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        chance = int(torch.randint(2**31, (), generator=generator))
        images, labels = animals.pictures(animals.SHOWN, BATCH, chance)
        return arm.objective(network(images, labels), images, labels)

    return arms.trained(arm.build, loss, seed, RATE, steps)


def error(network: nn.Module, artists: Sequence[int], count: int = TESTED) -> float:
    """Return the error rate, 0 to 1, on pictures after some artists' drawings."""
    images, labels = animals.pictures(artists, count, TEST_SEED + artists[0])
    answers = scores_of(network, images).argmax(dim=1)
    return round((answers != labels).double().mean().item(), 6)


def run(name: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train an arm and measure it; pictures and first weights follow from the seed.

    Returns:
        ``errors``, 0 to 1: ``shown`` on new pictures of the training's drawings, then one for each
        artist of whom it saw nothing, by the name of the set.
    """
    network = train(ARMS[name], seed, steps)
    if isinstance(network, CapsNet):
        WEIGHTS.mkdir(parents=True, exist_ok=True)
        save_network(network, WEIGHTS / f"{name}-{seed}.safetensors", torch.int8)
    errors = {"shown": error(network, animals.SHOWN)}
    artists = animals.card()["artists"]
    for row in animals.UNSEEN:
        errors[artists[row]["set"]] = error(network, [row])
    return {"errors": errors}


def write_assets() -> None:
    """Write the chapter's weights, and the pictures that its widget shows.

    Each picture is an animal as the first unseen artist drew it.
    """
    stored = WEIGHTS / f"capsnet-16-{STORED}.safetensors"
    shutil.copy(stored, ASSETS / "weights" / "animals.safetensors")
    images, labels = animals.pictures(animals.UNSEEN[:1], 200, PICTURES_SEED)
    first = [int((labels == label).nonzero()[0]) for label in PICTURED]
    shown = {
        "images": (255 * images[first]).round().to(torch.uint8),
        "labels": labels[first],
    }
    write_tensors(ASSETS / "animals" / "shown.safetensors", shown, {})


def unseen(run: dict[str, Any]) -> float:
    """Return the mean of a run's errors on the artists that it never saw, in per cent."""
    errors = [error for artist, error in run["errors"].items() if artist != "shown"]
    return 100 * fmean(errors)


def project_difference(record: dict[str, Any]) -> Difference | None:
    """Return how much less `capsnet-16` errs than `capsnet`, in points, paired over the seeds."""
    of_arm = {}
    for name in ("capsnet-16", "capsnet"):
        runs = {run["seed"]: unseen(run) for run in record["runs"] if run["arm"] == name}
        of_arm[name] = [runs[seed] for seed in PROJECT_SEEDS]
    return paired(of_arm["capsnet-16"], of_arm["capsnet"])


def error_table(record: dict[str, Any]) -> str:
    """Return a table in Markdown: error rates in per cent, means over the seeds."""
    artists = animals.card()["artists"]
    titles = ["artists of the training"]
    titles += [artists[row]["title"] for row in animals.UNSEEN]
    return arms.table_of_errors(
        record, ARMS, [*titles, "seeds"], lambda run: list(run["errors"].values())
    )


def main() -> None:
    """Do the runs that the file lacks, seed by seed."""
    jobs = [(seed, name) for seed in SEEDS for name in ("capsnet", "cnn")]
    jobs += [(STORED, name) for name in ("capsnet-4", "capsnet-16")]
    jobs += [(seed, name) for seed in PROJECT_SEEDS for name in ("capsnet-16", "capsnet")]
    about = {"steps": STEPS, "batch": BATCH, "rate": RATE, "tested": TESTED}
    arms.do_missing("animals", ARMS, about, run, jobs)
    if (WEIGHTS / f"capsnet-16-{STORED}.safetensors").exists():
        write_assets()


if __name__ == "__main__":
    main()
