"""Capsules before images: W [J, I, D_in, D_out], votes [J, B, I, 1, D_out], one-hot labels."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


class CapsuleLayer(nn.Module):
    """Both layers of capsules: convolutions where `num_route_nodes` is -1, routing elsewhere."""

    def __init__(self, num_capsules, num_route_nodes, in_channels, out_channels, num_iterations=3, **options):
        super().__init__()
        self.num_route_nodes = num_route_nodes
        self.num_iterations = num_iterations
        self.num_capsules = num_capsules
        self.options = options
        if num_route_nodes != -1:
            self.route_weights = nn.Parameter(
                options["std"] * torch.randn(num_capsules, num_route_nodes, in_channels, out_channels)
            )
        else:
            self.capsules = nn.ModuleList([nn.Conv2d(in_channels, out_channels, 9, 2) for _ in range(num_capsules)])

    def squash(self, tensor, dim=-1):
        squared = (tensor**2).sum(dim=dim, keepdim=True)
        scale = squared / (1 + squared)
        return scale * tensor / torch.sqrt(squared + self.options["eps"])

    def forward(self, x):
        if self.num_route_nodes == -1:
            outputs = [capsule(x).view(x.size(0), -1, 1) for capsule in self.capsules]
            return self.squash(torch.cat(outputs, dim=-1))
        priors = x[None, :, :, None, :] @ self.route_weights[:, None, :, :, :]
        logits = torch.zeros(*priors.size())
        for i in range(self.num_iterations):
            probs = F.softmax(logits, dim=self.options["softmax_dim"])
            outputs = self.squash((probs * priors).sum(dim=2, keepdim=True))
            if i != self.num_iterations - 1:
                delta = (priors * outputs).sum(dim=-1, keepdim=True)
                if self.options.get("no_update"):
                    logits + delta
                else:
                    logits = logits + delta
        return outputs


class CapsuleNet(nn.Module):
    def __init__(self, lengths_softmax=False, predicted=False, softmax_dim=0, eps=1e-8, std=0.1, no_update=False):
        super().__init__()
        options = dict(softmax_dim=softmax_dim, eps=eps, std=std, no_update=no_update)
        self.lengths_softmax, self.predicted = lengths_softmax, predicted
        self.conv1 = nn.Conv2d(1, 32, 9)
        self.primary_capsules = CapsuleLayer(8, -1, 32, 8, **options)
        self.digit_capsules = CapsuleLayer(10, 8 * 6 * 6, 8, 16, **options)
        self.decoder = nn.Sequential(nn.Linear(16 * 10, 64), nn.ReLU(inplace=True), nn.Linear(64, 784), nn.Sigmoid())

    def forward(self, x, y=None):
        x = F.relu(self.conv1(x), inplace=True)
        x = self.primary_capsules(x)
        x = self.digit_capsules(x).squeeze().transpose(0, 1)
        classes = (x**2).sum(dim=-1) ** 0.5
        if self.lengths_softmax:
            classes = F.softmax(classes, dim=-1)
        if y is None or self.predicted:
            _, longest = classes.max(dim=1)
            y = torch.eye(10).index_select(dim=0, index=longest)
        reconstructions = self.decoder((x * y[:, :, None]).reshape(x.size(0), -1))
        return classes, reconstructions


NETWORKS = {
    "right": (CapsuleNet, ""),
    "as-found": (
        partial(CapsuleNet, lengths_softmax=True, softmax_dim=2, eps=0.0, std=1.0),
        "lengths-softmax softmax-axis squash-nan",
    ),
    "softmax-over-i": (partial(CapsuleNet, softmax_dim=2), "softmax-axis"),
    "lengths-softmax": (partial(CapsuleNet, lengths_softmax=True), "lengths-softmax"),
    "labels-ignored": (partial(CapsuleNet, predicted=True), "mask-prediction"),
    "update-lost": (partial(CapsuleNet, no_update=True), "no-update-rounds"),
    "no-eps": (partial(CapsuleNet, eps=0.0), "squash-nan"),
}
