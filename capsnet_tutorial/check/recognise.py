"""Which mistakes explain what a function returns: its numbers beside those of the wrong variants of `bugs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import torch
from capsnet_book.bugs import PIECES, Deviation, deviating
from torch import Tensor

Probe = tuple[tuple[Any, ...], Tensor]
"""Arguments, and what the function returned for them in float64."""

_BEHAVIOUR = ("memory", "safe")  # seen in what a function does, not in its numbers on ordinary input


def close(came: Tensor, expected: Tensor) -> bool:
    """Whether two tensors agree to what float32 and any epsilon up to 1e-7 leave."""
    return bool(((came - expected).abs() <= 2e-4 * expected.abs() + 1e-5 * expected.abs().max()).all())


def right(piece: str, arguments: Sequence[Any]) -> Tensor:
    """What the piece returns when it is right, in float64."""
    return explained_by(piece, (), arguments)


def explained_by(piece: str, deviations: Sequence[Deviation], arguments: Sequence[Any], copies: int = 1) -> Tensor:
    """What the piece returns with these deviations, in float64.

    Args:
        copies: of routing: each capsule below stands for so many that predict the same. 1152 capsules of 12 kinds
            cost what 12 do: only the softmax has to see all of them.
    """
    exact = [each.double() if isinstance(each, Tensor) and each.is_floating_point() else each for each in arguments]
    if copies > 1:
        couplings = next((each.value for each in deviations if each.option == "couplings"), None)
        others = tuple(each for each in deviations if each.option != "couplings")
        shared = partial(_over_j, copies) if couplings is None else partial(_for_copies, couplings, copies)
        deviations = (*others, Deviation("couplings", shared, None, ""))
    with torch.no_grad():
        return deviating(PIECES[piece].function, deviations)(*exact)


def _over_j(copies: int, b: Tensor) -> Tensor:
    return copies * b.softmax(dim=2)  # each capsule below for itself: its copies need not be there


def _for_copies(couplings: Callable[[Tensor], Tensor], copies: int, b: Tensor) -> Tensor:
    return copies * couplings(b.repeat_interleave(copies, 1))[:, ::copies]


def recognise(
    piece: str, probes: Sequence[Probe], at_most: int = 5, *, copies: int = 1, without: Sequence[str] = ()
) -> tuple[Deviation, ...] | None:
    """The fewest deviations that explain all probes; () if it is right, None if nothing explains them.

    Args:
        without: options that are left as they are.
    """
    deviations = [each for each in PIECES[piece].deviations if each.option not in without]
    for some in _fewest_first(deviations, at_most):
        if all(close(output, explained_by(piece, some, arguments, copies)) for arguments, output in probes):
            return some
    return None


def _fewest_first(deviations: Sequence[Deviation], at_most: int) -> Iterator[tuple[Deviation, ...]]:
    """Every combination, with at most one setting an option."""
    options: dict[str, list[Deviation]] = {}
    for each in deviations:
        if each.option not in _BEHAVIOUR:
            options.setdefault(each.option, []).append(each)
    for count in range(min(at_most, len(options)) + 1):
        for chosen in combinations(options.values(), count):
            yield from product(*chosen)
