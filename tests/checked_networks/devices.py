"""Calls of `.cuda()` inside `forward`, and `Variable`, as code of 2017 has them."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Variable


def squash(x, dim=2):
    n = torch.norm(x, 2, dim, keepdim=True)
    return (n**2 / (1 + n**2)) * (x / n)


class CapsLayer(nn.Module):
    def __init__(self, n_in=288, n_out=10, d_in=8, d_out=16, axis=2):
        super().__init__()
        self.n_in, self.n_out, self.axis = n_in, n_out, axis
        self.W = nn.Parameter(torch.randn(n_in, n_out, d_out, d_in) * 0.1)

    def forward(self, u, r=3):
        u_hat = self.W.unsqueeze(0).matmul(u.unsqueeze(2).unsqueeze(-1)).squeeze(-1)
        b = Variable(torch.zeros(u.size(0), self.n_in, self.n_out)).cuda()
        for _ in range(r):
            c = F.softmax(b, self.axis).unsqueeze(-1)
            v = squash((c * u_hat).sum(1))
            b = b + (u_hat * v.unsqueeze(1)).sum(-1)
        return v


class CapsNet(nn.Module):
    def __init__(self, axis=2, predicted=False):
        super().__init__()
        self.predicted = predicted
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 9), nn.Conv2d(32, 64, 9, 2)
        self.caps = CapsLayer(axis=axis)
        self.dec1, self.dec2 = nn.Linear(160, 64), nn.Linear(64, 784)

    def forward(self, x, target):
        x = self.conv2(F.relu(self.conv1(x))).view(x.size(0), 8, 8, -1).transpose(2, 3)
        v = self.caps(squash(x.contiguous().view(x.size(0), -1, 8)))
        if self.predicted:
            target = v.norm(dim=2).max(1)[1]
        mask = torch.zeros(x.size(0), 10).cuda()
        mask.scatter_(1, target.view(-1, 1), 1.0)
        masked = v * mask.unsqueeze(-1)
        return v, torch.sigmoid(self.dec2(F.relu(self.dec1(masked.view(x.size(0), -1)))))


NETWORKS = {
    "right": (CapsNet, "squash-nan"),
    "softmax-over-i": (partial(CapsNet, axis=1), "squash-nan softmax-axis"),
    "prediction": (partial(CapsNet, predicted=True), "squash-nan mask-prediction"),
}
