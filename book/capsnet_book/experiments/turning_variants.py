"""What holds capsules that turn back on handwritten digits: one change of the network at a time,
and what helped, put together.

Exploratory, as results/turning.toml says; a variant is trained for `STEPS` steps where its summary
names no other number, and measured on validation digits.
`python -m capsnet_book.experiments.turning_variants` does the runs that
results/turning_variants.json lacks.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from capsnet_book.experiments import arms, records
from capsnet_book.experiments.arms import between
from capsnet_book.experiments.cnn import cross_entropy, recognising_and_drawing, scores_of
from capsnet_book.experiments.evidence import pack_wrong, unpack_wrong
from capsnet_book.experiments.poses import thicken
from capsnet_book.experiments.turning import (
    ARMS,
    BATCH,
    DIGITS,
    FAMILIAR,
    NEW,
    SHIFT,
    share_of,
    wrong_among,
)
from capsnet_book.turning import (
    STANDARD,
    AngleReader,
    Coincidence,
    PoseDecoder,
    TurningCapsules,
    digits_network,
)
from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.train import Objective

SEED = 40
STEPS = 1000
RATE = 0.02
TESTED = 5000
"""All validation digits of MNIST."""
TEST_SEED = 50_000
VIEWS = {"straight": (0.0, 0.0), "new": NEW}
"""Between which angles in degrees the validation digits of a view are turned."""
WEIGHTS = Path("runs") / "turning_variants"
"""Where a run leaves its network."""
DRAWING_WEIGHT = 0.01
"""Of a drawing's squared error, summed over pixels, in the loss."""
DROPPED = 0.2
"""The chance of a part to be left out in training."""


# --- networks -------------------------------------------------------------------------------


def sized(**sizes: int) -> Callable[[], nn.Module]:
    """Return what builds the digits' network with other sizes."""
    chosen = STANDARD._replace(**sizes)
    return lambda: TurningCapsules(10, Coincidence(10, chosen), chosen)


