"""Axes told by their sizes: which symbol stands on which axis of a tensor without a description."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations

from torch import Tensor

Axes = tuple[tuple[str, ...], ...]
"""For each axis the symbols in it: () for an axis of size 1, ("J", "D") for two in one."""


def axes_of(shape: Sequence[int], sizes: Mapping[str, int]) -> list[Axes]:
    """Return every way to read a shape as these symbols, those with the fewest shared axes first.

    Neighbours may share an axis; axes of size 1 hold no symbol.
    """
    readings: dict[Axes, None] = {}
    for order in permutations(sizes):
        axes = _read_in_order(shape, order, sizes)
        if axes is not None:
            readings[axes] = None
    return sorted(readings, key=lambda axes: sum(len(group) > 1 for group in axes))


def _read_in_order(
    shape: Sequence[int], order: Sequence[str], sizes: Mapping[str, int]
) -> Axes | None:
    """Return the reading of a shape as symbols in this order, or None."""
    groups = []
    rest = list(order)
    for size in shape:
        group: list[str] = []
        while _product(group, sizes) < size and rest:
            group.append(rest.pop(0))
        if _product(group, sizes) != size:
            return None
        groups.append(tuple(group))
    return None if rest else tuple(groups)


def _product(symbols: Sequence[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[symbol] for symbol in symbols)


def spread(tensor: Tensor, symbols: str, axes: Axes) -> Tensor:
    """Return a tensor with the axes of `symbols`, such as "BIJD", in a network's layout."""
    order = [symbol for group in axes for symbol in group]
    sizes = dict(zip(symbols, tensor.shape, strict=True))
    shape = [_product(group, sizes) for group in axes]
    return tensor.permute([symbols.index(symbol) for symbol in order]).reshape(shape)


def gathered(tensor: Tensor, axes: Axes, sizes: Mapping[str, int], symbols: str) -> Tensor:
    """Return a tensor in a network's layout with the axes of `symbols`, as before `spread`."""
    order = [symbol for group in axes for symbol in group]
    apart = tensor.reshape([sizes[symbol] for symbol in order])
    return apart.permute([order.index(symbol) for symbol in symbols])
