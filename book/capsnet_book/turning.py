"""Capsules that turn: the pose of a part is read from the picture, so it turns with the part by
construction.

Read from top to bottom: a filter is turned; a peak of a turned filter is a part with a place and an
angle, a pose matrix M; every part votes with M W; a class scores by votes that lie close together.
`Coincidence` and `Rounds` are two ways to compare the votes; the rest is the same.

Angles are anticlockwise as one looks at a picture, x points right and y up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.assets import asset
from capsnet_tutorial.files import read_tensors, write_tensors
from capsnet_tutorial.functional import capsule_lengths, route
from capsnet_tutorial.weights import filled

UNIT = 7.0
"""Pixels in one unit of a pose's place, so that places are about as large as sines and cosines."""
MARGIN = 2
"""A filter's middle stays so many pixels from the border."""


class Sizes(NamedTuple):
    """Every size but that of the pictures and the number of classes. The defaults are the digits'
    network's.
    """

    kinds: int = 16
    """T, learned filters."""
    turns: int = 12
    """K, turned copies of each; a multiple of 4 keeps quarter turns exact."""
    side: int = 11
    """S, pixels across a filter, odd."""
    count: int = 4
    """N, peaks of each kind."""
    matrices: int = 2
    """m, of every kind for every class."""


STANDARD = Sizes()
SMALL = Sizes(kinds=4, turns=16, matrices=1)
"""Enough for the drawn wholes, bars with wedges."""


def turned_filters(filters: Tensor, turns: int) -> Tensor:
    """Return every filter turned by 0, 1, … K − 1 times 360°/K, each with mean 0 and norm 1 on its
    disk.

    Args:
        filters: [T, S, S].
        turns: K.

    Returns:
        [T, K, S, S], 0 outside the disk.
    """
    kinds, side, _ = filters.shape
    angle = 2 * math.pi / turns * torch.arange(turns, dtype=filters.dtype)
    cos, sin, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
    # Where a pixel of the turned filter comes from: turned back. In a grid y points down.
    back = torch.stack([cos, -sin, zero, sin, cos, zero], dim=1).view(turns, 2, 3)
    grid = F.affine_grid(back, [turns, 1, side, side], align_corners=False)
    copies = filters.expand(turns, kinds, side, side)
    sampled = F.grid_sample(copies, grid, align_corners=False)

    middle = (side - 1) / 2
    across = torch.arange(side, dtype=filters.dtype) - middle
    disk = (across.square() + across.square().unsqueeze(1) <= (side / 2) ** 2).to(filters.dtype)
    level = (sampled * disk).sum(dim=(2, 3), keepdim=True) / disk.sum()
    centred = (sampled - level) * disk
    norm = centred.square().sum(dim=(2, 3), keepdim=True).sqrt()
    return (centred / norm).transpose(0, 1)


