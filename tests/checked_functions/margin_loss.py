"""Wrong and right margin losses."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from checked_functions.entries import NEVER_RETURNS, RIGHT, Right, right, wrong

# --- wrong


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


@right("margin_loss")  # another habit, which is said and accepted
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


@right("margin_loss")
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


# --- right


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
