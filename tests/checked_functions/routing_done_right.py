"""Functions that route u_hat [B, I, J, D] as the paper does, in many styles."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from checked_functions.entries import RIGHT, Right, right, squash


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
