"""functional.py against loops: forwards, backwards, and what it refuses."""

from __future__ import annotations

import oracle
import pytest
import torch
from networks import noise
from oracle import agrees
from torch import Tensor
from torch.autograd import gradcheck

from capsnet_tutorial import fast, functional

PRECISIONS = pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32], ids=["float64", "float32"]
)
ROUNDS = pytest.mark.parametrize("rounds", [1, 2, 3, 5])

B, I, J, D_IN, D_OUT = 3, 6, 4, 3, 5


def capsules_and_weight(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    return noise(B, I, D_IN, dtype=dtype), noise(I, J, D_IN, D_OUT, seed=1, dtype=dtype)


# --- forwards


@PRECISIONS
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_squash_is_equation_1(dtype, scale):
    s = noise(B, J, D_OUT, dtype=dtype, scale=scale)
    agrees(functional.squash(s), oracle.squash(s))


def test_squash_works_along_any_axis():
    s = noise(B, D_OUT, J)
    agrees(functional.squash(s, dim=1).transpose(1, 2), oracle.squash(s.transpose(1, 2)))
    assert functional.squash(s, dim=1).equal(functional.squash(s, dim=-2))


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str
)
def test_squash_of_zero_is_zero_with_a_finite_gradient(dtype):
    s = torch.zeros(2, 3, dtype=dtype, requires_grad=True)
    v = functional.squash(s)
    v.sum().backward()
    assert v.eq(0).all()
    assert s.grad.isfinite().all()


@PRECISIONS
def test_prediction_vectors_are_equation_2(dtype):
    u, weight = capsules_and_weight(dtype)
    agrees(functional.prediction_vectors(u, weight), oracle.prediction_vectors(u, weight))


@PRECISIONS
@ROUNDS
def test_routing_is_procedure_1_in_every_round(dtype, rounds):
    u_hat = noise(B, I, J, D_OUT, dtype=dtype)
    v, trace = functional.route(u_hat, rounds, return_trace=True)
    expected = oracle.route(u_hat, rounds)
    agrees(trace.b, expected.b)
    agrees(trace.c, expected.c)
    agrees(trace.v, expected.v)
    agrees(v, expected.v[-1])
    assert functional.route(u_hat, rounds).equal(v)


@PRECISIONS
@ROUNDS
def test_routing_without_u_hat_is_the_same(dtype, rounds):
    u, weight = capsules_and_weight(dtype)
    expected = oracle.route(oracle.prediction_vectors(u, weight), rounds).v[-1]
    agrees(fast.route_capsules(u, weight, rounds), expected)
    agrees(fast.route_capsules(u, weight, rounds, gradient="last"), expected)


@PRECISIONS
def test_margin_loss_is_equation_4_for_labels_and_for_several_classes_at_once(dtype):
    lengths = noise(8, J, dtype=dtype).sigmoid()
    labels = torch.arange(8) % J
    agrees(
        functional.margin_loss(lengths, labels),
        oracle.margin_loss(lengths, oracle.multi_hot(labels, J)),
    )
    present = noise(8, J, seed=1) > 0
    expected = oracle.margin_loss(lengths, present)
    for targets in (present, present.long(), present.to(dtype)):
        agrees(functional.margin_loss(lengths, targets), expected)


@PRECISIONS
def test_the_mask_keeps_the_labelled_capsule_or_the_longest(dtype):
    v = noise(8, J, D_OUT, dtype=dtype)
    labels = torch.arange(8) % J
    agrees(functional.mask_capsules(v, labels), oracle.mask_capsules(v, labels))
    agrees(functional.mask_capsules(v), oracle.mask_capsules(v))


@PRECISIONS
def test_reconstruction_loss_sums_over_pixels_and_averages_over_images(dtype):
    reconstruction, images = (
        noise(B, 36, dtype=dtype).sigmoid(),
        noise(B, 1, 6, 6, seed=1, dtype=dtype).sigmoid(),
    )
    agrees(
        functional.reconstruction_loss(reconstruction, images),
        oracle.reconstruction_loss(reconstruction, images),
    )
    assert functional.RECONSTRUCTION_WEIGHT == 0.0005


# --- backwards


def some_u() -> Tensor:
    return noise(2, 3, 2).requires_grad_()


def some_weight() -> Tensor:
    return noise(3, 3, 2, 2, seed=1).requires_grad_()


def some_u_hat() -> Tensor:
    return noise(2, 3, 3, 2).requires_grad_()


def test_the_gradient_of_squash():
    assert gradcheck(functional.squash, (some_u_hat(),))


def test_the_gradient_of_squash_along_another_axis():
    assert gradcheck(lambda s: functional.squash(s, dim=1), (some_u_hat(),))


