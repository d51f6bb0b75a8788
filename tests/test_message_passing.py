"""Routing as messages: equal to `route` and to plain loops, with gradients, on any graph."""

from __future__ import annotations

import oracle
import pytest
import torch
from networks import noise
from oracle import agrees
from torch import Tensor

from capsnet_tutorial import route, squash

pytest.importorskip(
    "torch_geometric", reason="needs PyTorch Geometric: pip install torch_geometric"
)
from capsnet_book.routings.messages import CapsuleRouting, all_pairs, route_by_messages

ROUNDS = pytest.mark.parametrize("rounds", [1, 2, 3, 5])
PRECISIONS = pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32], ids=["float64", "float32"]
)

B, I, J, D_OUT = 3, 6, 4, 5


def some_links() -> Tensor:
    """Half of the edges; capsule 2 below has none, nor has capsule 3 above."""
    links = noise(I, J, seed=5) > 0
    links[2] = links[:, 3] = False
    links[0, 0] = True
    return links


def by_masked_softmax(u_hat: Tensor, rounds: int, links: Tensor) -> tuple[Tensor, Tensor]:
    """Route in dense tensors: a missing edge has the logit -∞; a capsule below needs one edge."""
    b = u_hat.new_zeros(u_hat.shape[:3])
    for r in range(rounds):
        c = b.masked_fill(~links, -torch.inf).softmax(dim=2)
        v = squash((c.unsqueeze(3) * u_hat).sum(dim=1))
        if r < rounds - 1:
            b = b + (u_hat * v.unsqueeze(1)).sum(dim=3)
    return v, c


# --- on the graph of all pairs


@PRECISIONS
@ROUNDS
def test_messages_are_procedure_1_in_every_round(dtype, rounds):
    u_hat = noise(B, I, J, D_OUT, dtype=dtype)
    v, trace = route_by_messages(u_hat, rounds, return_trace=True)
    expected = oracle.route(u_hat, rounds)
    agrees(v, expected.v[-1])
    for name in ("b", "c", "v"):
        agrees(getattr(trace, name), getattr(expected, name))


@ROUNDS
def test_the_gradients_are_the_same(rounds):
    u_hat = noise(B, I, J, D_OUT)
    weights = noise(B, J, D_OUT, seed=1)
    gradients = []
    for routing in (route_by_messages, route):
        leaf = u_hat.clone().requires_grad_()
        gradients += torch.autograd.grad((routing(leaf, rounds) * weights).sum(), leaf)
    actual, expected = gradients
    torch.testing.assert_close(actual, expected, atol=1e-12, rtol=0)
    assert expected.abs().max() > 1e-3


# --- on graphs with fewer edges


@ROUNDS
def test_a_thin_graph_is_a_masked_softmax(rounds):
    u_hat, links = noise(B, I, J, D_OUT), some_links()
    links[~links.any(1), 1] = True  # -∞ everywhere has no softmax
    v, trace = route_by_messages(u_hat, rounds, links=links, return_trace=True)
    expected, couplings = by_masked_softmax(u_hat, rounds, links)
    torch.testing.assert_close(v, expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(trace.c[-1], couplings, atol=1e-12, rtol=0)


def test_a_capsule_without_edges_says_and_hears_nothing():
    u_hat, links = noise(B, I, J, D_OUT).requires_grad_(), some_links()
    v, trace = route_by_messages(u_hat, links=links, return_trace=True)
    assert v[:, 3].eq(0).all()
    assert trace.c[:, :, 2].eq(0).all()
    torch.testing.assert_close(
        trace.c.sum(3)[:, :, links.any(1)], torch.ones(3, B, int(links.any(1).sum())).double()
    )
    (grad,) = torch.autograd.grad(v.sum(), u_hat)
    assert grad.isfinite().all()
    assert grad[:, ~links].eq(0).all()
    assert grad[:, links].ne(0).any()


# --- what is refused


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: route_by_messages(torch.ones(2, 3, 4)),
            r"\[B, I, J, D_out\]; got shape \[2, 3, 4\]",
        ),
        (
            lambda: route_by_messages(torch.ones(1, 2, 3, 4), links=torch.ones(3, 2).bool()),
            r"\[2, 3\]; got.*\[3, 2\]",
        ),
        (
            lambda: CapsuleRouting()(all_pairs(2, 3), torch.ones(5, 4), 2, 3),
            r"int64 \[2, 5\].*\[2, 6\]",
        ),
        (
            lambda: CapsuleRouting()(all_pairs(2, 3), torch.ones(6, 4), 3, 2),
            "to 0 … 1; got.*to 0 … 2",
        ),
    ],
)
def test_wrong_calls_are_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
