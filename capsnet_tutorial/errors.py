"""Checks of input: each raises `InputError`, a `ValueError`, with what was expected and what came."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class InputError(ValueError):
    """Input that cannot be used: a wrong shape, dtype, value or file. The message says what was expected, what came."""


def expect(condition: bool, expected: str, came: str) -> None:
    """Raise `InputError` unless the condition holds."""
    if not condition:
        raise InputError(f"expected {expected}; got {came}")


def expect_tensor(name: str, value: Any) -> None:
    """Raise `InputError` unless it is a tensor."""
    expect(isinstance(value, Tensor), f"{name} to be a torch.Tensor", type(value).__name__)


def expect_floating(name: str, tensor: Tensor) -> None:
    """Raise `InputError` unless it is a tensor of floating-point numbers."""
    if not (isinstance(tensor, Tensor) and tensor.is_floating_point()):
        expect_tensor(name, tensor)
        raise InputError(f"expected {name} in floating point; got {tensor.dtype}")


def expect_count(name: str, value: Any) -> None:
    """Raise `InputError` unless it is a whole number, at least 1."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    expect(whole and value >= 1, f"{name} to be a whole number, at least 1", repr(value))


def expect_shape(name: str, tensor: Tensor, pattern: str) -> None:
    """Raise `InputError` unless the tensor has as many axes as the pattern, such as "[B, I, D_in]", names."""
    expect(
        tensor.dim() == pattern.count(",") + 1,
        f"{name} of shape {pattern}",
        f"shape {list(tensor.shape)}",
    )


def is_free_to_read(tensor: Tensor) -> bool:
    """Whether looking at a tensor's numbers costs next to nothing: on the CPU, outside compiled code and torch.func.

    On an accelerator it would wait for all that was asked of it before.
    """
    return tensor.device.type == "cpu" and not (
        torch.compiler.is_compiling() or is_transformed(tensor)
    )


def is_transformed(*tensors: Tensor) -> bool:
    """Whether code is exported, or a transform of `torch.func` works on these: from PyTorch 2.7 on it can be told."""
    if torch.compiler.is_compiling():
        return getattr(torch.compiler, "is_exporting", bool)()
    unwrap = getattr(torch.func, "debug_unwrap", lambda tensor: tensor)
    return any(unwrap(each) is not each for each in tensors)
