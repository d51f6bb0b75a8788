"""variants.py: each variant differs as it says and in nothing else."""

from __future__ import annotations

from copy import deepcopy

import networks
import pytest
import torch
from capsnet_book.experiments.variants import (
    VARIANTS,
    build_variant,
    variant_objective,
    with_own_matrices,
)
from capsnet_book.networks import load_network

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.model import CapsNet, CapsNetOutput
from capsnet_tutorial.train import Recipe, fit, paper_objective
from capsnet_tutorial.weights import save_weights

FEW = networks.few(32)
CONFIG = networks.learner().config


def changed(*changes: str) -> CapsNet:
    """The tests' small network with these changes, the same at every call."""
    torch.manual_seed(0)
    return build_variant(CONFIG, changes)


def awake(network: CapsNet) -> CapsNet:
    """Return the network with larger weights: fresh ones give capsules too short to differ."""
    larger = deepcopy(network)
    weights = {name: weight for name, weight in larger.named_parameters() if weight.dim() == 4}
    factors = (3, 6, 10)  # of conv, primary.conv, routed
    for weight, factor in zip(weights.values(), factors, strict=True):
        weight.data *= factor
    return larger


def run(network: CapsNet) -> CapsNetOutput:
    return awake(network)(FEW.images, FEW.labels)


ROUTINGS = ("inverted-attention", "em", "k-means", "sinkhorn", "self-attention")
IN_THE_PARTS = ("primary-divided", "bias-released", "mask-prediction", "softmax-axis", *ROUTINGS)


def test_without_a_change_it_is_the_paper():
    assert type(changed()) is CapsNet
    assert changed().parts.names == {}
    output = run(changed())
    assert run(networks.learner()).capsules.equal(output.capsules)
    expected = paper_objective(0.01)(output, FEW.images, FEW.labels)
    assert variant_objective((), 0.01)(output, FEW.images, FEW.labels).equal(expected)


@pytest.mark.parametrize("name", IN_THE_PARTS)
def test_a_change_in_the_network_keeps_its_weights_and_changes_what_it_does(name):
    plain, other = changed(), changed(name)
    kept = other.state_dict()
    assert all(kept[key].equal(tensor) for key, tensor in plain.state_dict().items())
    assert not run(other).reconstruction.allclose(run(plain).reconstruction, atol=1e-4)


@pytest.mark.parametrize("name", VARIANTS)
def test_it_comes_back_from_its_file_with_its_parts(name, tmp_path):
    network = changed(name).eval()
    save_weights(with_own_matrices(network), tmp_path / "w", dtype=torch.float32)
    back = load_network(tmp_path / "w", deepcopy(network.parts))
    assert run(back).reconstruction.equal(run(with_own_matrices(network)).reconstruction)


def test_shared_matrices_are_one_for_all_capsules_and_stay_so():
    network = changed("shared-weight")
    assert (network.routed.weight == network.routed.weight[:1]).all()
    shared = sum(parameter.numel() for parameter in network.routed.parameters())
    assert shared * CONFIG.primary_capsules == with_own_matrices(network).routed.weight.numel()
    recipe = Recipe(epochs=1, batch_size=16, augmentation=Augmentation(shift=0))
    before = network.routed.weight.detach().clone()
    trained, _ = fit(network, FEW, recipe, progress=False)
    assert (trained.routed.weight == trained.routed.weight[:1]).all()
    assert not trained.routed.weight.allclose(before)
