"""Precision: float32 inside, the input's dtype outside, whatever autocast says."""

from __future__ import annotations

from typing import Any

import oracle
import pytest
import torch
from networks import noise
from torch import Tensor

from capsnet_tutorial import fast, functional
from capsnet_tutorial.layers import RoutedCapsules

HALF = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
SIZES: dict[str, Any] = {"in_capsules": 6, "in_dim": 3, "out_capsules": 4, "out_dim": 5}


def layer(**options: Any) -> RoutedCapsules:
    torch.manual_seed(0)
    routed = RoutedCapsules(**SIZES, **options)
    routed.weight.data *= 10
    return routed


def own_routing(u_hat: Tensor, iterations: int) -> Tensor:
    return functional.route(u_hat, iterations)


@HALF
def test_squash_computes_in_float32_and_returns_half_precision(dtype):
    s = noise(3, 4, 5, dtype=dtype, scale=3)
    v = functional.squash(s)
    assert v.dtype == dtype
    assert v.equal(functional.squash(s.float()).to(dtype))


@HALF
def test_routing_computes_in_float32_and_returns_half_precision(dtype):
    u_hat = noise(3, 6, 4, 5, dtype=dtype)
    v = functional.route(u_hat)
    assert v.dtype == dtype
    assert v.equal(functional.route(u_hat.float()).to(dtype))


@HALF
def test_routing_by_the_last_rounds_gradient_returns_half_precision(dtype):
    u_hat = noise(3, 6, 4, 5, dtype=dtype)
    v = functional.route_last(u_hat)
    assert v.dtype == dtype
    assert v.equal(functional.route_last(u_hat.float()).to(dtype))


@HALF
def test_routing_without_u_hat_computes_in_float32_and_returns_half_precision(dtype):
    u = noise(3, 6, 3, dtype=dtype)
    weight = noise(6, 4, 3, 5, seed=1, dtype=dtype)
    v = fast.route_capsules(u, weight)
    assert v.dtype == dtype
    assert v.equal(fast.route_capsules(u.float(), weight.float()).to(dtype))


@HALF
@pytest.mark.parametrize("routing", [functional.route, own_routing], ids=["paper", "own"])
def test_a_layer_in_half_precision_routes_in_float32_and_returns_half_precision(dtype, routing):
    routed = layer(routing=routing).to(dtype)
    u = noise(3, 6, 3, dtype=dtype)
    v = routed(u)
    assert v.dtype == dtype
    assert v.equal(routed.float()(u.float()).to(dtype))


@HALF
@pytest.mark.parametrize("routing", [functional.route, own_routing], ids=["paper", "own"])
def test_half_precision_capsules_go_into_a_float32_layer(dtype, routing):
    routed = layer(routing=routing)
    u = noise(3, 6, 3, dtype=dtype)
    assert routed(u).equal(routed(u.float()).to(dtype))


@HALF
def test_the_trace_of_a_half_precision_routing_is_in_float32(dtype):
    _, trace = functional.route(noise(3, 6, 4, 5, dtype=dtype), return_trace=True)
    assert {tensor.dtype for tensor in trace} == {torch.float32}


# --- autocast


def test_autocast_does_not_reach_into_routing():
    u_hat = noise(3, 6, 4, 5, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        v = functional.route(u_hat)
    assert v.dtype == torch.float32
    assert v.equal(functional.route(u_hat))


def test_autocast_does_not_reach_into_routing_without_u_hat():
    u = noise(3, 6, 3, dtype=torch.float32)
    weight = noise(6, 4, 3, 5, seed=1, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        v = fast.route_capsules(u, weight)
    assert v.equal(fast.route_capsules(u, weight))


def test_autocast_does_not_reach_into_ones_own_routing():
    dtypes = []

    def product(u_hat: Tensor, iterations: int) -> Tensor:
        matrix = torch.ones(5, 5)
        dtypes.append((u_hat.dtype, (u_hat @ matrix).dtype))
        return functional.route(u_hat, iterations)

    with torch.autocast("cpu", torch.bfloat16):
        layer(routing=product)(noise(3, 6, 3, dtype=torch.float32))
    assert dtypes == [(torch.float32, torch.float32)]


# --- extremes


@pytest.mark.parametrize("size", [1e20, 3e38])
def test_a_vector_too_long_to_square_keeps_its_direction_and_a_length_of_1(size):
    s = torch.tensor([[3.0, 4.0], [0.0, -1.0]]) / 5 * size
    expected = torch.tensor([[0.6, 0.8], [0.0, -1.0]])
    torch.testing.assert_close(functional.squash(s), expected)


@pytest.mark.parametrize("length", [1e-7, 1e-6, 1e-4])
def test_short_vectors_above_the_floor_are_squashed_exactly(length):
    s = torch.tensor([[0.6, 0.8]], dtype=torch.float64) * length
    expected = torch.from_numpy(oracle.squash(s))
    torch.testing.assert_close(functional.squash(s), expected, rtol=1e-9, atol=0)
