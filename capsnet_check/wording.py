"""Values in words, for the sentences of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

_LONGEST = 40  # characters of a value's repr in a sentence


def rounded(numbers: Tensor) -> str:
    """Return numbers as a reader writes them: 0.333, [0.1, 2], [[1, 0], [0, 1]]."""
    if numbers.dim():
        return f"[{', '.join(rounded(part) for part in numbers)}]"
    number = float(numbers)
    if number.is_integer() and abs(number) < 1e15:
        return f"{number + 0:.0f}"  # no minus before a zero
    return f"{number:.4g}"


def described(arguments: Sequence[Any]) -> str:
    """Return the arguments of a call in a few words, tensors by their shapes."""
    return ", ".join(
        f"a tensor of shape {list(argument.shape)}"
        if isinstance(argument, Tensor)
        else repr(argument)
        for argument in arguments
    )


def shortened(value: Any) -> str:
    """Return a value in a few words: its type, and its repr or its number of items."""
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of length {len(value)}"
    text = repr(value)
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 3] + "..."
    return f"{type(value).__name__} {text}"


def subscript(place: Sequence[int]) -> str:
    """Return a place in a tensor as an index, "[0, 2]"; empty for a scalar."""
    return f"[{', '.join(map(str, place))}]" if place else ""
