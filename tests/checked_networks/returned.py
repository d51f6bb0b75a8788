"""What a network gives back: lengths alone, an object, class numbers beside the capsules, a `decode` of its own."""

from collections import namedtuple
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

Result = namedtuple("Result", "probs digit_caps recon")


def squash(s, dim=-1):
    n2 = torch.sum(s**2, dim=dim, keepdim=True)
    return n2 / (1.0 + n2) * s / torch.sqrt(n2 + 1e-9)


class Routed(nn.Module):
    def __init__(self, softmax_dim):
        super().__init__()
        self.softmax_dim, self.n_iter = softmax_dim, 3
        self.W = nn.Parameter(0.02 * torch.randn(10, 288, 8, 16))

    def forward(self, u):
        u_hat = torch.einsum("bid,jido->bjio", u, self.W)
        b = torch.zeros(u_hat.shape[:3])
        for _i in range(self.n_iter):
            c = F.softmax(b, dim=self.softmax_dim)
            v = squash((c.unsqueeze(-1) * u_hat).sum(2))
            b = b + (u_hat * v.unsqueeze(2)).sum(-1)
        return v


class Net(nn.Module):
    def __init__(self, kind, softmax_dim=1, softmaxed=False, primary=-1):
        super().__init__()
        self.kind, self.softmaxed, self.primary = kind, softmaxed, primary
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 9), nn.Conv2d(32, 64, 9, 2)
        self.routed = Routed(softmax_dim)
        self.decoder = nn.Sequential(nn.Linear(160, 64), nn.ReLU(), nn.Linear(64, 784), nn.Sigmoid())

    def forward(self, x, y=None):
        u = self.conv2(F.relu(self.conv1(x))).view(-1, 8, 8, 36).transpose(2, 3).reshape(-1, 288, 8)
        v = self.routed(squash(u, self.primary))
        lengths = v.norm(dim=-1)
        probs = F.softmax(lengths, 1) if self.softmaxed else lengths
        if self.kind == "lengths":
            return probs
        if self.kind == "one-hot":
            return v, F.one_hot(lengths.argmax(1), 10).float()
        if y is None:
            y = F.one_hot(lengths.argmax(1), 10)
        recon = self.decoder((v * y.float()[..., None]).reshape(len(x), -1))
        if self.kind == "object":
            return Result(probs, v, recon)
        return [probs.squeeze(), recon]


NETWORKS = {
    "lengths-alone": (partial(Net, "lengths"), ""),
    "lengths-alone-softmaxed": (partial(Net, "lengths", softmaxed=True), "lengths-softmax"),
    "one-hot-beside": (partial(Net, "one-hot"), ""),
    "one-hot-beside-primary-over-i": (partial(Net, "one-hot", primary=1), "squash-axis"),
    "object": (partial(Net, "object"), ""),
    "object-over-i": (partial(Net, "object", softmax_dim=2), "softmax-axis"),
    "list": (partial(Net, "list"), ""),
}
