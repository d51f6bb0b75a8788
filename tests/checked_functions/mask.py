"""Wrong and right masks of the capsules."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from checked_functions.entries import NEVER_RETURNS, right, wrong

# --- wrong


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


@right("mask")
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


# --- right


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
