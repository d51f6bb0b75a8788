"""The equations of "Dynamic Routing Between Capsules" as pure functions of tensors.

Source: Sabour, Frosst and Hinton, NIPS 2017, https://arxiv.org/abs/1710.09829.

Letters are the paper's: B images of a batch, I capsules below, J capsules above, D numbers a
capsule; ``u`` output below, ``u_hat`` prediction vectors, ``b`` logits, ``c`` couplings, ``s``
total input, ``v`` output. In einsum, d is D_in and e is D_out. ``votes`` are ``u_hat`` in float32
at least.

Every function checks shapes and dtypes of its arguments, and raises `ValueError` with what was
expected and what came. So do the losses and the mask of images and labels on another device. Labels
and targets are checked number by number where that costs nothing: on the CPU, outside compiled
code. On a GPU a label out of range stops the program, as in `torch.nn.functional.cross_entropy`.
Whether numbers are finite is not checked.

Routing and squash compute in float32 at least and return the dtype of their input: half precision
cannot hold ‖s‖².
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple, overload

import torch
import torch.nn.functional as F
from torch import Tensor

from capsnet_tutorial.errors import (
    expect,
    expect_count,
    expect_device,
    expect_floating,
    expect_number,
    expect_shape,
    is_free_to_read,
    is_number,
)

WITH_AUTOCAST = {
    device for device in ("cpu", "cuda", "mps", "xpu") if torch.amp.is_autocast_available(device)
}
"""Types of devices with autocast. Asked at import: some versions of PyTorch cannot compile it."""
RECONSTRUCTION_WEIGHT = 0.0005
"""Weight of the reconstruction loss beside the margin loss (section 4.1)."""


def in_full_precision(device: torch.device) -> AbstractContextManager[None]:
    """Return a context that disables autocast; it does nothing on a device without autocast."""
    if device.type not in WITH_AUTOCAST:
        return nullcontext()
    return torch.autocast(device.type, enabled=False)


def at_least_float32(x: Tensor) -> Tensor:
    """Return a half-precision tensor in float32, and any other as it is."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def squash(s: Tensor, dim: int = -1, eps: float = 1e-8) -> Tensor:
    """Shrink vectors to a length below 1 and keep their direction. Equation 1.

    ``v = ‖s‖² / (1 + ‖s‖²) · s / ‖s‖``, which is ``s / (‖s‖ + 1/‖s‖)``: the form computed here.

    Args:
        s: [..., D], any floating dtype.
        dim: the axis along which a vector lies.
        eps: the least length to divide by, above 0. At ‖s‖ = 0 the paper's formula is 0/0; with
            this floor, the zero vector gives zero and a finite gradient. It leaves vectors that are
            longer than it untouched.

    Returns:
        v, the shape and dtype of ``s``. ‖v‖ is at least 0; rounding can make it 1.
    """
    expect_floating("s", s)
    is_axis = isinstance(dim, int) and -s.dim() <= dim < s.dim()
    expect(is_axis, f"dim within the {s.dim()} axes of s", f"dim = {dim!r}")
    expect(s.shape[dim] > 0, "vectors of at least one number", f"s of shape {list(s.shape)}")
    expect(is_number(eps) and eps > 0, "eps above 0", f"eps = {eps!r}")
    x = at_least_float32(s)
    # The square could overflow. So s is divided by its largest component, where that exceeds 1:
    # with s = unit · x, equation 1 is v = x / (‖x‖ + 1 / (‖x‖ unit²)).
    unit = x.detach().abs().amax(dim, keepdim=True).clamp_min(1.0)
    x = x / unit
    length = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
    return (x / (length + 1 / length / unit**2)).to(s.dtype)


def prediction_vectors(u: Tensor, weight: Tensor) -> Tensor:
    """Compute the prediction vectors û_j|i = W_ij u_i. Equation 2, right.

    û_j|i is what capsule i below predicts for capsule j above.

    Args:
        u: [B, I, D_in], outputs of the capsules below.
        weight: [I, J, D_in, D_out], one matrix W_ij for each pair, stored transposed: a row belongs
            to a number of u_i, a column to a number of û_j|i.

    Returns:
        u_hat: [B, I, J, D_out].
    """
    expect_capsules(u, weight)
    return torch.einsum("bid,ijde->bije", u, weight)


class RoutingTrace(NamedTuple):
    """Quantities of every round of routing, each with a leading axis of R rounds."""

    b: Tensor
    """Routing logits at the start of each round, [R, B, I, J]; zero in the first."""
    c: Tensor
    """Coupling coefficients, [R, B, I, J]; over j they sum to 1."""
    v: Tensor
    """Outputs, [R, B, J, D_out]; the last are what `route` returns."""


