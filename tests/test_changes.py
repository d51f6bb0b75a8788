"""changes.py: each change does what it says and nothing else."""

from __future__ import annotations

from copy import deepcopy

import networks
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from capsnet_tutorial.augmentation import Augmentation
from capsnet_tutorial.bugs import variant
from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.experiments.cnn import ConvNetConfig
from capsnet_tutorial.experiments.variants import CHANGES, build_changed, changed_objective, changes_of, is_traceable
from capsnet_tutorial.functional import capsule_lengths, mask_capsules, squash
from capsnet_tutorial.layers import group_into_capsules
from capsnet_tutorial.model import CapsNet, CapsNetOutput
from capsnet_tutorial.pretrained import load_network, save_weights
from capsnet_tutorial.training import Recipe, fit, paper_objective

SAMPLE = digits("train", source="sample")
FEW = Digits(SAMPLE.images[:32], SAMPLE.labels[:32], "sample")
CONFIG = networks.learner().config


def changed(*changes: str) -> CapsNet:
    """The tests' small network with these changes, the same at every call."""
    torch.manual_seed(0)
    network = build_changed(CONFIG, changes)
    assert isinstance(network, CapsNet)
    return network


def awake(network: CapsNet) -> CapsNet:
    """The same network with larger weights: fresh ones give capsules so short that nothing tells them apart."""
    larger = deepcopy(network)
    for weight, factor in ((larger.conv.weight, 3), (larger.primary.conv.weight, 6), (larger.routed.weight, 10)):
        weight.data *= factor
    return larger


def run(network: CapsNet) -> CapsNetOutput:
    return awake(network)(FEW.images, FEW.labels)


def test_the_networks_of_these_tests_are_awake():
    lengths = run(changed()).lengths
    assert lengths.mean() > 0.1
    assert lengths.std() > 0.01


# What leaves the weights as they are, what draws them anew, and what changes the loss alone.
IN_THE_NETWORK = ("primary-divided", "bias-released", "mask-prediction", "softmax-axis", "self-attention")
IN_THE_WEIGHTS = ("init-released", "w-std-0.01", "w-std-1")
IN_THE_LOSS = ("loss-released", "recon-mean")


OF_THE_MATRICES = ("learned-gain", "shared-weight")


def test_every_change_is_tested_here():
    assert set(CHANGES) == {*IN_THE_NETWORK, *IN_THE_WEIGHTS, *IN_THE_LOSS, *OF_THE_MATRICES}


def test_without_a_change_it_is_the_paper():
    assert type(changed()) is CapsNet
    assert changes_of(changed()) == ()
    output = run(changed())
    assert run(networks.learner()).capsules.equal(output.capsules)
    expected = paper_objective(0.01)(output, FEW.images, FEW.labels)
    assert changed_objective((), 0.01)(output, FEW.images, FEW.labels).equal(expected)


@pytest.mark.parametrize("name", IN_THE_NETWORK)
def test_a_change_in_the_network_keeps_its_weights_and_changes_what_it_does(name):
    plain, other = changed(), changed(name)
    kept = other.state_dict()
    assert all(kept[key].equal(tensor) for key, tensor in plain.state_dict().items())
    assert not run(other).reconstruction.allclose(run(plain).reconstruction, atol=1e-4)


@pytest.mark.parametrize("name", IN_THE_WEIGHTS)
def test_a_change_of_the_weights_draws_some_anew_and_leaves_the_function(name):
    plain, other = changed(), changed(name)
    differ = {key for key, tensor in other.state_dict().items() if not tensor.equal(plain.state_dict()[key])}
    convs = {"conv.weight", "conv.bias", "primary.conv.weight", "primary.conv.bias"}
    assert differ == (convs if name == "init-released" else {"routed.weight"})
    other.load_state_dict(plain.state_dict())
    assert run(other).reconstruction.equal(run(plain).reconstruction)


@pytest.mark.parametrize("name", IN_THE_LOSS)
def test_a_change_of_the_loss_leaves_the_network(name):
    assert run(changed(name)).reconstruction.equal(run(changed()).reconstruction)


def test_primary_capsules_are_divided_by_the_number_of_their_types():
    network = awake(changed("primary-divided"))
    torch.manual_seed(1)
    network.primary.conv.bias.data = torch.randn_like(network.primary.conv.bias)
    bare = F.conv2d(F.relu(network.conv(FEW.images)), network.primary.conv.weight, stride=CONFIG.primary_stride)
    features = bare / CONFIG.primary_types + network.primary.conv.bias.view(-1, 1, 1)
    expected = squash(group_into_capsules(features, CONFIG.primary_dim))
    torch.testing.assert_close(network.primary_capsules(FEW.images), expected)


