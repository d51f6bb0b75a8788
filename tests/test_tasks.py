"""tasks.py: what is trained and on what."""

from __future__ import annotations

import pytest
import torch
from capsnet_book.experiments.cnn import (
    build_empty,
    parameter_count,
    recognising_and_drawing,
)
from capsnet_book.experiments.pairs import OnPairs
from capsnet_book.experiments.tasks import NETWORKS, TASKS, TrainingSetup, plain

from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.train import OnDevice

FEW = Digits(*(part[:40] for part in digits("test", source="sample")[:2]), "sample")


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", TASKS)
def test_every_network_fits_every_task(name, network):
    task, setup = TASKS[name], TrainingSetup(task=name, network=network)
    ready = setup.build()
    data = task.to_train_on(FEW)
    data = OnDevice(data, torch.device("cpu")) if isinstance(data, Digits) else data
    images, targets = data.batch(torch.arange(4), lambda images, _: images, torch.Generator())
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
