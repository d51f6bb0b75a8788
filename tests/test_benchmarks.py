"""The benchmarks measure what they say, of layers that compute the same."""

from __future__ import annotations

import pytest
import torch
from networks import noise

from benchmarks.baselines import BASELINES, by_einsum
from capsnet_tutorial.fast import route_capsules


@pytest.mark.parametrize("way", [by_einsum, *BASELINES.values()])
@pytest.mark.parametrize("iterations", [1, 3])
def test_a_baseline_computes_what_ours_computes(way, iterations):
    inputs = noise(3, 7, 4).requires_grad_(), noise(7, 5, 4, 6, seed=1).requires_grad_()
    direction = noise(3, 5, 6, seed=2)
    ours, theirs = route_capsules(*inputs, iterations), way(*inputs, iterations)
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)
    for a, b in zip(
        *(torch.autograd.grad(v, inputs, direction) for v in (ours, theirs)), strict=True
    ):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
