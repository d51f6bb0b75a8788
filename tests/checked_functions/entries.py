"""The lists of wrong and right functions, how a function is entered, and two squashes that many of them use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Wrong(NamedTuple):
    """A function that a checker must reject, and the bugs that it must name."""

    name: str
    piece: str
    bugs: frozenset[str]
    make: Callable[[], Any]


class Right(NamedTuple):
    """A function that a checker must accept."""

    name: str
    piece: str
    make: Callable[[], Any]


WRONG: list[Wrong] = []
RIGHT: list[Right] = []
NEVER_RETURNS: list[Wrong] = []


def wrong(piece: str, *bugs: str, among: list[Wrong] = WRONG) -> Callable[[Any], Any]:
    """Enter a function, or a class whose instances are called, under its own name."""

    def enter(fn: Any) -> Any:
        make = fn if isinstance(fn, type) else lambda: fn
        among.append(Wrong(fn.__name__.replace("_", " "), piece, frozenset(bugs), make))
        return fn

    return enter


def wrong_made_by(piece: str, *bugs: str) -> Callable[[Any], Any]:
    """Enter a function that makes the function: a new one, with nothing kept from the last, at every call."""

    def enter(make: Any) -> Any:
        WRONG.append(Wrong(make.__name__.replace("_", " "), piece, frozenset(bugs), make))
        return make

    return enter


def right(piece: str) -> Callable[[Any], Any]:
    """Enter a function, or a class whose instances are called, under its own name."""

    def enter(fn: Any) -> Any:
        make = fn if isinstance(fn, type) else lambda: fn
        RIGHT.append(Right(fn.__name__.replace("_", " "), piece, make))
        return fn

    return enter


# Two squashes for functions that are about something else: one with, one without epsilon.


def squash(s, dim=-1):
    n2 = (s**2).sum(dim, keepdim=True)
    return n2 / (1 + n2) * s / torch.sqrt(n2 + 1e-9)


def bare(s, dim=-1):
    n2 = s.pow(2).sum(dim=dim, keepdim=True)
    return n2 * s / ((1.0 + n2) * torch.sqrt(n2))
