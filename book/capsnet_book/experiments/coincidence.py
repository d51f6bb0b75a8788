"""Scenes with true poses, read by capsules whose votes must coincide: the scenes and the votes of
viewpoints.py.

The scalar product of 2017 asks whether the votes for a whole are long and point one way. Here
agreement means that the votes, which are poses, lie in the same place. `python -m
capsnet_book.experiments.coincidence` does the runs that results/coincidence.json lacks.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.experiments import arms
from capsnet_book.experiments.viewpoints import (
    BATCH,
    PARTS,
    STEPS,
    TESTED,
    WHOLES,
    Arm,
    Capsules,
    NoCapsules,
    Scenes,
    errors_by_view,
    make_wholes,
    scenes_to_test,
    train,
)
from capsnet_tutorial.functional import margin_loss

MEASURED = (0, 6, 12)
"""Numbers of clutter parts, of those of viewpoints.py."""
CLOSE = 0.05
"""Two votes by the true relations coincide if they are nearer than this; the scenes are about 3
wide.
"""


# --- what is made of the votes


class Coincidence(nn.Module):
    """Whole j's evidence is how many pairs of votes for it lie close together, softly counted;
    there are no rounds.

    score_j = g Σ_{i<k} exp(−‖û_ij − û_kj‖² / 2σ²), over the parts that are there; g and σ are
    learned.
    """

    def __init__(self) -> None:
        super().__init__()
        self.capsules = Capsules(matrices=True)
        self.log_gain = nn.Parameter(torch.zeros(()))
        self.log_width = nn.Parameter(torch.zeros(()))

    def forward(self, scenes: Scenes, rounds: int) -> Tensor:
        closeness = self.closeness(squared_distances(poses_of_votes(self.capsules, scenes)))
        return self.log_gain.exp() * over_pairs(closeness, scenes)

    def closeness(self, squared: Tensor) -> Tensor:
        """exp(−d² / 2σ²) of squared distances."""
        return (-squared / (2 * (2 * self.log_width).exp())).exp()


class EM(Coincidence):
    """Rounds of EM with one learned width σ, the same for all, and a background that takes what
    belongs to no whole.

    μ_j = Σ_i r_ij û_ij / Σ_i r_ij; r_i is the softmax over the ten wholes and the background, whose
    logit is learned,
    of −‖û_ij − μ_j‖² / 2σ²; at last score_j = g Σ_i r_ij exp(−‖û_ij − μ_j‖² / 2σ²).
    """

    def __init__(self) -> None:
        super().__init__()
        self.background = nn.Parameter(torch.zeros(()))

    def forward(self, scenes: Scenes, rounds: int) -> Tensor:
        votes = poses_of_votes(self.capsules, scenes)  # [N, 10, I, 6]
        there = scenes.types.sum(dim=2).unsqueeze(1)  # [N, 1, I]
        r = there / WHOLES * torch.ones(WHOLES, 1)  # [N, 10, I]
        for _ in range(rounds):
            weights = r.unsqueeze(3)
            centre = (weights * votes).sum(dim=2) / weights.sum(dim=2).clamp_min(1e-8)
            squared = (votes - centre.unsqueeze(2)).square().sum(dim=3)  # [N, 10, I]
            logits = -squared / (2 * (2 * self.log_width).exp())
            background = self.background.expand(len(votes), 1, votes.shape[2])
            r = torch.cat([logits, background], dim=1).softmax(dim=1)[:, :WHOLES] * there
        return self.log_gain.exp() * (r * self.closeness(squared)).sum(dim=2)


class KnownRelations(nn.Module):
    """The upper bound: votes by the true relations, and how many pairs of them are nearer than
    `CLOSE`; nothing learns.

    A part of pose M that has the pose P in its whole says that the whole has the pose M P⁻¹.
    """

    def __init__(self, wholes: tuple[Tensor, Tensor]) -> None:
        super().__init__()
        self.capsules = Capsules(matrices=True)
        self.capsules.weight = nn.Parameter(inverse_poses(wholes), requires_grad=False)

    def forward(self, scenes: Scenes, rounds: int) -> Tensor:
        squared = squared_distances(poses_of_votes(self.capsules, scenes))
        return over_pairs((squared < CLOSE**2).float(), scenes)


class ScaledLengths(nn.Module):
    """Capsules of viewpoints.py whose lengths, times a learned gain, are scores for the
    cross-entropy.
    """

    def __init__(self, capsules: nn.Module) -> None:
        super().__init__()
        self.capsules = capsules
        self.log_gain = nn.Parameter(torch.tensor(math.log(10)))

    def forward(self, scenes: Scenes, rounds: int) -> Tensor:
        return self.log_gain.exp() * self.capsules(scenes, rounds)


class InvariantGate(Capsules):
    """Pose matrices whose shares, from the second round on, a gate chooses that asks no other vote.

    It sees a part's type, and of its pose only what a turn of the scene leaves alone: where the
    middle lies as seen from the part (two numbers), how far away it is, and that squared.
    """

    def __init__(self) -> None:
        super().__init__(matrices=True)
        self.preferences = nn.Parameter(torch.zeros(PARTS * 5, WHOLES))

    def logits(self, scenes: Scenes, u_hat: Tensor, rounds: int) -> Tensor:
        if rounds == 1:
            return u_hat.new_zeros(u_hat.shape[:3])
        seen = what_a_turn_leaves_alone(scenes.poses)  # [N, I, 5]
        by_type = scenes.types.unsqueeze(3) * seen.unsqueeze(2)  # [N, I, 5 types, 5]
        return by_type.flatten(2) @ self.preferences


def poses_of_votes(capsules: Capsules, scenes: Scenes) -> Tensor:
    """Return the two upper rows of every vote M W, [N, 10, I, 6]; the third row is the same at
    every pose.
    """
    return capsules.votes(scenes)[..., :6].transpose(1, 2)


def squared_distances(votes: Tensor) -> Tensor:
    """Return ‖û_ij − û_kj‖² for all pairs, [N, 10, I, I], of votes [N, 10, I, 6]."""
    squared = votes.square().sum(dim=3)
    products = votes @ votes.transpose(2, 3)
    distances = squared.unsqueeze(2) + squared.unsqueeze(3) - 2 * products
    return distances.clamp_min(0)  # rounding may have gone below 0


def over_pairs(values: Tensor, scenes: Scenes) -> Tensor:
    """Return the sum of values [N, 10, I, I] over all pairs i < k of parts that are there: [N,
    10].
    """
    there = scenes.types.sum(dim=2)  # [N, I]
    pairs = (there.unsqueeze(1) * there.unsqueeze(2)).triu(diagonal=1)
    return (values * pairs.unsqueeze(1)).sum(dim=(2, 3))


def inverse_poses(wholes: tuple[Tensor, Tensor]) -> Tensor:
    """Return P⁻¹ of every part in every whole, laid out as `Capsules.weight`: [5 · 3, 10 · 3]."""
    angles, places = wholes  # [10, 5], [10, 5, 2]
    poses = torch.eye(3).repeat(WHOLES, PARTS, 1, 1)
    poses[..., 0, 0] = poses[..., 1, 1] = angles.cos()
    poses[..., 1, 0] = angles.sin()
    poses[..., 0, 1] = -angles.sin()
    poses[..., :2, 2] = places
    return poses.inverse().permute(1, 2, 0, 3).reshape(PARTS * 3, WHOLES * 3)


def what_a_turn_leaves_alone(poses: Tensor) -> Tensor:
    """Return numbers of a part [N, I, 5] that stay when the scene is turned about the origin."""
    cos, sin, x, y = poses.unbind(dim=2)
    ahead, aside = cos * x + sin * y, cos * y - sin * x
    distance = (x.square() + y.square() + 1e-12).sqrt()  # its gradient is finite at 0
    return torch.stack([torch.ones_like(x), ahead, aside, distance, distance.square()], dim=2)


# --- the arms


def margin_loss_of_scores(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the margin loss of scores from 0 on, squashed to lengths below 1: s² / (1 + s²)."""
    squared = scores.square()
    return margin_loss(squared / (1 + squared), labels)


