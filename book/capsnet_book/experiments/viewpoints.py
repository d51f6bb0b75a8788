"""New viewpoints: wholes made of parts with true poses, turned and moved, among clutter.

Ten wholes have the same five parts, so that only the parts' places and angles to each other tell
them apart. In training a whole is turned by up to 45 degrees; then the whole scene is turned by 90
to 270. `python -m capsnet_book.experiments.viewpoints` does the runs that results/viewpoints.json
lacks, and writes the scenes of the widget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.experiments import arms, records
from capsnet_book.experiments.arms import between
from capsnet_tutorial.files import write_json
from capsnet_tutorial.functional import capsule_lengths, margin_loss, squash

WHOLES = 10
PARTS = 5
FAMILIAR = math.pi / 4
"""The largest turn of a whole in training, either way, in radians."""
NEW = (math.pi / 2, 3 * math.pi / 2)
"""A new view turns the scene by an angle between these."""
CLUTTER = (0, 2, 4, 6, 8, 12)
"""Numbers of parts of no whole in tests; in training there are 0 to `MOST` of them."""
MOST = 8
ANGLES = tuple(range(0, 181, 15))
"""Degrees by which scenes are turned for the curve over the angle."""
READ = 3
"""The largest number of rounds at inference; networks are tested with 1, 2, … of them."""
TESTED = 4000
STEPS = 2000
BATCH = 128


class Scenes(NamedTuple):
    """Parts of N scenes, in any order; each has its true pose."""

    poses: Tensor
    """[N, I, 4]: cosine and sine of a part's angle, its x and y."""
    types: Tensor
    """The kind of a part, one-hot [N, I, 5]; zeros where there is no part."""
    labels: Tensor
    """The whole, int64 [N]."""


def in_disk(shape: Sequence[int], generator: torch.Generator, radius: float = 1.0) -> Tensor:
    """Draw points of a disk, every place with the same chance: [*shape, 2]."""
    distance, angle = torch.rand((2, *shape), generator=generator)
    angle = 2 * math.pi * angle
    return radius * distance.sqrt().unsqueeze(-1) * torch.stack([angle.cos(), angle.sin()], dim=-1)


