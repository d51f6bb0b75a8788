"""The benchmarks measure what they say, of layers that compute the same."""

from __future__ import annotations

import shutil
from pathlib import Path

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
    monkeypatch.setattr(sizes, "README", Path(shutil.copy(sizes.README, tmp_path)))
    monkeypatch.setattr(sizes, "train", lambda name: {"error": 0.5})
    folder = tmp_path / "runs"
    files.write_json(sizes.OUTPUT, {"runs": {"numbers-18-10-0": {"error": 0.1}}})

    sizes.main(["--seeds", "0,1", "numbers-18-10", "--folder", str(folder)])
    assert [path.name for path in folder.iterdir()] == ["numbers-18-10-1.json"]

    sizes.main(["--collect", "--folder", str(folder)])
    assert sizes.stored_runs() == {
        "numbers-18-10-0": {"error": 0.1},
        "numbers-18-10-1": {"error": 0.5},
    }
    assert "| 18 | – | 30.0 (10.0 to 50.0) | – | – |" in sizes.README.read_text(encoding="utf-8")


def test_readmes_tables_of_sizes_are_those_of_the_record():
    text = sizes.README.read_text(encoding="utf-8")
    assert sizes.with_tables(text, sizes.stored_runs()) == text


def test_a_size_is_shown_by_the_mean_of_its_seeds():
    runs = {
        "numbers-18-10-0": {"error": 0.08},
        "numbers-18-10-1": {"error": 0.1},
        "numbers-18-100-0": {"error": 0.5},
    }
    _, row, *_ = sizes.numbers_rows(runs)
    assert row == ["18", "–", "9.0 (8.0 to 10.0)", "–", "50.0 (one seed)"]
