"""pictures.py: a class is a relation of two parts, the same at every angle; runs can be resumed."""

from __future__ import annotations

import math

import pytest
import torch
from capsnet_book.experiments import pictures

DAY, NIGHT = (
    {"capsnet-r3-decoder", "capsnet-r3-shared", "cnn-9"},
    pytest.mark.nightly,
)  # one of each kind by day


def test_turned_by_a_quarter_the_picture_turns_with_it_and_no_class_is_another_one_turned():
    labels, still = torch.arange(pictures.CLASSES), torch.zeros(pictures.CLASSES, 2)
    upright = pictures.draw(labels, torch.zeros(pictures.CLASSES), still)[:, 0]
    for k in range(4):
        seen = pictures.draw(labels, torch.full((pictures.CLASSES,), k * math.pi / 2), still)[:, 0]
        off = (torch.rot90(upright, -k, (1, 2)).unsqueeze(1) - seen).abs().sum(dim=(2, 3))  # [8, 8]
        assert off.diagonal().max() < 0.01
        assert off[~torch.eye(pictures.CLASSES, dtype=torch.bool)].min() > 10


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
    "name", [pytest.param(name, marks=[NIGHT] * (name not in DAY)) for name in pictures.ARMS]
)
def test_the_loss_of_every_arm_falls(name):
    generator = torch.Generator().manual_seed(0)
    labels = pictures.pick(range(pictures.CLASSES), 64, generator)
    images = pictures.shown(labels, generator)
    networks = (pictures.train(pictures.ARMS[name], 0, steps) for steps in (1, 40))
    first, last = (
        pictures.ARMS[name].objective(each(images, labels), images, labels) for each in networks
    )
    assert last < 0.95 * first