def margin_loss_of_logits(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the margin loss of logits, squashed to lengths from 0 to 1 by the logistic
    function.
    """
    return margin_loss(logits.sigmoid(), labels)


def scaled(capsules: type[Capsules], **settings: Any) -> ScaledLengths:
    """Return capsules whose lengths are scores for the cross-entropy."""
    return ScaledLengths(capsules(**settings))


ARMS = {
    "one-round": Arm(
        "scalar product, one round",
        lambda: scaled(Capsules, matrices=True),
        1,
        loss=F.cross_entropy,
    ),
    "three-rounds": Arm(
        "scalar product, three rounds",
        lambda: scaled(Capsules, matrices=True),
        3,
        loss=F.cross_entropy,
    ),
    "gate": Arm(
        "a gate that asks no other vote", lambda: scaled(InvariantGate), 3, loss=F.cross_entropy
    ),
    "em": Arm("EM, three rounds", EM, 3, loss=F.cross_entropy),
    "count": Arm("pairs of votes that coincide", Coincidence, 1, loss=F.cross_entropy),
    "none-all": Arm(
        "no capsules, trained at every angle", NoCapsules, turn=math.pi, loss=F.cross_entropy
    ),
    "gate-margin": Arm("a gate that asks no other vote, margin loss", InvariantGate, 3),
    "em-margin": Arm("EM, three rounds, margin loss", EM, 3, loss=margin_loss_of_scores),
    "count-margin": Arm(
        "pairs of votes that coincide, margin loss", Coincidence, 1, loss=margin_loss_of_scores
    ),
    "none-all-margin": Arm(
        "no capsules, trained at every angle, margin loss",
        NoCapsules,
        turn=math.pi,
        loss=margin_loss_of_logits,
    ),
}
"""Every arm that is trained, by its name."""
KNOWN = "known"
"""The arm that knows the true relations and is not trained."""
ALL_ARMS = ARMS | {KNOWN: Arm("pairs that coincide, by the true relations", NoCapsules)}


def run(name: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train an arm and measure it on the scenes of viewpoints.py.

    Returns:
        ``errors``, as `viewpoints.errors_by_view` has them, and what was learned besides W:
        ``learned``.
    """
    wholes = make_wholes(torch.Generator().manual_seed(seed))
    if name == KNOWN:
        network: nn.Module = KnownRelations(wholes)
    else:
        network = train(ARMS[name], wholes, seed, steps)
    learned = {
        key: round(value.exp().item(), 4) if key.startswith("log_") else round(value.item(), 4)
        for key, value in network.named_parameters()
        if value.dim() == 0
    }
    scenes = {
        view: {clutter: by_clutter[clutter] for clutter in MEASURED}
        for view, by_clutter in scenes_to_test(wholes, seed).items()
    }
    return {"errors": errors_by_view(network, scenes), "learned": learned}


def error_table(found: dict[str, Any]) -> str:
    """Return per cent of wholes not told at new views, the mean over the seeds: a table in
    Markdown.

    Args:
        found: results/coincidence.json. An arm without runs has no row.
    """
    done = {run["arm"] for run in found["runs"]}
    rows = {name: arm for name, arm in ALL_ARMS.items() if name in done}
    titles = [f"{clutter} others" for clutter in MEASURED]

    def errors(run: arms.Run) -> list[float]:
        after = rows[run["arm"]].rounds - 1
        return [run["errors"]["new"][f"{clutter}"][after] for clutter in MEASURED]

    return arms.table_of_errors(found, rows, [*titles, "seeds"], errors)


def main() -> None:
    """Do the runs that the file lacks, seed by seed: those with the cross-entropy first, which the
    questions are about.
    """
    first = {name: arm for name, arm in ALL_ARMS.items() if not name.endswith("-margin")}
    about = {"steps": STEPS, "batch": BATCH, "tested": TESTED, "close": CLOSE}
    for chosen in (first, ALL_ARMS):
        arms.do_missing("coincidence", chosen, about, run)


if __name__ == "__main__":
    main()
