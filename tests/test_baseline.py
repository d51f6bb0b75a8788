"""baseline.py: the sizes that the paper and the small preset give it, and that it learns."""

from __future__ import annotations

from dataclasses import replace

import torch
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, cross_entropy, error_of, parameter_count

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.model import CapsNetConfig
from capsnet_tutorial.train import Recipe, fit

TINY = ConvNetConfig(channels=(4, 6), kernels=(5, 3), stride=2, hidden=(16,), dropout=0.2)


def test_the_papers_baselines_have_the_papers_numbers_of_parameters():
    assert parameter_count(ConvNetConfig.paper()) == 35_445_522  # "35.4 M"
    assert parameter_count(ConvNetConfig.paper_pairs()) == 24_563_978  # "24.56 M"
    assert parameter_count(replace(CapsNetConfig.paper(), image_size=36)) == 11_361_808  # "11.36 M"


def test_it_learns_with_fit():
    sample = digits("train", source="sample")
    data = Digits(sample.images[:200], sample.labels[:200], "sample")
    recipe = Recipe(epochs=20, batch_size=20, learning_rate=3e-3, average=0.8, augmentation=Augmentation(shift=0))
    torch.manual_seed(0)
    network, history = fit(
        ConvNet(TINY), data, recipe, objective=cross_entropy, validation=lambda network: error_of(network, data).error
    )
    assert history.curve[-1]["validation_error"] < 0.3  # chance: 0.9
    assert history.curve[-1]["validation_error"] == error_of(network, data).error


def test_the_loss_is_softmax_cross_entropy_for_labels_and_sigmoids_for_several_classes():
    scores = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]])
    images = torch.zeros(2, 1, 4, 4)
    shares = scores.exp() / scores.exp().sum(dim=1, keepdim=True)
    expected = -(shares[0, 2].log() + shares[1, 1].log()) / 2
    torch.testing.assert_close(cross_entropy(scores, images, torch.tensor([2, 1])), expected)
    present = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    chances = 1 / (1 + (-scores).exp())
    expected = -(present * chances.log() + (1 - present) * (1 - chances).log()).sum() / 2
    torch.testing.assert_close(cross_entropy(scores, images, present), expected)
