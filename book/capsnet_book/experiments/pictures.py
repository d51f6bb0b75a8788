"""Relations of two parts in pixels: does a network recognise them at new angles?

Every picture shows a bar and a wedge. The class is the side of the wedge on which the bar lies, and
whether it lies along or across, so that a bag of parts cannot tell the eight classes apart.
Training shows four classes at every angle, and four turned by up to 30 degrees only: every part,
side and direction occurs at every angle, but four combinations do not.
`python -m capsnet_book.experiments.pictures` does the runs that results/pictures.json lacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from capsnet_book.experiments import arms
from capsnet_book.experiments.arms import between
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, cross_entropy, scores_of
from capsnet_book.experiments.evidence import noisy
from capsnet_book.experiments.variants import share_matrices
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.train import Objective, paper_objective

CLASSES = 8
EVERYWHERE = (0, 3, 5, 6)
"""Classes shown at every angle.

In class 2 s + t the bar lies on side s of the wedge, along it (t = 0) or across.
"""
LIMITED = (1, 2, 4, 7)
"""Classes shown near the upright only."""
FAMILIAR = math.pi / 6
"""The largest turn of these, either way, in radians."""
NEW = (math.pi / 3, 5 * math.pi / 3)
"""New angles lie between these."""
SIDE = 28
"""Pixels along a side of a picture."""
APART = 7.0
"""Pixels between the middles of bar and wedge."""
TESTED = 2000
STEPS = 1200
BATCH = 128


def draw(labels: Tensor, angles: Tensor, moves: Tensor) -> Tensor:
    """Draw pictures [N, 1, 28, 28] in [0, 1].

    Args:
        labels: [N], the classes.
        angles: [N], by which the pictures are turned, in radians.
        moves: [N, 2], by which they are moved, in pixels.
    """
    side = labels // 2 * (math.pi / 2)
    across = labels % 2 * (math.pi / 2)
    middle = (SIDE - 1) / 2 + moves
    half = torch.stack([(angles + side).cos(), (angles + side).sin()], dim=1) * (APART / 2)
    wedge = _own_axes(middle - half, angles)
    bar = _own_axes(middle + half, angles + across)
    along, beside = wedge.unbind(dim=-1)
    slope = math.hypot(1, 0.3)
    flanks = [(beside - 0.3 * (4 - along)) / slope, (-beside - 0.3 * (4 - along)) / slope]
    triangle = torch.stack([-along - 3, *flanks])  # its base at -3, its tip at 4
    box = torch.stack([bar[..., 0].abs() - 4, bar[..., 1].abs() - 1.2])
    # signed distance to the nearer part's edge
    outside = torch.minimum(triangle.amax(dim=0), box.amax(dim=0))
    return (0.5 - outside).clamp(0, 1).unsqueeze(1)


def _own_axes(middle: Tensor, angle: Tensor) -> Tensor:
    """Return every pixel's place in a part's own axes, along and across, [N, 28, 28, 2].

    Args:
        middle: [N, 2], of the part.
        angle: [N], of the part.
    """
    rows, columns = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    x = columns - middle[:, 0].view(-1, 1, 1)
    y = rows - middle[:, 1].view(-1, 1, 1)
    cos, sin = angle.cos().view(-1, 1, 1), angle.sin().view(-1, 1, 1)
    return torch.stack([cos * x + sin * y, cos * y - sin * x], dim=-1)


def draw_strokes(count: int, strokes: int, generator: torch.Generator) -> Tensor:
    """Draw pictures [N, 1, 28, 28] in [0, 1] of straight strokes, at any place and angle.

    Args:
        count: N.
        strokes: of every picture, each 6 to 10 pixels long and 2 thick.
        generator: of places, angles and lengths.
    """
    images = torch.zeros(count, 1, SIDE, SIDE)
    for _ in range(strokes):
        middle = (SIDE - 1) * torch.rand((count, 2), generator=generator)
        angle = between((0, math.pi), count, generator)
        half = between((3, 5), count, generator).view(-1, 1, 1)
        along, beside = _own_axes(middle, angle).unbind(dim=-1)
        outside = torch.maximum(along.abs() - half, beside.abs() - 1)
        images = torch.maximum(images, (0.5 - outside).clamp(0, 1).unsqueeze(1))
    return images


def pick(classes: Sequence[int], count: int, generator: torch.Generator) -> Tensor:
    """Draw classes by chance, int64 [count]."""
    return torch.tensor(classes)[torch.randint(len(classes), (count,), generator=generator)]


def moves_of(count: int, generator: torch.Generator) -> Tensor:
    """Draw moves to the right and down of up to 2 pixels either way, [count, 2]."""
    return 4 * torch.rand((count, 2), generator=generator) - 2


def angles_of(labels: Tensor, generator: torch.Generator) -> Tensor:
    """Draw angles as in training, [N]: any for a class shown everywhere, else within `FAMILIAR`."""
    turn = torch.where(torch.isin(labels, torch.tensor(LIMITED)), FAMILIAR, math.pi)
    return turn * (2 * torch.rand(len(labels), generator=generator) - 1)


def training_pictures(labels: Tensor, generator: torch.Generator) -> Tensor:
    """Draw pictures of these classes as in training."""
    return draw(labels, angles_of(labels, generator), moves_of(len(labels), generator))


class Arm(NamedTuple):
    """A network and its loss function."""

    summary: str
    build: Callable[[], nn.Module]
    objective: Objective = paper_objective(0)


def capsules(iterations: int, shared: bool = False) -> CapsNet:
    """Return the book's small network with eight classes."""
    network = CapsNet(replace(CapsNetConfig.small(), classes=CLASSES, iterations=iterations))
    if shared:
        share_matrices(network)
    return network


