"""Five axes with trailing ones: a list of convolutions, W [1, I, J, D_out, D_in], capsules [B, J, D_out, 1]."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


class ConvLayer(nn.Module):
    def __init__(self, out_channels=32):
        super().__init__()
        self.conv = nn.Conv2d(1, out_channels, 9)

    def forward(self, x):
        return F.relu(self.conv(x))


class PrimaryCaps(nn.Module):
    """A convolution for each of the 8 numbers of a capsule."""

    def __init__(self, num_capsules=8, in_channels=32, out_channels=32, mixed=False, squash_dim=-1):
        super().__init__()
        self.capsules = nn.ModuleList([nn.Conv2d(in_channels, out_channels, 9, stride=2) for _ in range(num_capsules)])
        self.out_channels, self.mixed, self.squash_dim = out_channels, mixed, squash_dim

    def forward(self, x):
        u = torch.stack([capsule(x) for capsule in self.capsules], dim=1)
        if self.mixed:
            u = u.view(x.size(0), self.out_channels * 6 * 6, -1)
        else:
            u = u.view(x.size(0), len(self.capsules), -1).transpose(1, 2)
        return self.squash(u)

    def squash(self, u):
        n = (u**2).sum(self.squash_dim, keepdim=True)
        return n * u / ((1.0 + n) * torch.sqrt(n))


class DigitCaps(nn.Module):
    def __init__(self, num_capsules=10, num_routes=1152, in_channels=8, out_channels=16, **options):
        super().__init__()
        self.num_capsules, self.num_routes = num_capsules, num_routes
        self.softmax_dim = options.get("softmax_dim", 1)
        self.shared = options.get("shared", True)
        self.squash_dim = options.get("squash_dim", -1)
        self.sqrt_eps = options.get("sqrt_eps", 0.0)
        self.rounds = options.get("rounds", 3)
        self.W = nn.Parameter(
            options.get("std", 1.0) * torch.randn(1, num_routes, num_capsules, out_channels, in_channels)
        )

    def forward(self, x):
        batch_size = x.size(0)
        x = torch.stack([x] * self.num_capsules, dim=2).unsqueeze(4)
        u_hat = torch.matmul(torch.cat([self.W] * batch_size, dim=0), x)
        b_ij = torch.zeros(1 if self.shared else batch_size, self.num_routes, self.num_capsules, 1)
        for iteration in range(self.rounds):
            c_ij = F.softmax(b_ij, dim=self.softmax_dim)
            if self.shared:
                c_ij = torch.cat([c_ij] * batch_size, dim=0)
            c_ij = c_ij.unsqueeze(4)
            s_j = (c_ij * u_hat).sum(dim=1, keepdim=True)
            v_j = self.squash(s_j)
            if iteration < self.rounds - 1:
                a_ij = torch.matmul(u_hat.transpose(3, 4), torch.cat([v_j] * self.num_routes, dim=1))
                b_ij = b_ij + a_ij.squeeze(4).mean(dim=0, keepdim=True) if self.shared else b_ij + a_ij.squeeze(4)
        return v_j.squeeze(1)

    def squash(self, s):
        n = (s**2).sum(self.squash_dim, keepdim=True)
        return n * s / ((1.0 + n) * torch.sqrt(n + self.sqrt_eps))


class Decoder(nn.Module):
    def __init__(self, softmax_dim):
        super().__init__()
        self.softmax_dim = softmax_dim
        self.layers = nn.Sequential(
            nn.Linear(160, 64), nn.ReLU(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 784), nn.Sigmoid()
        )

    def forward(self, x, data):
        classes = torch.sqrt((x**2).sum(2))
        classes = F.softmax(classes, dim=self.softmax_dim)
        _, longest = classes.max(dim=1)
        masked = torch.eye(10).index_select(dim=0, index=longest.squeeze(1))
        t = (x * masked[:, :, None, None]).view(x.size(0), -1)
        return self.layers(t).view(-1, 1, 28, 28), masked


class CapsNet(nn.Module):
    def __init__(self, mixed=False, primary_squash=-1, decoder_softmax=1, **routing):
        super().__init__()
        self.conv_layer = ConvLayer()
        self.primary_capsules = PrimaryCaps(mixed=mixed, squash_dim=primary_squash)
        self.digit_capsules = DigitCaps(**routing)
        self.decoder = Decoder(decoder_softmax)

    def forward(self, data):
        output = self.digit_capsules(self.primary_capsules(self.conv_layer(data)))
        reconstructions, masked = self.decoder(output, data)
        return output, reconstructions, masked


WILD = "softmax-axis batch-agreement squash-axis squash-nan mask-prediction"
NETWORKS = {
    "all": (partial(CapsNet, mixed=True), WILD + " capsule-view"),
    "decoder-softmax-over-batch": (partial(CapsNet, mixed=True, decoder_softmax=0), WILD + " capsule-view"),
    "right-view": (CapsNet, WILD),
    "softmax-over-j": (
        partial(CapsNet, softmax_dim=2, squash_dim=3, sqrt_eps=1e-8, std=0.1),
        "batch-agreement squash-nan mask-prediction",
    ),
    "own-logits": (
        partial(CapsNet, softmax_dim=2, squash_dim=3, sqrt_eps=1e-8, shared=False, std=0.1),
        "squash-nan mask-prediction",
    ),
    "squash-over-classes": (
        partial(CapsNet, softmax_dim=2, squash_dim=2, shared=False, std=0.1),
        "squash-axis squash-nan mask-prediction",
    ),
    "primary-over-1152": (
        partial(CapsNet, softmax_dim=1, squash_dim=3, shared=False, primary_squash=1, std=0.1),
        "softmax-axis squash-axis squash-nan mask-prediction",
    ),
    "one-round-too-few": (
        partial(CapsNet, softmax_dim=2, squash_dim=3, shared=False, std=0.1, rounds=1),
        "squash-nan mask-prediction",  # one round is a size, not a mistake
    ),
}
