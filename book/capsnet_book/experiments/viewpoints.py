"""New viewpoints: wholes made of parts with true poses, turned and moved, among clutter. What capsules were made for.

Ten wholes have the same five parts, so only the parts' places and angles to each other tell them apart. In training a
whole is turned by up to 45 degrees; then the whole scene is turned by 90 to 270. `python -m
capsnet_book.experiments.viewpoints` does the runs that results/viewpoints.json lacks, and writes what the widget shows.
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

WHOLES, PARTS = 10, 5
FAMILIAR = math.pi / 4
"""In training, a whole is turned by up to so much, either way."""
NEW = (math.pi / 2, 3 * math.pi / 2)
"""A new view turns the scene by an angle between these."""
CLUTTER = (0, 2, 4, 6, 8, 12)
"""Parts of no whole that a network is tested with; in training there are 0 to `MOST` of them."""
MOST = 8
ANGLES = tuple(range(0, 181, 15))
"""Degrees by which scenes are turned for the curve over the angle."""
READ = 3
"""A network is read with 1, 2, … so many rounds."""
TESTED, STEPS, BATCH = 4000, 2000, 128


class Scenes(NamedTuple):
    """Parts of N scenes, in any order; each has its true pose."""

    poses: Tensor
    """[N, I, 4]: cosine and sine of a part's angle, its x and y."""
    types: Tensor
    """Which of the five parts, one-hot [N, I, 5]; zeros where there is none."""
    labels: Tensor
    """The whole, int64 [N]."""


def in_disk(shape: Sequence[int], generator: torch.Generator, radius: float = 1.0) -> Tensor:
    """Points, every place in a disk with the same chance: [*shape, 2]."""
    distance, angle = torch.rand((2, *shape), generator=generator)
    angle = 2 * math.pi * angle
    return radius * distance.sqrt().unsqueeze(-1) * torch.stack([angle.cos(), angle.sin()], dim=-1)


