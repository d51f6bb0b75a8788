"""Routing without û: Procedure 1 from products with the prediction vectors that never form them.

û_j|i = W_ij u_i has J·D_out / D_in times as many numbers as u, and routing wants it for two things only:

- the total input s_j = Σ_i c_ij û_j|i (equation 2),
- the agreement a_ij = ⟨û_j|i, v_j⟩ (Procedure 1).

Both are derivatives of one number, F = Σ_ij c_ij ⟨W_ij u_i, v_j⟩: s_j is ∂F/∂v_j, and a_ij is ∂F/∂c_ij. So each is
needed in the other's backward pass, and ∂F/∂u and ∂F/∂W, which both share, complete it. All four are made of two
small things for each j: ``x``, the capsules u with c_j folded in, and ``p``, v_j pulled back through W_j. These are
made in a buffer that is used over and over, and made anew in the backward pass: that costs less than to keep them.

What is written into a buffer cannot be differentiated again: whoever needs second derivatives takes `route`.

Layouts, so that every product is one large matrix product: c and a are [J, B, I]; s and v [J, B, D_out]; W is
[J, D_out, D_in·I]; u is [B, D_in, I], with I last, so that c spreads over rows that lie together in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch import Tensor

from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.functional import at_least_float32, expect_capsules, in_full_precision, squash

CACHE_BYTES = 8 * 2**20
"""What a buffer may take: it should stay in the processor's last cache."""


def route_capsules(
    u: Tensor, weight: Tensor, iterations: int = 3, *, gradient: Literal["all", "last"] = "all"
) -> Tensor:
    """`route` of `prediction_vectors`, without ever forming û: Procedure 1 on the products below.

    It can be differentiated once. Faster than `route` on processors, but for single images, and slower on a GPU.

    Args:
        u: [B, I, D_in].
        weight: [I, J, D_in, D_out].
        iterations: rounds, at least 1.
        gradient: "all": through every round, as in the authors' code. "last": the couplings of the last round
            count as constants, which takes less time and memory (`make bench` says how much); the output is the same.

    Returns:
        v: [B, J, D_out], to rounding the same as ``route(prediction_vectors(u, weight), iterations)``.
    """
    expect_capsules(u, weight)
    expect_count("iterations", iterations)
    expect(
        gradient in ("all", "last"),
        "gradient through all rounds or the last",
        f"gradient = {gradient!r}",
    )
    with in_full_precision(u.device):
        below = at_least_float32(u).transpose(1, 2).contiguous()  # [B, D_in, I]
        matrices = weight.to(below.dtype).permute(1, 3, 2, 0).flatten(2)  # [J, D_out, D_in·I]

        def total_input(b: Tensor | None) -> Tensor:
            """s, [J, B, D_out]."""
            if b is not None:
                return TotalInput.apply(b.softmax(dim=0), below, matrices)  # over j
            even = (
                below.flatten(1) @ matrices.flatten(0, 1).mT / len(matrices)
            )  # [B, J·D_out]: c is 1/J throughout
            return even.unflatten(1, matrices.shape[:2]).transpose(0, 1)

        b = None
        with torch.set_grad_enabled(torch.is_grad_enabled() and gradient == "all"):
            for _ in range(iterations - 1):
                a = Agreement.apply(squash(total_input(b)), below, matrices)  # [J, B, I]
                b = a if b is None else b + a
        v = squash(total_input(b))
    return v.transpose(0, 1).to(u.dtype)


class TotalInput(torch.autograd.Function):
    """s_j = Σ_i c_ij W_ij u_i. Equation 2."""

    @staticmethod
    def forward(ctx: Any, c: Tensor, u: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(c, u, weight)
        s = u.new_empty(len(weight), len(u), weight.shape[1])
        for j, x in _turns(u, weight):
            torch.bmm(_fold(c[j], u, x), weight[j].mT, out=s[j])
        return s

    @staticmethod
    def backward(ctx: Any, v: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:  # type: ignore[override]
        _expect_first()
        c, u, weight = ctx.saved_tensors
        a = torch.empty_like(c) if ctx.needs_input_grad[0] else None
        of_u, of_weight = torch.zeros_like(u), torch.empty_like(weight)
        for j, x in _turns(u, weight):
            torch.bmm(v[j].mT, _fold(c[j], u, x), out=of_weight[j])
            p = _pull_back(v[j], weight[j], x)
            _add_products(of_u, c[j], p)
            if a is not None:
                torch.sum(p.mul_(u), dim=2, out=a[j])
        return a, of_u, of_weight


class Agreement(torch.autograd.Function):
    """a_ij = ⟨W_ij u_i, v_j⟩. Procedure 1, line 7."""

    @staticmethod
    def forward(ctx: Any, v: Tensor, u: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(v, u, weight)
        a = u.new_empty(len(weight), len(u), u.shape[2])
        for j, p in _turns(u, weight):
            torch.sum(_pull_back(v[j], weight[j], p).mul_(u), dim=2, out=a[j])
        return a

    @staticmethod
    def backward(ctx: Any, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[override]
        _expect_first()
        v, u, weight = ctx.saved_tensors
        s, of_u, of_weight = v.new_empty(v.shape), torch.zeros_like(u), torch.empty_like(weight)
        for j, x in _turns(u, weight):
            folded = _fold(c[j], u, x)
            torch.bmm(folded, weight[j].mT, out=s[j])
            torch.bmm(v[j].mT, folded, out=of_weight[j])
            _add_products(of_u, c[j], _pull_back(v[j], weight[j], x))
        return s, of_u, of_weight


def _expect_first() -> None:
    """Raise `InputError` in a backward pass that is to be differentiated again: what it would give would be wrong."""
    again = torch.is_grad_enabled() and not torch.compiler.is_compiling()
    expect(
        not again, "one derivative of route_capsules (of route there are more)", "create_graph=True"
    )


def _turns(u: Tensor, weight: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Some j at a time, and a buffer [j, B, D_in, I] to work in."""
    at_once = max(1, CACHE_BYTES // max(1, u.nbytes))
    buffer = u.new_empty(min(at_once, len(weight)), *u.shape)
    for start in range(0, len(weight), at_once):
        j = slice(start, min(start + at_once, len(weight)))
        yield j, buffer[: j.stop - start]


def _fold(c: Tensor, u: Tensor, x: Tensor) -> Tensor:
    """x_j = c_j ⊙ u, [j, B, D_in·I]."""
    return torch.mul(u, c.unsqueeze(2), out=x).flatten(2)


def _pull_back(v: Tensor, weight: Tensor, p: Tensor) -> Tensor:
    """p_ij = W_ijᵀ v_j, [j, B, D_in, I]."""
    torch.bmm(v, weight, out=p.flatten(2))
    return p


def _add_products(total: Tensor, c: Tensor, p: Tensor) -> None:
    """Σ_j c_ij p_ij, added to [B, D_in, I]."""
    for c_j, p_j in zip(c, p, strict=True):
        total.addcmul_(p_j, c_j.unsqueeze(1))
