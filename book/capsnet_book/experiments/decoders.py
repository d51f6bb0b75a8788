"""Does a decoder make a representation equivariant? Networks trained with one and without.

A capsule network and a CNN, each trained with the reconstruction loss and without it, all else
equal; then measured as in `equivariance`. `python -m capsnet_book.experiments.decoders` does the
runs that results/decoders.json lacks.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.experiments import arms
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, error_of
from capsnet_book.experiments.equivariance import (
    COUNT,
    Read,
    class_capsule,
    equivariance,
    last_hidden_layer,
    turned_vectors,
)
from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import digits
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT, reconstruction_loss
from capsnet_tutorial.layers import Decoder
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.train import Objective, Recipe, fit, paper_objective

SEEDS = (10, 11)
RECIPE = Recipe(epochs=4, augmentation=Augmentation(shift=2.0))
"""A third of the epochs of the book's other small networks; these are compared with each other."""
CNN_RATE = 0.003


class DrawingCNN(nn.Module):
    """A CNN from whose last hidden layer a decoder draws the image."""

    def __init__(self) -> None:
        super().__init__()
        self.cnn = ConvNet(ConvNetConfig.small(recognising=True))
        capsnet = CapsNetConfig.small()
        self.decoder = Decoder(
            inputs=self.cnn.config.hidden[-1],
            hidden=capsnet.decoder_hidden or (),
            pixels=math.prod(capsnet.image_shape),
        )

    def forward(self, images: Tensor, labels: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute scores [B, J] and drawings [B, 784]. The labels are of no use here."""
        hidden = self.cnn.layers[:-1](images)
        return self.cnn.layers[-1](hidden), self.decoder(hidden)


def scores_and_drawings(weight: float) -> Objective:
    """Return the cross-entropy plus the weighted reconstruction loss, of a `DrawingCNN`."""

    def objective(output: tuple[Tensor, Tensor], images: Tensor, labels: Tensor) -> Tensor:
        scores, drawings = output
        return F.cross_entropy(scores, labels) + weight * reconstruction_loss(drawings, images)

    return objective


class Arm(NamedTuple):
    """A network, its loss function and its learning rate."""

    summary: str
    build: Callable[[], CapsNet | DrawingCNN]
    objective: Objective
    rate: float


def _capsnet(iterations: int) -> CapsNet:
    return CapsNet(replace(CapsNetConfig.small(), iterations=iterations))


ARMS = {
    "capsnet-r3": Arm(
        "capsules, three rounds, with decoder", lambda: _capsnet(3), paper_objective(), 0.01
    ),
    "capsnet-r3-plain": Arm(
        "capsules, three rounds, no decoder", lambda: _capsnet(3), paper_objective(0), 0.01
    ),
    "capsnet-r1": Arm(
        "capsules, one round, with decoder", lambda: _capsnet(1), paper_objective(), 0.01
    ),
    "capsnet-r1-plain": Arm(
        "capsules, one round, no decoder", lambda: _capsnet(1), paper_objective(0), 0.01
    ),
    "cnn": Arm(
        "CNN, with decoder", DrawingCNN, scores_and_drawings(RECONSTRUCTION_WEIGHT), CNN_RATE
    ),
    "cnn-plain": Arm("CNN, no decoder", DrawingCNN, scores_and_drawings(0), CNN_RATE),
}
"""Every arm, by its name."""


def reader_of(network: CapsNet | DrawingCNN) -> Read:
    """Return what reads the representation of a network."""
    if isinstance(network, CapsNet):
        return class_capsule(network)
    return last_hidden_layer(network.cnn)


def run(name: str, seed: int) -> dict[str, Any]:
    """Train an arm and measure it: ``error``, 0 to 1, ``r2`` by angle and ``composed``."""
    arm = ARMS[name]
    torch.manual_seed(seed)
    recipe = replace(RECIPE, seed=seed, learning_rate=arm.rate)
    network, _ = fit(
        arm.build(), digits("train", "mnist"), recipe, objective=arm.objective, progress=False
    )
    test = digits("test", "mnist")
    turned = test._replace(images=test.images[:COUNT], labels=test.labels[:COUNT])
    recognising = network if isinstance(network, CapsNet) else network.cnn
    return {
        "error": error_of(recognising, test),
        **equivariance(turned_vectors(reader_of(network), turned)),
    }


def table_rows(record: dict[str, Any]) -> list[list[str]]:
    """Return a row for each arm: what it is, R² by angle, that of 10° twice, and the error, all
    means over the seeds.
    """
    rows = []
    for name, arm in ARMS.items():
        runs = [run for run in record["runs"] if run["arm"] == name]
        if not runs:
            continue
        values = [[*run["r2"].values(), run["composed"]] for run in runs]
        means = [sum(column) / len(runs) for column in zip(*values, strict=True)]
        error = sum(100 * run["error"] for run in runs) / len(runs)
        cells = [f"{mean:.2f}" for mean in means]
        rows.append([arm.summary, *cells, f"{error:.1f}", str(len(runs))])
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Do the runs that the file lacks, seed by seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, help="default: 10 and 11")
    options = parser.parse_args(arguments)
    about = {"epochs": RECIPE.epochs, "digits": COUNT}
    arms.do_missing("decoders", ARMS, about, run, list(product(options.seeds, ARMS)))


if __name__ == "__main__":
    main()