def make_wholes(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Angle [10, 5] and place [10, 5, 2] of every part in every whole."""
    angles = 2 * math.pi * torch.rand((WHOLES, PARTS), generator=generator)
    return angles, in_disk((WHOLES, PARTS), generator)


def rotated(points: Tensor, angle: Tensor) -> Tensor:
    """Points [..., 2] turned about the origin by angles that broadcast to [...]."""
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
    """Scenes with one whole each, turned by up to ``turn`` radians, moved, and among parts that belong to none.

    Args:
        wholes: as `make_wholes` gives them.
        count: N.
        clutter: how many parts besides, or how many in each scene, int64 [N].
        generator: of all chance.
        turn: largest angle of the whole; the clutter lies at any angle.
    """
    labels = torch.randint(WHOLES, (count,), generator=generator)
    clutter = torch.as_tensor(clutter).expand(count)
    others = int(clutter.max())
    angle = turn * (2 * torch.rand((count, 1), generator=generator) - 1)
    angles = wholes[0][labels] + angle
    places = rotated(wholes[1][labels], angle) + in_disk((count, 1), generator)
    angles = torch.cat(
        [angles, 2 * math.pi * torch.rand((count, others), generator=generator)], dim=1
    )
    places = torch.cat([places, in_disk((count, others), generator, radius=2.0)], dim=1)
    kinds = torch.cat(
        [
            torch.arange(PARTS).expand(count, -1),
            torch.randint(PARTS, (count, others), generator=generator),
        ],
        dim=1,
    )
    there = torch.arange(PARTS + others) < PARTS + clutter.unsqueeze(1)
    poses = torch.cat([angles.cos().unsqueeze(2), angles.sin().unsqueeze(2), places], dim=2)
    return Scenes(
        poses * there.unsqueeze(2), F.one_hot(kinds, PARTS).float() * there.unsqueeze(2), labels
    )


def turned(scenes: Scenes, angle: Tensor | float) -> Scenes:
    """The same seen from elsewhere: every part turned about the origin by an angle, or by one for each scene [N]."""
    angle = torch.as_tensor(angle).expand(len(scenes.labels)).unsqueeze(1)
    directions, places = scenes.poses.split(2, dim=2)
    return scenes._replace(
        poses=torch.cat([rotated(directions, angle), rotated(places, angle)], dim=2)
    )


class Capsules(nn.Module):
    """A pose votes with a matrix for each type of part and each whole; the votes are routed.

    A vector (2017) has five numbers, cos, sin, x, y and 1, and votes u W of eight. A matrix (2018) has three rows,
    (cos, −sin, x), (sin, cos, y), (0, 0, 1), each of which W [3, 3] multiplies: M W. If a whole is turned, all its
    M become R M, and so do all its votes, R (M W), whatever W was learned.

    Args:
        matrices: pose matrices, not vectors.
        beta: of agreement: b_ij += β û_j|i · v_j.
        shares: where they come from if there is more than one round. "agreement"; "gate": a part's type and pose alone
            choose them; "length": a vote's length alone, times a learned number; "others": agreement, but in training
            that of the next scene in the batch.
    """

    def __init__(self, matrices: bool, beta: float = 1.0, shares: str = "agreement") -> None:
        super().__init__()
        self.matrices = matrices
        numbers, votes = (3, 3) if matrices else (5, 8)
        self.weight = nn.Parameter(
            torch.randn(PARTS * numbers, WHOLES * votes) / math.sqrt(numbers)
        )
        self.beta, self.shares = beta, shares
        self.gate = nn.Parameter(torch.zeros(PARTS * 5, WHOLES)) if shares == "gate" else None
        self.gain = nn.Parameter(torch.ones(1)) if shares == "length" else None

    def forward(self, scenes: Scenes, rounds: int) -> Tensor:
        u_hat = self.votes(scenes)
        c = self.logits(scenes, u_hat, rounds).softmax(dim=2)
        if self.training and self.shares == "others":
            c = c.roll(1, dims=0)
        return capsule_lengths(_sum_and_squash(c, u_hat))

    def logits(self, scenes: Scenes, u_hat: Tensor, rounds: int) -> Tensor:
        """b of the last round, [N, I, 10]."""
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
        """û: [N, I, 10, 8 or 9]; zeros of a part that is not there."""
        rows = (
            _matrices(scenes.poses) if self.matrices else _vectors(scenes.poses)
        )  # [N, rows, I, numbers]
        found = (_by_type(rows, scenes.types) @ self.weight).unflatten(
            3, (WHOLES, -1)
        )  # [N, rows, I, 10, votes]
        return found.permute(0, 2, 3, 1, 4).flatten(3)


def _sum_and_squash(c: Tensor, u_hat: Tensor) -> Tensor:
    """v_j = squash(Σ_i c_ij û_j|i). So few votes are summed faster this way than by a matrix product for each scene."""
    return squash((c.unsqueeze(3) * u_hat).sum(dim=1))


class NoCapsules(nn.Module):
    """Two layers for each part alone, their sum over the parts, two layers more."""

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
    """[N, 1, I, 5]."""
    return torch.cat([poses, torch.ones_like(poses[..., :1])], dim=2).unsqueeze(1)


def _matrices(poses: Tensor) -> Tensor:
    """[N, 3, I, 3], row by row."""
    cos, sin, x, y = poses.unbind(dim=2)
    zero, one = torch.zeros_like(x), torch.ones_like(x)
    rows = [torch.stack(row, dim=2) for row in ((cos, -sin, x), (sin, cos, y), (zero, zero, one))]
    return torch.stack(rows, dim=1)


def _by_type(rows: Tensor, types: Tensor) -> Tensor:
    """Numbers [N, rows, I, n] at the place of a part's type, zeros at the other types': [N, rows, I, 5 n]."""
    return (types.unsqueeze(1).unsqueeze(4) * rows.unsqueeze(3)).flatten(3)


class Arm(NamedTuple):
    """A network and how it is trained."""

    summary: str
    build: Callable[[], nn.Module]
    rounds: int = 1
    """That it is trained with, and read with in tables."""
    turn: float = FAMILIAR
    loss: Callable[[Tensor, Tensor], Tensor] = margin_loss
    """Of its scores and the labels."""


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
"""Every arm, by its name."""


def train(arm: Arm, wholes: tuple[Tensor, Tensor], seed: int, steps: int = STEPS) -> nn.Module:
    """A network trained on scenes that are made as they are needed, the same for every arm of this seed."""

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        clutter = torch.randint(MOST + 1, (BATCH,), generator=generator)
        scenes = make_scenes(wholes, BATCH, clutter, generator, arm.turn)
        return arm.loss(network(scenes, arm.rounds), scenes.labels)

    return arms.trained(arm.build, loss, seed, 0.01, steps)


@torch.no_grad()
def error(network: nn.Module, scenes: Scenes, rounds: int) -> float:
    """Share of scenes whose whole is not told, 0 to 1."""
    wrong = network(scenes, rounds).argmax(dim=1) != scenes.labels
    return round(wrong.double().mean().item(), 6)


def run(name: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train an arm and measure it; wholes, scenes and first weights follow from the seed.

    Returns:
        ``errors``, as `errors_by_view` has them; ``by_angle``: for scenes without clutter and with six, turned by
        `ANGLES`, read as trained.
    """
    arm = ARMS[name]
    wholes = make_wholes(torch.Generator().manual_seed(seed))
    network = train(arm, wholes, seed, steps)
    scenes = scenes_to_test(wholes, seed)
    by_angle = {}
    for clutter in (0, 6):
        familiar = scenes["familiar"][clutter]
        angles = [turned(familiar, math.radians(angle)) for angle in ANGLES]
        by_angle[f"{clutter}"] = [error(network, each, arm.rounds) for each in angles]
    return {"errors": errors_by_view(network, scenes), "by_angle": by_angle}


def scenes_to_test(wholes: tuple[Tensor, Tensor], seed: int) -> dict[str, dict[int, Scenes]]:
    """Return the scenes that a seed's networks are tested with, by view, then by the number of clutter parts.

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
    """Return the errors by view, then by the number of clutter parts, after 1, 2 and 3 rounds; 0 to 1."""
    return {
        view: {
            f"{clutter}": [error(network, seen, rounds) for rounds in range(1, READ + 1)]
            for clutter, seen in by_clutter.items()
        }
        for view, by_clutter in scenes.items()
    }


def error_table(found: dict[str, Any]) -> str:
    """Per cent of wholes not told, the mean over the seeds, each arm read as it was trained: a table in Markdown.

    Args:
        found: results/viewpoints.json.
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

    return arms.table_of_errors(found, ARMS, [*columns], errors)


def for_the_page(seed: int = 10) -> dict[str, Any]:
    """What the widget `TurnScene` shows: two networks trained with three rounds, and a scene of every whole, upright.

    Returns:
        ``weights`` by kind, flat, as `Capsules.weight` has them; ``scenes``: for every whole its five parts, then 12
        that belong to none, each (angle in radians, x, y, type).
    """
    wholes = make_wholes(torch.Generator().manual_seed(seed))
    networks = {kind: train(ARMS[f"{kind}-r3"], wholes, seed) for kind in ("matrices", "vectors")}
    shown = make_scenes(
        wholes, 500, max(CLUTTER), torch.Generator().manual_seed(30_000 + seed), turn=0
    )
    cos, sin, x, y = shown.poses.unbind(dim=2)
    parts = torch.stack([torch.atan2(sin, cos), x, y, shown.types.argmax(dim=2)], dim=2)
    first = [int((shown.labels == whole).nonzero()[0]) for whole in range(WHOLES)]
    return {
        "command": "python -m capsnet_book.experiments.viewpoints",
        "weights": {
            kind: _rounded(each.get_parameter("weight").flatten())
            for kind, each in networks.items()
        },
        "scenes": [[_rounded(part) for part in parts[each]] for each in first],
    }


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


def main() -> None:
    """Do the runs that the file lacks, seed by seed, and write the widget's file if there is none."""
    shown = records.PACKAGE / "assets" / "scenes.json"
    if not shown.exists():
        write_json(shown, for_the_page())
    about = {"steps": STEPS, "batch": BATCH, "tested": TESTED, "angles": list(ANGLES)}
    arms.do_missing("viewpoints", ARMS, about, run)


if __name__ == "__main__":
    main()
