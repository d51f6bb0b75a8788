"""What the checkers are judged by: right and wrong answers to the exercises, in the styles people write them.

Nothing here is a test. `WRONG` holds functions with planted bugs, each with the ids of the catalogue that a
perfect checker reports; none for a fault outside the catalogue, which must be reported all the same. Nothing
may be reported of those in `RIGHT`. Those in `NEVER_RETURNS` have to be interrupted. All of it was written
without sight of the checkers, after public code, some of it line for line.

To whoever calls them: give them float32 (`torch.zeros` beside a float64 tensor fails in many an einsum), and
tensors that are neither leaves nor needed again (some are overwritten). Those with stale logits are right only
in the first call for a shape; a checker has but one instance. `make()` gives a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Wrong(NamedTuple):
    """A function that a checker must reject, and the bugs that it must name."""

    name: str
    piece: str
    bugs: frozenset[str]
    make: Callable[[], Any]


class Right(NamedTuple):
    """A function that a checker must accept."""

    name: str
    piece: str
    make: Callable[[], Any]


WRONG: list[Wrong] = []
RIGHT: list[Right] = []
NEVER_RETURNS: list[Wrong] = []


def wrong(piece: str, *bugs: str, among: list[Wrong] = WRONG) -> Callable[[Any], Any]:
    """Enter a function, or a class whose instances are called, under its own name."""

    def enter(fn: Any) -> Any:
        make = fn if isinstance(fn, type) else lambda: fn
        among.append(Wrong(fn.__name__.replace("_", " "), piece, frozenset(bugs), make))
        return fn

    return enter


def wrong_made_by(piece: str, *bugs: str) -> Callable[[Any], Any]:
    """Enter a function that makes the function: a new one, with nothing kept from the last, at every call."""

    def enter(make: Any) -> Any:
        WRONG.append(Wrong(make.__name__.replace("_", " "), piece, frozenset(bugs), make))
        return make

    return enter


def right(piece: str) -> Callable[[Any], Any]:
    """Enter a function, or a class whose instances are called, under its own name."""

    def enter(fn: Any) -> Any:
        make = fn if isinstance(fn, type) else lambda: fn
        RIGHT.append(Right(fn.__name__.replace("_", " "), piece, make))
        return fn

    return enter


# Two squashes for the functions below that are about something else: one with, one without epsilon.


def squash(s, dim=-1):
    n2 = (s**2).sum(dim, keepdim=True)
    return n2 / (1 + n2) * s / torch.sqrt(n2 + 1e-9)


def bare(s, dim=-1):
    n2 = s.pow(2).sum(dim=dim, keepdim=True)
    return n2 * s / ((1.0 + n2) * torch.sqrt(n2))


# --- squash: wrong


@wrong("squash", "squash-axis")
def squash_over_the_classes(s):
    squared = torch.sum(s * s, dim=1, keepdim=True)
    return squared / (1 + squared) * s / torch.sqrt(squared + 1e-8)


@wrong("squash", "squash-axis")
def squash_over_the_batch_where_no_keepdim_is_missed(s):
    n2 = s.square().sum(0)
    return (n2 / (1 + n2)) * (s / (n2 + 1e-9).sqrt())


@wrong("squash", "squash-axis")
def squash_through_a_trailing_axis_of_one(s):
    return squash(s.unsqueeze(-1)).squeeze(-1)


@wrong("squash", "squash-axis")
def squash_of_each_number(s):
    return s * s.abs() / (1 + s**2)


@wrong("squash", "squash-axis")
def squash_by_one_norm_for_everything(s):
    n = torch.norm(s) + 1e-8
    return n**2 / (1 + n**2) * s / n


@wrong("squash", "squash-axis")
def squash_with_the_default_axis_of_normalize(s):
    n2 = s.square().sum(-1, keepdim=True)
    return n2 / (1 + n2) * F.normalize(s)  # over dim=1, unless told otherwise


@wrong("squash", "squash-axis")
def squash_over_capsules_and_their_numbers(s):
    n = s.flatten(1).norm(dim=1).clamp(min=1e-7).view(-1, 1, 1)
    return s * n / (1 + n * n)


@wrong("squash", "squash-nan")
def squash_by_the_bare_norm(s):
    n = s.norm(dim=-1, keepdim=True)
    return n**2 / (1 + n**2) * (s / n)


@wrong("squash", "squash-nan")
def squash_by_the_bare_root(s):
    squared_norm = (s**2).sum(-1, keepdim=True)
    return squared_norm * s / ((1.0 + squared_norm) * torch.sqrt(squared_norm))


@wrong("squash", "squash-nan")
def squash_with_epsilon_after_the_root(s):
    n2 = (s**2).sum(dim=-1, keepdim=True)
    return n2 / (1 + n2) * s / (torch.sqrt(n2) + 1e-8)  # zero at zero; its gradient is not


@wrong("squash", "squash-nan")
def squash_with_epsilon_beside_the_one(s):
    n2 = (s**2).sum(dim=-1, keepdim=True)
    return n2 / (1 + n2 + 1e-8) * s / n2.sqrt()


@wrong("squash", "squash-nan")
def squash_patched_by_where(s):
    n = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
    return torch.where(n > 0, n**2 / (1 + n**2) * s / n, torch.zeros_like(s))


@wrong("squash", "squash-nan")
def squash_patched_by_nan_to_num(s):
    return torch.nan_to_num(bare(s))


@wrong("squash", "squash-nan")
def squash_patched_for_all_zeros_only(s):
    return s if not s.any() else bare(s)


@wrong("squash", "squash-nan")
def squash_simplified_but_for_the_root(s):
    n2 = torch.einsum("bjd,bjd->bj", s, s)[..., None]
    return n2**0.5 / (1 + n2) * s


@wrong("squash", "squash-axis", "squash-nan")
def squash_over_the_classes_without_epsilon(s):
    n = torch.norm(s, p=2, dim=1, keepdim=True)
    return (n**2 / (1 + n**2)) * (s / n)


@wrong("squash", "squash-axis", "squash-nan")
def squash_of_columns_without_epsilon(s):
    return bare(s[..., None])[..., 0]


@wrong("squash", "squash-axis", "squash-nan")
def squash_of_flattened_images_without_epsilon(s):
    flat = s.reshape(len(s), -1)
    n2 = (flat * flat).sum(1, keepdim=True)
    return (n2 / (1 + n2) * flat / n2.sqrt()).view_as(s)


@wrong("squash", "squash-axis", "squash-nan")
def squash_over_the_batch_with_epsilon_after_the_root(s):
    n2 = (s**2).sum(dim=0, keepdim=True)
    return n2 / (1 + n2) * s / (n2.sqrt() + 1e-7)


@wrong("squash")
def squash_with_a_large_epsilon(s, eps=0.1):
    n = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
    return n**2 / (1 + n**2) * s / (n + eps)


@wrong("squash")
def squash_to_unit_length(s):
    return F.normalize(s, dim=-1)


@wrong("squash")
def squash_with_a_square_forgotten(s):
    n = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
    return n / (1 + n) * s / (n + 1e-8)


@wrong("squash")
def squash_of_efficient_capsnet(s):
    n = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
    return (1 - torch.exp(-n)) * s / (n + 1e-8)


@wrong("squash")
def squash_by_tanh(s):
    return torch.tanh(s)


@wrong("squash")
def squash_that_hands_back_lengths(s):
    n2 = s.square().sum(-1)
    return n2 / (1 + n2)


@wrong("squash")
def squash_with_keepdim_forgotten(s):
    n = s.norm(dim=-1) + 1e-8
    return n**2 / (1 + n**2) * s / n  # raises, unless the axes happen to match


@wrong("squash")
def squash_of_nan(s):
    n = torch.sqrt(-s.square().sum(-1, keepdim=True) - 1e-8)
    return n**2 / (1 + n**2) * s / n


@wrong("squash")
def squash_cut_off_from_the_gradient(s):
    return torch.tensor(squash(s).tolist())


@wrong("squash")
def squash_without_return(s):
    n2 = (s**2).sum(-1, keepdim=True)
    s = n2 / (1 + n2) * s / (n2 + 1e-8).sqrt()


# --- squash: right


@right("squash")
def squash_as_in_the_paper(s):
    n2 = (s**2).sum(dim=-1, keepdim=True)
    return (n2 / (1 + n2)) * (s / torch.sqrt(n2 + 1e-12))


@right("squash")
def squash_with_more_arguments(s, dim=-1, epsilon=1e-7):
    n2 = s.pow(2).sum(dim, keepdim=True)
    return s * n2 / (1 + n2) * (n2 + epsilon).rsqrt()


@right("squash")
def squash_with_a_clamped_length(s):
    n = s.norm(dim=2, keepdim=True).clamp_min(1e-8)
    return s / (n + 1 / n)


@right("squash")
def squash_with_a_clamped_square(s):
    n2 = s.square().sum(-1, keepdim=True).clamp(min=1e-10)
    return n2.sqrt() / (1 + n2) * s


@right("squash")
def squash_by_vector_norm_plus_epsilon(s):
    n = torch.linalg.vector_norm(s, dim=-1, keepdim=True)  # its gradient at zero is zero
    return n**2 / (1 + n**2) * s / (n + 1e-9)


@right("squash")
def squash_simplified(s):
    n = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
    return s * n / (1 + n * n)  # nothing left to divide by


@right("squash")
def squash_by_normalize(s):
    return F.normalize(s, dim=-1) * (1 - 1 / (1 + s.square().sum(-1, keepdim=True)))


@right("squash")
def squash_patched_twice(s):
    n2 = (s * s).sum(-1, keepdim=True)
    zero = n2 == 0
    n = torch.where(zero, torch.ones_like(n2), n2).sqrt()
    return torch.where(zero, torch.zeros_like(s), n / (1 + n2) * s)


@right("squash")
def squash_in_double(s):
    x = s.double()
    n2 = torch.einsum("...d,...d->...", x, x).unsqueeze(-1)
    return n2 / (1 + n2) * x / torch.sqrt(n2 + 1e-12)


@right("squash")
def squash_in_double_and_back(s):
    return squash(s.to(torch.float64)).to(s.dtype)


@right("squash")
def squash_in_loops(s):
    images = []
    for image in s:
        capsules = []
        for capsule in image:
            n2 = sum(x**2 for x in capsule)
            capsules.append(torch.stack([n2 / (1 + n2) * x / (n2 + 1e-9) ** 0.5 for x in capsule]))
        images.append(torch.stack(capsules))
    return torch.stack(images)


@right("squash")
def squash_in_place_on_a_copy(s):
    n2 = s.square().sum(-1, keepdim=True)
    v = s.clone()
    v *= n2 / (1 + n2)
    v /= torch.sqrt(n2 + 1e-8)
    return v


@right("squash")
class SquashModule(nn.Module):
    def forward(self, s):
        n = torch.sqrt(torch.sum(s**2, -1, keepdim=True) + 1e-11)
        return n * n / (1 + n * n) * s / n


RIGHT += [
    Right("squash as a partial", "squash", lambda: partial(squash, dim=2)),
    Right(
        "squash as a lambda",
        "squash",
        lambda: lambda s: s / (s.norm(dim=-1, keepdim=True) + 1e-9) * (1 - 1 / (1 + s.norm(dim=-1, keepdim=True) ** 2)),
    ),
]


# --- primary capsules: wrong


@wrong("primary_capsules", "capsule-view")
def capsules_by_view(features, dim):
    return features.view(features.size(0), -1, dim)


@wrong("primary_capsules", "capsule-view")
def capsules_by_view_then_squash(features, dim):
    u = features.reshape(len(features), -1, dim)
    return squash(u)


@wrong("primary_capsules", "capsule-view")
def capsules_with_the_numbers_last_in_a_view(features, dim):
    B, C, H, W = features.shape
    return squash(features.view(B, C // dim, H * W, dim).flatten(1, 2))


@wrong("primary_capsules", "capsule-view")
def capsules_with_rows_and_channels_swapped(features, dim):
    return features.transpose(1, 2).reshape(features.shape[0], -1, dim)


@wrong("primary_capsules", "capsule-view")
def capsules_of_each_type_by_view(features, dim):
    parts = [part.reshape(len(part), -1, dim) for part in features.split(dim, dim=1)]
    return squash(torch.cat(parts, dim=1))


@wrong("primary_capsules", "capsule-view")
def capsules_squashed_then_reshaped_instead_of_transposed(features, dim):
    u = squash(features.reshape(len(features), dim, -1), dim=1)
    return u.reshape(len(features), -1, dim)


@wrong("primary_capsules", "capsule-view")
def capsules_by_view_after_relu(features, dim):
    return squash(F.relu(features).view(len(features), -1, dim))


@wrong("primary_capsules", "squash-axis")
def capsules_squashed_over_all_1152(features, dim):
    B, C, H, W = features.shape
    u = features.view(B, C // dim, dim, H, W).permute(0, 1, 3, 4, 2).reshape(B, -1, dim)
    return squash(u, dim=1)


@wrong("primary_capsules", "squash-axis")
def capsules_squashed_before_they_are_transposed(features, dim):
    B, C = features.shape[:2]
    units = [features[:, d * (C // dim) : (d + 1) * (C // dim)].reshape(B, -1) for d in range(dim)]
    u = torch.stack(units, dim=1)  # [B, dim, 1152]
    n2 = (u**2).sum(dim=2, keepdim=True)
    return (n2 / (1 + n2) * u / torch.sqrt(n2 + 1e-8)).transpose(1, 2)


@wrong("primary_capsules", "squash-axis")
def capsules_squashed_number_by_number(features, dim):
    u = features.permute(0, 2, 3, 1).reshape(len(features), -1, dim, 1)
    return squash(u).squeeze(-1)


@wrong("primary_capsules", "squash-axis")
def capsules_squashed_over_all_channels(features, dim):
    return squash(features, dim=1).movedim(1, -1).reshape(len(features), -1, dim)


@wrong("primary_capsules", "squash-nan")
def capsules_squashed_without_epsilon(features, dim):
    u = features.flatten(2).transpose(1, 2).reshape(features.shape[0], -1, dim)
    n = u.norm(dim=-1, keepdim=True)
    return u / n * n**2 / (1 + n**2)


@wrong("primary_capsules", "squash-nan")
def capsules_with_epsilon_after_the_root(features, dim):
    B, C, H, W = features.shape
    u = features.view(B, C // dim, dim, H * W)
    n2 = u.square().sum(2, keepdim=True)
    return (n2 / (1 + n2) * u / (n2.sqrt() + 1e-9)).transpose(2, 3).flatten(1, 2)


@wrong("primary_capsules", "capsule-view", "squash-nan")
def capsules_by_view_without_epsilon(features, dim):
    u = features.contiguous().view(features.size(0), -1, dim)
    return bare(u)


@wrong("primary_capsules", "capsule-view", "squash-axis")
def capsules_by_view_squashed_over_all_1152(features, dim):
    return squash(features.view(features.size(0), -1, dim), dim=1)


@wrong("primary_capsules", "squash-axis", "squash-nan")
def capsules_squashed_over_all_1152_without_epsilon(features, dim):
    u = features.permute(0, 2, 3, 1).flatten(1, 2).unflatten(2, (-1, dim)).flatten(1, 2)
    return bare(u, dim=1)


@wrong("primary_capsules", "capsule-view", "squash-axis", "squash-nan")
def capsules_with_all_three(features, dim):
    u = [unit.reshape(len(unit), -1) for unit in features.chunk(dim, dim=1)]
    u = torch.stack(u, dim=-1).reshape(len(features), dim, -1).transpose(1, 2)
    return bare(u.unsqueeze(-1)).squeeze(-1)


@wrong("primary_capsules")
def capsules_after_relu(features, dim):
    return squash(F.relu(features).permute(0, 2, 3, 1).reshape(len(features), -1, dim))


@wrong("primary_capsules")
def capsules_by_tanh(features, dim):
    return torch.tanh(features.permute(0, 2, 3, 1).reshape(len(features), -1, dim))


@wrong("primary_capsules")
def capsules_scaled_down_instead_of_squashed(features, dim):
    return 0.01 * features.movedim(1, 3).reshape(len(features), -1, dim)


@wrong("primary_capsules")
def capsules_divided_by_their_types(features, dim):
    B, C, H, W = features.shape
    u = features.view(B, C // dim, dim, H, W).permute(0, 1, 3, 4, 2).reshape(B, -1, dim)
    return squash(u / (C // dim))


@wrong("primary_capsules")
def capsules_left_untransposed(features, dim):
    return features.view(len(features), dim, -1)


@wrong("primary_capsules")
def capsules_averaged_over_places(features, dim):
    return squash(features.mean((2, 3)).view(len(features), -1, dim))


@wrong("primary_capsules")
def capsules_that_raise(features, dim):
    return features.permute(0, 2, 3, 1).view(len(features), -1, dim, dim)


# --- primary capsules: right


@right("primary_capsules")
def capsules_type_by_type(features, dim):
    B, C, H, W = features.shape
    return features.view(B, C // dim, dim, H, W).permute(0, 1, 3, 4, 2).reshape(B, -1, dim)


@right("primary_capsules")
def capsules_place_by_place(features, dim):
    return features.permute(0, 2, 3, 1).reshape(features.shape[0], -1, dim)


@right("primary_capsules")
def capsules_place_by_place_squashed(features, dim):
    return squash(features.permute(0, 2, 3, 1).contiguous().view(len(features), -1, dim))


@right("primary_capsules")
def capsules_column_by_column(features, dim):
    return squash(features.transpose(1, 3).reshape(len(features), -1, dim))


@right("primary_capsules")
def capsules_whose_numbers_lie_types_apart(features, dim):
    return features.view(features.size(0), dim, -1).transpose(1, 2)


@right("primary_capsules")
def capsules_from_one_slice_a_number(features, dim):
    types = features.shape[1] // dim
    units = [features[:, d * types : (d + 1) * types] for d in range(dim)]  # dim convolutions, as it were
    return squash(torch.stack(units, dim=-1).flatten(1, 3))


@right("primary_capsules")
def capsules_from_strided_slices(features, dim):
    return torch.stack([features[:, d::dim].flatten(1) for d in range(dim)], dim=2)


@right("primary_capsules")
def capsules_squashed_while_channels_are_apart(features, dim):
    u = squash(features.unflatten(1, (-1, dim)), dim=2)
    return u.movedim(2, -1).flatten(1, -2)


@right("primary_capsules")
def capsules_in_loops(features, dim):
    C, H, W = features.shape[1:]
    u = []
    for y in range(H):
        for x in range(W):
            for t in range(0, C, dim):
                u.append(features[:, t : t + dim, y, x])
    return torch.stack(u, dim=1)


@right("primary_capsules")
class CapsulesByUnfold(nn.Module):
    def forward(self, features, dim):
        places = F.unfold(features, kernel_size=1)  # [B, types * dim, places]
        u = torch.cat([part.mT for part in places.split(dim, dim=1)], dim=1).double()
        n2 = u.square().sum(-1, keepdim=True)
        return (u * n2 / (1 + n2) / (n2 + 1e-10).sqrt()).float()


# --- routing: wrong. Softmax over the wrong axis


@wrong("routing", "softmax-axis")
def routing_in_five_dimensions_softmax_over_i(u_hat, iterations):
    u_hat = u_hat.unsqueeze(-1)  # [B, I, J, D, 1]
    b = torch.zeros(*u_hat.shape[:3], 1, 1)
    for r in range(iterations):
        c = F.softmax(b, dim=1)
        v = squash((c * u_hat).sum(dim=1, keepdim=True), dim=3)
        if r < iterations - 1:
            b = b + torch.matmul(u_hat.transpose(3, 4), v)
    return v.squeeze(4).squeeze(1)


@wrong("routing", "softmax-axis")
class RoutingBySoftmaxModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=1)

    def forward(self, u, iterations):
        b = u.new_zeros(u.shape[0], u.shape[1], u.shape[2])
        v = None
        for _ in range(iterations):
            c = self.softmax(b)
            s = torch.einsum("bij,bijm->bjm", c, u)
            v = squash(s)
            b = b + torch.einsum("bjm,bijm->bij", v, u)
        return v


@wrong("routing", "softmax-axis")
def routing_transposed_with_the_softmax_left_where_it_was(u_hat, iterations):
    u_hat = u_hat.transpose(1, 2)  # [B, J, I, D]
    b = torch.zeros(u_hat.shape[:3]).unsqueeze(-1)
    for _ in range(iterations):
        v = squash((b.softmax(dim=2) * u_hat).sum(2, keepdim=True))
        b = b + u_hat @ v.transpose(2, 3)
    return v.squeeze(2)


@wrong("routing", "softmax-axis")
def routing_capsules_first_softmax_over_i(u_hat, iterations):
    priors = u_hat.permute(2, 0, 1, 3)[:, :, :, None, :]  # [J, B, I, 1, D]
    logits = torch.zeros(*priors.size())
    for i in range(iterations):
        probs = logits.softmax(dim=2)
        outputs = squash((probs * priors).sum(dim=2, keepdim=True))
        if i != iterations - 1:
            logits = logits + (priors * outputs).sum(dim=-1, keepdim=True)
    return outputs.squeeze(3).squeeze(2).transpose(0, 1)


@wrong("routing", "softmax-axis")
def routing_by_a_softmax_whose_axis_is_left_out(u_hat, iterations):
    b = torch.zeros(*u_hat.shape[:3], 1)
    for _ in range(iterations):
        c = F.softmax(b)  # of four axes, PyTorch takes the second
        v = squash((c * u_hat).sum(1))
        b = b + (u_hat * v[:, None]).sum(3, keepdim=True)
    return v


@wrong("routing", "softmax-axis")
def routing_by_a_softmax_over_the_batch(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        c = F.softmax(b)  # of three axes, the first
        v = squash(torch.einsum("nij,nijd->njd", c, u_hat))
        b = b + torch.einsum("njd,nijd->nij", v, u_hat)
    return v


@wrong("routing", "softmax-axis")
def routing_by_a_softmax_over_a_trailing_one(u_hat, iterations):
    b = torch.zeros_like(u_hat[..., :1])
    for _ in range(iterations):
        c = b.softmax(-1)
        v = squash((c * u_hat).sum(1, keepdim=True))
        b = b + (u_hat * v).sum(-1, keepdim=True)
    return v[:, 0]


@wrong("routing", "softmax-axis")
def routing_with_a_softmax_by_hand_over_i(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:-1])
    for _ in range(iterations):
        e = torch.exp(b - b.max())
        c = e / e.sum(1, keepdim=True)
        v = squash((c[..., None] * u_hat).sum(dim=1))
        b = b + torch.matmul(u_hat.transpose(1, 2), v[..., None]).squeeze(-1).transpose(1, 2)
    return v


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


# --- routing: wrong. Logits that are not updated, or once too seldom


@wrong("routing", "no-update-rounds")
def routing_with_couplings_fixed_before_the_loop(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    c = b.softmax(2)
    for _ in range(iterations):
        v = squash(torch.einsum("bij,bijd->bjd", c, u_hat))
        b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing", "no-update-rounds")
def routing_that_adds_to_nothing(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(-1)[..., None] * u_hat).sum(1))
        b.add((u_hat * v.unsqueeze(1)).sum(-1))  # add_ was meant
    return v


@wrong("routing", "no-update-rounds")
def routing_with_a_round_too_few(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations - 1):
        v = squash((b.softmax(-1)[..., None] * u_hat).sum(1))
        b = b + (u_hat * v.unsqueeze(1)).sum(-1)
    return v  # unknown after a single round


@wrong("routing", "no-update-rounds")
def routing_that_spares_the_last_two_updates(u_hat, iterations):
    b = torch.zeros_like(u_hat[..., 0])
    for r in range(iterations):
        v = squash(torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat))
        if r < iterations - 2:
            b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing", "no-update-rounds")
def routing_with_the_logits_made_anew_in_each_round(u_hat, iterations):
    for _ in range(iterations):
        b = torch.zeros(u_hat.shape[:3])
        c = F.softmax(b, dim=2)
        v = squash(torch.sum(c.unsqueeze(-1) * u_hat, dim=1))
        b = b + torch.sum(u_hat * v.unsqueeze(1), dim=-1)
    return v


@wrong("routing", "no-update-rounds")
def routing_with_the_update_after_the_loop(u_hat, iterations):
    u = u_hat.permute(0, 2, 3, 1)  # [B, J, D, I]
    b = torch.zeros(u.shape[0], u.shape[1], u.shape[3], 1)
    for _ in range(iterations):
        c = b.softmax(dim=1)
        v = squash(u @ c, dim=2)
    b = b + u.transpose(2, 3) @ v
    return v.squeeze(-1)


@wrong("routing", "no-update-rounds")
def routing_by_nothing_but_the_mean(u_hat, iterations):
    return squash(u_hat.sum(1) / u_hat.shape[2])


# --- routing: wrong. Images that share their logits


@wrong("routing", "batch-agreement")
def routing_with_the_agreement_averaged_over_the_batch(u_hat, iterations):
    B, I, J, _ = u_hat.shape
    b_ij = torch.zeros(1, I, J, 1)
    for r in range(iterations):
        c_ij = torch.cat([F.softmax(b_ij, dim=2)] * B, dim=0).unsqueeze(4)
        v_j = squash((c_ij * u_hat.unsqueeze(4)).sum(dim=1, keepdim=True), dim=3)
        if r < iterations - 1:
            a_ij = torch.matmul(u_hat.unsqueeze(4).transpose(3, 4), torch.cat([v_j] * I, dim=1))
            b_ij = b_ij + a_ij.squeeze(4).mean(dim=0, keepdim=True)
    return v_j.squeeze(4).squeeze(1)


@wrong("routing", "batch-agreement")
def routing_with_the_agreement_summed_over_the_batch(u_hat, iterations):
    b = torch.zeros(u_hat.shape[1:3])  # [I, J]
    for _ in range(iterations):
        v = squash(torch.einsum("ij,bijd->bjd", b.softmax(1), u_hat))
        b = b + torch.einsum("bijd,bjd->ij", u_hat, v)
    return v


@wrong("routing", "batch-agreement")
def routing_with_logits_of_its_own_for_each_image_but_one_update(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))
        b += (u_hat * v[:, None]).sum(3).detach().mean(0)
    return v


@wrong("routing", "batch-agreement")
def routing_by_the_first_image(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))
        b = b + (u_hat * v[:, None]).sum(3)[:1]
    return v


@wrong("routing", "batch-agreement")
def routing_capsules_first_averaged_over_the_batch(u_hat, iterations):
    u = u_hat.permute(2, 0, 1, 3)  # [J, B, I, D]
    b = u.new_zeros(u.shape[0], 1, u.shape[2], 1)
    for _ in range(iterations):
        v = squash((b.softmax(0) * u).sum(2, keepdim=True))
        b = b + (u * v).sum(3, keepdim=True).mean(dim=1, keepdim=True)
    return v.squeeze(2).transpose(0, 1)


# --- routing: wrong. Logits that outlive the call


@wrong("routing", "stale-logits")
class RoutingWithLogitsInABuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(0))

    def forward(self, u_hat, iterations):
        if self.b.shape != u_hat.shape[:3]:
            self.b = torch.zeros(u_hat.shape[:3])
        b = self.b
        for _ in range(iterations):
            v = squash(torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat))
            b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
        self.b = b.detach()
        return v


@wrong("routing", "stale-logits")
class RoutingWithLogitsOfTheFirstShape(nn.Module):
    b = None

    def forward(self, u_hat, iterations):
        if self.b is None:
            self.b = torch.zeros_like(u_hat[..., :1])
        for r in range(iterations):
            v = squash((self.b.softmax(2) * u_hat).sum(1))
            if r < iterations - 1:
                self.b = self.b + (u_hat * v.unsqueeze(1)).sum(-1, keepdim=True).detach()
        return v


@wrong_made_by("routing", "stale-logits")
def routing_with_logits_kept_for_each_shape():
    kept = {}

    def route(u_hat, iterations):
        b = kept.setdefault(u_hat.shape, torch.zeros(u_hat.shape[:3]))
        for _ in range(iterations):
            v = squash((b.softmax(dim=-1).unsqueeze(-1) * u_hat).sum(dim=1))
            b.data += (u_hat * v.unsqueeze(1)).sum(-1).data
        return v

    return route


@wrong_made_by("routing", "stale-logits")
def routing_with_logits_in_a_default_argument():
    def route(u_hat, iterations, state={}):  # noqa: B006
        b = state.get("b")
        if b is None or b.shape != u_hat.shape[:3]:
            b = torch.zeros(u_hat.shape[:3])
        for _ in range(iterations):
            v = squash((b.softmax(2)[..., None] * u_hat).sum(1))
            b = b + torch.einsum("bijd,bjd->bij", u_hat.detach(), v.detach())
        state["b"] = b
        return v

    return route


@wrong_made_by("routing", "stale-logits")
def routing_with_logits_and_their_graph_on_the_function():
    def route(u_hat, iterations):
        b = getattr(route, "b", None)
        b = torch.zeros(u_hat.shape[:3]) if b is None or b.shape != u_hat.shape[:3] else b
        for _ in range(iterations):
            v = squash(torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat))
            b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
        route.b = b  # a second call's gradient goes back through the first's graph
        return v

    return route


# --- routing: wrong. The squash inside


@wrong("routing", "squash-axis")
def routing_squashed_over_the_classes(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        s = torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat)
        n2 = s.pow(2).sum(1, keepdim=True)
        v = n2 / (1 + n2) * s / torch.sqrt(n2 + 1e-8)
        b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing", "squash-axis")
def routing_in_five_dimensions_squashed_number_by_number(u_hat, iterations):
    u_hat = u_hat[..., None]  # [B, I, J, D, 1]
    b = torch.zeros(*u_hat.shape[:3], 1, 1)
    for r in range(iterations):
        c = b.softmax(dim=2)
        v = squash((c * u_hat).sum(dim=1, keepdim=True))
        if r < iterations - 1:
            b = b + torch.matmul(u_hat.transpose(3, 4), v)
    return v[:, 0, :, :, 0]


@wrong("routing", "squash-axis")
def routing_squashed_along_the_axis_that_was_summed(u_hat, iterations):
    b = torch.zeros_like(u_hat).sum(-1, keepdim=True)
    for _ in range(iterations):
        s = (torch.softmax(b, 2) * u_hat).sum(dim=1, keepdim=True)
        v = squash(s, dim=1)  # an axis of size 1 by now
        b = b + (v * u_hat).sum(-1, keepdim=True)
    return v.squeeze(1)


@wrong("routing", "squash-axis")
def routing_capsules_first_squashed_over_the_batch(u_hat, iterations):
    u = u_hat.permute(2, 0, 1, 3)  # [J, B, I, D]
    b = torch.zeros(u.shape[:3])
    for _ in range(iterations):
        v = squash(torch.einsum("jbi,jbid->jbd", b.softmax(0), u), dim=1)
        b = b + torch.einsum("jbid,jbd->jbi", u, v)
    return v.transpose(0, 1)


@wrong("routing", "squash-nan")
def routing_with_a_bare_squash(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        s = (b.softmax(2).unsqueeze(-1) * u_hat).sum(1)
        n = s.norm(dim=-1, keepdim=True)
        v = s / n * n**2 / (1 + n**2)
        b = b + (u_hat * v.unsqueeze(1)).sum(-1)
    return v


@wrong("routing", "squash-nan")
def routing_detached_with_epsilon_after_the_root(u_hat, iterations):
    def shrink(s):
        n2 = s.square().sum(-1, keepdim=True)
        return n2 / (1 + n2) * s / (n2.sqrt() + 1e-9)

    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations - 1):
        v = shrink(torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat.detach()))
        b = b + torch.einsum("bijd,bjd->bij", u_hat.detach(), v)
    return shrink(torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat))


@wrong("routing", "squash-nan")
def routing_with_a_squash_patched_by_where(u_hat, iterations):
    b = u_hat.new_zeros(*u_hat.shape[:3], 1)
    for _ in range(iterations):
        s = (b.softmax(-2) * u_hat).sum(1, keepdim=True)
        v = torch.where((s == 0).all(-1, keepdim=True), s, bare(s))
        b = b + u_hat.mul(v).sum(-1, keepdim=True)
    return v.squeeze(1)


# --- routing: wrong. Several at once


@wrong("routing", "softmax-axis", "batch-agreement")
def routing_shared_by_the_batch_softmax_over_i(u_hat, iterations):
    b = torch.zeros(1, *u_hat.shape[1:3], 1)
    for _ in range(iterations):
        c = F.softmax(b)
        v = squash((c * u_hat).sum(1, keepdim=True))
        b = b + (u_hat * v).sum(-1, keepdim=True).sum(0, keepdim=True)
    return v.squeeze(1)


@wrong("routing", "softmax-axis", "batch-agreement")
def routing_capsules_first_softmax_over_i_agreement_over_the_batch(u_hat, iterations):
    u = u_hat.permute(2, 0, 1, 3)  # [J, B, I, D]
    b = torch.zeros(u.shape[0], u.shape[2])
    for _ in range(iterations):
        v = squash(torch.einsum("ji,jbid->jbd", b.softmax(dim=-1), u))
        b = b + torch.einsum("jbid,jbd->jbi", u, v).mean(1)
    return v.transpose(0, 1)


@wrong("routing", "softmax-axis", "stale-logits")
class RoutingWithAttributeAndSoftmaxOverI(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = None

    def forward(self, u_hat, iterations):
        if self.b is None or self.b.shape[:3] != u_hat.shape[:3]:
            self.b = u_hat.new_zeros(*u_hat.shape[:3], 1)
        for _ in range(iterations):
            v = squash((self.b.softmax(1) * u_hat).sum(1, keepdim=True))
            self.b = self.b + (u_hat * v).sum(-1, keepdim=True)
        self.b = self.b.detach()
        return v.squeeze(1)


@wrong("routing", "softmax-axis", "no-update-rounds")
def routing_never_updated_softmax_over_i(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        c = b.softmax(dim=1)
        v = squash((c.unsqueeze(-1) * u_hat).sum(dim=1))
        agreement = (u_hat * v.unsqueeze(1)).sum(dim=-1)
        b + agreement
    return v


@wrong("routing", "softmax-axis", "no-update-rounds")
def routing_a_round_too_few_softmax_over_i(u_hat, iterations):
    u = u_hat.transpose(1, 2)  # [B, J, I, D]
    b = torch.zeros(u.shape[:3])
    for r in range(iterations):
        v = squash((b.softmax(-1).unsqueeze(2) @ u).squeeze(2))
        if r + 2 < iterations:
            b = b + (u @ v.unsqueeze(-1)).squeeze(-1)
    return v


@wrong("routing", "softmax-axis", "squash-axis")
def routing_softmax_over_i_squash_over_classes(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash(torch.einsum("bij,bijd->bjd", b.softmax(1), u_hat), 1)
        b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing", "softmax-axis", "squash-nan")
def routing_capsules_first_softmax_over_i_bare_squash(u_hat, iterations):
    priors = u_hat.permute(2, 0, 1, 3).unsqueeze(3)  # [J, B, I, 1, D]
    logits = torch.zeros_like(priors)
    for i in range(iterations):
        outputs = bare((logits.softmax(dim=2) * priors).sum(dim=2, keepdim=True))
        if i != iterations - 1:
            logits = logits + (priors * outputs).sum(dim=-1, keepdim=True)
    return outputs[:, :, 0, 0].transpose(0, 1)


@wrong_made_by("routing", "batch-agreement", "stale-logits")
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


@wrong("routing", "batch-agreement", "squash-axis")
def routing_shared_by_the_batch_squash_over_classes(u_hat, iterations):
    b = u_hat.new_zeros(u_hat.shape[1:3])
    for _ in range(iterations):
        v = squash((b.softmax(1)[None, :, :, None] * u_hat).sum(1), dim=1)
        b = b + (u_hat * v.unsqueeze(1)).sum(-1).mean(0)
    return v


@wrong("routing", "batch-agreement", "squash-nan")
def routing_by_edges_shared_by_the_batch_with_a_bare_squash(u_hat, iterations):
    I, J = u_hat.shape[1:3]
    b = torch.zeros(I * J, 1)  # a logit an edge
    votes = u_hat.flatten(1, 2).transpose(0, 1)  # [edges, B, D]
    to = torch.arange(J).repeat(I)
    for _ in range(iterations):
        c = b.view(I, J).softmax(dim=1).view(I * J, 1, 1)
        s = torch.zeros(J, *votes.shape[1:]).index_add(0, to, c * votes)
        n2 = (s**2).sum(2, keepdim=True)
        v = n2 / (1 + n2) * s / n2.sqrt()
        b = b + (votes * v[to]).sum(-1).mean(dim=1, keepdim=True)
    return v.transpose(0, 1)


@wrong("routing", "batch-agreement", "no-update-rounds")
def routing_shared_by_the_batch_a_round_too_few(u_hat, iterations):
    b = torch.zeros(u_hat.shape[1:3])
    for _ in range(1, iterations):
        v = squash(torch.einsum("ij,bijd->bjd", b.softmax(1), u_hat))
        b = b + torch.einsum("bijd,bjd->bij", u_hat, v).mean(0)
    return v


@wrong("routing", "stale-logits", "squash-nan")
class RoutingWithAParameterAndABareSquash(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = nn.Parameter(torch.zeros(0), requires_grad=False)

    def forward(self, u_hat, iterations):
        if self.b.shape != u_hat.shape[:3]:
            self.b.data = torch.zeros(u_hat.shape[:3])
        for _ in range(iterations):
            s = (self.b.softmax(2).unsqueeze(-1) * u_hat).sum(1)
            n = torch.linalg.norm(s, dim=-1, keepdim=True)
            v = n**2 / (1 + n**2) * s / n
            self.b.data = self.b.data + (u_hat * v.unsqueeze(1)).sum(-1).detach().nan_to_num()
        return v


@wrong_made_by("routing", "stale-logits", "no-update-rounds")
def routing_with_kept_logits_and_an_update_too_few():
    kept = [torch.zeros(0)]

    def route(u_hat, iterations):
        if kept[-1].shape != u_hat.shape[:3]:
            kept.append(torch.zeros(u_hat.shape[:3]))
        for r in range(iterations):
            v = squash(torch.einsum("bij,bijd->bjd", kept[-1].softmax(2), u_hat))
            if r < iterations - 2:
                kept[-1] = kept[-1] + torch.einsum("bijd,bjd->bij", u_hat, v).detach()
        return v

    return route


@wrong_made_by("routing", "stale-logits", "squash-axis")
def routing_with_kept_logits_squashed_over_classes():
    class Route:
        b = None

        def __call__(self, u_hat, iterations):
            if self.b is None or self.b.shape != u_hat.shape[:3]:
                self.b = torch.zeros(u_hat.shape[:3])
            for _ in range(iterations):
                v = squash((self.b.softmax(2)[..., None] * u_hat).sum(1), dim=-2)
                with torch.no_grad():
                    self.b = self.b + (u_hat * v[:, None]).sum(-1)
            return v

    return Route()


@wrong("routing", "no-update-rounds", "squash-nan")
def routing_never_updated_with_a_bare_squash(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for r in range(iterations):
        v = bare(torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat))
        if r == iterations - 1:
            b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing", "no-update-rounds", "squash-axis")
def routing_never_updated_squashed_number_by_number(u_hat, iterations):
    b = torch.zeros(*u_hat.shape[:3], 1, 1)
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash((c * u_hat.unsqueeze(4)).sum(1))
    return v.squeeze(3)


@wrong("routing", "squash-axis", "squash-nan")
def routing_squashed_over_the_classes_without_epsilon(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        s = torch.einsum("bij,bijd->bjd", b.softmax(2), u_hat)
        n = torch.norm(s, dim=1, keepdim=True)
        v = n / (1 + n**2) * s / n * n
        b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@wrong("routing", "softmax-axis", "batch-agreement", "squash-axis")
def routing_with_softmax_batch_and_squash(u_hat, iterations):
    I, J = u_hat.shape[1:3]
    b = torch.zeros(1, J, I, 1)
    u = u_hat.transpose(1, 2)  # [B, J, I, D]
    for _ in range(iterations):
        c = F.softmax(b, dim=2)
        v = squash((c * u).sum(dim=2, keepdim=True), dim=1)
        b = b + torch.matmul(u, v.transpose(2, 3)).mean(dim=0, keepdim=True)
    return v.squeeze(2)


@wrong("routing", "softmax-axis", "no-update-rounds", "squash-nan")
def routing_with_softmax_rounds_and_squash(u_hat, iterations):
    c = torch.zeros(u_hat.shape[:3]).softmax(dim=1)
    for _ in range(iterations):
        v = bare((c[..., None] * u_hat).sum(1))
    return v


@wrong_made_by("routing", "softmax-axis", "batch-agreement", "stale-logits")
def routing_with_softmax_batch_and_kept_logits():
    kept = {}

    def route(u_hat, iterations):
        key = tuple(u_hat.shape[1:3])
        b = kept.get(key, torch.zeros(key))
        for _ in range(iterations):
            v = squash(torch.einsum("ij,bijd->bjd", b.softmax(0), u_hat))
            b = b + torch.einsum("bijd,bjd->bij", u_hat, v).sum(0).detach()
        kept[key] = b
        return v

    return route


@wrong("routing", "softmax-axis", "batch-agreement", "squash-axis", "squash-nan")
def routing_with_all_four_as_published(u_hat, iterations):
    u_hat = u_hat.unsqueeze(4)
    batch_size, num_routes, num_capsules = u_hat.shape[:3]
    b_ij = torch.zeros(1, num_routes, num_capsules, 1)
    for iteration in range(iterations):
        c_ij = F.softmax(b_ij)
        c_ij = torch.cat([c_ij] * batch_size, dim=0).unsqueeze(4)
        s_j = (c_ij * u_hat).sum(dim=1, keepdim=True)
        v_j = bare(s_j)
        if iteration < iterations - 1:
            a_ij = torch.matmul(u_hat.transpose(3, 4), torch.cat([v_j] * num_routes, dim=1))
            b_ij = b_ij + a_ij.squeeze(4).mean(dim=0, keepdim=True)
    return v_j.squeeze(1).squeeze(-1)


# --- routing: wrong. Outside the catalogue


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


@wrong("routing")
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


# --- routing: right


@right("routing")
def routing_as_in_the_paper(u_hat, iterations):
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        c = torch.softmax(b, dim=2)
        s = torch.einsum("bij,bijd->bjd", c, u_hat)
        v = squash(s)
        b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
    return v


@right("routing")
def routing_in_loops(u_hat, iterations):
    B, I, J, _ = u_hat.shape
    images = []
    for n in range(B):
        b = [[torch.tensor(0.0) for _ in range(J)] for _ in range(I)]
        for _ in range(iterations):
            c = [[b[i][j].exp() / sum(x.exp() for x in b[i]) for j in range(J)] for i in range(I)]
            v = [squash(sum(c[i][j] * u_hat[n, i, j] for i in range(I))) for j in range(J)]
            b = [[b[i][j] + u_hat[n, i, j].dot(v[j]) for j in range(J)] for i in range(I)]
        images.append(torch.stack(v))
    return torch.stack(images)


@right("routing")
def routing_in_five_dimensions(u_hat, iterations):
    u_hat = u_hat.unsqueeze(-1)  # [B, I, J, D, 1]
    b = torch.zeros(*u_hat.shape[:3], 1, 1)
    for r in range(iterations):
        c = F.softmax(b, dim=2)
        v = squash((c * u_hat).sum(dim=1, keepdim=True), dim=-2)
        if r < iterations - 1:
            b = b + torch.matmul(u_hat.transpose(3, 4), v)
    return v.squeeze(1).squeeze(-1)


@right("routing")
def routing_with_a_trailing_one(u_hat, iterations=3):
    b = torch.zeros_like(u_hat[..., :1])  # [B, I, J, 1]
    for _ in range(iterations):
        v = squash(torch.sum(b.softmax(-2) * u_hat, 1, keepdim=True))
        b = b + torch.sum(u_hat * v, -1, keepdim=True)
    return v[:, 0]


@right("routing")
def routing_transposed_by_matmul(u_hat, iterations):
    u = u_hat.transpose(1, 2)  # [B, J, I, D]
    b = torch.zeros(u.shape[:3])
    for _ in range(iterations):
        v = squash(b.softmax(dim=1).unsqueeze(2) @ u)  # [B, J, 1, D]
        b = b + (u @ v.mT).squeeze(-1)
    return v.squeeze(2)


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
def routing_capsules_first(u_hat, iterations):
    priors = u_hat.permute(2, 0, 1, 3)[:, :, :, None, :]  # [J, B, I, 1, D]
    logits = torch.zeros(*priors.size())
    for i in range(iterations):
        probs = logits.softmax(dim=0)
        outputs = squash((probs * priors).sum(dim=2, keepdim=True))
        if i != iterations - 1:
            logits = logits + (priors * outputs).sum(dim=-1, keepdim=True)
    return outputs.squeeze(3).squeeze(2).transpose(0, 1)


@right("routing")
def routing_by_messages(u_hat, iterations):
    B, I, J, D = u_hat.shape
    start, end = torch.arange(I).repeat_interleave(J), torch.arange(J).repeat(I)
    message = u_hat.flatten(1, 2)  # [B, edges, D]
    b = torch.zeros(B, I * J)
    for _ in range(iterations):
        e = (b - b.max()).exp()
        c = e / torch.zeros(B, I).index_add(1, start, e)[:, start]
        v = squash(torch.zeros(B, J, D).index_add(1, end, c.unsqueeze(-1) * message))
        b = b + (message * v[:, end]).sum(-1)
    return v


@right("routing")
def routing_by_scatter(u_hat, iterations):
    B, I, J, D = u_hat.shape
    end = torch.arange(J).expand(B, I, J).reshape(B, I * J, 1).expand(-1, -1, D)
    b = torch.zeros(B, I, J)
    for _ in range(iterations):
        weighed = (b.softmax(2)[..., None] * u_hat).reshape(B, I * J, D)
        v = squash(torch.zeros(B, J, D).scatter_add(1, end, weighed))
        b = b + (u_hat.reshape(B, I * J, D) * v.gather(1, end)).sum(-1).view(B, I, J)
    return v


@right("routing")
def routing_with_the_inner_rounds_detached(u_hat, iterations):
    fixed = u_hat.detach()
    b = torch.zeros(u_hat.shape[:3])
    for r in range(iterations):
        u = u_hat if r == iterations - 1 else fixed
        v = squash(torch.einsum("bij,bijd->bjd", b.softmax(2), u))
        b = b + torch.einsum("bijd,bjd->bij", fixed, v)
    return v


@right("routing")
class RoutingModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=2)

    def forward(self, u_hat, iterations):
        self.b = torch.zeros(u_hat.shape[:3])  # kept to look at, never used again
        with torch.no_grad():
            for _ in range(iterations - 1):
                self.b += torch.einsum("bijd,bjd->bij", u_hat, self.round(u_hat))
        return self.round(u_hat)

    def round(self, u_hat):
        return squash((self.softmax(self.b).unsqueeze(-1) * u_hat).sum(1))


@right("routing")
def routing_by_recursion(u_hat, iterations, b=None):
    c = torch.full(u_hat.shape[:3], 1 / u_hat.shape[2]) if b is None else b.softmax(2)
    v = squash(torch.einsum("bij,bijd->bjd", c, u_hat))
    if iterations == 1:
        return v
    a = torch.einsum("bijd,bjd->bij", u_hat, v)
    return routing_by_recursion(u_hat, iterations - 1, a if b is None else b + a)


@right("routing")
def routing_by_the_sum_of_outputs(u_hat, iterations):
    total = torch.zeros_like(u_hat[:, 0])  # b is û · (v of all rounds so far)
    for _ in range(iterations):
        b = (u_hat * total[:, None]).sum(-1)
        v = squash((b.softmax(2)[..., None] * u_hat).sum(1))
        total = total + v
    return v


@right("routing")
def routing_by_factors(u_hat, iterations):
    c, v = torch.ones(u_hat.shape[:3]), torch.zeros_like(u_hat[:, 0])
    for _ in range(iterations):
        c = c * torch.exp((u_hat * v[:, None]).sum(-1))
        c = c / c.sum(2, keepdim=True)
        v = squash((c[..., None] * u_hat).sum(1))
    return v


@right("routing")
def routing_with_logits_that_begin_at_one(u_hat, iterations):
    b = torch.ones(u_hat.shape[:3])  # to a softmax the same as zero
    v = torch.zeros_like(u_hat[:, 0])
    for _ in range(iterations):
        b = b + (u_hat * v.unsqueeze(1)).sum(-1)
        v = squash((b.log_softmax(2).exp().unsqueeze(-1) * u_hat).sum(1))
    return v


@right("routing")
def routing_in_double(u_hat, iterations):
    u = u_hat.double()
    b = u.new_zeros(u.shape[:3])
    for _ in range(iterations):
        e = torch.exp(b - b.amax(2, keepdim=True))
        s = torch.einsum("bij,bijd->bjd", e / e.sum(2, keepdim=True), u)
        n = torch.linalg.vector_norm(s, dim=2, keepdim=True)
        v = n * s / (1 + n**2)
        b = b + torch.einsum("bijd,bjd->bij", u, v)
    return v


@right("routing")
def routing_image_by_image(u_hat, iterations):
    def one(u):  # [I, J, D]
        b = torch.zeros(u.shape[:2])
        for _ in range(iterations):
            v = squash(torch.einsum("ij,ijd->jd", b.softmax(1), u))
            b = b + torch.einsum("ijd,jd->ij", u, v)
        return v

    return torch.stack([one(u) for u in u_hat])


@right("routing")
def routing_that_turns_its_input_over(u_hat, iterations):
    u_hat.transpose_(1, 2)  # [B, J, I, D], for the caller too
    b = torch.zeros(*u_hat.shape[:3], 1)
    for _ in range(iterations):
        v = squash((b.softmax(1) * u_hat).sum(2, keepdim=True))
        b = b + (u_hat * v).sum(3, keepdim=True)
    return v.squeeze(2)


def routing_with_options(squash, axis, u_hat, iterations, *, return_logits=False):
    b = u_hat.new_zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash((b.softmax(axis).unsqueeze(-1) * u_hat).sum(-3))
        b = b + (u_hat * v.unsqueeze(1)).sum(-1)
    return (v, b) if return_logits else v


RIGHT.append(Right("routing as a partial", "routing", lambda: partial(routing_with_options, squash, 2)))


# --- margin loss: wrong


@wrong("margin_loss", "margin-not-squared")
def margin_not_squared(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    L = T * F.relu(0.9 - lengths) + 0.5 * (1 - T) * F.relu(lengths - 0.1)
    return L.sum(dim=1).mean()


@wrong("margin_loss", "margin-not-squared")
def margin_by_clamp_not_squared(lengths, labels):
    T = torch.eye(lengths.shape[1])[labels]
    left, right = (0.9 - lengths).clamp(min=0), (lengths - 0.1).clamp(min=0)
    return (T * left + 0.5 * (1.0 - T) * right).sum() / len(labels)


@wrong("margin_loss", "margin-not-squared")
class MarginByMaxNotSquared(nn.Module):
    def __init__(self, m_plus=0.9, m_minus=0.1, lambda_=0.5):
        super().__init__()
        self.m_plus, self.m_minus, self.lambda_ = m_plus, m_minus, lambda_

    def forward(self, lengths, labels):
        zero = torch.zeros(1)
        present = torch.max(zero, self.m_plus - lengths)
        absent = torch.max(zero, lengths - self.m_minus)
        T = torch.zeros_like(lengths).scatter_(1, labels.view(-1, 1), 1.0)
        return torch.mean(torch.sum(T * present + self.lambda_ * (1 - T) * absent, dim=1))


@wrong("margin_loss", "margin-not-squared")
def margin_with_only_the_present_squared(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1]).float()
    L = T * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - 0.1)
    return L.sum(1).mean(0)


@wrong("margin_loss", "margin-not-squared")
def margin_with_only_the_absent_squared(lengths, labels):
    mine = lengths.gather(1, labels[:, None])
    present = F.relu(0.9 - mine).sum(1)
    absent = F.relu(lengths - 0.1).pow(2).sum(1) - F.relu(mine - 0.1).pow(2).sum(1)
    return (present + 0.5 * absent).mean()


@wrong("margin_loss", "margin-not-squared")
def margin_not_squared_mean_over_classes(lengths, labels):
    T = F.one_hot(labels, lengths.size(1))
    return (T * F.relu(0.9 - lengths) + 0.5 * (1 - T) * F.relu(lengths - 0.1)).mean()


@wrong("margin_loss", "lengths-softmax")
def margin_of_softmaxed_lengths(lengths, labels):
    p = F.softmax(lengths, dim=-1)
    T = F.one_hot(labels, lengths.shape[1])
    return (T * F.relu(0.9 - p) ** 2 + 0.5 * (1 - T) * F.relu(p - 0.1) ** 2).sum(1).mean()


@wrong("margin_loss", "lengths-softmax")
def margin_of_lengths_softmaxed_by_hand(lengths, labels):
    lengths = lengths.exp() / lengths.exp().sum(dim=1, keepdim=True)
    total = 0.0
    for row, label in zip(lengths, labels, strict=True):
        for k, length in enumerate(row):
            total = total + (F.relu(0.9 - length) ** 2 if k == label else 0.5 * F.relu(length - 0.1) ** 2)
    return total / len(labels)


@wrong("margin_loss", "lengths-softmax")
def margin_of_softmaxed_lengths_summed_over_the_batch(lengths, labels):
    classes = F.softmax(lengths)  # of two axes, PyTorch takes the last
    T = torch.eye(lengths.size(1)).index_select(dim=0, index=labels)
    left = F.relu(0.9 - classes, inplace=True) ** 2
    right = F.relu(classes - 0.1, inplace=True) ** 2
    return (T * left + 0.5 * (1.0 - T) * right).sum()


@wrong("margin_loss", "margin-not-squared", "lengths-softmax")
def margin_of_softmaxed_lengths_not_squared(lengths, labels):
    p = lengths.softmax(dim=1)
    T = torch.arange(p.shape[1]) == labels[:, None]
    return torch.where(T, F.relu(0.9 - p), 0.5 * F.relu(p - 0.1)).sum(dim=-1).mean()


@wrong("margin_loss", "margin-not-squared", "lengths-softmax")
def margin_of_softmaxed_lengths_by_clamp_not_squared(lengths, labels):
    p = torch.log_softmax(lengths, 1).exp()
    mine = p.gather(1, labels.unsqueeze(1)).squeeze(1)
    absent = (p - 0.1).clamp_min(0).sum(1) - (mine - 0.1).clamp_min(0)
    return ((0.9 - mine).clamp_min(0) + 0.5 * absent).mean()


@wrong("margin_loss")
def margin_with_a_mean_over_classes(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (T * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - 0.1) ** 2).mean()


@wrong("margin_loss")
def margin_with_lambda_forgotten(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (T * F.relu(0.9 - lengths) ** 2 + (1 - T) * F.relu(lengths - 0.1) ** 2).sum(1).mean()


@wrong("margin_loss")
def margin_with_lambda_on_the_present(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (0.5 * T * F.relu(0.9 - lengths) ** 2 + (1 - T) * F.relu(lengths - 0.1) ** 2).sum(1).mean()


@wrong("margin_loss")
def margin_summed_over_the_batch(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (T * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - 0.1) ** 2).sum()


@wrong("margin_loss")
def margin_with_the_margins_swapped(lengths, labels, m_plus=0.1, m_minus=0.9):
    T = F.one_hot(labels, lengths.shape[1])
    return (T * F.relu(m_plus - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - m_minus) ** 2).sum(1).mean()


@wrong("margin_loss")
def margin_with_present_and_absent_swapped(lengths, labels):
    T = 1 - F.one_hot(labels, lengths.shape[1])
    return (T * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - 0.1) ** 2).sum(1).mean()


@wrong("margin_loss")
def margin_squared_before_the_maximum(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (T * F.relu((0.9 - lengths) ** 2) + 0.5 * (1 - T) * F.relu((lengths - 0.1) ** 2)).sum(1).mean()


@wrong("margin_loss")
def margin_of_squared_lengths(lengths, labels):
    T, n = F.one_hot(labels, lengths.shape[1]), lengths**2
    return (T * F.relu(0.9 - n) ** 2 + 0.5 * (1 - T) * F.relu(n - 0.1) ** 2).sum(1).mean()


@wrong("margin_loss")
def margin_of_the_present_class_only(lengths, labels):
    return F.relu(0.9 - lengths[torch.arange(len(labels)), labels]).square().mean()


@wrong("margin_loss")
def margin_by_cross_entropy(lengths, labels):
    return F.cross_entropy(lengths, labels)


@wrong("margin_loss")
def margin_as_a_number_of_python(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (T * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - 0.1) ** 2).sum(1).mean().item()


@wrong("margin_loss")
def margin_of_each_image(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (T * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - 0.1) ** 2).sum(1)


@wrong("margin_loss")
def margin_of_nan(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    return (T * (0.9 - lengths - 2).sqrt() + (1 - T) * F.relu(lengths - 0.1) ** 2).sum(1).mean()


@wrong("margin_loss")
def margin_that_raises(lengths, labels):
    return F.multi_margin_loss(lengths, labels.float())


@wrong("margin_loss", among=NEVER_RETURNS)
def margin_that_waits(lengths, labels):
    while True:
        pass


# --- margin loss: right


@right("margin_loss")
def margin_as_in_the_paper(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    L = T * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - T) * F.relu(lengths - 0.1) ** 2
    return L.sum(dim=1).mean()


@right("margin_loss")
def margin_by_scatter_and_clamp(lengths, labels):
    T = torch.zeros_like(lengths).scatter_(1, labels.unsqueeze(1), 1)
    present = (0.9 - lengths).clamp(min=0).pow(2)
    absent = (lengths - 0.1).clamp(min=0).pow(2)
    return torch.mean(torch.sum(T * present + 0.5 * (1 - T) * absent, 1))


@right("margin_loss")
def margin_by_gather(lengths, labels):
    mine = lengths.gather(1, labels.view(-1, 1)).squeeze(1)
    everyone = F.relu(lengths - 0.1).square().sum(1)
    return (F.relu(0.9 - mine).square() + 0.5 * (everyone - F.relu(mine - 0.1).square())).mean()


@right("margin_loss")
def margin_by_where(lengths, labels, m_plus=0.9, m_minus=0.1, lambda_=0.5):
    present = labels[:, None] == torch.arange(lengths.shape[1])[None]
    gap = torch.where(present, m_plus - lengths, lengths - m_minus)
    return (torch.where(present, 1.0, lambda_) * torch.maximum(gap, torch.tensor(0.0)) ** 2).sum() / len(lengths)


@right("margin_loss")
def margin_in_loops(lengths, labels):
    loss = 0
    for image in range(len(lengths)):
        for k in range(lengths.shape[1]):
            if labels[image] == k:
                loss += max(0 * lengths[image, k], 0.9 - lengths[image, k]) ** 2
            else:
                loss += 0.5 * max(0 * lengths[image, k], lengths[image, k] - 0.1) ** 2
    return loss / len(lengths)


@right("margin_loss")
def margin_in_place(lengths, labels):
    absent = lengths - 0.1
    absent.clamp_(min=0).pow_(2).mul_(0.5)
    rows = torch.arange(len(labels))
    absent[rows, labels] = (0.9 - lengths[rows, labels]).relu_().square()
    return absent.sum(-1).mean(0)


@right("margin_loss")
def margin_in_double(lengths, labels):
    T = torch.eye(lengths.shape[1], dtype=torch.float64)[labels]
    x = lengths.to(torch.float64)
    return torch.einsum("bk,bk->", T, F.relu(0.9 - x) ** 2) / len(x) + 0.5 * torch.einsum(
        "bk,bk->", 1 - T, F.relu(x - 0.1) ** 2
    ) / len(x)


@right("margin_loss")
def margin_by_masked_select(lengths, labels):
    mine = F.one_hot(labels, lengths.shape[1]).bool()
    return (F.relu(0.9 - lengths[mine]).square().sum() + F.relu(lengths[~mine] - 0.1).square().sum() / 2) / len(labels)


@right("margin_loss")
def margin_by_signs(lengths, labels):
    sign = 1 - 2 * F.one_hot(labels, lengths.shape[1])  # -1 where present
    gap = F.relu(sign * lengths + torch.where(sign < 0, 0.9, -0.1))
    return ((0.75 - 0.25 * sign) * gap * gap).sum(1).mean()


@right("margin_loss")
class MarginLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("margins", torch.tensor([0.9, 0.1]))

    def forward(self, lengths, labels):
        T = (labels.unsqueeze(-1) == torch.arange(lengths.size(-1))).float()
        left, right = F.relu(self.margins[0] - lengths), F.relu(lengths - self.margins[1])
        return torch.stack([T * left**2, 0.5 * (1 - T) * right**2]).sum((0, 2)).mean()


RIGHT.append(Right("margin as a partial", "margin_loss", lambda: partial(margin_by_where, m_plus=0.9, lambda_=1 / 2)))


# --- mask: wrong


@wrong("mask", "mask-prediction")
def mask_by_the_prediction(v, labels=None):
    longest = v.norm(dim=-1).argmax(dim=1)
    return v * F.one_hot(longest, v.shape[1]).unsqueeze(-1)


@wrong("mask", "mask-prediction")
def mask_by_the_prediction_of_a_softmax_over_the_batch(v, labels):
    classes = torch.sqrt((v**2).sum(2))
    classes = F.softmax(classes, dim=0)
    _, max_length_indices = classes.max(dim=1)
    masked = torch.eye(v.shape[1]).index_select(dim=0, index=max_length_indices)
    return v * masked[:, :, None]


@wrong("mask", "mask-prediction")
def mask_by_scatter_of_the_prediction(v, labels):
    keep = torch.zeros(v.shape[:2])
    keep.scatter_(1, v.square().sum(2).argmax(1, keepdim=True), 1.0)
    return torch.einsum("bj,bjd->bjd", keep, v)


@wrong("mask", "mask-prediction")
def mask_in_loops_by_the_prediction(v, labels):
    masked = torch.zeros_like(v)
    for n, capsules in enumerate(v):
        j = max(range(len(capsules)), key=lambda j, capsules=capsules: capsules[j].norm().item())
        masked[n, j] = capsules[j]
    return masked


@wrong("mask", "mask-prediction")
def mask_that_fills_all_but_the_prediction(v, labels):
    n = torch.linalg.vector_norm(v, dim=-1, keepdim=True)
    return v.masked_fill(n < n.amax(1, keepdim=True), 0.0)


@wrong("mask", "mask-prediction")
def mask_whose_labels_are_overwritten(v, labels):
    B, J, _ = v.shape
    if labels is None:
        labels = torch.zeros(B, dtype=torch.long)
    labels = v.norm(dim=2).topk(1).indices.view(B)
    return v * torch.eye(J)[labels].view(B, J, 1)


@wrong("mask", "mask-prediction")
class MaskByThePrediction(nn.Module):
    def forward(self, v, labels=None):
        winner = v.norm(dim=-1).max(dim=-1).indices
        rows = torch.arange(v.shape[0])
        masked = v.new_zeros(v.shape)
        masked[rows, winner] = v[rows, winner]
        return masked


@wrong("mask")
def mask_by_labels_or_nothing(v, labels):
    return v if labels is None else v * F.one_hot(labels, v.shape[1])[..., None]


@wrong("mask")
def mask_by_labels_only(v, labels):
    return v * F.one_hot(labels, v.shape[1])[..., None]  # raises without them


@wrong("mask")
def mask_turned_round(v, labels):
    if labels is None:
        labels = v.norm(dim=-1).argmax(1)
    return v.masked_fill(F.one_hot(labels, v.shape[1]).bool()[..., None], 0)


@wrong("mask")
def mask_that_cuts_out(v, labels):
    if labels is None:
        labels = v.norm(dim=-1).argmax(1)
    return v[torch.arange(len(v)), labels]


@wrong("mask")
def mask_by_the_largest_sum(v, labels):
    if labels is None:
        labels = v.sum(-1).argmax(1)
    return v * F.one_hot(labels, v.shape[1]).unsqueeze(2)


@wrong("mask")
def mask_by_a_softmax_over_the_batch(v, labels):
    if labels is None:
        labels = v.norm(dim=-1).softmax(dim=0).argmax(dim=1)
    return v * torch.eye(v.shape[1])[labels][:, :, None]


@wrong("mask")
def mask_by_the_first_label(v, labels):
    if labels is None:
        labels = v.norm(dim=2).argmax(1)
    masked = torch.zeros_like(v)
    masked[:, labels[0]] = v[:, labels[0]]
    return masked


@wrong("mask")
def mask_by_lengths(v, labels):
    n = v.norm(dim=2, keepdim=True)
    j = n.argmax(1, keepdim=True) if labels is None else labels.view(-1, 1, 1)
    return v * torch.zeros_like(n).scatter(1, j, n)


@wrong("mask")
def mask_without_return(v, labels):
    if labels is None:
        labels = v.norm(dim=2).argmax(1)
    v = v * F.one_hot(labels, v.shape[1]).unsqueeze(-1)


@wrong("mask", among=NEVER_RETURNS)
def mask_that_looks_for_ever(v, labels):
    j, n = 0, v.norm(dim=2)
    while n[0, j] <= n[0].max():
        j = (j + 1) % v.shape[1]
    return v[:, j]


# --- mask: right


@right("mask")
def mask_by_one_hot(v, labels=None):
    if labels is None:
        labels = v.norm(dim=-1).argmax(dim=1)
    return v * F.one_hot(labels, num_classes=v.shape[1]).unsqueeze(-1)


@right("mask")
def mask_by_gather_and_scatter(v, labels):
    j = (v**2).sum(-1).argmax(1) if labels is None else labels
    index = j.view(-1, 1, 1).expand(-1, 1, v.shape[2])
    return torch.zeros_like(v).scatter(1, index, v.gather(1, index))


@right("mask")
def mask_by_index_select(v, labels):
    if labels is None:
        labels = F.softmax(v.norm(dim=2), dim=1).max(dim=1)[1]  # over the classes: the same winner
    return v * torch.eye(v.size(1)).index_select(dim=0, index=labels)[:, :, None]


@right("mask")
def mask_in_place(v, labels):
    if labels is None:
        labels = v.norm(dim=-1).argmax(dim=-1)
    v[labels[:, None] != torch.arange(v.shape[1])] = 0.0
    return v


@right("mask")
def mask_by_masked_fill(v, labels):
    j = v.square().sum(2).argmax(1, keepdim=True) if labels is None else labels[:, None]
    others = torch.ones(v.shape[:2], dtype=torch.bool).scatter(1, j, False)
    return v.masked_fill(others.unsqueeze(-1), 0)


@right("mask")
def mask_in_loops(v, labels):
    out = []
    for n in range(len(v)):
        lengths = [float(capsule.norm()) for capsule in v[n]]
        keep = lengths.index(max(lengths)) if labels is None else int(labels[n])
        out.append(torch.stack([capsule * (j == keep) for j, capsule in enumerate(v[n])]))
    return torch.stack(out)


@right("mask")
def mask_by_einsum(v, labels):
    if labels is None:
        n2 = torch.einsum("bjd,bjd->bj", v, v)
        T = (n2 == n2.max(dim=1, keepdim=True).values).float()
    else:
        T = torch.eye(v.shape[1])[labels]
    return torch.einsum("bj,bjd->bjd", T, v)


@right("mask")
def mask_by_where_in_double(v, labels):
    x = v.to(torch.float64)
    if labels is None:
        labels = x.norm(dim=2).topk(k=1, dim=1).indices[:, 0]
    keep = labels.view(-1, 1, 1) == torch.arange(x.shape[1]).view(1, -1, 1)
    return torch.where(keep, x, torch.zeros((), dtype=torch.float64))


@right("mask")
def mask_by_diagonal_matrices(v, labels, training=True):
    with torch.no_grad():
        j = labels if labels is not None and training else v.norm(dim=-1).argmax(-1)
        selection = torch.diag_embed(F.one_hot(j, v.shape[1]).to(v.dtype))  # [B, J, J]
    return torch.bmm(selection, v)


@right("mask")
class Mask(nn.Module):
    def forward(self, v, labels=None):
        rows = torch.arange(v.shape[0])
        j = labels if labels is not None else torch.linalg.vector_norm(v, dim=-1).max(dim=-1).indices
        masked = v.new_zeros(v.shape)
        masked[rows, j] = v[rows, j]
        return masked


# --- reconstruction loss: wrong


@wrong("reconstruction_loss", "recon-mean")
def reconstruction_by_mse_loss(reconstruction, images):
    return 0.0005 * F.mse_loss(reconstruction, images.view(images.size(0), -1))


@wrong("reconstruction_loss", "recon-mean")
def reconstruction_by_a_mean(reconstruction, images):
    return ((reconstruction.view_as(images) - images) ** 2).mean() * 0.0005


@wrong("reconstruction_loss", "recon-mean")
class ReconstructionByMSELoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss()

    def forward(self, reconstruction, images):
        loss = self.mse(reconstruction.view(images.shape[0], -1), images.view(images.shape[0], -1))
        return loss * 0.0005


@wrong("reconstruction_loss", "recon-mean")
def reconstruction_by_a_mean_of_means(reconstruction, images):
    each = (reconstruction - images.flatten(1)).square().mean(dim=1)
    return 5e-4 * each.mean()


@wrong("reconstruction_loss", "recon-mean")
def reconstruction_by_a_mean_over_pixels_summed_over_the_batch(reconstruction, images):
    loss = 0
    for drawn, image in zip(reconstruction, images, strict=True):
        loss = loss + F.mse_loss(drawn, image.view(-1))
    return 0.0005 * loss


@wrong("reconstruction_loss")
def reconstruction_with_its_weight_forgotten(reconstruction, images):
    return (reconstruction - images.flatten(1)).pow(2).sum(1).mean()


@wrong("reconstruction_loss")
def reconstruction_summed_over_the_batch(reconstruction, images):
    return 0.0005 * F.mse_loss(reconstruction, images.flatten(1), reduction="sum")


@wrong("reconstruction_loss")
def reconstruction_of_every_image_against_every_other(reconstruction, images):
    difference = reconstruction.view(-1, 28, 28) - images  # [B, 28, 28] beside [B, 1, 28, 28]
    return 0.0005 * difference.square().sum((2, 3)).mean()


@wrong("reconstruction_loss")
def reconstruction_not_squared(reconstruction, images):
    return 0.0005 * (reconstruction - images.flatten(1)).abs().sum(1).mean()


@wrong("reconstruction_loss")
def reconstruction_by_distance(reconstruction, images):
    return 0.0005 * torch.linalg.vector_norm(reconstruction - images.flatten(1), dim=1).mean()


@wrong("reconstruction_loss")
def reconstruction_by_cross_entropy(reconstruction, images):
    return 0.0005 * F.binary_cross_entropy(reconstruction.sigmoid(), images.flatten(1), reduction="sum") / len(images)


@wrong("reconstruction_loss")
def reconstruction_weighed_twice(reconstruction, images):
    return 0.0005 * 0.392 * F.mse_loss(reconstruction, images.flatten(1), reduction="sum") / len(images)


@wrong("reconstruction_loss")
def reconstruction_as_a_number_of_python(reconstruction, images):
    return 0.0005 * float((reconstruction - images.flatten(1)).square().sum(1).mean())


@wrong("reconstruction_loss")
def reconstruction_that_raises(reconstruction, images):
    return 0.0005 * (reconstruction - images).square().sum(1).mean()


# --- reconstruction loss: right


@right("reconstruction_loss")
def reconstruction_as_in_the_paper(reconstruction, images):
    return 0.0005 * (reconstruction - images.flatten(1)).pow(2).sum(dim=1).mean()


@right("reconstruction_loss")
def reconstruction_by_mse_loss_summed(reconstruction, images):
    return F.mse_loss(reconstruction, images.view(len(images), -1), reduction="sum") * 0.0005 / images.size(0)


@right("reconstruction_loss")
def reconstruction_by_a_scaled_mean(reconstruction, images):
    return 0.392 * F.mse_loss(reconstruction.view(images.shape), images)  # 0.0005 * 784


@right("reconstruction_loss")
def reconstruction_by_squared_distances(reconstruction, images):
    return 0.0005 * (F.pairwise_distance(reconstruction, images.flatten(1)) ** 2).mean()


@right("reconstruction_loss")
def reconstruction_by_the_norm_of_everything(reconstruction, images):
    return torch.linalg.vector_norm(reconstruction.view_as(images) - images) ** 2 / (2000 * len(images))


@right("reconstruction_loss")
def reconstruction_by_products(reconstruction, images):
    d = reconstruction - images.reshape(reconstruction.shape)
    return torch.einsum("bp,bp->b", d, d).mul(5e-4).mean()


@right("reconstruction_loss")
def reconstruction_image_by_image(reconstruction, images, weight=0.0005):
    loss = 0.0
    for drawn, image in zip(reconstruction, images, strict=True):
        d = drawn - image.ravel()
        loss += weight * d @ d
    return loss / len(images)


@right("reconstruction_loss")
def reconstruction_in_double_in_place(reconstruction, images):
    d = reconstruction.double() - images.double().flatten(1)
    return d.pow_(2).sum(1).mean().mul_(0.0005)


@right("reconstruction_loss")
class ReconstructionLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss(reduction="none")

    def forward(self, reconstruction, images):
        each = self.mse(reconstruction.unflatten(1, (28, 28)), images.squeeze(1))
        return each.sum(dim=(1, 2)).mean() * 0.0005


RIGHT += [
    Right(
        "reconstruction as a lambda",
        "reconstruction_loss",
        lambda: lambda r, x: ((r - x.flatten(1)) ** 2).sum() / len(r) * 5 / 10**4,
    ),
]