@torch.no_grad()
def find_peaks(images: Tensor, bank: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Find where a kind of filter answers more strongly than at the eight places around.

    At every place the best of a kind's turned copies answers for it.

    Args:
        images: [B, 1, H, W].
        bank: [T, K, S, S] of `turned_filters`.
        count: N, how many peaks of each kind.

    Returns:
        Row and column of the peaks, int64 [B, T, N]; `MARGIN` is row 0.
    """
    padding = bank.shape[3] // 2 - MARGIN
    answers = F.conv2d(images, bank.flatten(0, 1).unsqueeze(1), padding=padding)
    best = answers.unflatten(1, bank.shape[:2]).amax(dim=2)  # [B, T, H', W']
    best = best.contiguous(memory_format=torch.channels_last)  # there pooling is faster
    around = F.max_pool2d(best, 3, stride=1, padding=1)
    places = best.masked_fill(best < around, -math.inf).flatten(2).topk(count, dim=2).indices
    return places // best.shape[3], places % best.shape[3]


def answers_at(images: Tensor, bank: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Compute the answers of a kind's turned copies at its peaks, [B, T, N, K], with a gradient for
    the filters.

    Only a few dozen places are needed, so this is far cheaper than the gradient of all answers.
    """
    side = bank.shape[3]
    padded = F.pad(images.squeeze(1), (side // 2 - MARGIN,) * 4)
    windows = padded.unfold(1, side, 1).unfold(2, side, 1)  # [B, H', W', S, S]
    image = torch.arange(len(images)).view(-1, 1, 1)
    patches = windows[image, rows, columns].flatten(3)  # [B, T, N, S · S]
    return patches @ bank.flatten(2).transpose(1, 2)


def pose_matrices(turn: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return M of parts at these places, turned by these angles in radians.

    Args:
        turn, x, y: all of one shape [...].

    Returns:
        [..., 2, 3]: rows (cos, −sin, x) and (sin, cos, y). The third row, (0, 0, 1), is left out.
    """
    cos, sin = turn.cos(), turn.sin()
    return torch.stack([cos, -sin, x, sin, cos, y], dim=-1).unflatten(-1, (2, 3))


class Coincidence(nn.Module):
    """A class scores by pairs of votes of different kinds of parts that lie close together.

    score_j = gain · log(ε + Σ_ab q_a q_b exp(−|v_a − v_b|² / 2 width²)), where q is a part's
    presence times a learned number of its kind, matrix and class.
    """

    EPSILON = 0.01
    """Keeps the logarithm finite where no two votes meet."""

    def __init__(self, classes: int, sizes: Sizes = STANDARD) -> None:
        super().__init__()
        self.log_prior = nn.Parameter(torch.zeros(sizes.kinds, 1, sizes.matrices, classes))
        self.width = nn.Parameter(torch.ones(()))
        self.gain = nn.Parameter(torch.ones(()))

    def forward(self, votes: Tensor, presence: Tensor) -> Tensor:
        """Compute scores [B, J] of votes [B, T, N, m, J, 6] and presences [B, T, N]."""
        left, right = self.factors(votes, presence)
        count = left.new_full(left.shape[:2], self.EPSILON)
        for kind in range(1, left.shape[2]):
            # Each pair once: the votes of this kind with those of the kinds before.
            before = right[:, :, :kind].flatten(2, 3)
            exponents = left[:, :, kind] @ before.transpose(2, 3)
            count = count + exponents.exp().sum(dim=(2, 3))
        return self.gain * count.log()

    def support(self, votes: Tensor, presence: Tensor, labels: Tensor) -> Tensor:
        """Compute what each vote for an image's class adds to the pairs of votes: [B, T, N, m],
        labels [B].
        """
        left, right = self.factors(votes, presence)
        image = torch.arange(len(labels))
        left, right = left[image, labels], right[image, labels]  # [B, T, N · m, 8]
        kinds, count = left.shape[1:3]
        closeness = (left.flatten(1, 2) @ right.flatten(1, 2).transpose(1, 2)).exp()
        kind = torch.arange(kinds).repeat_interleave(count)
        others = (kind != kind.unsqueeze(1)).to(closeness.dtype)
        return (closeness * others).sum(dim=2).view(votes.shape[:4])

    def factors(self, votes: Tensor, presence: Tensor) -> tuple[Tensor, Tensor]:
        """Return two vectors of each vote, [B, J, T, N · m, 8], whose products are the exponents of
        the pairs.
        """
        weight = presence.clamp_min(1e-6).log()[..., None, None] + self.log_prior
        v = (votes / self.width).permute(0, 4, 1, 2, 3, 5).flatten(3, 4)  # [B, J, T, N · m, 6]
        weight = weight.permute(0, 4, 1, 2, 3).flatten(3)  # [B, J, T, N · m]
        # |a − b|² = |a|² + |b|² − 2 ab, so one product of longer vectors is a pair's whole
        # exponent.
        alone = (weight - v.square().sum(dim=4) / 2).unsqueeze(4)
        one = torch.ones_like(alone)
        return torch.cat([v, alone, one], dim=4), torch.cat([v, one, alone], dim=4)


class Rounds(nn.Module):
    """2017's agreement on the same votes: rounds of scalar products; a class scores by its
    capsule's length.
    """

    def __init__(self, iterations: int) -> None:
        super().__init__()
        self.iterations = iterations
        self.gain = nn.Parameter(torch.tensor(10.0))

    def forward(self, votes: Tensor, presence: Tensor) -> Tensor:
        """Compute scores [B, J] of votes [B, T, N, m, J, 6] and presences [B, T, N]."""
        u_hat = (presence[..., None, None, None] * votes).flatten(1, 3)
        return self.gain * capsule_lengths(route(u_hat, self.iterations))


class TurningCapsules(nn.Module):
    """Primary capsules that turn by construction, votes M W, and what makes scores of the votes.

    Args:
        classes: J.
        agreement: `Coincidence`, `Rounds`, or another module of votes and presences.
        sizes: all others.
    """

    def __init__(self, classes: int, agreement: nn.Module, sizes: Sizes = STANDARD) -> None:
        super().__init__()
        kinds, side = sizes.kinds, sizes.side
        self.turns, self.count = sizes.turns, sizes.count
        noise = torch.randn(kinds, 1, side, side)
        self.filters = nn.Parameter(F.avg_pool2d(noise, 3, stride=1, padding=1).squeeze(1))
        self.level = nn.Parameter(torch.full((kinds, 1), 2.0))
        self.slope = nn.Parameter(torch.tensor(4.0))
        shape = (kinds, 1, sizes.matrices, classes, 3, 3)
        self.weight = nn.Parameter(torch.randn(shape) / math.sqrt(3))
        self.agreement = agreement

    def parts(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Find the parts in images [B, 1, H, W]: pose matrices [B, T, N, 2, 3] and presences [B, T,
        N], 0 to 1.
        """
        bank = turned_filters(self.filters, self.turns)
        rows, columns = find_peaks(images, bank, self.count)
        strength, turn = answers_at(images, bank, rows, columns).max(dim=3)
        height, width = images.shape[2:]
        poses = pose_matrices(
            2 * math.pi / self.turns * turn.to(images.dtype),
            (columns + MARGIN - (width - 1) / 2).to(images.dtype) / UNIT,
            ((height - 1) / 2 - rows - MARGIN).to(images.dtype) / UNIT,
        )
        return poses, torch.sigmoid(self.slope * (strength - self.level))

    def votes(self, poses: Tensor) -> Tensor:
        """Compute M W of poses [B, T, N, 2, 3], for every matrix and class: [B, T, N, m, J, 6]."""
        return (poses[:, :, :, None, None] @ self.weight).flatten(5)

    def forward(self, images: Tensor, labels: Tensor | None = None) -> Tensor:
        """Compute scores [B, J] (logits) of images [B, 1, H, W]. The labels are of no use here."""
        poses, presence = self.parts(images)
        return self.agreement(self.votes(poses), presence)


def digits_network(agreement: nn.Module | None = None) -> TurningCapsules:
    """Return an untrained network for handwritten digits."""
    return TurningCapsules(10, agreement or Coincidence(10))


def wholes_network(agreement: nn.Module | None = None) -> TurningCapsules:
    """Return an untrained network for the eight wholes of `experiments.pictures`."""
    return TurningCapsules(8, agreement or Coincidence(8, SMALL), SMALL)


class Reading(NamedTuple):
    """What an `AngleReader` reads of images."""

    scores: Tensor
    """[B, J]."""
    turn: Tensor
    """From the template, as (cos, sin), [B, 2]."""
    pose: Tensor
    """Where the votes of the class meet, turned back by its turn, [B, 2, 3]."""


class AngleReader(nn.Module):
    """Says by how much a whole is turned, beside its class: where the votes of a class meet,
    against a template.

    Args:
        network: whose agreement is `Coincidence`.
        classes: J.
    """

    def __init__(self, network: TurningCapsules, classes: int = 10) -> None:
        super().__init__()
        self.network = network
        upright = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        self.template = nn.Parameter(upright.repeat(classes, 1, 1))

    def forward(self, images: Tensor, labels: Tensor | None = None) -> Tensor:
        """Compute scores [B, J] of images [B, 1, H, W]. The labels are of no use here."""
        return self.network(images)

    def scores_and_turn(
        self, images: Tensor, labels: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute `read`'s scores and turn alone."""
        reading = self.read(images, labels)
        return reading.scores, reading.turn

    def read(self, images: Tensor, labels: Tensor | None = None) -> Reading:
        """Read class, turn and pose of images [B, 1, H, W]; turn and pose of a class [B] or the
        best.

        The class's votes are averaged, each weighted by what it adds to the pairs. The turn is the
        rotation about the middle that brings the template nearest to that mean (Procrustes).
        """
        agreement = self.network.agreement
        assert isinstance(agreement, Coincidence)
        poses, presence = self.network.parts(images)
        votes = self.network.votes(poses)
        scores = agreement(votes, presence)
        label = scores.argmax(dim=1) if labels is None else labels

        support = agreement.support(votes, presence, label).unsqueeze(4)
        voted = votes[torch.arange(len(label)), ..., label, :]  # [B, T, N, m, 6]
        meeting = (support * voted).sum(dim=(1, 2, 3)) / (support.sum(dim=(1, 2, 3)) + 1e-6)
        across, up = meeting.unflatten(1, (2, 3)).unbind(dim=1)  # its rows
        template_across, template_up = self.template[label].unbind(dim=1)
        cos = (template_across * across + template_up * up).sum(dim=1)
        sin = (template_across * up - template_up * across).sum(dim=1)
        turn = F.normalize(torch.stack([cos, sin], dim=1), dim=1, eps=1e-6)

        cos, sin = turn.unsqueeze(2).unbind(dim=1)  # [B, 1]
        upright = torch.stack([cos * across + sin * up, cos * up - sin * across], dim=1)
        return Reading(scores, turn, upright)


class PoseDecoder(nn.Module):
    """Draws a digit from the pose of its class, at the angle of the pose.

    It draws upright, from the pose turned back by its own angle, and then turns the drawing by that
    angle. So a pose that is turned is a drawing that is turned, whatever was learned.

    Args:
        classes: J.
        hidden: the sizes of the hidden layers.
    """

    def __init__(self, classes: int = 10, hidden: Sequence[int] = (48, 24)) -> None:
        super().__init__()
        self.classes = classes
        sizes = [6 * classes, *hidden, 28 * 28]
        layers: list[nn.Module] = []
        for size, next_size in pairwise(sizes):
            layers += [nn.Linear(size, next_size), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1], nn.Sigmoid())

    def draw_upright(self, pose: Tensor, labels: Tensor) -> Tensor:
        """Draw digits upright, [B, 1, 28, 28] of 0 to 1, from poses [B, 2, 3] of classes [B].

        The pose stands at its class's place, and the other classes' places hold 0, as when capsules
        are masked.
        """
        masked = pose.new_zeros(len(pose), self.classes, 6)
        masked[torch.arange(len(pose)), labels] = pose.flatten(1)
        return self.layers(masked.flatten(1)).view(-1, 1, 28, 28)

    def forward(self, pose: Tensor, labels: Tensor, turn: Tensor) -> Tensor:
        """Draw digits [B, 1, 28, 28], turned by (cos, sin) [B, 2]; otherwise as `draw_upright`."""
        cos, sin = turn.unbind(dim=1)
        zero = torch.zeros_like(cos)
        # Where a pixel of the turned drawing comes from: turned back. In a grid y points down.
        back = torch.stack([cos, -sin, zero, sin, cos, zero], dim=1).view(-1, 2, 3)
        upright = self.draw_upright(pose, labels)
        grid = F.affine_grid(back, list(upright.shape), align_corners=False)
        return F.grid_sample(upright, grid, align_corners=False)


def save_reader(reader: AngleReader, path: str | Path) -> None:
    """Write a reader of digits, as the page and `load_reader` take it."""
    sizes = {"turns": reader.network.turns, "count": reader.network.count}
    write_tensors(path, dict(reader.state_dict()), {"network": "turning", "sizes": sizes})


def load_reader(path: str | Path) -> AngleReader:
    """Return the reader in a file that `save_reader` wrote, in eval mode.

    Raises:
        FileNotFoundError, ValueError: as `capsnet_tutorial.load_weights`.
    """
    tensors, _ = read_tensors(path)
    return filled(lambda: AngleReader(digits_network()), tensors, path)


def trained_reader() -> AngleReader:
    """Return the reader of handwritten digits that the book trained; its card is small-turning.md
    beside the weights.
    """
    return load_reader(asset("weights/small-turning.safetensors"))


def trained_decoder() -> PoseDecoder:
    """Return the decoder that draws from the poses of `trained_reader`."""
    path = asset("weights/small-turning-decoder.safetensors")
    tensors, _ = read_tensors(path)
    return filled(PoseDecoder, tensors, path)
