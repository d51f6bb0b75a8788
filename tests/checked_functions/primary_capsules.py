"""Wrong and right functions that make capsules u [B, I, D] of feature maps."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from checked_functions.entries import bare, right, squash, wrong

# --- wrong


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


# --- right


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
