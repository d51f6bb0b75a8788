"""Functions that route u_hat [B, I, J, D], each with several bugs of the catalogue."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from checked_functions.entries import bare, squash, wrong, wrong_made_by


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
    votes = u_hat.permute(2, 0, 1, 3).unsqueeze(3)  # [J, B, I, 1, D]
    b = torch.zeros_like(votes)
    for r in range(iterations):
        v = bare((b.softmax(2) * votes).sum(2, keepdim=True))
        b = b if r == iterations - 1 else b + (votes * v).sum(-1, keepdim=True)
    return v[:, :, 0, 0].transpose(0, 1)


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
def routing_with_all_four(u_hat, iterations):
    u = u_hat.unsqueeze(-1)  # [B, I, J, D, 1]
    b = torch.zeros(1, *u_hat.shape[1:3], 1)
    for r in range(iterations):
        c = F.softmax(b).unsqueeze(-1)
        v = bare((c * u).sum(1, keepdim=True))
        if r < iterations - 1:
            b = b + (u * v).sum(3).mean(0, keepdim=True)
    return v.flatten(3).squeeze(1)
