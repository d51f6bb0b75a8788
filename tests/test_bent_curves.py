"""benchmarks/bent_curves.py, and what it found."""

from __future__ import annotations

import json

import networks
import torch
from capsnet_book.experiments.affine import SWEEPS
from capsnet_book.experiments.cnn import error_of
from capsnet_book.experiments.records import stored

from benchmarks import bent_curves
from capsnet_tutorial.data import Digits
from capsnet_tutorial.weights import save_weights


def test_it_counts_the_mistakes_of_every_run(monkeypatch, tmp_path):
    data = Digits(torch.rand(7, 1, 28, 28), torch.arange(7), "made")
    monkeypatch.setattr(bent_curves, "digits", lambda *_: data)
    network = networks.learner().eval()
    (tmp_path / "tiny-0").mkdir()
    save_weights(network, tmp_path / "tiny-0" / "weights.safetensors", torch.float32)
    bent_curves.main([str(tmp_path / "tiny-0"), "--output", str(tmp_path / "bent.json")])
    found = json.loads((tmp_path / "bent.json").read_text())
    assert found["digits"] == 7
    assert found["amounts"] == {sweep.name: list(sweep.amounts) for sweep in SWEEPS}
    straight = found["amounts"]["turn"].index(0)
    assert found["wrong"]["tiny-0"]["turn"][straight] == round(7 * error_of(network, data).error)


def test_what_is_stored_fits_the_runs_own_results():
    found = stored("bent")
    assert found["amounts"] == {sweep.name: list(sweep.amounts) for sweep in SWEEPS}
    assert len(found["wrong"]) >= 2
    for run, wrong in found["wrong"].items():
        assert run in found["command"]
        errors = stored(f"runs/{run}")["test"]["error"]
        for sweep, counts in wrong.items():
            assert len(counts) == len(found["amounts"][sweep])
            assert counts[found["amounts"][sweep].index(1 if sweep == "size" else 0)] == round(found["digits"] * errors)
