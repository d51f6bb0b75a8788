"""attention.py: self-attention routing is the paper's that it comes from."""

from __future__ import annotations

import math

import pytest
import torch
from capsnet_book.routings.self_attention import attention_couplings, route_by_attention
from networks import noise

from capsnet_tutorial.functional import squash

U_HAT = noise(2, 5, 3, 4)


def test_couplings_are_a_softmax_over_j_of_how_much_all_pairs_agree():
    c = attention_couplings(U_HAT)
    for u_hat, shares in zip(U_HAT, c, strict=True):
        attention = torch.einsum("ijd,kjd->ikj", u_hat, u_hat) / math.sqrt(4)  # every pair of capsules below
        torch.testing.assert_close(shares, attention.sum(dim=1).softmax(dim=1))


def test_the_output_is_the_squashed_sum_with_the_prior_added_after_the_softmax():
    prior = noise(5, 3)
    c = attention_couplings(U_HAT) + prior
    for b in range(2):
        s = torch.stack([sum(c[b, i, j] * U_HAT[b, i, j] for i in range(5)) for j in range(3)])
        torch.testing.assert_close(route_by_attention(U_HAT, prior)[b], squash(s))
    assert route_by_attention(U_HAT).equal(route_by_attention(U_HAT, torch.zeros_like(prior)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_computed_in_single_and_handed_back(dtype):
    u_hat, prior = 30 * U_HAT.to(dtype), noise(5, 3, dtype=dtype)
    v = route_by_attention(u_hat, prior)
    assert attention_couplings(u_hat).equal(attention_couplings(u_hat.float()))
    assert v.dtype == dtype
    assert v.equal(route_by_attention(u_hat.float(), prior.float()).to(dtype))


def test_autocast_does_not_reach_it():
    u_hat = U_HAT.float()
    with torch.autocast("cpu", torch.bfloat16):
        came = attention_couplings(u_hat), route_by_attention(u_hat)
    assert came[0].equal(attention_couplings(u_hat))
    assert came[1].equal(route_by_attention(u_hat))


def test_one_capsule_above_takes_all():
    assert (attention_couplings(U_HAT[:, :, :1]) == 1).all()


def test_a_prior_of_another_shape_is_told():
    with pytest.raises(ValueError, match=r"prior of shape \[5, 3\].*\[3, 5\]"):
        route_by_attention(U_HAT, noise(3, 5))
    with pytest.raises(ValueError, match="u_hat"):
        attention_couplings(U_HAT[0])
