"""pairs.py: what the pictures are, that they repeat, and what is measured on them."""

from __future__ import annotations

from dataclasses import replace

import networks
import pytest
import torch
import torch.nn.functional as F
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, class_scores, cross_entropy
from capsnet_book.experiments.pairs import (
    OnPairs,
    Pairs,
    PairSet,
    classes_of,
    evaluate_pairs,
    fixed_pairs,
    overlay,
)
from networks import generator

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import Recipe, fit, paper_objective

FEW = networks.few()
STILL = Augmentation(shift=0)


def learner() -> CapsNet:
    """The tests' small network, for 36×36 images."""
    torch.manual_seed(0)
    return CapsNet(replace(networks.learner().config, image_size=36))


def test_a_pair_is_the_chosen_digit_and_one_of_another_class_the_lower_class_first():
    chosen = torch.tensor([5, 17, 33, 5])
    layers, present = Pairs(FEW).batch(chosen, STILL, generator())
    assert layers.shape == (4, 2, 36, 36)
    assert present.sum(dim=1).tolist() == [2, 2, 2, 2]
    inner = layers[:, :, 4:32, 4:32]
    assert F.pad(inner, (4,) * 4).equal(layers)  # padded by 4, not moved
    for pair, (low, high), one in zip(
        inner, classes_of(present).tolist(), chosen.tolist(), strict=True
    ):
        positions = []
        for layer in pair:
            positions.append([k for k in range(64) if FEW.images[k, 0].equal(layer)])
        assert [FEW.labels[k[0]].item() for k in positions] == [low, high]
        assert low < high
        assert [one] in positions


def test_the_fixed_pairs_are_the_same_on_every_machine():
    pairs = fixed_pairs(FEW)
    assert pairs.labels[:4].tolist() == [[0, 9], [1, 7], [2, 4], [3, 9]]
    assert pairs.images.sum().item() == pytest.approx(11209.076, rel=1e-6)


def test_each_of_the_two_capsules_draws_on_its_own():
    network, pairs = learner().eval(), fixed_pairs(FEW)
    output = OnPairs(network)(pairs.layers, pairs.present)
    assert output.reconstruction.shape == (64, 2, 1296)
    for k in (0, 1):
        alone = network(pairs.images, pairs.labels[:, k])
        torch.testing.assert_close(output.reconstruction[:, k], alone.reconstruction)
        torch.testing.assert_close(output.lengths, alone.lengths)


@pytest.mark.parametrize("kind", ["capsnet", "cnn"])
def test_both_kinds_learn_from_pairs(kind):
    torch.manual_seed(0)
    small = ConvNetConfig(
        image_size=36, channels=(8,), kernels=(5,), stride=3, hidden=(32,), dropout=0
    )
    network = learner() if kind == "capsnet" else ConvNet(small)
    objective = paper_objective() if kind == "capsnet" else cross_entropy
    recipe = Recipe(epochs=6, batch_size=16, average=0, augmentation=Augmentation(shift=4))
    trained, history = fit(
        OnPairs(network), Pairs(FEW), recipe, objective=objective, progress=False
    )
    assert history.curve[-1]["loss"] < 0.8 * history.curve[0]["loss"]
    assert class_scores(trained.network, overlay(fixed_pairs(FEW).layers)).shape == (64, 10)


class Knows(torch.nn.Module):
    """Answers with given lengths, and draws capsule k as k/10 everywhere."""

    def __init__(self, lengths: torch.Tensor) -> None:
        super().__init__()
        self.answers = torch.nn.Parameter(lengths)

    def forward(self, images: torch.Tensor) -> object:
        v = F.one_hot(torch.arange(10), 16).float().expand(len(images), 10, 16)
        return type("Output", (), {"lengths": self.answers, "capsules": v})()

    def decode(self, v: torch.Tensor) -> torch.Tensor:
        return (v.sum(dim=1)[:, :10] @ torch.arange(10.0) / 10).unsqueeze(1).expand(-1, 1296)


def test_what_is_measured():
    present = F.one_hot(torch.tensor([[1, 3], [2, 4]]), 10).sum(dim=1).float()
    lengths = torch.tensor(
        [[0, 0.2, 0, 0.9, 0.1, 0, 0, 0, 0, 0], [0, 0, 0.5, 0, 0.3, 0.4, 0, 0, 0, 0]]
    )
    pairs = PairSet(torch.full((2, 2, 36, 36), 0.5), present)
    evaluation = evaluate_pairs(Knows(lengths), pairs)
    assert evaluation.error == 0.5
    assert evaluation.ink == pytest.approx(0.5 * 1296)
    assert evaluation.ink_present == pytest.approx(0.25 * 1296)  # of 1, 2, 3, 4
    squares = 0.4**2 + 0.2**2 + 0.3**2 + 0.1**2
    assert evaluation.reconstruction_mse == pytest.approx(squares / 4)
    sums = []  # of the two absent classes
    for seed in range(200):
        ink = evaluate_pairs(Knows(lengths), pairs, seed=seed).ink_absent
        sums.append(ink / 129.6 * 2)
    assert sums[0] == pytest.approx(evaluation.ink_absent / 129.6 * 2)
    first = [k for k in range(10) if k not in (1, 3)]
    second = [k for k in range(10) if k not in (2, 4)]
    assert min(sums) >= min(first) + min(second)
    assert max(sums) <= 18
    assert sum(sums) / 200 == pytest.approx((sum(first) + sum(second)) / 8, abs=0.7)
