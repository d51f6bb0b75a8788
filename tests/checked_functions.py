"""Right and wrong functions in people's styles, written without sight of the checkers.

`WRONG` has the ids that have to be named. A fault outside the catalogue has none, and must be
reported all the same.
Nothing may be reported of those in `RIGHT`. `make()` gives a new one: some remember their calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F


class Sample(NamedTuple):
    """A function that a checker must accept, or reject with these bugs named."""

    name: str
    piece: str
    bugs: frozenset[str]
    make: Callable[[], Any]


WRONG: list[Sample] = []
RIGHT: list[Sample] = []


def wrong(
    piece: str, *bugs: str, made: bool = False, among: list[Sample] = WRONG
) -> Callable[[Any], Any]:
    """Enter a function under its name.

    A class is entered as the maker of its instances, which are called; so is a maker of functions,
    with `made`.
    """

    def enter(function: Any) -> Any:
        make = function if made or isinstance(function, type) else lambda: function
        among.append(Sample(function.__name__.replace("_", " "), piece, frozenset(bugs), make))
        return function

    return enter


right = partial(wrong, among=RIGHT)


# Two squashes for functions that are about something else: one with, one without epsilon.


def squash(s, dim=-1):
    n2 = (s**2).sum(dim, keepdim=True)
    return n2 / (1 + n2) * s / torch.sqrt(n2 + 1e-9)


def bare(s, dim=-1):
    n2 = s.pow(2).sum(dim=dim, keepdim=True)
    return n2 * s / ((1.0 + n2) * torch.sqrt(n2))


@wrong("squash", "squash-axis")
def squash_with_the_default_axis_of_normalize(s):
    n2 = s.square().sum(-1, keepdim=True)
    return n2 / (1 + n2) * F.normalize(s)  # over dim=1, unless told otherwise


@wrong("squash", "squash-nan")
def squash_with_epsilon_after_the_root(s):
    n2 = (s**2).sum(dim=-1, keepdim=True)
    return n2 / (1 + n2) * s / (torch.sqrt(n2) + 1e-8)  # zero at zero; its gradient is not


@right("squash")
def squash_by_vector_norm_plus_epsilon(s):
    n = torch.linalg.vector_norm(s, dim=-1, keepdim=True)  # its gradient at zero is zero
    return n**2 / (1 + n**2) * s / (n + 1e-9)


@wrong("primary_capsules", "capsule-view", "squash-axis", "squash-nan")
def capsules_with_all_three(features, dim):
    u = [unit.reshape(len(unit), -1) for unit in features.chunk(dim, dim=1)]
    u = torch.stack(u, dim=-1).reshape(len(features), dim, -1).transpose(1, 2)
    return bare(u.unsqueeze(-1)).squeeze(-1)


@wrong("primary_capsules")
def capsules_after_relu(features, dim):
    return squash(F.relu(features).permute(0, 2, 3, 1).reshape(len(features), -1, dim))


@right("primary_capsules")
def capsules_from_strided_slices(features, dim):
    return torch.stack([features[:, d::dim].flatten(1) for d in range(dim)], dim=2)


@wrong("routing", "softmax-axis")
def routing_by_messages_weighed_at_their_destination(u_hat, iterations):
    B, I, J, D = u_hat.shape
    to = torch.arange(J).repeat(I)
    message = u_hat.flatten(1, 2)  # one for each edge
    b = torch.zeros(B, I * J)
    for _ in range(iterations):
        e = b.exp()
        c = e / torch.zeros(B, J).index_add(1, to, e)[:, to]
        v = squash(torch.zeros(B, J, D).index_add(1, to, c.unsqueeze(-1) * message))
        b = b + (message * v[:, to]).sum(-1)
    return v


@wrong("routing", "batch-agreement", "stale-logits", made=True)
def routing_with_one_set_of_logits_for_all_images_and_calls():
    logits = {}

    def route(u_hat, iterations):
        I, J = u_hat.shape[1:3]
        b = logits.get((I, J), torch.zeros(1, I, J, 1))
        for _ in range(iterations):
            v = squash((b.softmax(2) * u_hat).sum(1, keepdim=True))
            b = b + (u_hat * v).sum(-1, keepdim=True).mean(0, keepdim=True)
        logits[I, J] = b.detach()
        return v.squeeze(1)

    return route


@wrong("routing")
@torch.no_grad()
def routing_without_gradient(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(2).unsqueeze(-1) * u_hat).sum(dim=1))
        b += (u_hat * v.unsqueeze(1)).sum(-1)
    return v


@right("routing")
def routing_by_bmm(u_hat, iterations):
    B, I, J, D = u_hat.shape
    u = u_hat.permute(0, 2, 1, 3).reshape(B * J, I, D)
    b = torch.zeros(B * J, I, 1)
    for _ in range(iterations):
        c = b.view(B, J, I).softmax(1).view(B * J, 1, I)
        v = squash(torch.bmm(c, u))  # [B * J, 1, D]
        b = b + torch.bmm(u, v.transpose(1, 2))
    return v.view(B, J, D)


@right("routing")
def routing_with_the_inner_rounds_detached(u_hat, iterations):
    fixed = u_hat.detach()
    b = torch.zeros(u_hat.shape[:3])
    for r in range(iterations):
        u = u_hat if r == iterations - 1 else fixed
        v = squash(torch.einsum("bij,bije->bje", b.softmax(2), u))
        b = b + torch.einsum("bije,bje->bij", fixed, v)
    return v


@right("routing")
def routing_by_factors(u_hat, iterations):
    c, v = torch.ones(u_hat.shape[:3]), torch.zeros_like(u_hat[:, 0])
    for _ in range(iterations):
        c = c * torch.exp((u_hat * v[:, None]).sum(-1))
        c = c / c.sum(2, keepdim=True)
        v = squash((c[..., None] * u_hat).sum(1))
    return v


@wrong("margin_loss")
def margin_as_a_number_of_python(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (
        (T * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - 0.1) ** 2)
        .sum(1)
        .mean()
        .item()
    )


@wrong("margin_loss")
def margin_that_moves_the_absent_alone(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    present = T * F.relu(0.9 - lengths.detach()) ** 2
    return (
        (present + 0.5 * (1 - T) * F.relu(lengths - 0.1) ** 2).sum(1).sum()
    )  # a sum over the images, besides


@wrong("reconstruction_loss")
def reconstruction_detached_in_one_factor(reconstruction, images):
    off = reconstruction - images.flatten(1)
    return 0.0005 * (off * off.detach()).sum(1).mean()


@right("margin_loss")
def margin_by_gather(lengths, labels):
    mine = lengths.gather(1, labels.view(-1, 1)).squeeze(1)
    everyone = F.relu(lengths - 0.1).square().sum(1)
    return (F.relu(0.9 - mine).square() + 0.5 * (everyone - F.relu(mine - 0.1).square())).mean()


@wrong("mask", "mask-prediction")
def mask_that_fills_all_but_the_prediction(v, labels):
    n = torch.linalg.vector_norm(v, dim=-1, keepdim=True)
    return v.masked_fill(n < n.amax(1, keepdim=True), 0.0)


@right("mask")
def mask_in_place(v, labels):
    if labels is None:
        labels = v.norm(dim=-1).argmax(dim=-1)
    v[labels[:, None] != torch.arange(v.shape[1])] = 0.0
    return v


@right("reconstruction_loss")
def reconstruction_by_a_scaled_mean(reconstruction, images):
    return 0.392 * F.mse_loss(reconstruction.view(images.shape), images)  # 0.0005 * 784
