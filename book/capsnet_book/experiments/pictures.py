"""Two parts, one relation: does a network that sees pixels carry a relation of two parts over to a new angle?

Every picture shows a bar and a wedge. Which side of the wedge the bar lies on, and whether it lies along or across, is
the class, so a bag of parts cannot tell the eight classes apart. Four of them are shown at every angle, the other four
turned by up to 30 degrees only: each part, each side and both ways to lie were seen at every angle; four combinations
were not. `python -m capsnet_book.experiments.pictures` does the runs that results/pictures.json lacks.
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
"""Classes shown at every angle. In class 2 s + t the bar lies on side s of the wedge, along it (t = 0) or across."""
LIMITED = (1, 2, 4, 7)
"""Classes that are shown near the upright only."""
FAMILIAR = math.pi / 6
"""They are turned by up to so much, either way."""
NEW = (math.pi / 3, 5 * math.pi / 3)
"""New angles lie between these."""
SIDE, APART = 28, 7.0
"""Pixels: of a picture, and between the middles of bar and wedge."""
TESTED, STEPS, BATCH = 2000, 1200, 128


def draw(labels: Tensor, angles: Tensor, moves: Tensor) -> Tensor:
    """Pictures [N, 1, 28, 28] in [0, 1] of classes [N], turned by angles [N] in radians and moved by [N, 2] pixels."""
    side, across = labels // 2 * (math.pi / 2), labels % 2 * (math.pi / 2)
    middle = (SIDE - 1) / 2 + moves
    half = torch.stack([(angles + side).cos(), (angles + side).sin()], dim=1) * (APART / 2)
    wedge = _own_axes(middle - half, angles)
    bar = _own_axes(middle + half, angles + across)
    along, beside = wedge.unbind(dim=-1)
    slope = math.hypot(1, 0.3)
    flanks = [(beside - 0.3 * (4 - along)) / slope, (-beside - 0.3 * (4 - along)) / slope]
    triangle = torch.stack([-along - 3, *flanks])  # its base at -3, its tip at 4
    box = torch.stack([bar[..., 0].abs() - 4, bar[..., 1].abs() - 1.2])
    outside = torch.minimum(
        triangle.amax(dim=0), box.amax(dim=0)
    )  # signed distance to the nearer part's edge
    return (0.5 - outside).clamp(0, 1).unsqueeze(1)


def _own_axes(middle: Tensor, angle: Tensor) -> Tensor:
    """Every pixel's place as a part at middle [N, 2], turned by angle [N], has it: along and across, [N, 28, 28, 2]."""
    y, x = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    x, y = (each - at.view(-1, 1, 1) for each, at in zip((x, y), middle.unbind(dim=1), strict=True))
    cos, sin = angle.cos().view(-1, 1, 1), angle.sin().view(-1, 1, 1)
    return torch.stack([cos * x + sin * y, cos * y - sin * x], dim=-1)


def pick(classes: Sequence[int], count: int, generator: torch.Generator) -> Tensor:
    """Classes by chance, int64 [count]."""
    return torch.tensor(classes)[torch.randint(len(classes), (count,), generator=generator)]


def moves_of(count: int, generator: torch.Generator) -> Tensor:
    """By how many pixels pictures are moved, across and down: up to 2 either way, [count, 2]."""
    return 4 * torch.rand((count, 2), generator=generator) - 2


def angles_of(labels: Tensor, generator: torch.Generator) -> Tensor:
    """Angles as in training, [N]: any for a class that is shown everywhere, else within `FAMILIAR`."""
    turn = torch.where(torch.isin(labels, torch.tensor(LIMITED)), FAMILIAR, math.pi)
    return turn * (2 * torch.rand(len(labels), generator=generator) - 1)


def shown(labels: Tensor, generator: torch.Generator) -> Tensor:
    """Pictures of these classes as in training."""
    return draw(labels, angles_of(labels, generator), moves_of(len(labels), generator))


class Arm(NamedTuple):
    """A network, and what it minimises."""

    summary: str
    build: Callable[[], nn.Module]
    objective: Objective = paper_objective(0)


def capsules(iterations: int, shared: bool = False) -> CapsNet:
    """The book's small network with eight classes."""
    network = CapsNet(replace(CapsNetConfig.small(), classes=CLASSES, iterations=iterations))
    if shared:
        share_matrices(network)
    return network


def convolutions(first: int) -> ConvNet:
    """The small CNN with as many parameters as that network recognises with, and another first kernel."""
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
"""Every arm, by its name."""


VIEWS = {
    "everywhere": "shown at every angle",
    "familiar": "shown near the upright",
    "new": "these at new angles, one of four",
}
"""What of the pictures a network is tested with, and what the table calls it."""


def train(arm: Arm, seed: int, steps: int = STEPS) -> nn.Module:
    """A network trained on pictures that are made as they are needed, the same for every arm of this seed."""

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        labels = pick(range(CLASSES), BATCH, generator)
        images = shown(labels, generator)
        return arm.objective(network(images, labels), images, labels)

    return arms.trained(arm.build, loss, seed, 0.003, steps)


def error(
    network: nn.Module, images: Tensor, labels: Tensor, among: Sequence[int] = range(CLASSES)
) -> float:
    """Share of pictures whose class is not told among some classes, 0 to 1."""
    chosen = torch.tensor(among)
    found = chosen[scores_of(network, images)[:, chosen].argmax(dim=1)]
    return round((found != labels).double().mean().item(), 6)


def run(name: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train an arm and measure it; pictures and first weights follow from the seed.

    Returns:
        ``errors``, 0 to 1: ``everywhere`` of the classes shown at every angle; ``familiar`` of the others, as shown;
        ``new`` of the others at new angles, among those four alone, since a strange angle speaks for the first four
        (chance: 0.75); ``noisy`` of all eight, as shown, in noise. ``noisy_after`` of a CapsNet: the same when read
        with one round, two and three.
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
            errors[view] = error(network, shown(labels, generator), labels)
    labels = pick(range(CLASSES), TESTED, generator)
    images = noisy(shown(labels, generator), seed)
    errors["noisy"] = error(network, images, labels)
    found: dict[str, Any] = {"errors": errors}
    if isinstance(network, CapsNet):
        found["noisy_after"] = []
        for rounds in (1, 2, 3):
            network.routed.iterations = rounds
            found["noisy_after"].append(error(network, images, labels))
    return found


def error_table(found: dict[str, Any]) -> str:
    """Per cent of pictures read wrongly, the mean over the seeds: a table in Markdown of results/pictures.json."""
    titles = [*VIEWS.values(), "seeds"]
    return arms.table_of_errors(
        found, ARMS, titles, lambda run: [run["errors"][view] for view in VIEWS]
    )


def main() -> None:
    """Do the runs that the file lacks, seed by seed."""
    arms.do_missing("pictures", ARMS, {"steps": STEPS, "batch": BATCH, "tested": TESTED}, run)


if __name__ == "__main__":
    main()
