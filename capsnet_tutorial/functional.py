"""The equations of "Dynamic Routing Between Capsules" as pure functions of tensors.

Source: Sabour, Frosst and Hinton, NIPS 2017, https://arxiv.org/abs/1710.09829.

Letters are the paper's. B images of a batch, I capsules below, J capsules above, D numbers a capsule;
``u`` below, ``u_hat`` predictions, ``b`` logits, ``c`` couplings, ``s`` total input, ``v`` output.

Every function checks the shapes it is given and that its numbers are of the right kind, and raises
`ValueError` with what was expected and what came. Labels and targets are checked number by number
where that costs nothing: on the CPU, outside compiled code. On a GPU a label out of range stops the
program, as in `torch.nn.functional.cross_entropy`. That the numbers are finite is not checked.

Routing and squash compute in float32 at least, whatever comes in, and hand back the dtype they were
given: half precision cannot hold ‖s‖².
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
    expect_floating,
    expect_shape,
    expect_tensor,
    is_free_to_read,
)

WITH_AUTOCAST = {
    device for device in ("cpu", "cuda", "mps", "xpu") if torch.amp.is_autocast_available(device)
}
"""Devices that have it. Asked once: not every version of PyTorch can compile the question."""
RECONSTRUCTION_WEIGHT = 0.0005
"""What the reconstruction loss counts for beside the margin loss (section 4.1)."""


def in_full_precision(device: torch.device) -> AbstractContextManager[None]:
    """No autocast within it, where the device has any."""
    return (
        torch.autocast(device.type, enabled=False)
        if device.type in WITH_AUTOCAST
        else nullcontext()
    )


def at_least_float32(x: Tensor) -> Tensor:
    """The same in float32 if it came in half precision."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def squash(s: Tensor, dim: int = -1, eps: float = 1e-8) -> Tensor:
    """Shrink vectors to a length below 1 and keep their direction. Equation 1.

    ``v = ‖s‖² / (1 + ‖s‖²) · s / ‖s‖``, which is ``s / (‖s‖ + 1/‖s‖)``: the form computed here.

    Args:
        s: [..., D], any floating dtype.
        dim: the axis along which a vector lies.
        eps: the least length that is divided by. At ‖s‖ = 0 the paper's formula is 0/0; with the
            floor, the zero vector gives zero and a finite gradient. Longer vectors are untouched by it.

    Returns:
        v, the shape and dtype of ``s``; 0 <= ‖v‖ <= 1.
    """
    expect_floating("s", s)
    expect(-s.dim() <= dim < s.dim(), f"dim within the {s.dim()} axes of s", f"dim = {dim}")
    expect(eps > 0, "eps > 0", f"eps = {eps}")
    x = at_least_float32(s)
    # Measured in units of the largest component where that exceeds 1: the square cannot overflow.
    unit = x.detach().abs().amax(dim, keepdim=True).clamp_min(1.0)
    x = x / unit
    length = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
    return (x / (length + 1 / length / unit**2)).to(s.dtype)


def prediction_vectors(u: Tensor, weight: Tensor) -> Tensor:
    """Prediction vectors û_j|i = W_ij u_i: what each capsule below predicts for each above. Equation 2, right.

    Args:
        u: [B, I, D_in], outputs of the capsules below.
        weight: [I, J, D_in, D_out], one matrix W_ij for each pair; ``u_i`` multiplies it from the left.

    Returns:
        u_hat: [B, I, J, D_out].
    """
    expect_capsules(u, weight)
    return torch.einsum("bid,ijde->bije", u, weight)


class RoutingTrace(NamedTuple):
    """Everything routing computed, each with a leading axis of R rounds."""

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
    """Routing by agreement: Procedure 1, with equations 2 (left) and 3.

    The gradient flows through every round. The logits start at zero for every image of every call:
    nothing is shared by the images of a batch or kept from one call to the next.

    Args:
        u_hat: [B, I, J, D_out], prediction vectors.
        iterations: rounds, at least 1. With 1 every capsule below shares itself out evenly.
        return_trace: also return what each round computed.

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
            c = b.softmax(dim=2)  # over j: every capsule below shares itself out among those above
            s = torch.einsum("bij,bije->bje", c, votes)  # [B, J, D_out]
            v = squash(s)
            rounds.append((b, c, v))
            if r < iterations - 1:  # an update after the last round would not be used
                b = b + torch.einsum("bije,bje->bij", votes, v)  # agreement: <u_hat, v>
    if not return_trace:
        return v.to(u_hat.dtype)
    trace = RoutingTrace(*(torch.stack(each) for each in zip(*rounds, strict=True)))
    return v.to(u_hat.dtype), trace


def route_last(u_hat: Tensor, iterations: int = 3) -> Tensor:
    """`route` with the gradient of the last round alone: its couplings count as constants. The output is the same."""
    with torch.no_grad():
        _, trace = route(u_hat, iterations, return_trace=True)
    with in_full_precision(u_hat.device):
        votes = at_least_float32(u_hat)
        return squash(torch.einsum("bij,bije->bje", trace.c[-1], votes)).to(u_hat.dtype)


def capsule_lengths(v: Tensor) -> Tensor:
    """Lengths ‖v_j‖, read as the probability that what capsule j stands for is present. Section 2.

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
    """Margin loss, summed over the classes, averaged over the batch. Equation 4.

    ``L_k = T_k max(0, m⁺ − ‖v_k‖)² + λ (1 − T_k) max(0, ‖v_k‖ − m⁻)²``

    Args:
        lengths: [B, J], lengths of the class capsules.
        targets: class numbers, integers [B]; or T itself, [B, J], with a 1 for every class that is present.
        m_plus: a present class is long enough from here on.
        m_minus: an absent class is short enough up to here.
        lambda_: weight of the absent classes.

    Returns:
        A scalar; nan for an empty batch, which has no average.
    """
    expect_floating("lengths", lengths)
    expect_shape("lengths", lengths, "[B, J]")
    present = _multi_hot(targets, lengths.shape).to(lengths.dtype)  # [B, J]
    absent_loss = F.relu(lengths - m_minus).square()
    present_loss = F.relu(m_plus - lengths).square()
    return (present * present_loss + lambda_ * (1 - present) * absent_loss).sum(dim=1).mean()


