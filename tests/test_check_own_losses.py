"""A network's own losses, in the forms in which networks have them."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from capsnet_tutorial.check.losses_in_network import losses_in


def margin(lengths, present, power=2):
    short, long = F.relu(0.9 - lengths) ** power, F.relu(lengths - 0.1) ** power
    return (present * short + 0.5 * (1 - present) * long).sum(1).mean()


class Together(nn.Module):
    """One loss of everything, in the order that is met most: images, capsules, one-hot labels, drawings."""

    def __init__(self, power=2, mean=False):
        super().__init__()
        self.power, self.mse = power, nn.MSELoss() if mean else lambda a, b: (a - b).square().sum() / len(a)

    def loss(self, data, x, target, reconstructions):
        redrawn = 0.0005 * self.mse(reconstructions.view(len(data), -1), data.view(len(data), -1))
        return margin(x.norm(dim=2), target, self.power) + redrawn


class Apart(nn.Module):
    """Two losses with class numbers; the second without its weight."""

    def __init__(self, power=2):
        super().__init__()
        self.power = power

    def margin_loss(self, labels, lengths, size_average=True):
        return margin(lengths, torch.eye(10)[labels], self.power)

    def reconstruction_loss(self, images, reconstructions):
        return (images.flatten(1) - reconstructions).square().mean()


class CapsuleLoss(nn.Module):
    def __init__(self, power):
        super().__init__()
        self.power = power

    def forward(self, images, labels, logits, reconstructions):
        lost = margin(logits, labels, self.power)
        return lost, lost + 0 * images.sum()


class Held(nn.Module):
    def __init__(self, power=1):
        super().__init__()
        self.criterion = CapsuleLoss(power)


class Unlike(nn.Module):
    def margin_loss(self, lengths, labels, temperature):
        return (lengths / temperature).sum()


def test_right_losses_are_accepted():
    assert not [finding for finding in losses_in(Together(), None) if not finding.convention]
    findings = list(losses_in(Apart(), None))
    assert [finding.convention for finding in findings] == [True]
    assert "`reconstruction_loss`" in findings[0].text and "not judged" in findings[0].text


@pytest.mark.parametrize(
    ("network", "bugs"),
    [
        (Together(power=1), ["margin-not-squared"]),
        (Together(mean=True), ["recon-mean"]),
        (Together(power=1, mean=True), ["margin-not-squared", "recon-mean"]),
        (Apart(power=1), ["margin-not-squared"]),
        (Held(), ["margin-not-squared"]),
    ],
)
def test_the_bug_of_a_loss_is_named(network, bugs):
    assert [finding.bug for finding in losses_in(network, None) if finding.bug] == bugs


def test_a_loss_that_cannot_be_called_is_not_judged():
    (finding,) = losses_in(Unlike(), None)
    assert finding.convention and "`margin_loss` was not judged" in finding.text


def test_a_network_without_losses_is_left_alone():
    assert list(losses_in(nn.Sequential(nn.Linear(2, 2), nn.MSELoss()), None)) == []