@overload
def route(
    u_hat: Tensor, iterations: int = 3, *, return_trace: Literal[False] = False
) -> Tensor: ...
@overload
def route(
    u_hat: Tensor, iterations: int = 3, *, return_trace: Literal[True]
) -> tuple[Tensor, RoutingTrace]: ...


def route(
    u_hat: Tensor, iterations: int = 3, *, return_trace: bool = False
) -> Tensor | tuple[Tensor, RoutingTrace]:
    """Route by agreement: Procedure 1, with equations 2 (left) and 3.

    The gradient flows through every round. The logits start at zero for every image of every call:
    nothing is shared by the images of a batch or kept from one call to the next.

    Args:
        u_hat: [B, I, J, D_out], prediction vectors.
        iterations: rounds, at least 1. With 1 all couplings are 1/J.
        return_trace: also return the logits, couplings and outputs of each round.

    Returns:
        v: [B, J, D_out]; or ``(v, RoutingTrace(b, c, v))``.
    """
    expect_floating("u_hat", u_hat)
    expect_shape("u_hat", u_hat, "[B, I, J, D_out]")
    expect_count("iterations", iterations)
    with in_full_precision(u_hat.device):
        votes = at_least_float32(u_hat)
        b = votes.new_zeros(votes.shape[:3])  # [B, I, J]
        rounds = []
        for r in range(iterations):
            c = b.softmax(dim=2)  # [B, I, J]: over j, so each capsule below sums to 1
            s = torch.einsum("bij,bije->bje", c, votes)  # [B, J, D_out]
            v = squash(s)
            rounds.append((b, c, v))
            if r < iterations - 1:  # an update after the last round would not be used
                b = b + torch.einsum("bije,bje->bij", votes, v)  # plus the agreement a_ij
    if not return_trace:
        return v.to(u_hat.dtype)
    trace = RoutingTrace(*(torch.stack(values) for values in zip(*rounds, strict=True)))
    return v.to(u_hat.dtype), trace


def route_last(u_hat: Tensor, iterations: int = 3) -> Tensor:
    """Route by agreement with the gradient of the last round alone.

    The couplings of the last round count as constants, which takes less memory. Arguments and
    output are those of `route`.
    """
    with torch.no_grad():
        _, trace = route(u_hat, iterations, return_trace=True)
    with in_full_precision(u_hat.device):
        votes = at_least_float32(u_hat)
        return squash(torch.einsum("bij,bije->bje", trace.c[-1], votes)).to(u_hat.dtype)


def capsule_lengths(v: Tensor) -> Tensor:
    """Compute the lengths ‖v_j‖, read as the probability that class j is present. Section 2.

    Args:
        v: [B, J, D].

    Returns:
        [B, J]. The gradient of a zero vector's length is zero, not nan.
    """
    expect_floating("v", v)
    expect_shape("v", v, "[B, J, D]")
    return torch.linalg.vector_norm(v, dim=-1)


def margin_loss(
    lengths: Tensor,
    targets: Tensor,
    m_plus: float = 0.9,
    m_minus: float = 0.1,
    lambda_: float = 0.5,
) -> Tensor:
    """Compute the margin loss, summed over the classes, averaged over the batch. Equation 4.

    ``L_k = T_k max(0, m⁺ − ‖v_k‖)² + λ (1 − T_k) max(0, ‖v_k‖ − m⁻)²``

    Args:
        lengths: [B, J], lengths of the class capsules.
        targets: class numbers, integers [B]; or T itself, [B, J], 1 for every present class.
        m_plus: m⁺, the length from which on a present class costs nothing.
        m_minus: m⁻, the length up to which an absent class costs nothing.
        lambda_: weight of the absent classes.

    Returns:
        A scalar; nan for an empty batch, which has no average.
    """
    expect_floating("lengths", lengths)
    expect_shape("lengths", lengths, "[B, J]")
    for name, value in (("m_plus", m_plus), ("m_minus", m_minus), ("lambda_", lambda_)):
        expect_number(name, value)
    expect_device("targets", targets, "lengths", lengths)
    present = _multi_hot(targets, lengths.shape).to(lengths.dtype)  # [B, J]
    absent_loss = F.relu(lengths - m_minus).square()
    present_loss = F.relu(m_plus - lengths).square()
    return (present * present_loss + lambda_ * (1 - present) * absent_loss).sum(dim=1).mean()


