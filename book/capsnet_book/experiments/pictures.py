"""Two parts, one relation: does a network that sees pixels carry a relation of two parts over to a new angle?

Every picture shows a bar and a wedge. Which side of the wedge the bar lies on, and whether it lies along or across, is
the class, so a bag of parts cannot tell the eight classes apart. Four of them are shown at every angle, the other four
turned by up to 30 degrees only: each part, each side and both ways to lie were seen at every angle; four combinations
were not. `python -m capsnet_book.experiments.pictures` does the runs that results/pictures.json lacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_book.experiments import records
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, class_scores, cross_entropy
from capsnet_book.experiments.evidence import noisy
from capsnet_book.experiments.variants import share_matrices
from capsnet_book.experiments.viewpoints import trained
from capsnet_tutorial.functional import margin_loss, reconstruction_loss
from capsnet_tutorial.model import CapsNet, CapsNetConfig

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
    outside = torch.minimum(triangle.amax(dim=0), box.amax(dim=0))  # signed distance to the nearer part's edge
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


@dataclass(frozen=True)
class Arm:
    """A network, and what it is trained with."""

    summary: str
    build: Callable[[], nn.Module]
    decoder: bool = False
    """The reconstruction loss is added, times 0.0005."""
    learning_rate: float = 0.003

    def loss(self, network: nn.Module, images: Tensor, labels: Tensor) -> Tensor:
        """What training minimises, a scalar."""
        if isinstance(network, ConvNet):
            return cross_entropy(network(images), images, labels)
        output = network(images, labels if self.decoder else None)
        loss = margin_loss(output.lengths, labels)
        return loss + 0.0005 * reconstruction_loss(output.reconstruction, images) if self.decoder else loss


def capsules(iterations: int, shared: bool = False) -> CapsNet:
    """The book's small network with eight classes."""
    network = CapsNet(replace(CapsNetConfig.small(), classes=CLASSES, iterations=iterations))
    if shared:
        share_matrices(network)
    return network


def convolutions(first: int) -> ConvNet:
    """The small CNN with as many parameters as that network recognises with, and another first kernel."""
    sizes = ConvNetConfig.small_recognising()
    return ConvNet(replace(sizes, kernels=(first, *sizes.kernels[1:]), classes=CLASSES))


ARMS = {
    "capsnet-r1": Arm("capsules, one round", lambda: capsules(1)),
    "capsnet-r3": Arm("capsules, three rounds", lambda: capsules(3)),
    "capsnet-r3-decoder": Arm("capsules, three rounds, with decoder", lambda: capsules(3), decoder=True),
    "capsnet-r3-shared": Arm("capsules, three rounds, one W for all places", lambda: capsules(3, shared=True)),
    "cnn-5": Arm("CNN, first kernel 5 × 5", lambda: convolutions(5)),
    "cnn-9": Arm("CNN, first kernel 9 × 9", lambda: convolutions(9)),
}
"""Every arm, by its name."""


def train(arm: Arm, seed: int, steps: int = STEPS) -> nn.Module:
    """A network trained on pictures that are made as they are needed, the same for every arm of this seed."""

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        labels = pick(range(CLASSES), BATCH, generator)
        return arm.loss(network, draw(labels, angles_of(labels, generator), moves_of(BATCH, generator)), labels)

    return trained(arm.build, loss, seed, arm.learning_rate, steps)


@torch.no_grad()
def error(network: nn.Module, images: Tensor, labels: Tensor, among: Sequence[int]) -> float:
    """Share of pictures whose class is not told among some classes, 0 to 1."""
    chosen = torch.tensor(among)
    found = [chosen[class_scores(network, batch)[:, chosen].argmax(dim=1)] for batch in images.split(500)]
    return (torch.cat(found) != labels).double().mean().item()


def run(name: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train an arm and measure it; pictures and first weights follow from the seed.

    Returns:
        ``errors``, 0 to 1: ``everywhere`` of the classes shown at every angle; ``familiar`` of the others, as shown;
        ``new`` of the others at new angles, among those four alone, since a strange angle speaks for the first four
        (chance: 0.75); ``noisy`` of all eight, as shown, in noise. ``noisy_after`` of a CapsNet: the same when read
        with one round, two and three.
    """
    arm = ARMS[name]
    network = train(arm, seed, steps)
    generator = torch.Generator().manual_seed(20_000 + seed)
    errors = {}
    for view, classes in (("everywhere", EVERYWHERE), ("familiar", LIMITED), ("new", LIMITED)):
        labels = pick(classes, TESTED, generator)
        low, high = NEW
        angles = low + (high - low) * torch.rand(TESTED, generator=generator)
        if view != "new":
            angles = angles_of(labels, generator)
        images = draw(labels, angles, moves_of(TESTED, generator))
        errors[view] = round(error(network, images, labels, LIMITED if view == "new" else range(CLASSES)), 6)
    labels = pick(range(CLASSES), TESTED, generator)
    images = noisy(draw(labels, angles_of(labels, generator), moves_of(TESTED, generator)), seed)
    errors["noisy"] = round(error(network, images, labels, range(CLASSES)), 6)
    found: dict[str, Any] = {"errors": errors}
    if isinstance(network, CapsNet):
        found["noisy_after"] = []
        for rounds in (1, 2, 3):
            network.routed.iterations = rounds
            found["noisy_after"].append(round(error(network, images, labels, range(CLASSES)), 6))
    return found


def error_table(found: dict[str, Any]) -> str:
    """Per cent of pictures read wrongly, the mean over the seeds: a table in Markdown of results/pictures.json."""
    views = {
        "everywhere": "shown at every angle",
        "familiar": "shown near the upright",
        "new": "these at new angles, one of four",
    }
    lines = [f"| wrong, % | {' | '.join(views.values())} | seeds |", "|:--|--:|--:|--:|--:|"]
    for name, arm in ARMS.items():
        runs = [each["errors"] for each in found["runs"] if each["arm"] == name]
        if runs:
            means = " | ".join(f"{100 * fmean(run[view] for run in runs):.1f}" for view in views)
            lines.append(f"| {arm.summary} | {means} | {len(runs)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Do the runs that the file lacks, seed by seed."""
    about = {
        "command": "python -m capsnet_book.experiments.pictures",
        "steps": STEPS,
        "batch": BATCH,
        "tested": TESTED,
        "arms": {name: arm.summary for name, arm in ARMS.items()},
    }
    records.do_missing("pictures", about, run)


if __name__ == "__main__":
    main()