def make_wholes(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw the angle [10, 5] and the place [10, 5, 2] of every part in every whole."""
    angles = 2 * math.pi * torch.rand((WHOLES, PARTS), generator=generator)
    return angles, in_disk((WHOLES, PARTS), generator)


def rotated(points: Tensor, angle: Tensor) -> Tensor:
    """Turn points [..., 2] about the origin by angles that broadcast to [...]."""
    x, y = points.unbind(dim=-1)
    return torch.stack(
        [angle.cos() * x - angle.sin() * y, angle.sin() * x + angle.cos() * y], dim=-1
    )


def make_scenes(
    wholes: tuple[Tensor, Tensor],
    count: int,
    clutter: int | Tensor,
    generator: torch.Generator,
    turn: float = FAMILIAR,
) -> Scenes:
    """Make scenes with one whole each, turned, moved, and among parts of no whole.

    Args:
        wholes: as `make_wholes` returns them.
        count: N.
        clutter: the number of parts of no whole, or of each scene, int64 [N].
        generator: of all chance.
        turn: the largest angle of the whole, in radians; the clutter lies at any angle.
    """
    labels = torch.randint(WHOLES, (count,), generator=generator)
    clutter = torch.as_tensor(clutter).expand(count)
    others = int(clutter.max())
    angle = turn * (2 * torch.rand((count, 1), generator=generator) - 1)
    angles = wholes[0][labels] + angle
    places = rotated(wholes[1][labels], angle) + in_disk((count, 1), generator)
    other_angles = 2 * math.pi * torch.rand((count, others), generator=generator)
    angles = torch.cat([angles, other_angles], dim=1)
    places = torch.cat([places, in_disk((count, others), generator, radius=2.0)], dim=1)
    other_kinds = torch.randint(PARTS, (count, others), generator=generator)
    kinds = torch.cat([torch.arange(PARTS).expand(count, -1), other_kinds], dim=1)
    is_there = torch.arange(PARTS + others) < PARTS + clutter.unsqueeze(1)
    is_there = is_there.unsqueeze(2)
    poses = torch.cat([angles.cos().unsqueeze(2), angles.sin().unsqueeze(2), places], dim=2)
    types = F.one_hot(kinds, PARTS).float()
    return Scenes(poses * is_there, types * is_there, labels)


def turned(scenes: Scenes, angle: Tensor | float) -> Scenes:
    """Turn scenes about the origin by an angle, or by one for each scene [N]."""
    angle = torch.as_tensor(angle).expand(len(scenes.labels)).unsqueeze(1)
    directions, places = scenes.poses.split(2, dim=2)
    poses = torch.cat([rotated(directions, angle), rotated(places, angle)], dim=2)
    return scenes._replace(poses=poses)


class Capsules(nn.Module):
    """Poses that vote with a matrix for each type of part and each whole, and routing of the votes.

    A vector (2017) has five numbers, cos, sin, x, y and 1, and votes u W of eight. A matrix (2018)
    has three rows, (cos, −sin, x), (sin, cos, y), (0, 0, 1), which W [3, 3] multiplies: M W. If a
    whole is turned, all its M become R M, and so do all its votes, R (M W), whatever W was learned.

    Args:
        matrices: whether poses are matrices, not vectors.
        beta: of agreement: b_ij += β û_j|i · v_j.
        shares: their source from the second round on. "agreement"; "gate": a part's type and pose
            alone; "length": a vote's length alone, times a learned number; "others": agreement, but
            in training that of the next scene in the batch.
    """

    def __init__(self, matrices: bool, beta: float = 1.0, shares: str = "agreement") -> None:
        super().__init__()
        self.matrices = matrices
        numbers, votes = (3, 3) if matrices else (5, 8)
        weight = torch.randn(PARTS * numbers, WHOLES * votes) / math.sqrt(numbers)
        self.weight = nn.Parameter(weight)
        self.beta = beta
        self.shares = shares
        self.gate = nn.Parameter(torch.zeros(PARTS * 5, WHOLES)) if shares == "gate" else None
        self.gain = nn.Parameter(torch.ones(1)) if shares == "length" else None

    def forward(self, scenes: Scenes, rounds: int) -> Tensor:
        u_hat = self.votes(scenes)
        c = self.logits(scenes, u_hat, rounds).softmax(dim=2)
        if self.training and self.shares == "others":
            c = c.roll(1, dims=0)
        return capsule_lengths(_sum_and_squash(c, u_hat))

    def logits(self, scenes: Scenes, u_hat: Tensor, rounds: int) -> Tensor:
        """Return b of the last round, [N, I, 10]."""
        b = u_hat.new_zeros(u_hat.shape[:3])
        if rounds == 1:
            return b
        if self.gate is not None:
            return (_by_type(_vectors(scenes.poses), scenes.types) @ self.gate).squeeze(1)
        if self.gain is not None:
            return self.gain * torch.linalg.vector_norm(u_hat, dim=3)
        for _ in range(rounds - 1):
            v = _sum_and_squash(b.softmax(dim=2), u_hat)
            b = b + self.beta * (u_hat * v.unsqueeze(1)).sum(dim=3)
        return b

    def votes(self, scenes: Scenes) -> Tensor:
        """Return û, [N, I, 10, 8 or 9]; zeros of a part that is not there."""
        rows = _matrices(scenes.poses) if self.matrices else _vectors(scenes.poses)
        votes = _by_type(rows, scenes.types) @ self.weight  # [N, rows, I, 10 · votes]
        votes = votes.unflatten(3, (WHOLES, -1))  # [N, rows, I, 10, votes]
        return votes.permute(0, 2, 3, 1, 4).flatten(3)


def _sum_and_squash(c: Tensor, u_hat: Tensor) -> Tensor:
    """Compute v_j = squash(Σ_i c_ij û_j|i).

    So few votes are summed faster this way than by a matrix product for each scene.
    """
    return squash((c.unsqueeze(3) * u_hat).sum(dim=1))


class NoCapsules(nn.Module):
    """No capsules: two layers for each part, a sum over the parts, two layers more."""

    def __init__(self) -> None:
        super().__init__()
        width = 64
        self.each = nn.Sequential(
            nn.Linear(PARTS * 5, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.all = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, WHOLES))

    def forward(self, scenes: Scenes, rounds: int) -> Tensor:
        parts = self.each(_by_type(_vectors(scenes.poses), scenes.types).squeeze(1))
        return self.all((parts * scenes.types.sum(dim=2, keepdim=True)).sum(dim=1))


def _vectors(poses: Tensor) -> Tensor:
    """Return poses as vectors, [N, 1, I, 5]."""
    return torch.cat([poses, torch.ones_like(poses[..., :1])], dim=2).unsqueeze(1)


def _matrices(poses: Tensor) -> Tensor:
    """Return poses as matrices, [N, 3, I, 3], row by row."""
    cos, sin, x, y = poses.unbind(dim=2)
    zero, one = torch.zeros_like(x), torch.ones_like(x)
    rows = [torch.stack(row, dim=2) for row in ((cos, -sin, x), (sin, cos, y), (zero, zero, one))]
    return torch.stack(rows, dim=1)


def _by_type(rows: Tensor, types: Tensor) -> Tensor:
    """Put numbers [N, rows, I, n] at the place of a part's type: [N, rows, I, 5 n], zeros else."""
    return (types.unsqueeze(1).unsqueeze(4) * rows.unsqueeze(3)).flatten(3)


class Arm(NamedTuple):
    """A network and its training."""

    summary: str
    build: Callable[[], nn.Module]
    rounds: int = 1
    """In training, and at inference in tables."""
    turn: float = FAMILIAR
    loss: Callable[[Tensor, Tensor], Tensor] = margin_loss
    """(scores, labels) -> scalar."""


ARMS = {
    "none": Arm("no capsules", NoCapsules, loss=F.cross_entropy),
    "none-all": Arm(
        "no capsules, trained at every angle", NoCapsules, turn=math.pi, loss=F.cross_entropy
    ),
    "vectors-r1": Arm("vectors, one round", lambda: Capsules(False)),
    "vectors-r3": Arm("vectors, three rounds", lambda: Capsules(False), 3),
    "vectors-gate": Arm(
        "vectors, a gate without agreement", lambda: Capsules(False, shares="gate"), 3
    ),
    "matrices-r1": Arm("matrices, one round", lambda: Capsules(True)),
    "matrices-r3": Arm("matrices, three rounds", lambda: Capsules(True), 3),
    "matrices-gate": Arm(
        "matrices, a gate without agreement", lambda: Capsules(True, shares="gate"), 3
    ),
    "matrices-length": Arm(
        "matrices, shares by the votes' lengths", lambda: Capsules(True, shares="length"), 3
    ),
    "matrices-others": Arm(
        "matrices, agreement of another scene", lambda: Capsules(True, shares="others"), 3
    ),
    "matrices-beta-0.25": Arm(
        "matrices, three rounds, agreement times ¼", lambda: Capsules(True, beta=0.25), 3
    ),
    "matrices-beta-4": Arm(
        "matrices, three rounds, agreement times 4", lambda: Capsules(True, beta=4.0), 3
    ),
    "matrices-beta-16": Arm(
        "matrices, three rounds, agreement times 16", lambda: Capsules(True, beta=16.0), 3
    ),
}
"""A name -> an arm."""


def train(arm: Arm, wholes: tuple[Tensor, Tensor], seed: int, steps: int = STEPS) -> nn.Module:
    """Train a network on scenes that are made on demand, the same for every arm of a seed."""

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        clutter = torch.randint(MOST + 1, (BATCH,), generator=generator)
        scenes = make_scenes(wholes, BATCH, clutter, generator, arm.turn)
        return arm.loss(network(scenes, arm.rounds), scenes.labels)

    return arms.trained(arm.build, loss, seed, 0.01, steps)


@torch.no_grad()
def error(network: nn.Module, scenes: Scenes, rounds: int) -> float:
    """Return the error rate on scenes, 0 to 1."""
    wrong = network(scenes, rounds).argmax(dim=1) != scenes.labels
    return round(wrong.double().mean().item(), 6)


def run(name: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train an arm and measure it; wholes, scenes and first weights follow from the seed.

    Returns:
        ``errors`` of `errors_by_view`; ``by_angle``: for scenes without clutter and with six,
        turned by `ANGLES`, with as many rounds as in training.
    """
    arm = ARMS[name]
    wholes = make_wholes(torch.Generator().manual_seed(seed))
    network = train(arm, wholes, seed, steps)
    scenes = scenes_to_test(wholes, seed)
    by_angle = {}
    for clutter in (0, 6):
        familiar = scenes["familiar"][clutter]
        views = [turned(familiar, math.radians(angle)) for angle in ANGLES]
        by_angle[f"{clutter}"] = [error(network, view, arm.rounds) for view in views]
    return {"errors": errors_by_view(network, scenes), "by_angle": by_angle}


def scenes_to_test(wholes: tuple[Tensor, Tensor], seed: int) -> dict[str, dict[int, Scenes]]:
    """Return a seed's test scenes by view, then by the number of clutter parts.

    Those of a new view are those of the familiar one, turned.
    """
    generator = torch.Generator().manual_seed(20_000 + seed)
    scenes: dict[str, dict[int, Scenes]] = {"familiar": {}, "new": {}}
    for clutter in CLUTTER:
        familiar = make_scenes(wholes, TESTED, clutter, generator)
        scenes["familiar"][clutter] = familiar
        scenes["new"][clutter] = turned(familiar, between(NEW, TESTED, generator))
    return scenes


def errors_by_view(
    network: nn.Module, scenes: dict[str, dict[int, Scenes]]
) -> dict[str, dict[str, list[float]]]:
    """Return errors, 0 to 1, by view, then by clutter, after 1, 2 and 3 rounds."""
    errors: dict[str, dict[str, list[float]]] = {}
    for view, by_clutter in scenes.items():
        errors[view] = {}
        for clutter, some in by_clutter.items():
            after_rounds = [error(network, some, rounds) for rounds in range(1, READ + 1)]
            errors[view][f"{clutter}"] = after_rounds
    return errors


def error_table(record: dict[str, Any]) -> str:
    """Return a table in Markdown: error rates in per cent, means over the seeds.

    Every arm has as many rounds at inference as in training.

    Args:
        record: results/viewpoints.json.
    """
    columns = {
        "as in training, 0 others": ("familiar", "0"),
        "new view, 0 others": ("new", "0"),
        "as in training, 6 others": ("familiar", "6"),
        "new view, 6 others": ("new", "6"),
    }

    def errors(run: arms.Run) -> list[float]:
        last = ARMS[run["arm"]].rounds - 1
        return [run["errors"][view][others][last] for view, others in columns.values()]

    return arms.table_of_errors(record, ARMS, [*columns], errors)


def for_the_page(seed: int = 10) -> dict[str, Any]:
    """Return the data of the widget `TurnScene`: two networks, and an upright scene of every whole.

    Both networks are trained with three rounds.

    Returns:
        ``weights`` by kind, flat, in the order of `Capsules.weight`; ``scenes``: for every whole
        its five parts, then 12 of no whole, as (angle in radians, x, y, type).
    """
    wholes = make_wholes(torch.Generator().manual_seed(seed))
    networks = {kind: train(ARMS[f"{kind}-r3"], wholes, seed) for kind in ("matrices", "vectors")}
    generator = torch.Generator().manual_seed(30_000 + seed)
    upright = make_scenes(wholes, 500, max(CLUTTER), generator, turn=0)
    cos, sin, x, y = upright.poses.unbind(dim=2)
    parts = torch.stack([torch.atan2(sin, cos), x, y, upright.types.argmax(dim=2)], dim=2)
    scenes = []
    for whole in range(WHOLES):
        first = int((upright.labels == whole).nonzero()[0])
        scenes.append([_rounded(part) for part in parts[first]])
    weights = {}
    for kind, network in networks.items():
        weights[kind] = _rounded(network.get_parameter("weight").flatten())
    return {
        "command": "python -m capsnet_book.experiments.viewpoints",
        "weights": weights,
        "scenes": scenes,
    }


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


def main() -> None:
    """Do the missing runs, seed by seed, and write the widget's file if there is none."""
    scenes = records.PACKAGE / "assets" / "scenes.json"
    if not scenes.exists():
        write_json(scenes, for_the_page())
    about = {"steps": STEPS, "batch": BATCH, "tested": TESTED, "angles": list(ANGLES)}
    arms.do_missing("viewpoints", ARMS, about, run)


if __name__ == "__main__":
    main()