def convolutions(first: int) -> ConvNet:
    """Return a CNN with as many parameters as the CapsNet without decoder, and a first kernel."""
    sizes = ConvNetConfig.small(recognising=True)
    return ConvNet(replace(sizes, kernels=(first, *sizes.kernels[1:]), classes=CLASSES))


ARMS = {
    "capsnet-r1": Arm("capsules, one round", lambda: capsules(1)),
    "capsnet-r3": Arm("capsules, three rounds", lambda: capsules(3)),
    "capsnet-r3-decoder": Arm(
        "capsules, three rounds, with decoder", lambda: capsules(3), paper_objective()
    ),
    "capsnet-r3-shared": Arm(
        "capsules, three rounds, one W for all places", lambda: capsules(3, shared=True)
    ),
    "cnn-5": Arm("CNN, first kernel 5 × 5", lambda: convolutions(5), cross_entropy),
    "cnn-9": Arm("CNN, first kernel 9 × 9", lambda: convolutions(9), cross_entropy),
}
"""A name -> an arm."""


VIEWS = {
    "everywhere": "shown at every angle",
    "familiar": "shown near the upright",
    "new": "these at new angles, one of four",
}
"""A set of test pictures -> its name in the table."""


def train(arm: Arm, seed: int, steps: int = STEPS) -> nn.Module:
    """Train a network on pictures that are made on demand, the same for every arm of a seed."""

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        labels = pick(range(CLASSES), BATCH, generator)
        images = training_pictures(labels, generator)
        return arm.objective(network(images, labels), images, labels)

    return arms.trained(arm.build, loss, seed, 0.003, steps)


def error(
    network: nn.Module, images: Tensor, labels: Tensor, among: Sequence[int] = range(CLASSES)
) -> float:
    """Return the error rate, 0 to 1, of the best score among some classes."""
    classes = torch.tensor(among)
    answers = classes[scores_of(network, images)[:, classes].argmax(dim=1)]
    return round((answers != labels).double().mean().item(), 6)


def run(name: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train an arm and measure it; pictures and first weights follow from the seed.

    Returns:
        ``errors``, 0 to 1: ``everywhere`` of the classes shown at every angle; ``familiar`` of the
        others, as shown; ``new`` of the others at new angles, among those four alone, since a new
        angle speaks for the first four (chance: 0.75); ``noisy`` of all eight, as shown, in noise.
        ``noisy_after`` of a CapsNet: the same with one round, two and three at inference.
    """
    network = train(ARMS[name], seed, steps)
    generator = torch.Generator().manual_seed(20_000 + seed)
    errors = {}
    for view in VIEWS:
        labels = pick(EVERYWHERE if view == "everywhere" else LIMITED, TESTED, generator)
        angles = between(NEW, TESTED, generator)
        if view == "new":
            images = draw(labels, angles, moves_of(TESTED, generator))
            errors[view] = error(network, images, labels, among=LIMITED)
        else:
            errors[view] = error(network, training_pictures(labels, generator), labels)
    labels = pick(range(CLASSES), TESTED, generator)
    images = noisy(training_pictures(labels, generator), seed)
    errors["noisy"] = error(network, images, labels)
    measurements: dict[str, Any] = {"errors": errors}
    if isinstance(network, CapsNet):
        measurements["noisy_after"] = []
        for rounds in (1, 2, 3):
            network.routed.iterations = rounds
            measurements["noisy_after"].append(error(network, images, labels))
    return measurements


def error_table(record: dict[str, Any]) -> str:
    """Return a table in Markdown: error rates in per cent, means over the seeds."""
    titles = [*VIEWS.values(), "seeds"]
    return arms.table_of_errors(
        record, ARMS, titles, lambda run: [run["errors"][view] for view in VIEWS]
    )


def main() -> None:
    """Do the runs that the file lacks, seed by seed."""
    arms.do_missing("pictures", ARMS, {"steps": STEPS, "batch": BATCH, "tested": TESTED}, run)


if __name__ == "__main__":
    main()
