"""Recognition of an output: the fewest known deviations from the paper that explain its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import torch
from torch import Tensor

from capsnet_check.deviations import DEVIATIONS, Deviation
from capsnet_check.report import Finding
from capsnet_check.variants import PIECES
from capsnet_check.wording import described, rounded, subscript

RELATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "Each number is the square of what is expected.": torch.square,
    "Each number is the root of what is expected.": torch.sqrt,
    "Each number is 1 minus what is expected.": lambda expected: 1 - expected,
    "Each number is 1 over what is expected.": torch.reciprocal,
    "The signs are lost: what should be negative is positive.": torch.abs,
    "What should be negative is 0, as after a ReLU.": torch.relu,
    "Each number is a tanh of what is expected.": torch.tanh,
    "Each number is a sigmoid of what is expected.": torch.sigmoid,
    "Each number is an exponential of what is expected.": torch.exp,
}
"""What wrong numbers often are, seen from the right ones: a sentence, and the function."""


def expected(
    piece: str, arguments: Sequence[Any], deviations: Sequence[Deviation] = (), **options: Any
) -> Tensor:
    """Return a piece's output with these deviations, in float64."""
    exact = [_in_float64(argument) for argument in arguments]
    changes = {deviation.option: deviation.value for deviation in deviations}
    return PIECES[piece](*exact, **changes, **options)


def _in_float64(argument: Any) -> Any:
    if isinstance(argument, Tensor) and argument.is_floating_point():
        return argument.double()
    return argument


def close(output: Tensor, wanted: Tensor) -> bool:
    """Return True if two tensors agree to what float32 and any epsilon up to 1e-7 leave."""
    tolerance = 2e-4 * wanted.abs() + 1e-5 * wanted.abs().max()
    return bool(((output - wanted).abs() <= tolerance).all())


def fewest_first(piece: str, at_most: int) -> Iterator[tuple[Deviation, ...]]:
    """Yield every combination of a piece's deviations, with at most one for an option.

    Those that are tried alone come after the single ones of the rest.
    """
    by_option: dict[str, list[Deviation]] = {}
    for deviation in DEVIATIONS[piece]:
        if not deviation.alone:
            by_option.setdefault(deviation.option, []).append(deviation)
    for count in range(min(at_most, len(by_option)) + 1):
        for options in combinations(by_option.values(), count):
            yield from product(*options)
        if count == 1:
            yield from ((deviation,) for deviation in DEVIATIONS[piece] if deviation.alone)


def recognise(
    piece: str, probes: Sequence[tuple[Sequence[Any], Tensor]], at_most: int = 4
) -> tuple[Deviation, ...] | None:
    """Return the fewest deviations that explain every probe; () if it is right, None if none do.

    Args:
        piece: a key of `PIECES`.
        probes: pairs of arguments and output.
        at_most: how many deviations are tried together.
    """
    for deviations in fewest_first(piece, at_most):
        if all(close(output, expected(piece, given, deviations)) for given, output in probes):
            return deviations
    return None


def factor_words(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """Return a sentence on the one number that outputs are of the expected ones; else nothing.

    Args:
        pairs: output and expected output, in float64; together at least two numbers.
    """
    output = torch.cat([output.flatten() for output, _ in pairs])
    wanted = torch.cat([wanted.flatten() for _, wanted in pairs])
    if len(wanted) < 2 or not output.isfinite().all() or not wanted.any():
        return ""
    factor = float((output * wanted).sum() / wanted.square().sum())
    if factor == 0 or abs(factor - 1) < 1e-3 or not close(output, factor * wanted):
        return ""
    if abs(factor + 1) < 1e-3:
        return " Every number has the opposite sign."
    return f" Everywhere it is {factor:.4g} times what is expected."


def difference(
    piece: str,
    arguments: Sequence[Any],
    output: Tensor,
    probes: Sequence[tuple[Sequence[Any], Tensor]] = (),
) -> Finding:
    """Return the finding for an output that no known mistake explains: the number furthest off.

    Args:
        piece: a key of `PIECES`.
        arguments: of the call.
        output: of the call.
        probes: arguments and output of more calls, for a factor that all outputs are off by.
    """
    wanted = expected(piece, arguments)
    pairs = [(more, expected(piece, given)) for given, more in probes]
    furthest = (output - wanted).abs().nan_to_num(torch.inf).argmax()
    place = tuple(int(index) for index in torch.unravel_index(furthest, output.shape))
    text = (
        "It differs from the paper, and not by a mistake of the catalogue. "
        f"For {described(arguments)} the number furthest off is output{subscript(place)}: "
        f"expected {rounded(wanted[place])}, came {rounded(output[place])}."
    )
    pairs = pairs or [(output, wanted)]
    text += factor_words(pairs) or relation_words(pairs)
    return Finding(None, text, topic="unexplained")


def relation_words(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """Return the sentence of `RELATIONS` that holds of tensors; a few numbers tell nothing."""
    if any(wanted.numel() < 3 for _, wanted in pairs):
        return ""
    return fitting_relation(pairs, RELATIONS, close)


def fitting_relation(
    pairs: Sequence[tuple[Tensor, Tensor]],
    relations: Mapping[str, Callable[[Tensor], Tensor]],
    is_close: Callable[[Tensor, Tensor], bool],
) -> str:
    """Return the first sentence whose relation holds of all pairs; else nothing.

    Args:
        pairs: output and expected output, in float64.
        relations: sentence -> from the expected output to the one of which it speaks.
        is_close: whether two tensors agree.
    """
    for sentence, relation in relations.items():
        related = [(output, relation(wanted)) for output, wanted in pairs]
        if all(other.isfinite().all() and is_close(output, other) for output, other in related):
            return f" {sentence}"
    return ""
