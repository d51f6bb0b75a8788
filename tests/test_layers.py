"""layers.py against loops."""

from __future__ import annotations

import oracle
import pytest
import torch
from networks import noise
from oracle import agrees
from torch.autograd import forward_ad

from capsnet_tutorial import functional, layers
from capsnet_tutorial.functional import prediction_vectors, route
from capsnet_tutorial.layers import RoutedCapsules

PRECISIONS = pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32], ids=["float64", "float32"]
)


def test_a_primary_capsule_is_its_channels_at_one_place():
    features = noise(2, 6, 3, 4)
    expected = oracle.group_into_capsules(features, 3)
    agrees(layers.group_into_capsules(features, 3), expected)
    agrees(
        layers.group_into_capsules(features.contiguous(memory_format=torch.channels_last), 3),
        expected,
    )


def own_routing(u_hat, iterations):
    return functional.route(u_hat, iterations)


@PRECISIONS
@pytest.mark.parametrize("routing", [functional.route, functional.route_last, own_routing])
def test_routed_capsules_predict_and_route(dtype, routing):
    torch.manual_seed(0)
    routed = layers.RoutedCapsules(
        in_capsules=6, in_dim=3, out_capsules=4, out_dim=5, iterations=2, routing=routing
    ).to(dtype)
    layers.draw_truncated(routed.weight, 1)
    u = noise(3, 6, 3, dtype=dtype)
    expected = oracle.route(oracle.prediction_vectors(u, routed.weight), 2)
    agrees(routed(u), expected.v[-1])
    if routing is own_routing:
        with pytest.raises(ValueError, match="the paper's routing to trace; got own_routing"):
            routed.trace(u)
        return
    v, trace = routed.trace(u)
    agrees(v, expected.v[-1])
    agrees(trace.b, expected.b)
    agrees(trace.c, expected.c)
    agrees(trace.v, expected.v)


def test_weights_start_as_a_truncated_normal_of_std_0_1():
    torch.manual_seed(0)
    weight = layers.RoutedCapsules(in_capsules=100, in_dim=8, out_capsules=10, out_dim=16).weight
    assert weight.abs().max() <= 0.2
    assert weight.mean().abs() < 0.001
    assert (
        0.085 < weight.std() < 0.09
    )  # cut off at two standard deviations, a normal of 0.1 has 0.088


def test_the_gradient_of_the_last_round_differs_and_is_the_same_without_u_hat():
    torch.manual_seed(0)
    routed = layers.RoutedCapsules(in_capsules=6, in_dim=3, out_capsules=4, out_dim=5).double()
    layers.draw_truncated(routed.weight, 1)
    u = noise(2, 6, 3)
    gradients = []
    for routing in (
        functional.route,
        functional.route_last,
        lambda u_hat, r: functional.route_last(u_hat, r),
    ):
        routed.routing = routing
        gradients.append(torch.autograd.grad(routed(u).sum(), routed.weight)[0])
    assert not gradients[0].allclose(gradients[1])
    torch.testing.assert_close(gradients[1], gradients[2])


# --- without û, or with it


def small_layer() -> RoutedCapsules:
    torch.manual_seed(0)
    routed = RoutedCapsules(in_capsules=6, in_dim=3, out_capsules=4, out_dim=5).double()
    layers.draw_truncated(routed.weight, 1)
    return routed


def penalty(routed: RoutedCapsules, u: torch.Tensor) -> torch.Tensor:
    """The derivative, by W, of the squared gradient of the lengths."""
    u = u.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(routed(u).norm(dim=-1).sum(), u, create_graph=True)
    return torch.autograd.grad(gradient.square().sum(), routed.weight)[0]


def test_a_layer_that_computes_u_hat_has_second_derivatives():
    routed, u = small_layer(), noise(2, 6, 3)
    with pytest.raises(ValueError, match="a layer with without_u_hat=False, has all"):
        penalty(routed, u)
    routed.without_u_hat = False
    expected = small_layer()
    expected.routing = own_routing
    torch.testing.assert_close(penalty(routed, u), penalty(expected, u))


def test_forward_mode_derivatives_need_no_switch():
    routed, u, direction = small_layer(), noise(2, 6, 3), noise(2, 6, 3, seed=1)
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(routed(forward_ad.make_dual(u, direction))).tangent
    difference = (routed(u + 1e-6 * direction) - routed(u - 1e-6 * direction)) / 2e-6
    torch.testing.assert_close(tangent, difference, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("switch", "calls"), [(None, 1), (True, 1), (False, 0)])
def test_the_switch_decides_whether_u_hat_is_computed(switch, calls, monkeypatch):
    routed, u = small_layer(), noise(2, 6, 3)
    expected = routed(u)
    routed.without_u_hat = switch
    without_u_hat = []
    fast = layers.route_capsules
    monkeypatch.setattr(
        layers,
        "route_capsules",
        lambda *args, **options: without_u_hat.append(1) or fast(*args, **options),
    )
    torch.testing.assert_close(routed(u), expected)
    assert len(without_u_hat) == calls


def test_an_accelerator_routes_with_u_hat(monkeypatch):
    """Only a processor routes without û: "meta" stands for an accelerator that tests may lack."""
    layer = RoutedCapsules(in_capsules=6, in_dim=4, out_capsules=5, out_dim=7)
    u = noise(2, 6, 4, dtype=torch.float32)
    calls = []
    monkeypatch.setattr(
        layers, "route_capsules", lambda *_, **__: calls.append("fast") or torch.zeros(2, 5, 7)
    )
    layer(u)
    assert calls == ["fast"]
    assert layer.to("meta")(u.to("meta")).shape == (2, 5, 7)
    assert calls == ["fast"]


def test_a_device_without_autocast_can_route(monkeypatch):
    """As Apple's MPS in PyTorch 2.4, where asking for autocast at all is an error."""

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("User specified an unsupported autocast device_type 'mps'")

    monkeypatch.setattr(functional, "WITH_AUTOCAST", set())
    monkeypatch.setattr(torch, "autocast", refuse)
    monkeypatch.setattr(torch, "is_autocast_enabled", refuse)
    layer = RoutedCapsules(in_capsules=6, in_dim=4, out_capsules=5, out_dim=7)
    u = noise(2, 6, 4, dtype=torch.float32)
    torch.testing.assert_close(layer(u), route(prediction_vectors(u, layer.weight)))