def mask_capsules(v: Tensor, labels: Tensor | None = None) -> Tensor:
    """Keep one capsule of each image and set the others to zero. Section 4.1.

    Args:
        v: [B, J, D].
        labels: class numbers, integers [B], of the capsules to keep (training); or zeros and ones,
            [B, J], 1 for every capsule to keep: several, or none; without labels, the longest
            capsule is kept (inference).

    Returns:
        [B, J, D].
    """
    expect_floating("v", v)
    expect_shape("v", v, "[B, J, D]")
    if labels is None:
        expect(v.shape[1] > 0, "at least one capsule to choose from", f"shape {list(v.shape)}")
        labels = capsule_lengths(v.detach()).argmax(dim=1)  # [B]
    expect_device("labels", labels, "v", v)
    is_multi_hot = labels.dim() == 2
    keep = (_multi_hot if is_multi_hot else _one_hot)(labels, v.shape[:2]).bool()  # [B, J]
    return v.masked_fill(~keep.unsqueeze(-1), 0)


def reconstruction_loss(reconstruction: Tensor, images: Tensor) -> Tensor:
    """Compute squared differences, summed over the pixels, averaged over the batch. Section 4.1.

    Not yet multiplied by `RECONSTRUCTION_WEIGHT`; in the precision of its input.

    Args:
        reconstruction: [B, P] or any shape with P numbers an image.
        images: [B, 1, H, W] or any shape with P numbers an image.

    Returns:
        A scalar; nan for an empty batch, which has no average.
    """
    expect_floating("reconstruction", reconstruction)
    expect_floating("images", images)
    expect_device("images", images, "reconstruction", reconstruction)
    are_batches = reconstruction.dim() >= 2 and images.dim() >= 2
    expect(
        are_batches and reconstruction.flatten(1).shape == images.flatten(1).shape,
        "a batch of reconstructions and of images with as many numbers each",
        f"shapes {list(reconstruction.shape)} and {list(images.shape)}",
    )
    difference = reconstruction.flatten(1) - images.flatten(1)  # [B, P]
    return difference.square().sum(dim=1).mean()


def expect_capsules(u: Tensor, weight: Tensor) -> None:
    """Raise `InputError` unless u [B, I, D_in] and W [I, J, D_in, D_out] fit each other."""
    expect_floating("u", u)
    expect_floating("weight", weight)
    expect_shape("u", u, "[B, I, D_in]")
    expect_shape("weight", weight, "[I, J, D_in, D_out]")
    in_capsules, _, in_dim, _ = weight.shape
    wanted = f"u of shape [B, {in_capsules}, {in_dim}] for a weight of shape {list(weight.shape)}"
    expect(u.shape[1:] == (in_capsules, in_dim), wanted, f"u of shape {list(u.shape)}")
    expect_dtype("u", u, weight)


def expect_dtype(name: str, tensor: Tensor, weight: Tensor) -> None:
    """Raise `InputError` unless a tensor has the dtype of a weight, or autocast is on."""
    device = tensor.device.type
    is_cast = device in WITH_AUTOCAST and torch.is_autocast_enabled(device)
    wanted = f"{name} in the weight's dtype, {weight.dtype}"
    expect(is_cast or tensor.dtype == weight.dtype, wanted, f"{tensor.dtype}")


def _one_hot(labels: Tensor, shape: torch.Size) -> Tensor:
    """Return bool [B, J], true at the class numbers [B]."""
    batch, classes = shape
    is_fraction = labels.is_floating_point() or labels.is_complex()
    is_integer = not is_fraction and labels.dtype != torch.bool
    expect(
        is_integer and labels.shape == (batch,),
        f"integer labels of shape [{batch}]",
        f"{labels.dtype} of shape {list(labels.shape)}",
    )
    labels = labels.long()
    if labels.numel() and is_free_to_read(labels):
        low, high = torch.stack(labels.aminmax()).tolist()
        expect(low >= 0 and high < classes, f"labels from 0 to {classes - 1}", f"{low} to {high}")
    return labels.unsqueeze(1) == torch.arange(classes, device=labels.device)


def _multi_hot(targets: Tensor, shape: torch.Size) -> Tensor:
    """Return T of equation 4, [B, J].

    Args:
        targets: class numbers, integers [B]; or T itself, which is checked and returned as it is.
        shape: (B, J).
    """
    if targets.dim() == 1:
        return _one_hot(targets, shape)
    expect(
        targets.shape == shape and not targets.is_complex(),
        f"labels [{shape[0]}] or multi-hot targets {list(shape)}",
        f"targets of {targets.dtype} of shape {list(targets.shape)}",
    )
    if is_free_to_read(targets):
        are_0_or_1 = bool(((targets == 0) | (targets == 1)).all())
        expect(are_0_or_1, "multi-hot targets of zeros and ones", "other numbers")
    return targets