def test_weights_are_drawn_as_the_released_code_draws_them():
    network = changed("init-released")
    for conv, std in ((network.conv, 0.05), (network.primary.conv, 0.1)):
        assert conv.weight.std().item() == pytest.approx(std * 0.88, rel=0.15)  # cut off at two standard deviations
        assert conv.weight.abs().max() <= 2 * std
        assert (conv.bias == 0.1).all()


@pytest.mark.parametrize(("name", "std"), [("w-std-0.01", 0.01), ("w-std-1", 1)])
def test_the_matrices_are_drawn_with_the_standard_deviation_of_the_name(name, std):
    assert changed(name).routed.weight.std().item() == pytest.approx(0.88 * std, rel=0.05)


def test_the_bias_is_added_in_every_round():
    network = changed("bias-released")
    assert (network.routed.bias == 0.1).all()
    torch.manual_seed(1)
    network.routed.bias.data = torch.randn_like(network.routed.bias)
    network = awake(network)
    u = network.primary_capsules(FEW.images)[:2]
    u_hat = torch.einsum("bid,ijde->bije", u, network.routed.weight)
    for image in range(2):
        b = torch.zeros(u_hat.shape[1:3])
        for _ in range(3):
            c = b.softmax(dim=1)
            v = torch.stack(
                [squash((c[:, j, None] * u_hat[image, :, j]).sum(dim=0) + network.routed.bias[j]) for j in range(10)]
            )
            b = b + (u_hat[image] * v).sum(dim=2)
        torch.testing.assert_close(network.routed(u)[image], v)


def test_without_its_bias_it_is_the_papers_routing():
    network = changed("bias-released")
    network.routed.bias.data.zero_()
    torch.testing.assert_close(run(network).capsules, run(changed()).capsules)


def test_with_one_round_a_gain_multiplies_the_mean_vote():
    network, plain = awake(changed("learned-gain")), awake(changed())
    network.routed.iterations = plain.routed.iterations = 1
    u = plain.primary_capsules(FEW.images)
    torch.testing.assert_close(network.routed(u), plain.routed(u))
    gain = torch.linspace(0.5, 4, CONFIG.classes)
    network.routed.gain.data = gain
    u_hat = torch.einsum("bid,ijde->bije", u, plain.routed.weight)
    torch.testing.assert_close(network.routed(u), squash(gain.view(-1, 1) * u_hat.mean(dim=1) * u.shape[1] / 10))


def test_a_gain_is_learned():
    network = awake(changed("learned-gain"))
    network(FEW.images, FEW.labels).lengths.sum().backward()
    assert (network.routed.gain.grad != 0).all()


