"""Functions that route u_hat [B, I, J, D], wrong in ways that the catalogue does not list."""

from __future__ import annotations

import torch

from checked_functions.entries import NEVER_RETURNS, right, squash, wrong


@wrong("routing")
def routing_that_replaces_its_logits(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash(torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat))
        b = torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing")
def routing_without_squash(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat)
        b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing")
def routing_with_a_round_too_many(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations + 1):
        v = squash((b.softmax(2)[..., None] * u_hat).sum(1))
        b = b + (u_hat * v[:, None]).sum(-1)
    return v


@right("routing")
def routing_always_in_three_rounds(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(3):
        v = squash((b.softmax(2)[..., None] * u_hat).sum(1))
        b = b + (u_hat * v[:, None]).sum(-1)
    return v


@wrong("routing")
def routing_by_agreement_with_s(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        s = torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat)
        b = b + torch.einsum("bijd,bjd->bij", u_hat, s)
    return squash(s)


@wrong("routing")
def routing_by_sigmoids(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash(torch.einsum("bij,bijd->bjd", b.sigmoid(), u_hat))
        b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing")
def routing_with_a_mean_over_i(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(2).unsqueeze(-1) * u_hat).mean(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(-1)
    return v


@wrong("routing")
def routing_with_logits_that_begin_at_random(u_hat, iterations):
    b = torch.randn(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(2).unsqueeze(-1) * u_hat).sum(dim=1))
        b = b + (u_hat * v.unsqueeze(1)).sum(-1)
    return v


@wrong("routing")
@torch.no_grad()
def routing_without_gradient(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(2).unsqueeze(-1) * u_hat).sum(dim=1))
        b += (u_hat * v.unsqueeze(1)).sum(-1)
    return v


@wrong("routing")
def routing_with_an_axis_left_over(u_hat, iterations):
    b = torch.zeros(*u_hat.shape[:3], 1)
    for _ in range(iterations):
        v = squash((b.softmax(2) * u_hat).sum(dim=1, keepdim=True))
        b = b + (u_hat * v).sum(-1, keepdim=True)
    return v


@wrong("routing")
def routing_that_raises(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(2) * u_hat).sum(1))
        b = b + (u_hat * v).sum(-1)
    return v


@wrong("routing")
def routing_that_prints_its_answer(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(2).unsqueeze(-1) * u_hat).sum(1))
        b = b + (u_hat * v.unsqueeze(1)).sum(-1)
    print(v.shape)


@wrong("routing", among=NEVER_RETURNS)
def routing_whose_counter_stands_still(u_hat, iterations):
    b, r = torch.zeros(u_hat.shape[:3]), 0
    while r < iterations:
        v = squash((b.softmax(2).unsqueeze(-1) * u_hat).sum(1))
        b = b + (u_hat * v.unsqueeze(1)).sum(-1)
    return v
