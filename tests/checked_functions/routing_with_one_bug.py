"""Functions that route u_hat [B, I, J, D], each with one bug of the catalogue."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from checked_functions.entries import bare, squash, wrong, wrong_made_by

# --- Softmax over the wrong axis


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
    votes = u_hat.permute(2, 0, 1, 3).unsqueeze(3)  # [J, B, I, 1, D]
    b = torch.zeros(votes.shape)
    for _ in range(iterations):
        v = squash((b.softmax(2) * votes).sum(2, keepdim=True))
        b = b + (votes * v).sum(4, keepdim=True)
    return v.flatten(2).transpose(0, 1)


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


# --- Logits that are not updated, or once too seldom


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


# --- Images that share their logits


@wrong("routing", "batch-agreement")
def routing_with_the_agreement_averaged_over_the_batch(u_hat, iterations):
    b = torch.zeros(1, *u_hat.shape[1:3])
    for r in range(iterations):
        c = b.softmax(2).expand(len(u_hat), -1, -1)
        v = squash(torch.matmul(c.permute(0, 2, 1).unsqueeze(2), u_hat.transpose(1, 2)).squeeze(2))
        if r < iterations - 1:
            a = torch.matmul(u_hat.transpose(1, 2), v.unsqueeze(3)).squeeze(3)  # [B, J, I]
            b = b + a.transpose(1, 2).mean(0, keepdim=True)
    return v


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


# --- Logits that outlive the call


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


# --- The squash inside


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
