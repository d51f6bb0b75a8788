"""Wrong and right functions that squash s [B, J, D]."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from checked_functions.entries import RIGHT, Right, bare, right, squash, wrong

# --- wrong


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


# --- right


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
