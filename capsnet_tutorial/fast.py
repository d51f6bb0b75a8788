"""Routing without û: Procedure 1 from products with the prediction vectors that never form them.

û_j|i = W_ij u_i has J·D_out / D_in times as many numbers as u, and routing wants it for two things
only:

- the total input s_j = Σ_i c_ij û_j|i (equation 2),
- the agreement a_ij = ⟨û_j|i, v_j⟩ (Procedure 1).

Both are derivatives of one number, F = Σ_ij c_ij ⟨W_ij u_i, v_j⟩: s_j is ∂F/∂v_j, and a_ij is
∂F/∂c_ij. So the backward pass of each computes the other: there the incoming gradient takes the
place of v_j or of c_ij. Both backward passes compute ∂F/∂u and ∂F/∂W as well.

All four follow from two small tensors for each j: ``x``, the capsules u with c_j folded in, and
``p``, v_j pulled back through W_j::

    x_ij = c_ij u_i        s_j  = Σ_i W_ij x_ij      ∂F/∂W_ij = v_j x_ijᵀ
    p_ij = W_ijᵀ v_j       a_ij = ⟨p_ij, u_i⟩        ∂F/∂u_i  = Σ_j c_ij p_ij

``x`` and ``p`` are computed in a reused buffer, and again in the backward pass: that costs less
than to store them. A buffer that is overwritten cannot be differentiated again. For second
derivatives use `route`.

Layouts, so that every product is one large matrix product: c and a are [J, B, I]; s and v [J, B,
D_out]; W is [J, D_out, D_in·I]; u is [B, D_in, I], with I last, so that c spreads over rows that
lie together in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch import Tensor

from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.functional import at_least_float32, expect_capsules, in_full_precision, squash

CACHE_BYTES = 8 * 2**20
"""Upper bound for the work buffer, chosen to fit the last-level cache."""


def route_capsules(
    u: Tensor, weight: Tensor, iterations: int = 3, *, gradient: Literal["all", "last"] = "all"
) -> Tensor:
    """Route by agreement without forming û. Procedure 1.

    The output can be differentiated once. On a CPU this is faster than `route`, except for single
    images; on a GPU it is slower.

    Args:
        u: [B, I, D_in].
        weight: [I, J, D_in, D_out].
        iterations: rounds, at least 1.
        gradient: "all": through every round, as in the authors' code. "last": the couplings of the
            last round count as constants, which takes less time and memory (`make bench` measures
            both); the output is the same.

    Returns:
        v: [B, J, D_out]; up to rounding ``route(prediction_vectors(u, weight), iterations)``.
    """
    expect_capsules(u, weight)
    expect_count("iterations", iterations)
    expect(
        gradient in ("all", "last"),
        "gradient through all rounds or the last",
        f"gradient = {gradient!r}",
    )
    with in_full_precision(u.device):
        capsules = at_least_float32(u).transpose(1, 2).contiguous()  # [B, D_in, I]
        matrices = weight.to(capsules.dtype).permute(1, 3, 2, 0).flatten(2)  # [J, D_out, D_in·I]
        b = None  # [J, B, I]; None: zero
        with torch.set_grad_enabled(torch.is_grad_enabled() and gradient == "all"):
            for _ in range(iterations - 1):
                v = squash(_total_input(b, capsules, matrices))  # [J, B, D_out]
                a = Agreement.apply(v, capsules, matrices)  # [J, B, I]
                b = a if b is None else b + a
        v = squash(_total_input(b, capsules, matrices))
    return v.transpose(0, 1).to(u.dtype)


# --- the products, in the layouts named at the head of the file


def _total_input(b: Tensor | None, u: Tensor, weight: Tensor) -> Tensor:
    """Compute s, [J, B, D_out]; without logits all couplings are 1/J.

    Args:
        b: logits [J, B, I], or None.
        u: [B, D_in, I].
        weight: [J, D_out, D_in·I].
    """
    if b is not None:
        return TotalInput.apply(b.softmax(dim=0), u, weight)  # over j
    s = u.flatten(1) @ weight.flatten(0, 1).mT / weight.shape[0]  # [B, J·D_out]
    return s.unflatten(1, weight.shape[:2]).transpose(0, 1)


class TotalInput(torch.autograd.Function):
    """Total input s_j = Σ_i c_ij W_ij u_i. Equation 2."""

    @staticmethod
    def forward(ctx: Any, c: Tensor, u: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(c, u, weight)
        s = u.new_empty(weight.shape[0], u.shape[0], weight.shape[1])
        for j, buffer in _chunks(u, weight):
            torch.bmm(_fold(c[j], u, buffer), weight[j].mT, out=s[j])
        return s

    @staticmethod
    def backward(ctx: Any, v: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:  # type: ignore[override]
        """Return the gradients of c, u and W; ``v`` is the gradient of s, in the place of v."""
        _expect_first_derivative()
        c, u, weight = ctx.saved_tensors
        a = torch.empty_like(c) if ctx.needs_input_grad[0] else None
        grad_u = torch.zeros_like(u)
        grad_weight = torch.empty_like(weight)
        for j, buffer in _chunks(u, weight):
            torch.bmm(v[j].mT, _fold(c[j], u, buffer), out=grad_weight[j])
            p = _pull_back(v[j], weight[j], buffer)
            _add_products(grad_u, c[j], p)
            if a is not None:
                torch.sum(p.mul_(u), dim=2, out=a[j])
        return a, grad_u, grad_weight


class Agreement(torch.autograd.Function):
    """Agreement a_ij = ⟨W_ij u_i, v_j⟩. Procedure 1, line 7."""

    @staticmethod
    def forward(ctx: Any, v: Tensor, u: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(v, u, weight)
        a = u.new_empty(weight.shape[0], u.shape[0], u.shape[2])
        for j, buffer in _chunks(u, weight):
            p = _pull_back(v[j], weight[j], buffer)
            torch.sum(p.mul_(u), dim=2, out=a[j])
        return a

    @staticmethod
    def backward(ctx: Any, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[override]
        """Return the gradients of v, u and W; ``c`` is the gradient of a, in the place of c."""
        _expect_first_derivative()
        v, u, weight = ctx.saved_tensors
        s = v.new_empty(v.shape)
        grad_u = torch.zeros_like(u)
        grad_weight = torch.empty_like(weight)
        for j, buffer in _chunks(u, weight):
            x = _fold(c[j], u, buffer)
            torch.bmm(x, weight[j].mT, out=s[j])
            torch.bmm(v[j].mT, x, out=grad_weight[j])
            _add_products(grad_u, c[j], _pull_back(v[j], weight[j], buffer))
        return s, grad_u, grad_weight


def _expect_first_derivative() -> None:
    """Raise `InputError` in a backward pass that is to be differentiated again."""
    is_recorded = torch.is_grad_enabled() and not torch.compiler.is_compiling()
    wanted = (
        "one derivative of route_capsules (route, or a layer with without_u_hat=False, has all)"
    )
    expect(not is_recorded, wanted, "create_graph=True")


def _chunks(u: Tensor, weight: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Yield slices of the J capsules above, each with a buffer [j, B, D_in, I] for its j capsules.

    All slices share the memory of the buffer.
    """
    out_capsules = weight.shape[0]
    bytes_per_capsule = u.numel() * u.element_size()  # x_j and p_j have the shape of u
    size = max(1, CACHE_BYTES // max(1, bytes_per_capsule))
    buffer = u.new_empty(min(size, out_capsules), *u.shape)
    for start in range(0, out_capsules, size):
        stop = min(start + size, out_capsules)
        yield slice(start, stop), buffer[: stop - start]


def _fold(c: Tensor, u: Tensor, buffer: Tensor) -> Tensor:
    """Compute x_j = c_j ⊙ u, [j, B, D_in·I], in a buffer [j, B, D_in, I]."""
    return torch.mul(u, c.unsqueeze(2), out=buffer).flatten(2)


def _pull_back(v: Tensor, weight: Tensor, buffer: Tensor) -> Tensor:
    """Compute p_ij = W_ijᵀ v_j, [j, B, D_in, I], in a buffer of that shape."""
    torch.bmm(v, weight, out=buffer.flatten(2))
    return buffer


def _add_products(total: Tensor, c: Tensor, p: Tensor) -> None:
    """Add Σ_j c_ij p_ij to a total [B, D_in, I]."""
    for c_j, p_j in zip(c, p, strict=True):
        total.addcmul_(p_j, c_j.unsqueeze(1))
