"""Labels set as an attribute before the call; rounds written into the loop; logits kept in a buffer."""

from functools import partial

import torch
from torch import nn


class Caps(nn.Module):
    def __init__(self, keep, once):
        super().__init__()
        self.keep, self.once = keep, once
        self.weight = nn.Parameter(torch.randn(288, 10, 8, 16) * 0.1)
        self.register_buffer("logits", torch.zeros(288, 10))

    @staticmethod
    def squash(x):
        sq = x.pow(2).sum(-1, keepdim=True)
        return x * sq / (1 + sq) / torch.sqrt(sq + 1e-7)

    def forward(self, primary):
        votes = torch.einsum("nid,ijdo->nijo", primary, self.weight)
        logits = self.logits.expand(primary.shape[0], -1, -1)
        shares = logits.softmax(-1)
        for turn in range(3):
            if not self.once:
                shares = logits.softmax(-1)
            digit = self.squash((shares[..., None] * votes).sum(1))
            if turn < 2:
                logits = logits + (votes * digit[:, None]).sum(-1)
        if self.keep:
            self.logits.copy_(logits.mean(0).detach())
        return digit


class Net(nn.Module):
    def __init__(self, keep=False, once=False, ignore=False):
        super().__init__()
        self.ignore = ignore
        self.labels = None
        self.features = nn.Sequential(nn.Conv2d(1, 32, 9), nn.ReLU(), nn.Conv2d(32, 64, 9, 2))
        self.caps = Caps(keep, once)
        self.decode = nn.Sequential(nn.Linear(160, 64), nn.ReLU(), nn.Linear(64, 784), nn.Sigmoid())

    def forward(self, x):
        f = self.features(x).reshape(-1, 8, 8, 36).permute(0, 1, 3, 2).reshape(-1, 288, 8)
        digits = self.caps(Caps.squash(f))
        lengths = digits.pow(2).sum(-1).add(1e-9).sqrt()
        chosen = lengths.argmax(1) if self.labels is None or self.ignore else self.labels
        kept = torch.zeros_like(digits)
        kept[torch.arange(len(x)), chosen] = digits[torch.arange(len(x)), chosen]
        return digits, lengths, self.decode(kept.flatten(1))


NETWORKS = {
    "right": (Net, ""),
    "logits-kept": (partial(Net, keep=True), "stale-logits batch-agreement"),
    "softmax-once": (partial(Net, once=True), "no-update-rounds"),
    "labels-ignored": (partial(Net, ignore=True), "mask-prediction"),
}
