"""networks.py of the book: its trained networks, and its loader for its own parts and the CNN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, class_scores, error_of
from capsnet_book.experiments.pairs import evaluate_pairs, fixed_pairs
from capsnet_book.experiments.records import stored
from capsnet_book.networks import TRAINED, load_network, save_network, trained_network

from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.model import CapsNetConfig

STORED = json.loads((Path(__file__).parent / "shipped_outputs.json").read_text(encoding="utf-8"))
SAMPLE = digits("test", source="sample")


@pytest.mark.parametrize("name", TRAINED)
def test_a_trained_network_answers_as_it_always_did(name):
    network, images = trained_network(name).double(), SAMPLE.images[:2].double()
    with torch.no_grad():
        scores = class_scores(network, F.pad(images, (4,) * 4) if name == "small-pairs" else images)
    torch.testing.assert_close(scores, torch.tensor(STORED[name], dtype=torch.float64), atol=1e-6, rtol=0)
    assert not network.training


def test_they_read_what_they_were_trained_for():
    for name in ("small-shifted", "small-cnn"):
        assert error_of(trained_network(name), SAMPLE).error < 0.01
    measured = evaluate_pairs(trained_network("small-pairs"), fixed_pairs(SAMPLE))
    assert measured.error < 0.26  # by chance 44 of 45 pairs would be wrong
    assert measured.reconstruction_mse < 0.027  # blank paper has 0.070


def test_the_shifted_networks_are_what_their_runs_measured(mnist):
    data = digits("test", "mnist", mnist)
    for name, run in (("small-shifted", "small-r3-0"), ("small-cnn", "small-cnn-0")):
        trained = stored(f"runs/{run}")["test"]["error"]
        assert error_of(trained_network(name), data).error == pytest.approx(trained, abs=3e-4)  # eight bits a number


def test_the_papers_network_reads_digits_that_it_never_saw(mnist):
    data = digits("test", "mnist", mnist)
    assert error_of(trained_network("paper"), Digits(data.images[:300], data.labels[:300], "mnist")).error < 0.01


def test_weights_that_did_not_come_along_say_so(tmp_path, monkeypatch):
    monkeypatch.setattr("capsnet_book.assets.__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(FileNotFoundError, match=r"the weights 'paper', which a checkout of the project has"):
        trained_network("paper")
    assert trained_network("small").config == CapsNetConfig.small()  # the module's


def test_a_cnn_comes_back_from_its_file(tmp_path):
    network = ConvNet(ConvNetConfig(channels=(4, 6), kernels=(5, 3), stride=2, hidden=(16,))).eval()
    save_network(network, tmp_path / "file", torch.float32)
    assert load_network(tmp_path / "file")(SAMPLE.images[:3]).equal(network(SAMPLE.images[:3]))
