"""No right network is called wrong, whatever its shape."""

from __future__ import annotations

import pytest
import torch
from right_networks import RIGHT, Routed, squash

from capsnet_check import check_layer, check_model
from capsnet_tutorial import digits

pytestmark = pytest.mark.slow

SAMPLE = digits("test", "sample")
IMAGES, LABELS = SAMPLE.images[:4], SAMPLE.labels[:4]


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_a_right_network_is_right(right):
    torch.manual_seed(0)
    report = check_model(right.make(), IMAGES, LABELS)
    assert report.status == 0, report
    assert report.bugs == ()


class SoftmaxOverI(Routed):
    """It does not say how many rounds it does."""

    def __init__(self, *sizes, times):
        super().__init__(*sizes)
        del self.rounds
        self.times = times

    def forward(self, u):
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.times):
            v = squash((b.softmax(1).unsqueeze(3) * u_hat).sum(1))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v


@pytest.mark.parametrize("rounds", [2, 5])
def test_rounds_too_faint_to_be_seen_are_not_called_missing(rounds):
    """With 4,608 capsules and a softmax over i each share is 1/4608, and v hardly any length."""
    layer = SoftmaxOverI(4608, 2, 10, 4, times=rounds)
    report = check_layer(layer, torch.randn(3, 4608, 2))
    assert report.bugs == ("softmax-axis",)
    assert f"{rounds} rounds" in str(report)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_equal_layers_in_a_row_are_right(count):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(*(Routed(16, 4, 16, 4) for _ in range(count)))
    report = check_layer(layers, torch.randn(3, 16, 4))
    assert report.status == 0 and len(report.examined) == count, report
