"""What capsules that turn are compared with: turned filters without poses, another agreement,
filters never learned.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.turning import MARGIN, TurningCapsules, turned_filters


class PooledAngles(nn.Module):
    """The same kind of turned filters, of whose answers the largest goes on without its angle; then
    an ordinary CNN.

    Args:
        classes: J.
        kinds: T.
        turns: K.
    """

    def __init__(self, classes: int, kinds: int, turns: int) -> None:
        super().__init__()
        self.turns = turns
        self.filters = nn.Parameter(torch.randn(kinds, 11, 11))
        self.level = nn.Parameter(torch.ones(kinds, 1, 1))
        self.layers = nn.Sequential(
            nn.Conv2d(kinds, 32, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv2d(32, 48, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(48 * 6 * 6, 64),
            nn.ReLU(),
            nn.Linear(64, classes),
        )

    def forward(self, images: Tensor, labels: Tensor | None = None) -> Tensor:
        """Compute scores [B, J] of images [B, 1, 28, 28]. The labels are of no use here."""
        bank = turned_filters(self.filters, self.turns)
        best = _answers(images, bank).amax(dim=2)  # [B, T, 24, 24]
        return self.layers(F.relu(best - self.level))


class GroupCNN(nn.Module):
    """Turned filters in both layers: a turn of the picture moves every answer to the next angle and
    a turned place.

    The second layer's filters see all angles of the first, and are turned in the plane and along
    the angles at once. The largest answer over places and angles goes to the last layer. No
    capsules, no poses.

    Args:
        classes: J.
        kinds: T, filters of the first layer.
        units: U, filters of the second.
        turns: K.
    """

    def __init__(self, classes: int, kinds: int = 8, units: int = 16, turns: int = 8) -> None:
        super().__init__()
        self.turns = turns
        self.filters = nn.Parameter(torch.randn(kinds, 11, 11))
        self.level = nn.Parameter(torch.ones(kinds, 1, 1, 1))
        side = 7
        scale = math.sqrt(2 / (kinds * turns * side * side))
        self.second = nn.Parameter(scale * torch.randn(units, kinds, turns, side, side))
        self.bias = nn.Parameter(torch.zeros(units, 1, 1, 1))
        self.last = nn.Linear(units, classes)

    def forward(self, images: Tensor, labels: Tensor | None = None) -> Tensor:
        """Compute scores [B, J] of images [B, 1, 28, 28]. The labels are of no use here."""
        first = _answers(images, turned_filters(self.filters, self.turns))
        first = F.relu(first - self.level)  # [B, T, K, 24, 24]
        halved = F.max_pool2d(first.flatten(1, 2), 2)  # [B, T · K, 12, 12]
        second = F.conv2d(halved, self._turned_second(), padding=3)
        second = second.unflatten(1, (-1, self.turns)) + self.bias  # [B, U, K, 12, 12]
        return self.last(F.relu(second).amax(dim=(2, 3, 4)))

    def _turned_second(self) -> Tensor:
        """Every filter of the second layer at every angle, [U · K, T · K, 7, 7]."""
        units, _, turns = self.second.shape[:3]
        angle = 2 * math.pi / turns * torch.arange(turns, dtype=self.second.dtype)
        cos, sin, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
        back = torch.stack([cos, -sin, zero, sin, cos, zero], dim=1).view(turns, 2, 3)
        copies = []
        for turn in range(turns):
            along = self.second.roll(turn, dims=2).flatten(1, 2)  # [U, T · K, 7, 7]
            grid = F.affine_grid(back[turn].expand(units, 2, 3), list(along.shape), False)
            copies.append(F.grid_sample(along, grid, align_corners=False))
        return torch.stack(copies, dim=1).flatten(0, 1)


class EM(nn.Module):
    """2018's agreement on the same votes: a Gaussian for each class, fitted to the votes in a few
    rounds.

    After Hinton, Sabour and Frosst (2018), procedure 1; a class scores by its activation's logit in
    the last round.
    """

    def __init__(self, classes: int, iterations: int = 3) -> None:
        super().__init__()
        self.iterations = iterations
        self.log_gain = nn.Parameter(torch.zeros(()))
        self.cost = nn.Parameter(torch.zeros(classes))
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, votes: Tensor, presence: Tensor) -> Tensor:
        """Compute scores [B, J] of votes [B, T, N, m, J, 6] and presences [B, T, N]."""
        v = votes.flatten(1, 3)  # [B, V, J, 6]
        there = presence.unsqueeze(3).expand(votes.shape[:4]).flatten(1).unsqueeze(2)  # [B, V, 1]
        r = torch.full_like(v[..., 0], 1 / v.shape[2])
        for _ in range(self.iterations):
            weight = r * there
            amount = weight.sum(dim=1) + 1e-3  # [B, J]
            share = (weight / amount.unsqueeze(1)).unsqueeze(3)
            mean = (share * v).sum(dim=1, keepdim=True)
            variance = (share * (v - mean).square()).sum(dim=1, keepdim=True) + 0.01
            spread = variance.log().sum(dim=(1, 3)) / 2  # [B, J]
            logit = self.log_gain.exp() * (self.bias - (self.cost + spread) * amount)
            near = -((v - mean).square() / variance + variance.log()).sum(dim=3) / 2
            r = (near + F.logsigmoid(logit).unsqueeze(1)).softmax(dim=2)
        return logit


def frozen(network: TurningCapsules) -> TurningCapsules:
    """Return the network with filters that stay as they were drawn by chance."""
    network.filters.requires_grad_(False)
    return network


def _answers(images: Tensor, bank: Tensor) -> Tensor:
    """Compute every turned filter's answer everywhere, [B, T, K, 24, 24]."""
    padding = bank.shape[3] // 2 - MARGIN
    answers = F.conv2d(images, bank.flatten(0, 1).unsqueeze(1), padding=padding)
    return answers.unflatten(1, bank.shape[:2])
