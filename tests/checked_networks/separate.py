"""W in one module, the routing in another; class numbers as labels, a learned prior."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


def squash(x):
    lengths2 = x.pow(2).sum(dim=2)
    lengths = lengths2.sqrt()
    return x * (lengths2 / (1 + lengths2) / lengths).view(x.size(0), x.size(1), 1)


def safe_squash(x):
    lengths2 = x.pow(2).sum(dim=2, keepdim=True)
    return x * lengths2 / (1 + lengths2) / (lengths2 + 1e-9).sqrt()


class AgreementRouting(nn.Module):
    def __init__(self, input_caps, output_caps, n_iterations, squash, axis, across):
        super().__init__()
        self.n_iterations, self.squash, self.axis, self.across = n_iterations, squash, axis, across
        self.b = nn.Parameter(torch.zeros(input_caps, output_caps))

    def forward(self, u_predict):
        batch_size, input_caps, output_caps, _ = u_predict.size()
        c = F.softmax(self.b, dim=self.axis - 1)
        v = self.squash((c.unsqueeze(2) * u_predict).sum(dim=1))
        b_batch = self.b.expand((batch_size, input_caps, output_caps))
        for _ in range(self.n_iterations):
            agreement = (u_predict * v.unsqueeze(1)).sum(-1)
            if self.across:
                agreement = agreement.sum(0, keepdim=True)
            b_batch = b_batch + agreement
            c = F.softmax(b_batch, dim=self.axis).unsqueeze(-1)
            v = self.squash((c * u_predict).sum(dim=1))
        return v


class CapsLayer(nn.Module):
    def __init__(self, input_caps, input_dim, output_caps, output_dim, routing_module):
        super().__init__()
        self.input_caps, self.output_caps, self.output_dim = input_caps, output_caps, output_dim
        self.weights = nn.Parameter(torch.empty(input_caps, input_dim, output_caps * output_dim).uniform_(-0.06, 0.06))
        self.routing_module = routing_module

    def forward(self, caps_output):
        u_predict = caps_output.unsqueeze(2).matmul(self.weights)
        return self.routing_module(
            u_predict.view(u_predict.size(0), self.input_caps, self.output_caps, self.output_dim)
        )


class Votes(nn.Module):
    """The other way to part them: a module that gives the votes, one that routes, side by side in the network."""

    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.randn(288, 10, 16, 8) * 0.05)

    def forward(self, u):
        return torch.einsum("ijod,bid->bijo", self.W, u)


class PrimaryCapsLayer(nn.Module):
    def __init__(self, squash):
        super().__init__()
        self.conv, self.squash = nn.Conv2d(32, 8 * 8, kernel_size=9, stride=2), squash

    def forward(self, x):
        out = self.conv(x)
        n, _, h, w = out.size()
        out = out.view(n, 8, 8, h, w).permute(0, 1, 3, 4, 2).contiguous()
        return self.squash(out.view(n, -1, 8))


class ReconstructionNet(nn.Module):
    def __init__(self, predicted):
        super().__init__()
        self.predicted = predicted
        self.fc1, self.fc2 = nn.Linear(160, 64), nn.Linear(64, 784)

    def forward(self, x, target):
        if self.predicted:
            target = x.norm(dim=2).argmax(1)
        mask = F.one_hot(target, 10).to(x).unsqueeze(-1)
        return torch.sigmoid(self.fc2(F.relu(self.fc1((x * mask).view(x.size(0), -1)))))


class CapsNetWithReconstruction(nn.Module):
    def __init__(self, squash=safe_squash, axis=2, across=False, predicted=False, side_by_side=False):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, kernel_size=9)
        self.primaryCaps = PrimaryCapsLayer(squash)
        routing = AgreementRouting(288, 10, 3, squash, axis, across)
        if side_by_side:
            self.digitCaps = nn.Sequential(Votes(), routing)
        else:
            self.digitCaps = CapsLayer(288, 8, 10, 16, routing)
        self.reconstruction_net = ReconstructionNet(predicted)

    def forward(self, x, target):
        x = self.digitCaps(self.primaryCaps(F.relu(self.conv1(x))))
        return x, x.pow(2).sum(dim=2).add(1e-12).sqrt(), self.reconstruction_net(x, target)


NETWORKS = {
    "right": (CapsNetWithReconstruction, ""),
    "as-found": (partial(CapsNetWithReconstruction, squash=squash), "squash-nan"),
    "softmax-over-i": (partial(CapsNetWithReconstruction, axis=1), "softmax-axis"),
    "agreement-summed": (partial(CapsNetWithReconstruction, across=True), "batch-agreement"),
    "prediction": (partial(CapsNetWithReconstruction, predicted=True), "mask-prediction"),
    "side-by-side": (partial(CapsNetWithReconstruction, side_by_side=True), ""),
    "side-by-side-over-i": (
        partial(CapsNetWithReconstruction, side_by_side=True, axis=1, squash=squash),
        "softmax-axis squash-nan",
    ),
}