def mask_capsules(v: Tensor, labels: Tensor | None = None) -> Tensor:
    """Keep one capsule of each image and set the others to zero. Section 4.1.

    Args:
        v: [B, J, D].
        labels: class numbers, integers [B]: keep these (training). None: keep the longest (afterwards).

    Returns:
        [B, J, D].
    """
    expect_floating("v", v)
    expect_shape("v", v, "[B, J, D]")
    if labels is None:
        labels = capsule_lengths(v.detach()).argmax(dim=1)  # [B]
    keep = _one_hot(labels, v.shape[:2])  # [B, J]
    return v.masked_fill(~keep.unsqueeze(-1), 0)


def reconstruction_loss(reconstruction: Tensor, images: Tensor) -> Tensor:
    """Sum of squared differences over the pixels, averaged over the batch. Section 4.1.

    Not yet multiplied by `RECONSTRUCTION_WEIGHT`.

    Args:
        reconstruction: [B, P] or any shape with P numbers an image.
        images: [B, 1, H, W] or any shape with P numbers an image.

    Returns:
        A scalar; nan for an empty batch, which has no average.
    """
    expect_floating("reconstruction", reconstruction)
    expect_floating("images", images)
    expect(
        reconstruction.dim() >= 2 <= images.dim()
        and reconstruction.flatten(1).shape == images.flatten(1).shape,
        "a batch of reconstructions and of images with as many numbers each",
        f"shapes {list(reconstruction.shape)} and {list(images.shape)}",
    )
    return (reconstruction.flatten(1) - images.flatten(1)).square().sum(dim=1).mean()


def expect_capsules(u: Tensor, weight: Tensor) -> None:
    """Raise `ValueError` unless u [B, I, D_in] and W [I, J, D_in, D_out] fit each other."""
    expect_floating("u", u)
    expect_floating("weight", weight)
    expect_shape("u", u, "[B, I, D_in]")
    expect_shape("weight", weight, "[I, J, D_in, D_out]")
    expect(
        u.shape[1:] == (weight.shape[0], weight.shape[2]),
        f"u of shape [B, {weight.shape[0]}, {weight.shape[2]}] for a weight of shape {list(weight.shape)}",
        f"u of shape {list(u.shape)}",
    )
    if not (u.device.type in WITH_AUTOCAST and torch.is_autocast_enabled(u.device.type)):
        expect(u.dtype == weight.dtype, f"u in the weight's dtype, {weight.dtype}", f"{u.dtype}")


def _one_hot(labels: Tensor, shape: torch.Size) -> Tensor:
    """bool [B, J] from class numbers [B]."""
    expect_tensor("labels", labels)
    batch, classes = shape
    expect(
        not labels.is_floating_point() and labels.dtype != torch.bool and labels.shape == (batch,),
        f"integer labels of shape [{batch}]",
        f"{labels.dtype} of shape {list(labels.shape)}",
    )
    if labels.numel() and is_free_to_read(labels):
        low, high = torch.stack(labels.aminmax()).tolist()
        expect(low >= 0 and high < classes, f"labels from 0 to {classes - 1}", f"{low} to {high}")
    nothing = torch.zeros(batch, classes, dtype=torch.bool, device=labels.device)
    return nothing.scatter(1, labels.long().unsqueeze(1), True)


def _multi_hot(targets: Tensor, shape: torch.Size) -> Tensor:
    """T of equation 4 from class numbers [B] or from itself."""
    expect_tensor("targets", targets)
    if targets.dim() == 1:
        return _one_hot(targets, shape)
    expect(
        targets.shape == shape,
        f"labels [{shape[0]}] or multi-hot targets {list(shape)}",
        f"targets of shape {list(targets.shape)}",
    )
    if is_free_to_read(targets):
        expect(
            bool(((targets == 0) | (targets == 1)).all()),
            "multi-hot targets of zeros and ones",
            "other numbers",
        )
    return targets
