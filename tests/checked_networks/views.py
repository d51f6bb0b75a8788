"""Numbers of a capsule before the capsules ([B, D, I], [B, D, J]), by `.view` and `transpose`, no labels at all."""

from functools import partial

import torch
from torch import nn


class RoutedLayer(nn.Module):
    def __init__(self, routing_axis=2, squash_axis=1, shared=False):
        super().__init__()
        self.routing_axis, self.squash_axis, self.shared = routing_axis, squash_axis, shared
        self.W = nn.Parameter(torch.randn(8, 16, 288, 10) * 0.1)
        self.routings = 3

    def forward(self, x):  # [B, 8, 288] -> [B, 16, 10]
        votes = torch.einsum("nki,kdij->ndij", x, self.W)
        b = x.new_zeros(1 if self.shared else x.size(0), 288, 10)
        for r in range(self.routings):
            c = torch.softmax(b, dim=self.routing_axis)
            s = torch.sum(votes * c.unsqueeze(1), dim=2)
            v = self.squash(s)
            if r + 1 < self.routings:
                agree = torch.sum(votes * v.unsqueeze(2), dim=1)
                b = b + (agree.mean(0, keepdim=True) if self.shared else agree)
        return v

    def squash(self, s):
        n = (s * s).sum(self.squash_axis, keepdim=True)
        return s * n / (1 + n) / (n + 1e-8).sqrt()


class Model(nn.Module):
    def __init__(self, mixed=False, whole=False, **layer):
        super().__init__()
        self.mixed, self.whole = mixed, whole
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 9), nn.Conv2d(32, 64, 9, stride=2)
        self.layer = RoutedLayer(**layer)
        self.decoder = nn.Sequential(nn.Linear(160, 64), nn.ReLU(), nn.Linear(64, 784), nn.Sigmoid())

    def forward(self, x):
        x = self.conv2(torch.relu(self.conv1(x)))
        x = x.view(x.size(0), -1, 8).transpose(1, 2) if self.mixed else x.view(x.size(0), 8, -1)
        n = (x * x).sum(1, keepdim=True)
        v = self.layer(x * n / (1 + n) / (n + 1e-8).sqrt()).transpose(1, 2)
        lengths = (v * v).sum(2).add(1e-9).sqrt()
        if self.whole:
            return v
        kept = v * torch.eye(10)[lengths.argmax(1)].unsqueeze(2)
        return v, self.decoder(kept.reshape(x.size(0), -1)).view(-1, 28, 28)


NETWORKS = {
    "no-labels": (Model, "mask-prediction"),
    "right": (partial(Model, whole=True), ""),
    "mixed": (partial(Model, whole=True, mixed=True), "capsule-view"),
    "softmax-over-i": (partial(Model, whole=True, routing_axis=1), "softmax-axis"),
    "squash-over-classes": (partial(Model, whole=True, squash_axis=2), "squash-axis"),
    "shared": (partial(Model, shared=True), "batch-agreement mask-prediction"),
}
