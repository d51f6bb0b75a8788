"""Checks of input, which raise `InputError` with what was expected and what came."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
"""Precisions that the module computes in."""


class InputError(ValueError):
    """Input that cannot be used: a wrong shape, dtype, value or file.

    The message says what was expected and what came.
    """


def expect(condition: bool, expected: str, actual: str) -> None:
    """Raise `InputError` unless the condition holds."""
    if not condition:
        raise InputError(f"expected {expected}; got {actual}")


# --- numbers


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, and no tensor."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -math.inf < value < math.inf


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number, at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def expect_number(name: str, value: Any) -> None:
    """Raise `InputError` unless a value is a finite number."""
    expect(is_number(value), f"{name} as a finite number", repr(value))


def expect_count(name: str, value: Any) -> None:
    """Raise `InputError` unless a value is a whole number, at least 1."""
    expect(is_count(value), f"{name} to be a whole number, at least 1", repr(value))


# --- tensors


def expect_tensor(name: str, value: Any) -> None:
    """Raise `InputError` unless a value is a tensor."""
    expect(isinstance(value, Tensor), f"{name} to be a torch.Tensor", type(value).__name__)


def expect_floating(name: str, tensor: Tensor) -> None:
    """Raise `InputError` unless a value is a dense tensor of floating-point numbers."""
    expect_tensor(name, tensor)
    wanted = f"{name} in floating point, of 16 bits or more"
    expect(tensor.dtype in FLOATING, wanted, f"{tensor.dtype}")
    expect(tensor.layout == torch.strided, f"{name} as a dense tensor", f"{tensor.layout}")


def expect_image_dtype(images: Tensor) -> None:
    """Raise `InputError` unless images are floating-point numbers; bytes are told what to do."""
    is_bytes = isinstance(images, Tensor) and images.dtype == torch.uint8
    wanted = "images in floating point, from 0 to 1"
    expect(not is_bytes, wanted, "torch.uint8, from 0 to 255: divide by 255")
    expect_floating("images", images)


def expect_shape(name: str, tensor: Tensor, pattern: str) -> None:
    """Raise `InputError` unless a tensor has as many axes as a pattern, such as "[B, I, D_in]"."""
    axes = pattern.count(",") + 1
    expect(tensor.dim() == axes, f"{name} of shape {pattern}", f"shape {list(tensor.shape)}")


def expect_device(name: str, tensor: Tensor, other_name: str, other: Tensor) -> None:
    """Raise `InputError` unless a value is a tensor on the device of another tensor."""
    expect_tensor(name, tensor)
    wanted = f"{name} on {other.device}, the device of {other_name}"
    expect(tensor.device == other.device, wanted, f"{tensor.device}")


def is_free_to_read(tensor: Tensor) -> bool:
    """Return whether reading a tensor's values costs nothing: no wait for a GPU, no graph break.

    It costs nothing on the CPU, outside compiled code and the transforms of `torch.func`.
    """
    if tensor.device.type != "cpu" or torch.compiler.is_compiling():
        return False
    return not is_transformed(tensor)


def is_transformed(*tensors: Tensor) -> bool:
    """Return whether code is exported or traced, or tensors are being transformed.

    Code in `torch.compile` is neither. Transforms are those of `torch.func`, which PyTorch shows
    from version 2.7 on, and forward-mode derivatives.
    """
    if torch.compiler.is_compiling():
        # Older versions have no such function; bool() returns False.
        return getattr(torch.compiler, "is_exporting", bool)()
    if torch.jit.is_tracing():
        return True
    unwrap = getattr(torch.func, "debug_unwrap", lambda tensor: tensor)
    return any(unwrap(tensor) is not tensor or _has_tangent(tensor) for tensor in tensors)


def _has_tangent(tensor: Tensor) -> bool:
    """Return whether a tensor carries a forward-mode derivative."""
    return forward_ad.unpack_dual(tensor).tangent is not None
