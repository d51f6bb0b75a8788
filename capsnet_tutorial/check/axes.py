"""Axes told by their sizes: which symbol stands on which axis of a tensor that nobody has described."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

Axes = tuple[tuple[str, ...], ...]
"""For each axis of a tensor the symbols in it: () for an axis of size 1, ("J", "D_out") for two in one."""


def axes_of(shape: Sequence[int], sizes: dict[str, int]) -> list[Axes]:
    """Every way to read a shape as these symbols; two neighbours may share an axis, and axes of size 1 are none."""
    ways = []
    real = [size for size in shape if size != 1]
    for order in permutations(sizes):
        groups = _grouped(order, [sizes[symbol] for symbol in order], real)
        if groups is not None:
            remaining = iter(groups)
            ways.append(tuple(() if size == 1 else next(remaining) for size in shape))
    return list(dict.fromkeys(ways))


def _grouped(order: Sequence[str], numbers: Sequence[int], real: Sequence[int]) -> list[tuple[str, ...]] | None:
    groups, k = [], 0
    for size in real:
        group: tuple[str, ...] = ()
        product = 1
        while product < size and k < len(order):
            product, group, k = product * numbers[k], (*group, order[k]), k + 1
        if product != size:
            return None
        groups.append(group)
    return groups if k == len(order) and all(groups) else None


def spread(tensor: Tensor, symbols: Sequence[str], axes: Axes) -> Tensor:
    """A tensor with these axes laid out as a network has them."""
    flat = [symbol for group in axes for symbol in group]
    moved = tensor.permute([symbols.index(symbol) for symbol in flat])
    sizes = dict(zip(symbols, tensor.shape, strict=True))
    shape = [int(torch.tensor([sizes[symbol] for symbol in group]).prod()) if group else 1 for group in axes]
    return moved.reshape(shape)


def gathered(tensor: Tensor, axes: Axes, sizes: dict[str, int], symbols: Sequence[str]) -> Tensor:
    """The reverse of `spread`."""
    flat = [symbol for group in axes for symbol in group]
    return tensor.reshape([sizes[symbol] for symbol in flat]).permute([flat.index(symbol) for symbol in symbols])


def tensors_in(value: Any) -> list[Tensor]:
    """Every tensor in tuples, lists, mappings and objects."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif not isinstance(value, (tuple, list)):
        value = list(vars(value).values()) if hasattr(value, "__dict__") and not isinstance(value, nn.Module) else []
    return [tensor for each in value for tensor in tensors_in(each)]


def first_tensor(value: Any, numbers: int) -> Tensor | None:
    """The first tensor with so many numbers."""
    return next((each for each in tensors_in(value) if each.numel() == numbers and each.is_floating_point()), None)


def pairs(tensor: Tensor, batch: int) -> list[tuple[int, int]]:
    """The two sizes of a tensor beside the batch, the larger first."""
    real = [size for size in tensor.shape if size != 1]
    if batch in real:
        real.remove(batch)
    return [(max(real), min(real))] if len(real) == 2 else []


def real_axes(shape: Sequence[int]) -> int:
    return sum(size != 1 for size in shape)