class TwoScales(TurningCapsules):
    """Half of the filters are 7 pixels across, half 15."""

    def __init__(self) -> None:
        super().__init__(10, Coincidence(10))
        half = STANDARD._replace(kinds=STANDARD.kinds // 2)
        del self.filters, self.level, self.slope
        self.small = TurningCapsules(1, nn.Identity(), half._replace(side=7))
        self.large = TurningCapsules(1, nn.Identity(), half._replace(side=15))

    def parts(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """As `TurningCapsules.parts`; the small filters' parts come first."""
        small_poses, small_presence = self.small.parts(images)
        large_poses, large_presence = self.large.parts(images)
        poses = torch.cat([small_poses, large_poses], dim=1)
        return poses, torch.cat([small_presence, large_presence], dim=1)


class DroppedParts(TurningCapsules):
    """In training, a part is left out with the chance `DROPPED`."""

    def parts(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """As `TurningCapsules.parts`."""
        poses, presence = super().parts(images)
        if self.training:
            presence = presence * (torch.rand_like(presence) >= DROPPED)
        return poses, presence


class Wholes(nn.Module):
    """The votes are for more wholes than there are classes; a linear layer makes scores of theirs.

    So a whole may also speak against a class.

    Args:
        wholes: how many.
        network: makes the network that scores so many wholes; None: the digits' network.
    """

    def __init__(self, wholes: int, network: Callable[[int], nn.Module] | None = None) -> None:
        super().__init__()
        build = network or (lambda count: TurningCapsules(count, Coincidence(count)))
        self.network = build(wholes)
        self.last = nn.Linear(wholes, 10)
        if wholes == 10:
            nn.init.eye_(self.last.weight)

    def forward(self, images: Tensor, labels: Tensor | None = None) -> Tensor:
        """Compute scores [B, 10] of images [B, 1, H, W]. The labels are of no use here."""
        return self.last(self.network(images))


def closeness_of(agreement: Coincidence, votes: Tensor, presence: Tensor) -> Tensor:
    """Return how close any two votes for a class lie, [B, J, V, V]; 0 for two of one kind of part.

    Args:
        agreement: of the votes, with its width.
        votes: [B, T, N, m, J, 6].
        presence: [B, T, N].
    """
    left, right = agreement.factors(votes, presence)  # [B, J, T, N · m, 8]
    kinds, count = left.shape[2:4]
    closeness = (left.flatten(2, 3) @ right.flatten(2, 3).transpose(2, 3)).exp()
    kind = torch.arange(kinds).repeat_interleave(count)
    return closeness * (kind != kind.unsqueeze(1))


class Clusters(Coincidence):
    """A vote counts with the square of what supports it, so one group of ten votes is more than
    five groups of two.
    """

    def forward(self, votes: Tensor, presence: Tensor) -> Tensor:
        """Compute scores [B, J] of votes [B, T, N, m, J, 6] and presences [B, T, N]."""
        support = closeness_of(self, votes, presence).sum(dim=3)
        return self.gain * (self.EPSILON + support.square().sum(dim=2)).log()


class SecondLayer(nn.Module):
    """Parts vote for larger parts; where the votes for one coincide, there it is, with a pose. Both
    kinds of parts vote for the classes.

    Args:
        classes: J.
        larger: H, kinds of larger parts.
        count: N₂, of each kind at most.
    """

    def __init__(self, classes: int = 10, larger: int = 16, count: int = 4) -> None:
        super().__init__()
        middle = STANDARD._replace(matrices=1)
        self.count = count
        self.lower = TurningCapsules(larger, Coincidence(larger, middle), middle)
        self.level = nn.Parameter(torch.zeros(larger, 1))
        self.slope = nn.Parameter(torch.ones(()))
        top = STANDARD._replace(kinds=STANDARD.kinds + larger, count=count)
        shape = (top.kinds, 1, top.matrices, classes, 3, 3)
        self.weight = nn.Parameter(torch.randn(shape) / math.sqrt(3))
        self.agreement = Coincidence(classes, top)

    def larger_parts(self, poses: Tensor, presence: Tensor) -> tuple[Tensor, Tensor]:
        """Return poses [B, H, N₂, 2, 3] and presences [B, H, N₂] of the larger parts.

        The vote with the most support is taken first; those that lie close to it are taken away.
        """
        agreement = self.lower.agreement
        assert isinstance(agreement, Coincidence)
        votes = self.lower.votes(poses)
        closeness = closeness_of(agreement, votes, presence)  # [B, H, V, V]
        support = closeness.sum(dim=3)
        v = votes.permute(0, 4, 1, 2, 3, 5).flatten(2, 4)  # [B, H, V, 6]
        apart = torch.cdist(v.detach(), v.detach()) / agreement.width.detach()

        free = support.detach().clone()
        chosen = []
        for _ in range(self.count):
            best = free.argmax(dim=2, keepdim=True)  # [B, H, 1]
            chosen.append(best)
            near = apart.gather(2, best.unsqueeze(3).expand(-1, -1, -1, apart.shape[3])).squeeze(2)
            free = free.masked_fill(near < 1, -1)
        vote = torch.cat(chosen, dim=2)  # [B, H, N₂]
        at = vote.unsqueeze(3)
        weights = closeness.gather(2, at.expand(-1, -1, -1, closeness.shape[3]))
        own = v.gather(2, at.expand(-1, -1, -1, 6))
        meeting = (weights @ v + 0.1 * own) / (weights.sum(dim=3, keepdim=True) + 0.1)
        logarithm = (support.gather(2, vote) + 1e-3).log()
        return meeting.unflatten(3, (2, 3)), torch.sigmoid(self.slope * (logarithm - self.level))

    def forward(self, images: Tensor, labels: Tensor | None = None) -> Tensor:
        """Compute scores [B, J] of images [B, 1, H, W]. The labels are of no use here."""
        poses, presence = self.lower.parts(images)
        larger_poses, larger_presence = self.larger_parts(poses, presence)
        poses = torch.cat([poses, larger_poses], dim=1)
        votes = (poses[:, :, :, None, None] @ self.weight).flatten(5)
        return self.agreement(votes, torch.cat([presence, larger_presence], dim=1))


class Drawing(nn.Module):
    """A reader with a decoder that draws the digit from the pose of its class."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = AngleReader(digits_network())
        self.decoder = PoseDecoder()

    def forward(self, images: Tensor, labels: Tensor | None = None) -> Tensor:
        """Compute scores [B, 10] of images [B, 1, H, W]. The labels are of no use here."""
        return self.reader(images)

    def loss(self, images: Tensor, labels: Tensor) -> Tensor:
        """Compute the cross-entropy and `DRAWING_WEIGHT` times the drawing's squared error."""
        scores, turn, pose = self.reader.read(images, labels)
        drawings = self.decoder(pose, labels, turn)
        error = (drawings - images).square().sum(dim=(1, 2, 3)).mean()
        return cross_entropy(scores, images, labels) + DRAWING_WEIGHT * error


# --- training and measurements --------------------------------------------------------------


def stretched(images: Tensor, generator: torch.Generator) -> Tensor:
    """Make digits larger or smaller, sheared, thicker or thinner, at random."""
    scale_x, scale_y = 1 + 0.2 * (2 * torch.rand((2, len(images)), generator=generator) - 1)
    shear = 0.3 * (2 * torch.rand(len(images), generator=generator) - 1)
    thickness = 0.6 * (2 * torch.rand(len(images), generator=generator) - 1)
    pose = Pose(scale_x=scale_x, scale_y=scale_y, shear=shear)
    return thicken(transform(images, pose), thickness)


class Variant(NamedTuple):
    """A network, and how it is trained."""

    summary: str
    build: Callable[[], nn.Module] = digits_network
    rate: float = RATE
    batch: int = BATCH
    steps: int = STEPS
    change: Callable[[Tensor, torch.Generator], Tensor] | None = None
    """Done to the pictures of training."""
    objective: Objective = cross_entropy


def _reference(arm: str) -> Variant:
    """Return one of the book's other networks, trained as the variants are, at its own rate."""
    network = ARMS[arm]
    return Variant(network.summary, network.build, network.rate, objective=network.objective)


VARIANTS = {
    "base": Variant("as it stands, 1,000 steps"),
    "second-layer": Variant("a second layer of 16 larger parts", SecondLayer),
    "wholes": Variant("20 wholes, then a linear layer", lambda: Wholes(20)),
    "kinds-32": Variant("32 filters", sized(kinds=32)),
    "drawing": Variant("drawing as a second task", Drawing),
    "count-8": Variant("8 peaks of each filter", sized(count=8)),
    "two-scales": Variant("8 filters of 7 × 7, 8 of 15 × 15", TwoScales),
    "dropped": Variant(
        "a fifth of the parts dropped in training", lambda: DroppedParts(10, Coincidence(10))
    ),
    "side-15": Variant("filters of 15 × 15", sized(side=15)),
    "side-7": Variant("filters of 7 × 7", sized(side=7)),
    "clusters": Variant("larger groups count more", lambda: TurningCapsules(10, Clusters(10))),
    "mixed": Variant("a linear layer over the ten scores", lambda: Wholes(10)),
    "matrices-4": Variant("4 matrices for each filter and class", sized(matrices=4)),
    "batch-128": Variant("twice as many digits a step", batch=128),
    "kinds-8": Variant("8 filters", sized(kinds=8)),
    "turns-24": Variant("24 turned copies", sized(turns=24)),
    "stretched": Variant("digits stretched, sheared, thickened in training", change=stretched),
    "rate-0.04": Variant("twice the rate", rate=0.04),
    "count-2": Variant("2 peaks of each filter", sized(count=2)),
    "matrices-1": Variant("1 matrix for each filter and class", sized(matrices=1)),
    "steps-2000": Variant("twice as many steps", steps=2 * STEPS),
    "together": Variant(
        "the second layer and the 20 wholes together", partial(Wholes, 20, SecondLayer)
    ),
    "together-2500": Variant(
        "both together, two and a half times as many steps",
        partial(Wholes, 20, SecondLayer),
        steps=5 * STEPS // 2,
    ),
    "cnn": _reference("digits-cnn"),
    "capsnet": _reference("digits-capsnet"),
    "cnn-2500": _reference("digits-cnn")._replace(
        summary="the book's CNN, two and a half times as many steps", steps=5 * STEPS // 2
    ),
}
"""Every variant, by its name, in the order of the runs."""


def train(variant: Variant, seed: int) -> nn.Module:
    """Return a network trained on digits that are the same for every variant with this batch."""

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        angles = between((-FAMILIAR, FAMILIAR), variant.batch, generator)
        images, labels = DIGITS.training_pictures(angles, generator)
        if variant.change is not None:
            images = variant.change(images, generator)
        if isinstance(network, Drawing):
            return network.loss(images, labels)
        return variant.objective(network(images, labels), images, labels)

    return arms.trained(variant.build, loss, seed, variant.rate, variant.steps)


def moved(data: Digits, angles: Tensor, generator: torch.Generator) -> Digits:
    """Return digits that are turned by angles in degrees [N], and moved as in training."""
    across, down = SHIFT * (2 * torch.rand((2, data.count), generator=generator) - 1)
    images = transform(data.images, Pose(rotation=angles, shift_x=across, shift_y=down))
    return data._replace(images=images)


@cache
def validation_digits(view: str) -> Digits:
    """Return all validation digits, turned and moved, the same for every network."""
    data = digits("validation", "mnist")
    generator = torch.Generator().manual_seed(TEST_SEED + list(VIEWS).index(view))
    return moved(data, between(VIEWS[view], data.count, generator), generator)


def measure(network: nn.Module) -> dict[str, Any]:
    """Measure a network on validation digits.

    Returns:
        ``errors`` by view, 0 to 1: of ``all`` classes; of those ``apart`` from 6 and 9, among
        themselves. ``wrong``: which digits of all, by view, packed.
    """
    errors, wrong = {}, {}
    for view in VIEWS:
        images, labels, _ = validation_digits(view)
        scores = scores_of(network, images)
        misread = wrong_among(scores, labels, range(10))
        misread_apart = wrong_among(scores, labels, DIGITS.apart)
        errors[view] = {
            "all": share_of(misread, labels, range(10)),
            "apart": share_of(misread_apart, labels, DIGITS.apart),
        }
        wrong[view] = pack_wrong(misread.nonzero().flatten().tolist(), len(labels))
    return {"errors": errors, "wrong": wrong}


def run(name: str, seed: int) -> dict[str, Any]:
    """Train a variant, keep its weights in runs/turning_variants, and measure it."""
    commit = records.code_version()
    start = time.process_time()
    network = train(VARIANTS[name], seed)
    seconds = time.process_time() - start
    WEIGHTS.mkdir(parents=True, exist_ok=True)
    save_file(network.state_dict(), WEIGHTS / f"{name}-{seed}.safetensors")
    return {
        "parameters": recognising_and_drawing(network)[0],
        "processor_seconds": round(seconds, 1),
        "commit": commit,
        **measure(network),
    }


def fewer(record: dict[str, Any], name: str) -> tuple[float, float]:
    """Return how many points fewer a variant misreads at new angles than the network as it stands.

    Args:
        record: results/turning_variants.json.
        name: of a variant with a seed that the network as it stands has, too.

    Returns:
        The difference in per cent of the digits, the mean over the seeds that both have; its
        standard error over the digits.
    """
    wrong = {
        (run["arm"], run["seed"]): unpack_wrong(run["wrong"]["new"], TESTED)
        for run in record["runs"]
    }
    seeds = [seed for arm, seed in wrong if arm == name and ("base", seed) in wrong]
    differences = [
        wrong["base", seed].astype(float) - wrong[name, seed].astype(float) for seed in seeds
    ]
    by_digit = 100 * np.mean(differences, axis=0)
    return float(by_digit.mean()), float(by_digit.std(ddof=1) / math.sqrt(TESTED))


def variant_table(record: dict[str, Any]) -> str:
    """Return a table in Markdown, a row a variant that was run: the network as it stands first,
    then by how many points fewer a variant misreads at new angles.

    A difference above two standard errors is bold.

    Args:
        record: results/turning_variants.json.
    """
    titles = ["numbers", "seconds", "upright", "**new**", "new, no 6, 9", "fewer, new", "seeds"]
    lines = [f"| wrong, % | {' | '.join(titles)} |", "|:--|" + "--:|" * len(titles)]
    done = {run["arm"] for run in record["runs"]}
    changes = {name: fewer(record, name) for name in VARIANTS if name in done - {"base"}}
    order = sorted(changes, key=lambda name: -changes[name][0])  # equals stay as VARIANTS has them
    for name in ["base", *order]:
        runs = [run for run in record["runs"] if run["arm"] == name]
        cells = [VARIANTS[name].summary, f"{runs[0]['parameters']:,}"]
        cells.append(f"{fmean(run['processor_seconds'] for run in runs):.0f}")
        for view, classes in (("straight", "all"), ("new", "all"), ("new", "apart")):
            cells.append(f"{fmean(100 * run['errors'][view][classes] for run in runs):.1f}")
        cells.append(_in_points(*changes[name]) if name in changes else "")
        cells.append(f"{len(runs)}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _in_points(difference: float, error: float) -> str:
    """Return a difference with its standard error, bold if it is above two of them."""
    text = f"{difference:+.1f} ± {error:.1f}".replace("-", "−")
    return f"**{text}**" if difference > 2 * error else text


def main(arguments: Sequence[str] | None = None) -> None:
    """Do the runs that the file lacks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="VARIANT", help="default: all")
    parser.add_argument("--seeds", nargs="+", type=int, default=[SEED], help=f"default: {SEED}")
    options = parser.parse_args(arguments)
    about = {"batch": BATCH, "steps": STEPS, "rate": RATE}
    jobs = list(product(options.seeds, options.names or VARIANTS))
    arms.do_missing("turning_variants", VARIANTS, about, run, jobs)


if __name__ == "__main__":
    main()
