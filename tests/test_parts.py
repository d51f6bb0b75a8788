"""Parts: own routing, mask and primary capsules are trained, saved, loaded, or refused."""

from __future__ import annotations

import networks
import pytest
import torch
from torch import nn

from capsnet_tutorial.functional import mask_capsules, route, route_last
from capsnet_tutorial.layers import group_and_squash
from capsnet_tutorial.model import CapsNet, Parts
from capsnet_tutorial.train import Recipe, fit
from capsnet_tutorial.weights import load_weights, save_weights

CONFIG = networks.learner().config
FEW = networks.few(32)


def my_route(u_hat, iterations):
    return route(u_hat, iterations)


def my_mask(v, labels=None):
    return mask_capsules(v, labels)


def my_primary(features, dim):
    return group_and_squash(features, dim)


class MyRouting(nn.Module):
    """Routing with a weight of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.strength = nn.Parameter(torch.ones(()))

    def forward(self, u_hat, iterations):
        return route(self.strength * u_hat, iterations)


def network_with(parts: Parts) -> CapsNet:
    torch.manual_seed(0)
    return CapsNet(CONFIG, parts)


@pytest.mark.parametrize(
    "parts",
    [
        Parts(routing=my_route),
        Parts(routing=route_last),
        Parts(routing=MyRouting()),
        Parts(mask=my_mask),
        Parts(primary=my_primary),
        Parts(my_primary, my_route, my_mask),
    ],
    ids=lambda parts: " ".join(parts.names.values()),
)
def test_parts_that_do_as_the_paper_does_give_its_numbers(parts):
    expected, output = (
        network(FEW.images, FEW.labels) for network in (network_with(Parts()), network_with(parts))
    )
    for name in expected._fields:
        torch.testing.assert_close(getattr(output, name), getattr(expected, name))


def test_a_part_with_weights_is_trained_saved_and_loaded_with_the_network(tmp_path):
    network, _ = fit(
        network_with(Parts(routing=MyRouting())),
        FEW,
        Recipe(epochs=1, batch_size=16),
        progress=False,
    )
    strength = network.routed.routing.strength.item()
    assert strength != 1
    save_weights(network, tmp_path / "mine", torch.float32)
    back = load_weights(tmp_path / "mine", Parts(routing=MyRouting()))
    assert back.routed.routing.strength.item() == strength
    assert back(FEW.images).lengths.equal(network(FEW.images).lengths)


def test_a_file_with_parts_of_its_writer_wants_the_same_parts(tmp_path):
    save_weights(network_with(Parts(routing=my_route)), tmp_path / "mine")
    assert load_weights(tmp_path / "mine", Parts(routing=my_route)).parts.names == {
        "routing": "my_route"
    }
    with pytest.raises(ValueError, match=r"parts named \{'routing': 'my_route'\}.*got \{\}"):
        load_weights(tmp_path / "mine")
    with pytest.raises(
        ValueError, match=r"parts named \{'routing': 'my_route'\}.*got \{'mask': 'my_mask'\}"
    ):
        load_weights(tmp_path / "mine", Parts(mask=my_mask))


WRONG = {
    "other numbers": (
        Parts(routing=lambda u_hat, r: u_hat.sum(2)),
        r"\[2, 10, 8\] .* routing, .* \[2, 18, 8\]",
    ),
    "nothing": (Parts(mask=lambda v, labels: None), "the part mask, .*; got NoneType"),
    "too few capsules": (
        Parts(primary=lambda features, dim: features.flatten(2).mT),
        "the part primary",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_part_that_returns_another_shape_is_refused(what):
    parts, message = WRONG[what]
    with pytest.raises(ValueError, match=message):
        CapsNet(CONFIG, parts)(FEW.images[:2])


def test_making_a_network_calls_no_part_and_so_changes_none():
    class Counting(nn.BatchNorm1d):
        def forward(self, u_hat, iterations):
            return super().forward(u_hat.flatten(2)).unflatten(2, u_hat.shape[2:]).sum(dim=1)

    part = Counting(18)
    torch.manual_seed(1)
    network = CapsNet(CONFIG, Parts(routing=part))
    assert part.num_batches_tracked == 0
    network(FEW.images)
    assert part.num_batches_tracked == 1
