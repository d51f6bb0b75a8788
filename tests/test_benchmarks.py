"""The benchmarks measure what they say, of layers that compute the same."""

from __future__ import annotations

import pytest
import torch
from networks import noise

from benchmarks import layer, measure
from benchmarks.baselines import BASELINES, by_einsum
from capsnet_tutorial.fast import route_capsules

TINY = layer.Sizes(batch=4, in_capsules=12, in_dim=3, out_capsules=5, out_dim=6)


@pytest.mark.parametrize("way", [by_einsum, *BASELINES.values()])
@pytest.mark.parametrize("iterations", [1, 3])
def test_a_baseline_computes_what_ours_computes(way, iterations):
    inputs = noise(3, 7, 4).requires_grad_(), noise(7, 5, 4, 6, seed=1).requires_grad_()
    direction = noise(3, 5, 6, seed=2)
    ours, theirs = route_capsules(*inputs, iterations), way(*inputs, iterations)
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)
    for a, b in zip(*(torch.autograd.grad(v, inputs, direction) for v in (ours, theirs)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_functions_take_turns_and_a_ratio_is_the_median_of_theirs(monkeypatch):
    calls = []
    seconds = measure.take_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, turns=3)
    assert calls == ["a", "b"] * 4  # the first turn warms up
    assert [len(each) for each in seconds.values()] == [3, 3]
    taken = {"reference": [4.0, 6.0, 8.0], "own": [1.0, 2.0, 8.0]}
    monkeypatch.setattr(measure, "take_turns", lambda functions, turns: {name: taken[name] for name in functions})
    rows = measure.against("slow", {"slow": lambda: 0, "fast": lambda: 0}, turns=3)
    assert rows["fast"] == {"ms": 2000, "times_as_fast": 3, "from": 1, "to": 4}
    assert rows["slow"] == {"ms": 6000, "times_as_fast": 1, "from": 1, "to": 1}
