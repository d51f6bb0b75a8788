"""The batch's size is written into the network; no decoder, or one that takes one-hot labels."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

BATCH = 20


class Routing(nn.Module):
    def __init__(self, batch_size, shared, epsilon):
        super().__init__()
        self.batch_size, self.shared, self.epsilon = batch_size, shared, epsilon
        self.num_iterations = 3
        self.W = nn.Parameter(0.1 * torch.randn(1, 288, 10, 16, 8))

    def squash(self, s, dim):
        n = torch.sum(s * s, dim=dim, keepdim=True)
        return (n / (1 + n)) * (s / torch.sqrt(n + self.epsilon))

    def forward(self, u):
        assert u.shape[0] == self.batch_size
        u_hat = (self.W.repeat(self.batch_size, 1, 1, 1, 1) @ u.view(self.batch_size, 288, 1, 8, 1)).squeeze(-1)
        b = torch.zeros(288, 10) if self.shared else torch.zeros(self.batch_size, 288, 10)
        for _ in range(self.num_iterations):
            c = F.softmax(b, dim=-1)
            s = (c.view(-1, 288, 10, 1) * u_hat).sum(1)
            v = self.squash(s, -1)
            agreement = (u_hat * v.view(self.batch_size, 1, 10, 16)).sum(-1)
            b = b + (agreement.mean(0) if self.shared else agreement)
        return v.unsqueeze(-1)


class Network(nn.Module):
    def __init__(self, batch_size=BATCH, shared=False, epsilon=1e-8, decoder=True, mixed=False):
        super().__init__()
        self.batch_size, self.mixed = batch_size, mixed
        self.conv = nn.Conv2d(1, 32, 9)
        self.primary = nn.Conv2d(32, 64, 9, 2)
        self.routing = Routing(batch_size, shared, epsilon)
        self.fc = nn.Sequential(nn.Linear(160, 64), nn.ReLU(), nn.Linear(64, 784), nn.Sigmoid()) if decoder else None

    def forward(self, images, one_hot=None):
        p = self.primary(F.relu(self.conv(images)))
        if self.mixed:
            u = p.view(self.batch_size, 288, 8)
        else:
            u = p.view(self.batch_size, 8, 8, 36).transpose(2, 3).reshape(self.batch_size, 288, 8)
        v = self.routing(self.routing.squash(u, -1))
        if self.fc is None:
            return v
        return v, self.fc((v.squeeze(-1) * one_hot.unsqueeze(-1)).view(self.batch_size, -1))


NETWORKS = {
    "right": (Network, ""),
    "shared-logits": (partial(Network, shared=True), "batch-agreement"),
    "no-epsilon": (partial(Network, epsilon=0.0), "squash-nan"),
    "no-decoder-view": (partial(Network, decoder=False, mixed=True), "capsule-view"),
}
