"""The benchmarks measure what they say, of layers that compute the same."""

from __future__ import annotations

import pytest
import torch
from networks import noise

from benchmarks import sizes
from benchmarks.baselines import BASELINES, by_einsum
from capsnet_tutorial import files
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


def test_runs_of_many_processes_are_joined_with_those_stored_before(tmp_path, monkeypatch):
    monkeypatch.setattr(sizes, "OUTPUT", tmp_path / "sizes.json")
    monkeypatch.setattr(sizes, "train", lambda name: {"error": 0.5})
    folder = tmp_path / "runs"
    files.write_json(sizes.OUTPUT, {"runs": {"numbers-18-10-0": {"error": 0.1}}})

    sizes.main(["numbers-18-10", "--seeds", "0", "1", "--folder", str(folder)])
    assert [path.name for path in folder.iterdir()] == ["numbers-18-10-1.json"]

    sizes.main(["--collect", "--folder", str(folder)])
    assert sizes.stored_runs() == {
        "numbers-18-10-0": {"error": 0.1},
        "numbers-18-10-1": {"error": 0.5},
    }
