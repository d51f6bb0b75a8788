"""tasks.py: what is trained and on what."""

from __future__ import annotations

from dataclasses import replace

import networks
import pytest
import torch
from capsnet_book.experiments.affine import SWEEPS, on_canvas, read_right
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, recognising_and_drawing
from capsnet_book.experiments.pairs import OnPairs
from capsnet_book.experiments.tasks import NETWORKS, TASKS, TrainingSetup, plain

from capsnet_tutorial.augment import Augmentation, transform
from capsnet_tutorial.data import Digits
from capsnet_tutorial.model import CapsNet, CapsNetConfig

FEW = networks.few(40, "test")


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", TASKS)
def test_every_network_fits_every_task(name, network):
    task, setup = TASKS[name], TrainingSetup(task=name, network=network)
    ready = setup.build()
    data = task.to_train_on(FEW)
    images, targets = data.batch(torch.arange(4), lambda images, _: images, torch.Generator())
    loss = setup.objective(0.0005)(ready(images, targets), images, targets)
    loss.backward()
    assert loss.isfinite()
    assert isinstance(ready, OnPairs) == (name == "pairs")
    for data in (task.to_measure_on(FEW), *([task.harder(FEW)] if task.harder else [])):
        assert data.images.shape[-1] == task.image_size
        assert 0 <= task.measure(plain(ready), data)["error"] <= 1


def parameters(config: CapsNetConfig | ConvNetConfig) -> tuple[int, int]:
    """How many recognise, and how many draw. Nothing is allocated."""
    with torch.device("meta"):
        return recognising_and_drawing(
            CapsNet(config) if isinstance(config, CapsNetConfig) else ConvNet(config)
        )


def test_a_cnn_is_as_large_as_the_capsnet_of_the_same_task():
    for task in TASKS:
        capsnet, cnn, slim = (
            parameters(TrainingSetup(task=task, network=network).config) for network in NETWORKS
        )
        assert cnn == (pytest.approx(sum(capsnet), rel=0.002), 0)
        assert slim == (pytest.approx(capsnet[0], rel=0.002), 0)


# --- the CNN


def test_the_papers_baselines_have_the_papers_numbers_of_parameters():
    assert sum(parameters(ConvNetConfig.paper())) == 35_445_522  # "35.4 M"
    assert sum(parameters(ConvNetConfig.paper_pairs())) == 24_563_978  # "24.56 M"
    assert sum(parameters(replace(CapsNetConfig.paper(), image_size=36))) == 11_361_808  # "11.36 M"


# --- bent digits

DOT = torch.zeros(2000, 1, 28, 28)
DOT[:, 0, 13:15, 13:15] = 1  # about the centre
DOTS = Digits(DOT, torch.zeros(2000, dtype=torch.long), "made")


def test_in_training_digits_lie_anywhere_on_the_canvas_and_are_nothing_but_shifted():
    images, _ = on_canvas(DOTS).batch(torch.arange(2000), Augmentation(shift=6), torch.Generator())
    assert images.shape == (2000, 1, 40, 40)
    assert images.sum(dim=(1, 2, 3)).unique().tolist() == [4.0]
    rows = images.amax(dim=3).argmax(dim=2).flatten()
    assert sorted(rows.unique().tolist()) == list(range(13, 26))


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda sweep: sweep.name)
def test_what_is_still_read_is_asked_digit_by_digit_and_amount_by_amount(sweep):
    network, data = networks.learner().eval(), networks.few(503)
    right = read_right(network, data, sweep)  # two batches
    assert right.shape == (len(sweep.amounts), 503)
    for k, amount in ((0, sweep.amounts[0]), (-1, sweep.amounts[-1])):
        expected = network.predict(transform(data.images, sweep.pose(amount))) == data.labels
        assert right[k].equal(expected)
    straight = [
        k for k, amount in enumerate(sweep.amounts) if amount == (1 if sweep.name == "size" else 0)
    ]
    assert len(straight) == 1
    assert right[straight[0]].equal(network.predict(data.images) == data.labels)
