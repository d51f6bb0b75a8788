"""pictures.py: a class is a relation of two parts, the same at every angle; runs can be resumed."""

from __future__ import annotations

import math

import pytest
import torch
from capsnet_book.experiments import pictures

DAY = {"capsnet-r3-decoder", "capsnet-r3-shared", "cnn-9"}
"""An arm of each kind; the others are tested at night."""


def test_turned_by_a_quarter_the_picture_turns_with_it_and_no_class_is_another_one_turned():
    classes = pictures.CLASSES
    labels, centred = torch.arange(classes), torch.zeros(classes, 2)
    upright = pictures.draw(labels, torch.zeros(classes), centred)[:, 0]
    for k in range(4):
        turned = pictures.draw(labels, torch.full((classes,), k * math.pi / 2), centred)[:, 0]
        expected = torch.rot90(upright, -k, (1, 2)).unsqueeze(1)
        distance = (expected - turned).abs().sum(dim=(2, 3))  # [8, 8]
        assert distance.diagonal().max() < 0.01
        assert distance[~torch.eye(classes, dtype=torch.bool)].min() > 10


def test_four_classes_are_shown_at_every_angle_and_four_near_the_upright():
    generator = torch.Generator().manual_seed(0)
    assert sorted(pictures.EVERYWHERE + pictures.LIMITED) == list(range(pictures.CLASSES))
    for classes, most in ((pictures.EVERYWHERE, math.pi), (pictures.LIMITED, pictures.FAMILIAR)):
        labels = pictures.pick(classes, 2000, generator)
        angles = pictures.angles_of(labels, generator)
        assert 0.98 * most < angles.abs().max() <= most
        assert set(labels.tolist()) == set(classes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in DAY else pytest.mark.nightly)
        for name in pictures.ARMS
    ],
)
def test_the_loss_of_every_arm_falls(name):
    generator = torch.Generator().manual_seed(0)
    labels = pictures.pick(range(pictures.CLASSES), 64, generator)
    images = pictures.training_pictures(labels, generator)
    arm = pictures.ARMS[name]
    losses = []
    for steps in (1, 40):
        network = pictures.train(arm, 0, steps)
        losses.append(arm.objective(network(images, labels), images, labels))
    assert losses[1] < 0.95 * losses[0]
