"""Several classes in an image, or none; networks without a decoder, and with another one."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import networks
import oracle
import pytest
import torch
from networks import few
from torch import Tensor, nn

from capsnet_tutorial import CapsNet, Parts, Recipe, evaluate, fit, mask_capsules
from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.weights import load_weights, save_weights

RECIPE = Recipe(epochs=1, batch_size=16, augmentation=Augmentation(shift=1))
QUIET: dict[str, Any] = {"progress": False, "threads": 1}
IMAGES = torch.rand(3, 1, 9, 9)
PRESENT = torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]])


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.bool], ids=str)
def test_the_mask_keeps_all_capsules_of_a_row_of_ones(dtype):
    v = torch.rand(3, 4, 5)
    masked = mask_capsules(v, PRESENT.to(dtype))
    for image in range(3):
        for label in range(4):
            expected = v[image, label] if PRESENT[image, label] else torch.zeros(5)
            assert masked[image, label].equal(expected)


def test_the_mask_takes_zeros_and_ones_only():
    v = torch.rand(3, 4, 5)
    with pytest.raises(ValueError, match="zeros and ones; got other numbers"):
        mask_capsules(v, 2 * PRESENT)
    with pytest.raises(ValueError, match=r"expected .*\[3, 4\]; got"):
        mask_capsules(v, PRESENT[:, :3])


def test_a_network_trains_on_several_classes_and_draws_them_all():
    network = networks.tiny().float()
    output = network(IMAGES, PRESENT)
    expected = network.decode(mask_capsules(output.capsules, PRESENT))
    assert output.reconstruction.equal(expected)
    data = few()
    targets = nn.functional.one_hot(data.labels, 10).float()
    targets[:8] = 0  # none of the above
    trained, _ = fit(networks.learner(), (data.images, targets), RECIPE, **QUIET)
    assert not trained.routed.weight.equal(networks.learner().routed.weight)


def test_predict_with_a_threshold_names_several_classes_or_none():
    network = networks.tiny().float()
    lengths = network(IMAGES).lengths
    assert network.predict(IMAGES, threshold=0.0).all()
    assert not network.predict(IMAGES, threshold=1.1).any()
    middle = lengths.median().item()
    assert network.predict(IMAGES, threshold=middle).equal(lengths >= middle)
    assert network.predict(IMAGES).equal(lengths.argmax(dim=1))


def test_an_evaluation_of_several_classes_agrees_with_a_count_by_hand():
    network = networks.tiny().float()
    output = network(IMAGES)
    lengths = output.lengths.detach().flatten().sort().values
    middle = len(lengths) // 2
    # Between two lengths: a batch of another size rounds otherwise.
    threshold = float(lengths[middle - 1] + lengths[middle]) / 2
    present = (output.lengths >= threshold).long()
    present[0, 0] = 1 - present[0, 0]  # one of three images is misread
    for batch_size in (3, 2):
        result = evaluate(network, (IMAGES, present), batch_size, threshold=threshold)
        assert result.error == pytest.approx(1 / 3)
    expected = oracle.margin_loss(output.lengths.detach(), present)
    assert result.margin_loss == pytest.approx(expected, rel=1e-4)
    drawing = network(IMAGES, output.lengths >= threshold).reconstruction
    mse = (drawing - IMAGES.flatten(1)).square().mean().item()
    assert result.reconstruction_mse == pytest.approx(mse, rel=1e-4)


# --- decoders


def without_decoder() -> CapsNet:
    return CapsNet(replace(networks.learner().config, decoder_hidden=None))


def test_a_network_without_a_decoder_trains_is_evaluated_and_comes_back(tmp_path):
    network, _ = fit(without_decoder(), few(), RECIPE, validation=few(), **QUIET)
    assert evaluate(network, few()).reconstruction_mse is None
    assert network(few().images).reconstruction is None
    assert not [name for name in network.state_dict() if name.startswith("decoder")]
    save_weights(network, tmp_path / "file", torch.float32)
    loaded = load_weights(tmp_path / "file")
    assert asdict(loaded.config)["decoder_hidden"] is None
    assert loaded(few().images).lengths.equal(network(few().images).lengths)

    class Own(CapsNet):
        pass

    save_weights(Own(network.config), tmp_path / "file")
    with pytest.raises(ValueError, match="a network with a decoder; got decoder_hidden=None"):
        network.decode(network(few().images).capsules)


class Convolutional(nn.Module):
    """Draws [B, 1, 28, 28] from the numbers of ten capsules of eight."""

    def __init__(self) -> None:
        super().__init__()
        self.small = nn.Linear(80, 49)
        self.large = nn.ConvTranspose2d(1, 1, 4, stride=4)

    def forward(self, capsules: Tensor) -> Tensor:
        return self.large(self.small(capsules).view(-1, 1, 7, 7)).sigmoid()


def test_a_decoder_of_ones_own_trains_saves_and_loads(tmp_path):
    torch.manual_seed(0)
    decoder = Convolutional()
    before = decoder.small.weight.detach().clone()
    network = CapsNet(networks.learner().config, Parts(decoder=decoder))
    network, _ = fit(network, few(), RECIPE, **QUIET)
    assert not network.decoder.small.weight.equal(before)
    expected = network(few().images)
    assert list(expected.reconstruction.shape) == [64, 784]
    save_weights(network, tmp_path / "file", torch.float32)
    loaded = load_weights(tmp_path / "file", Parts(decoder=Convolutional()))
    assert loaded(few().images).reconstruction.equal(expected.reconstruction)
    with pytest.raises(ValueError, match="decoder.*Convolutional"):
        load_weights(tmp_path / "file")


def test_a_decoder_that_draws_another_size_is_refused():
    network = CapsNet(networks.tiny().config, Parts(decoder=lambda capsules: capsules))
    with pytest.raises(
        ValueError, match=r"\[3, 81\] .* the part decoder, <lambda>; got .*\[3, 20\]"
    ):
        network(IMAGES)
