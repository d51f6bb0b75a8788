"""Axes merged in W ([I, J * D_out, D_in] by `bmm`), class numbers, three mistakes together at 1152 capsules."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


class Caps(nn.Module):
    def __init__(self, axis, shared, epsilon, n_routes=1152, iters=3):
        super().__init__()
        self.axis, self.shared, self.epsilon, self.iters, self.n = axis, shared, epsilon, iters, n_routes
        self.transform = nn.Parameter(torch.empty(n_routes, 160, 8))
        nn.init.xavier_uniform_(self.transform)

    def squash(self, x):
        sq = (x**2).sum(-1, keepdim=True)
        return sq / (1 + sq) * x / (sq + self.epsilon) ** 0.5

    def forward(self, u):
        n = u.size(0)
        votes = torch.bmm(self.transform, u.permute(1, 2, 0)).permute(2, 0, 1).reshape(n, self.n, 10, 16)
        b = u.new_zeros(n, self.n, 10)
        for _ in range(self.iters):
            c = F.softmax(b, dim=self.axis)
            v = self.squash(torch.einsum("bij,bijd->bjd", c, votes))
            step = torch.einsum("bijd,bjd->bij", votes, v)
            b = b + (step.mean(0, keepdim=True) if self.shared else step)
        return v


class CapsuleNetwork(nn.Module):
    def __init__(self, axis=-1, shared=False, epsilon=1e-8, predicted=False):
        super().__init__()
        self.predicted = predicted
        self.conv = nn.Conv2d(1, 32, 9)
        self.primary = nn.Conv2d(32, 256, 9, 2)
        self.caps = Caps(axis, shared, epsilon)
        self.decoder = nn.Sequential(nn.Linear(160, 64), nn.ReLU(), nn.Linear(64, 784), nn.Sigmoid())

    def forward(self, x, labels=None):
        u = self.primary(F.relu(self.conv(x))).unflatten(1, (32, 8)).movedim(2, -1).flatten(1, 3)
        sq = (u**2).sum(-1, keepdim=True)
        v = self.caps(sq / (1 + sq) * u / (sq + 1e-8).sqrt())
        lengths = (v**2).sum(-1).add(1e-12).sqrt()
        if labels is None or self.predicted:
            labels = lengths.argmax(-1)
        picked = v * F.one_hot(labels, num_classes=10).unsqueeze(-1)
        return {"lengths": lengths, "capsules": v, "reconstruction": self.decoder(picked.flatten(1))}


NETWORKS = {
    "right": (CapsuleNetwork, ""),
    "three": (
        partial(CapsuleNetwork, axis=1, shared=True, epsilon=0.0, predicted=True),
        "softmax-axis batch-agreement squash-nan mask-prediction",
    ),
    "softmax-over-i": (partial(CapsuleNetwork, axis=1), "softmax-axis"),
}
