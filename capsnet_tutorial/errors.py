"""Checks of input: each raises `InputError`, a `ValueError`, with what was expected and what came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

_trusted = ContextVar("trusted", default=False)


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
    expect_tensor(name, tensor)
    expect(tensor.is_floating_point(), f"{name} in floating point", f"{tensor.dtype}")


def expect_count(name: str, value: Any) -> None:
    """Raise `InputError` unless it is a whole number, at least 1."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    expect(whole and value >= 1, f"{name} to be a whole number, at least 1", repr(value))


def expect_fields(kind: Any, fields: Any) -> None:
    """Raise `InputError` unless it is a dict whose keys are among the fields of this dataclass."""
    known = set(kind.__dataclass_fields__)
    expect(isinstance(fields, dict) and set(fields) <= known, f"fields among {sorted(known)}", f"{fields!r}")


def expect_shape(name: str, tensor: Tensor, pattern: str) -> None:
    """Raise `InputError` unless the tensor has as many axes as the pattern, such as "[B, I, D_in]", names."""
    axes = pattern.count(",") + 1
    expect(tensor.dim() == axes, f"{name} of shape {pattern}", f"shape {list(tensor.shape)}")


def may_read(tensor: Tensor) -> bool:
    """Whether a check may read the numbers of a tensor, and not only its shape.

    It may not in compiled code, nor on an accelerator, where reading waits for all that was asked of it before, nor
    within `trusted_values`.
    """
    return not (torch.compiler.is_compiling() or _trusted.get() or tensor.device.type != "cpu")


@contextmanager
def trusted_values() -> Iterator[None]:
    """Checks within it read shapes and dtypes only: for a training loop, which has checked its data beforehand."""
    token = _trusted.set(True)
    try:
        yield
    finally:
        _trusted.reset(token)
