"""Axes told by their sizes: which symbol stands on which axis of a tensor that nobody has described."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations

from torch import Tensor

Axes = tuple[tuple[str, ...], ...]
"""For each axis of a tensor the symbols in it: () for an axis of size 1, ("J", "D") for two in one."""


def axes_of(shape: Sequence[int], sizes: Mapping[str, int]) -> list[Axes]:
    """Every way to read a shape as these symbols; neighbours may share an axis, and axes of size 1 are none.

    The ways with the fewest shared axes come first.
    """
    ways: dict[Axes, None] = {}
    for order in permutations(sizes):
        groups, k = [], 0
        for size in shape:
            group: tuple[str, ...] = ()
            while math.prod(sizes[symbol] for symbol in group) < size and k < len(order):
                group, k = (*group, order[k]), k + 1
            groups.append(group)
        whole = all(math.prod(sizes[s] for s in group) == size for group, size in zip(groups, shape, strict=True))
        if whole and k == len(order):
            ways[tuple(groups)] = None
    return sorted(ways, key=lambda axes: sum(len(group) > 1 for group in axes))


def spread(tensor: Tensor, symbols: str, axes: Axes) -> Tensor:
    """A tensor with these axes, "BIJD", laid out as a network has them."""
    flat = [symbol for group in axes for symbol in group]
    sizes = dict(zip(symbols, tensor.shape, strict=True))
    shape = [math.prod(sizes[symbol] for symbol in group) for group in axes]
    return tensor.permute([symbols.index(symbol) for symbol in flat]).reshape(shape)


def gathered(tensor: Tensor, axes: Axes, sizes: Mapping[str, int], symbols: str) -> Tensor:
    """The reverse of `spread`."""
    flat = [symbol for group in axes for symbol in group]
    return tensor.reshape([sizes[symbol] for symbol in flat]).permute([flat.index(symbol) for symbol in symbols])