def test_a_shared_matrix_is_that_of_the_first_capsule_for_all():
    network, plain = awake(changed("shared-weight")), awake(changed())
    assert network.routed.weight.shape == (1, *plain.routed.weight.shape[1:])
    plain.routed.weight.data[:] = plain.routed.weight.data[:1].clone()
    u = plain.primary_capsules(FEW.images)
    torch.testing.assert_close(network.routed(u), plain.routed(u))
    network.routed(u.detach()).square().sum().backward()
    plain.routed(u.detach()).square().sum().backward()
    summed = plain.routed.weight.grad.sum(dim=0, keepdim=True)
    torch.testing.assert_close(network.routed.weight.grad, summed, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", OF_THE_MATRICES)
def test_other_matrices_keep_the_papers_trace(name):
    network = awake(changed(name))
    assert is_traceable(network)
    u = network.primary_capsules(FEW.images)
    v, trace = network.routed.trace(u)
    torch.testing.assert_close(v, network.routed(u))
    torch.testing.assert_close(trace.v[-1], v)


def test_the_wrong_axis_is_that_of_the_bug_of_this_name():
    network, plain = awake(changed("softmax-axis")), awake(changed())
    u = plain.primary_capsules(FEW.images)
    u_hat = torch.einsum("bid,ijde->bije", u, plain.routed.weight)
    torch.testing.assert_close(network.routed(u), variant("routing", "softmax-axis")(u_hat, 3))


def test_the_decoder_is_masked_by_the_prediction_although_there_are_labels():
    network = changed("mask-prediction")
    output = run(network)
    assert (output.lengths.argmax(dim=1) != FEW.labels).any()
    torch.testing.assert_close(output.reconstruction, awake(network).decode(mask_capsules(output.capsules)))


def test_the_labels_are_kept_from_it_in_whatever_way_they_are_given():
    network = awake(changed("mask-prediction"))
    expected = network(FEW.images).reconstruction
    assert network(FEW.images, labels=FEW.labels).reconstruction.equal(expected)
    assert network(images=FEW.images, labels=FEW.labels).reconstruction.equal(expected)


ROUTINGS = pytest.mark.parametrize("name", ["softmax-axis", "bias-released", "self-attention"])


@ROUTINGS
def test_a_changed_routing_keeps_no_trace_rather_than_the_papers(name):
    with pytest.raises(NotImplementedError, match="the paper's routing to trace; got .*Routing"):
        changed(name).trace(FEW.images)
    assert not is_traceable(changed(name))


@ROUTINGS
def test_a_changed_routing_runs_in_single_precision_at_least(name):
    routed = awake(changed(name)).routed
    u = awake(changed()).primary_capsules(FEW.images).detach()
    expected = routed(u)
    with torch.autocast("cpu", torch.bfloat16):
        assert routed(u).equal(expected)
        assert routed(u.bfloat16()).dtype == torch.bfloat16
    half = deepcopy(routed).half()
    came = half(u.half())
    assert came.dtype == torch.float16
    assert came.equal(deepcopy(half).float()(u.half().float()).half())


def losses(*changes: str, weight: float) -> Tensor:
    return changed_objective(changes, weight)(run(changed()), FEW.images, FEW.labels)


def test_the_released_loss_is_a_twentieth_and_leaves_the_reconstruction():
    torch.testing.assert_close(losses("loss-released", weight=0), losses(weight=0) / 20)
    both = losses("loss-released", weight=0.01) - losses("loss-released", weight=0)
    torch.testing.assert_close(both, losses(weight=0.01) - losses(weight=0))


def test_the_mean_over_pixels_is_784_times_weaker():
    mean = losses("recon-mean", weight=1.0) - losses(weight=0)
    torch.testing.assert_close(mean, (losses(weight=1.0) - losses(weight=0)) / 784)


@pytest.mark.parametrize("name", CHANGES)
def test_it_trains_and_the_average_has_the_change_too(name):
    recipe = Recipe(epochs=2, batch_size=16, average=0.5, augmentation=Augmentation(shift=0))
    network = changed(name)
    result, history = fit(network, FEW, recipe, objective=changed_objective([name], 0.0005), progress=False)
    assert history.step == 4
    assert changes_of(result) == (name,)
    result.load_state_dict(network.state_dict())
    assert run(result).reconstruction.equal(run(network).reconstruction)


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_network_comes_back_from_its_file_with_the_change(name, tmp_path):
    network = changed(name).eval()
    save_weights(network, tmp_path / "w", dtype=torch.float32)
    back = load_network(tmp_path / "w")
    assert changes_of(back) == (name,)
    assert run(back).reconstruction.equal(run(network).reconstruction)


def test_several_changes_go_together():
    network = changed("softmax-axis", "w-std-1", "primary-divided")
    assert network.routed.weight.std() > 0.5
    assert changes_of(network) == ("softmax-axis", "w-std-1", "primary-divided")
    assert capsule_lengths(run(network).capsules).isfinite().all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("nonsense",), "a change, one of loss-released, .*; got 'nonsense'"),
        (("recon-mean", "recon-mean"), "each change once; got recon-mean recon-mean"),
        (("softmax-axis", "bias-released"), "one change of the routing; got two"),
    ],
)
def test_what_cannot_be_changed_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        build_changed(CONFIG, changes)


def test_a_cnn_is_not_changed():
    with pytest.raises(ValueError, match="a CapsNet to change; got a CNN"):
        build_changed(ConvNetConfig.small(), ["recon-mean"])


def test_a_changed_routing_has_no_gradient_of_the_last_round_alone():
    network = changed("softmax-axis")
    recipe = Recipe(epochs=1, batch_size=16, routing_gradient="last")
    with pytest.raises(ValueError, match="a gradient through all rounds of a changed routing; got 'last'"):
        fit(network, FEW, recipe, progress=False)
    assert network.routed.gradient == "all"
