"""W [J, I, D_out, D_in], the inner rounds without gradient, one-hot labels, outputs (lengths, reconstruction)."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


def squash(inputs, axis=-1):
    norm = torch.norm(inputs, p=2, dim=axis, keepdim=True)
    return norm**2 / (1 + norm**2) / (norm + 1e-8) * inputs


class DenseCapsule(nn.Module):
    def __init__(self, in_num_caps, in_dim_caps, out_num_caps, out_dim_caps, routings=3, axis=1, rounds_less=0):
        super().__init__()
        self.in_num_caps, self.out_num_caps, self.routings = in_num_caps, out_num_caps, routings
        self.axis, self.rounds_less = axis, rounds_less
        self.weight = nn.Parameter(0.01 * torch.randn(out_num_caps, in_num_caps, out_dim_caps, in_dim_caps))

    def forward(self, x):
        x_hat = torch.squeeze(torch.matmul(self.weight, x[:, None, :, :, None]), dim=-1)
        detached = x_hat.detach()
        b = torch.zeros(x.size(0), self.out_num_caps, self.in_num_caps)
        for i in range(self.routings - self.rounds_less):
            c = F.softmax(b, dim=self.axis)
            if i == self.routings - self.rounds_less - 1:
                outputs = squash(torch.sum(c[:, :, :, None] * x_hat, dim=-2, keepdim=True))
            else:
                outputs = squash(torch.sum(c[:, :, :, None] * detached, dim=-2, keepdim=True))
                b = b + torch.sum(outputs * detached, dim=-1)
        return torch.squeeze(outputs, dim=-2)


class PrimaryCapsule(nn.Module):
    def __init__(self, in_channels, out_channels, dim_caps, kernel_size, stride=1, padding=0, mixed=True):
        super().__init__()
        self.dim_caps, self.mixed = dim_caps, mixed
        self.conv2d = nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride, padding=padding)

    def forward(self, x):
        outputs = self.conv2d(x)
        if not self.mixed:
            outputs = outputs.permute(0, 2, 3, 1).contiguous()
        return squash(outputs.view(x.size(0), -1, self.dim_caps))


class CapsuleNet(nn.Module):
    def __init__(
        self, input_size=(1, 28, 28), classes=10, routings=3, mixed=False, ignore=False, softmaxed=False, **route
    ):
        super().__init__()
        self.input_size, self.classes, self.routings = input_size, classes, routings
        self.ignore, self.softmaxed = ignore, softmaxed
        self.conv1 = nn.Conv2d(input_size[0], 32, kernel_size=9)
        self.primarycaps = PrimaryCapsule(32, 64, 8, kernel_size=9, stride=2, mixed=mixed)
        self.digitcaps = DenseCapsule(8 * 6 * 6, 8, classes, 16, routings=routings, **route)
        self.decoder = nn.Sequential(nn.Linear(16 * classes, 64), nn.ReLU(), nn.Linear(64, 784), nn.Sigmoid())
        self.relu = nn.ReLU()

    def forward(self, x, y=None):
        x = self.digitcaps(self.primarycaps(self.relu(self.conv1(x))))
        length = x.norm(dim=-1)
        if y is None or self.ignore:
            y = torch.zeros(length.size()).scatter_(1, length.max(dim=1)[1].view(-1, 1), 1.0)
        reconstruction = self.decoder((x * y[:, :, None]).view(x.size(0), -1))
        if self.softmaxed:
            length = length.softmax(dim=1)
        return length, reconstruction.view(-1, *self.input_size)


NETWORKS = {
    "right": (CapsuleNet, ""),
    "as-found": (partial(CapsuleNet, mixed=True), "capsule-view"),
    "softmax-over-i": (partial(CapsuleNet, axis=2), "softmax-axis"),
    "softmax-over-i-and-view": (partial(CapsuleNet, axis=2, mixed=True), "softmax-axis capsule-view"),
    "labels-ignored": (partial(CapsuleNet, ignore=True), "mask-prediction"),
    "one-round-fewer": (partial(CapsuleNet, rounds_less=1), "no-update-rounds"),
    "softmaxed": (partial(CapsuleNet, softmaxed=True), "lengths-softmax"),
    "two-rounds": (partial(CapsuleNet, routings=2), ""),
}
