"""tasks.py and rounds.py: what is trained, on what, and what is measured."""

from __future__ import annotations

import networks
import pytest
import torch
from capsnet_book.experiments.cnn import (
    ConvNet,
    ConvNetConfig,
    build_empty,
    cross_entropy,
    parameter_count,
    recognising_and_drawing,
)
from capsnet_book.experiments.pairs import OnPairs
from capsnet_book.experiments.rounds import measure_rounds
from capsnet_book.experiments.tasks import NETWORKS, TASKS, TrainingSetup, every_training_digit, plain

from capsnet_tutorial.data import Digits, digits, held_out
from capsnet_tutorial.functional import capsule_lengths
from capsnet_tutorial.model import CapsNetConfig
from capsnet_tutorial.train import evaluate
from capsnet_tutorial.weights import load_pretrained

FEW = Digits(*(part[:40] for part in digits("test", source="sample")[:2]), "sample")


def test_what_is_not_said_is_the_small_capsnet_on_digits():
    assert TrainingSetup().config == CapsNetConfig.small()
    assert TrainingSetup(preset="paper", iterations=1).config == CapsNetConfig(iterations=1)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", TASKS)
def test_every_network_fits_every_task(name, network):
    task, setup = TASKS[name], TrainingSetup(task=name, network=network)
    ready = setup.build()
    images, targets = task.to_train_on(FEW).batch(torch.arange(4), lambda images, _: images, torch.Generator())
    loss = setup.objective(0.0005)(ready(images, targets), images, targets)
    loss.backward()
    assert loss.isfinite()
    assert isinstance(ready, OnPairs) == (name == "pairs")
    for data in (task.to_measure_on(FEW), *([task.harder(FEW)] if task.harder else [])):
        assert data.images.shape[-1] == task.image_size
        assert 0 <= task.measure(plain(ready), data).error <= 1


def test_a_cnn_is_as_large_as_the_capsnet_of_the_same_task():
    for task in TASKS:
        capsnet, cnn, slim = (TrainingSetup(task=task, network=network).config for network in NETWORKS)
        assert parameter_count(cnn) == pytest.approx(parameter_count(capsnet), rel=0.002)
        recognising, drawing = recognising_and_drawing(build_empty(capsnet))
        assert recognising + drawing == parameter_count(capsnet)
        assert parameter_count(slim) == pytest.approx(recognising, rel=0.002)
        assert recognising_and_drawing(build_empty(slim)) == (parameter_count(slim), 0)


def test_the_papers_baselines_are_its_own_for_each_task():
    assert TrainingSetup(network="cnn", preset="paper").config == ConvNetConfig.paper()
    assert TrainingSetup(task="pairs", network="cnn", preset="paper").config == ConvNetConfig.paper_pairs()
    assert TrainingSetup(network="cnn").objective(0.5) is cross_entropy


def test_one_round_and_no_reconstruction_are_what_they_say():
    setup = TrainingSetup(iterations=1)
    network = setup.build()
    assert network.routed.iterations == 1
    output = network(FEW.images, FEW.labels)
    setup.objective(0)(output, FEW.images, FEW.labels).backward()
    assert all(parameter.grad is None for parameter in network.decoder.parameters())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "letters"}, "a task, one of digits, pairs, affine; got 'letters'"),
        ({"network": "mlp"}, "a network, one of capsnet, cnn, cnn-recognising; got 'mlp'"),
        ({"network": "cnn", "iterations": 3}, "iterations of routing for a CapsNet only; got a CNN"),
        ({"network": "cnn-recognising", "iterations": 3}, "iterations of routing for a CapsNet only; got a CNN"),
        ({"network": "cnn-recognising", "preset": "paper"}, "the preset small for cnn-recognising; got 'paper'"),
        ({"task": "pairs", "changes": ("recon-mean",)}, "changes in the task digits only; got the task pairs"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TrainingSetup(**options)


def test_every_training_digit_is_the_training_and_the_validation_digits():
    data = every_training_digit("sample")
    assert data.count == 4500
    assert data.images[4000:].equal(digits("validation", source="sample").images)
    assert data.labels[:4000].equal(digits("train", source="sample").labels)


def test_of_mnist_that_is_60000_and_none_of_the_test_digits(mnist):
    data = every_training_digit("mnist", mnist)
    assert data.count == 60_000
    assert held_out(data.labels).numel() == 5000
    pixels = {image.numpy().tobytes() for image in digits("test", "mnist", mnist).images[:500]}
    assert not any(image.numpy().tobytes() in pixels for image in data.images)


def test_that_all_come_from_one_source_though_a_later_download_would_succeed(tmp_path, fails_once):
    assert every_training_digit("auto", str(tmp_path)).source == "sample"
    assert fails_once == [tmp_path]


# --- rounds


def test_the_rounds_are_those_of_the_trace():
    network = networks.learner()
    network.conv.weight.data *= 3
    network.primary.conv.weight.data *= 6
    network.routed.weight.data *= 20
    came = measure_rounds(network, FEW, batch_size=17)
    _, trace = network.eval().trace(FEW.images)
    assert len(came) == 3
    for r, each in enumerate(came):
        entropy = torch.distributions.Categorical(probs=trace.c[r]).entropy().mean() / torch.tensor(10.0).log()
        assert each["entropy"] == pytest.approx(entropy.item(), abs=2e-6)
        wrong = capsule_lengths(trace.v[r]).argmax(dim=1) != FEW.labels
        assert each["error"] == pytest.approx(wrong.float().mean().item())
    assert came[0]["entropy"] == 1
    assert came[2]["entropy"] < 0.99


def test_after_the_last_round_the_error_is_the_networks():
    network, data = load_pretrained(), digits("test", source="sample")
    assert measure_rounds(network, data)[-1]["error"] == evaluate(network, data).error


def test_no_networks_mode_is_changed():
    network = ConvNet(ConvNetConfig.small()).train()
    TASKS["digits"].measure(network, FEW)
    assert network.training
