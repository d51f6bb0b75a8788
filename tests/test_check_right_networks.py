"""No right network is called wrong, whatever its shape."""

from __future__ import annotations

import pytest
import torch
from right_networks import RIGHT, Routed

from capsnet_check import check_layer, check_model
from capsnet_tutorial import digits

pytestmark = pytest.mark.slow

SAMPLE = digits("test", "sample")
IMAGES, LABELS = SAMPLE.images[:4], SAMPLE.labels[:4]


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_a_right_network_is_right(right):
    torch.manual_seed(0)
    report = check_model(right.make(), IMAGES, LABELS)
    assert report.status == right.status, report
    assert report.bugs == ()


@pytest.mark.parametrize("count", [2, 3, 4])
def test_equal_layers_in_a_row_are_right(count):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(*(Routed(16, 4, 16, 4) for _ in range(count)))
    report = check_layer(layers, torch.randn(3, 16, 4))
    assert report.status == 0 and len(report.examined) == count, report
