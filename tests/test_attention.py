"""attention.py: self-attention routing is the paper's that it comes from."""

from __future__ import annotations

import math

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
