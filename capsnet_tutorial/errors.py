"""One voice for bad input: what was expected, and what came."""

from __future__ import annotations

from torch import Tensor


def expect(condition: bool, expected: str, came: str) -> None:
    """Raise `ValueError` unless the condition holds."""
    if not condition:
        raise ValueError(f"expected {expected}; got {came}")


def expect_floating(name: str, tensor: Tensor) -> None:
    """Raise `ValueError` unless it is a tensor of floating-point numbers."""
    if not isinstance(tensor, Tensor):
        raise ValueError(f"expected {name} to be a torch.Tensor; got {type(tensor).__name__}")
    expect(tensor.is_floating_point(), f"{name} in floating point", f"{tensor.dtype}")


def expect_shape(name: str, tensor: Tensor, pattern: str) -> None:
    """Raise `ValueError` unless the tensor has as many axes as the pattern, such as "[B, I, D_in]", names."""
    axes = pattern.count(",") + 1
    expect(tensor.dim() == axes, f"{name} of shape {pattern}", f"shape {list(tensor.shape)}")
