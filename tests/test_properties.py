"""What holds for every input, tried on inputs that hypothesis chooses."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from networks import noise
from oracle import agrees

from capsnet_tutorial import fast, functional, layers

ULP = torch.finfo(torch.float32).eps
LARGEST = float(np.float32(3e38))

vectors = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 4), st.integers(1, 8)),
    elements=st.floats(-LARGEST, LARGEST, width=32, allow_nan=False),
).map(torch.from_numpy)


@st.composite
def predictions(draw: st.DrawFn) -> torch.Tensor:
    """û of any small shape and of several sizes, float64."""
    shape = [draw(st.integers(1, most)) for most in (4, 6, 5, 4)]
    return noise(
        *shape,
        seed=draw(st.integers(0, 2**31)),
        scale=draw(st.sampled_from((0.01, 0.3, 1.0, 10.0))),
    )


rounds = st.integers(1, 5)


def length(x: torch.Tensor) -> torch.Tensor:
    """In float64, where the square of no float32 overflows."""
    return torch.linalg.vector_norm(x.double(), dim=-1)


# --- squash


@given(vectors)
def test_no_vector_is_longer_than_1_after_squash(s):
    v = functional.squash(s)
    assert v.isfinite().all()
    assert (length(v) <= 1 + 4 * ULP).all()
    moderate = length(s) < 100
    assert (length(v)[moderate] < 1).all()


@given(vectors)
def test_squash_keeps_the_direction(s):
    n = length(s)
    assume(((n == 0) | (n > 1e-15)).all())  # shorter ones end among the subnormal numbers
    v = functional.squash(s)
    aligned = (s.double() * v.double()).sum(dim=-1)
    torch.testing.assert_close(aligned, n * length(v), rtol=1e-5, atol=0)


# --- routing


@given(predictions(), rounds)
def test_routing_is_procedure_1_whatever_the_sizes(u_hat, iterations):
    v, trace = functional.route(u_hat, iterations, return_trace=True)
    expected = oracle.route(u_hat, iterations)
    agrees(v, expected.v[-1])
    agrees(trace.c, expected.c)


@given(predictions(), rounds)
def test_two_calls_with_the_same_input_agree(u_hat, iterations):
    first = functional.route(u_hat, iterations)
    functional.route(-2 * u_hat, iterations)
    assert functional.route(u_hat, iterations).equal(first)


@given(predictions(), rounds, st.integers(1, 4), st.sampled_from(["all", "last"]))
def test_routing_without_u_hat_is_routing_whatever_the_sizes(u_hat, iterations, in_dim, gradient):
    """route_capsules answers as route does, whatever it was called with before."""
    batch, below, above, out_dim = u_hat.shape
    u, weight = noise(batch, below, in_dim, seed=1), noise(below, above, in_dim, out_dim, seed=2)
    expected = functional.route(functional.prediction_vectors(u, weight), iterations)
    for _ in range(2):
        torch.testing.assert_close(
            fast.route_capsules(u, weight, iterations, gradient=gradient), expected
        )


# --- gradients stay finite

EXTREMES = [
    *(
        (value, dtype)
        for value in (0.0, 1e-30, 1e-8, 1e20)
        for dtype in (torch.float64, torch.float32)
    ),
    *((value, torch.float16) for value in (0.0, 6e-8, 1e-4, 6e4)),
    *((value, torch.bfloat16) for value in (0.0, 1e-30, 1e-4, 1e20)),
]
extremes = pytest.mark.parametrize(("value", "dtype"), EXTREMES, ids=str)


def assert_finite_backwards(result: torch.Tensor, *inputs: torch.Tensor) -> None:
    assert result.isfinite().all()
    for grad in torch.autograd.grad(result.double().sum(), inputs, retain_graph=True):
        assert grad.isfinite().all()


def alike_and_not(value: float, dtype: torch.dtype, *shape: int) -> list[torch.Tensor]:
    """All numbers the same, and numbers of this size with either sign."""
    mixed = noise(*shape).sign() * value * noise(*shape, seed=1).abs().clamp(0.1, 1)
    return [
        torch.full(shape, value, dtype=dtype, requires_grad=True),
        mixed.to(dtype).requires_grad_(),
    ]


@pytest.mark.parametrize(
    ("value", "dtype"), [*EXTREMES, (3e38, torch.float32), (3e38, torch.bfloat16)], ids=str
)
def test_squash_has_finite_gradients_at_the_extremes(value, dtype):
    for s in alike_and_not(value, dtype, 2, 3, 4):
        assert_finite_backwards(functional.squash(s), s)


@extremes
def test_routing_has_finite_gradients_at_the_extremes(value, dtype):
    for u_hat in alike_and_not(value, dtype, 2, 6, 3, 4):
        assert_finite_backwards(functional.route(u_hat), u_hat)
    weight = noise(6, 3, 4, 5, dtype=dtype, scale=0.1).requires_grad_()
    for u in alike_and_not(value, dtype, 2, 6, 4):
        assert_finite_backwards(fast.route_capsules(u, weight), u, weight)
        assert_finite_backwards(fast.route_capsules(u, weight, gradient="last"), u, weight)


# --- primary capsules


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.data())
def test_one_place_of_the_features_moves_only_the_capsules_of_that_place(
    types, dim, height, width, data
):
    features = noise(2, types * dim, height, width)
    row, column = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    moved = features.clone()
    moved[:, :, row, column] += 1
    before = layers.group_into_capsules(features, dim)
    after = layers.group_into_capsules(moved, dim)
    changed = (before != after).any(dim=2).view(2, types, height, width)
    expected = torch.zeros_like(changed)
    expected[:, :, row, column] = True
    assert changed.equal(expected)