def test_the_gradient_of_prediction_vectors():
    assert gradcheck(functional.prediction_vectors, (some_u(), some_weight()))


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_gradient_of_routing(rounds):
    assert gradcheck(lambda u_hat: functional.route(u_hat, rounds), (some_u_hat(),))


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_gradient_of_every_rounds_output(rounds):
    def outputs(u_hat: Tensor) -> Tensor:
        _, trace = functional.route(u_hat, rounds, return_trace=True)
        return trace.v

    assert gradcheck(outputs, (some_u_hat(),))


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_gradient_of_routing_without_u_hat(rounds):
    def route(u: Tensor, weight: Tensor) -> Tensor:
        return fast.route_capsules(u, weight, rounds)

    assert gradcheck(route, (some_u(), some_weight()))


def test_the_gradient_of_capsule_lengths():
    assert gradcheck(functional.capsule_lengths, (some_u(),))


@pytest.mark.parametrize(
    "targets", [torch.tensor([0, 2]), torch.tensor([[1, 0, 1], [0, 0, 0]])], ids=["labels", "T"]
)
def test_the_gradient_of_the_margin_loss(targets):
    lengths = torch.tensor([[0.95, 0.5, 0.3], [0.05, 0.7, 0.2]], dtype=torch.float64)
    assert gradcheck(lambda x: functional.margin_loss(x, targets), (lengths.requires_grad_(),))


def test_the_gradient_of_the_mask():
    labels = torch.tensor([0, 2])
    assert gradcheck(lambda v: functional.mask_capsules(v, labels), (some_u(),))


def test_the_gradient_of_the_reconstruction_loss():
    images = noise(2, 3, 2, seed=2).requires_grad_()
    assert gradcheck(functional.reconstruction_loss, (some_u(), images))


def test_the_last_rounds_gradient_is_that_of_routing_with_fixed_couplings():
    u, weight = capsules_and_weight()
    u.requires_grad_()
    weight.requires_grad_()
    direction = noise(B, J, D_OUT, seed=2)
    couplings = torch.from_numpy(oracle.route(oracle.prediction_vectors(u, weight), 3).c[-1])
    s = (couplings.unsqueeze(-1) * torch.einsum("bid,ijde->bije", u, weight)).sum(dim=1)
    n = s.norm(dim=-1, keepdim=True)
    expected = torch.autograd.grad((n / (1 + n**2) * s * direction).sum(), (u, weight))
    last = fast.route_capsules(u, weight, gradient="last")
    gradients = torch.autograd.grad((last * direction).sum(), (u, weight))
    for gradient, wanted in zip(gradients, expected, strict=True):
        agrees(gradient, wanted)


# --- bad input

u, weight = capsules_and_weight(torch.float32)
u_hat, v = torch.rand(B, I, J, D_OUT), torch.rand(B, J, D_OUT)
lengths, labels = torch.rand(B, J), torch.tensor([0, 1, 3])

REFUSED = [
    (lambda: functional.squash(v, dim=3), "3 axes", "3"),
    (lambda: functional.prediction_vectors(u[:, :5], weight), "[B, 6, 3]", "[3, 5, 3]"),
    (lambda: functional.route(v), "[B, I, J, D_out]", "[3, 4, 5]"),
    (lambda: fast.route_capsules(u, weight, gradient="first"), "all", "'first'"),
    (lambda: functional.capsule_lengths(lengths), "[B, J, D]", "[3, 4]"),
    (lambda: functional.margin_loss(lengths, labels + 1), "0 to 3", "1 to 4"),
    (lambda: functional.margin_loss(lengths, lengths), "zeros and ones", "other"),
    (lambda: functional.mask_capsules(v, labels + 1), "0 to 3", "1 to 4"),
    (lambda: functional.reconstruction_loss(v, v[:, :3]), "as many numbers", "[3, 3, 5]"),
]


@pytest.mark.parametrize(("call", "expected", "actual"), REFUSED)
def test_bad_input_is_refused_with_what_was_expected_and_what_came(call, expected, actual):
    with pytest.raises(ValueError, match="expected") as refusal:
        call()
    assert expected in str(refusal.value)
    assert actual in str(refusal.value)


@pytest.mark.parametrize("iterations", [0, -1, 1.5, True, "3", None], ids=repr)
def test_routing_refuses_anything_but_a_whole_number_of_rounds(iterations):
    for call in (
        lambda: functional.route(u_hat, iterations),
        lambda: fast.route_capsules(u, weight, iterations),
    ):
        with pytest.raises(ValueError, match=f"at least 1; got {iterations!r}"):
            call()
