"""Whoever takes part in a race: a function, a module, the place of one in a file, or a name of the zoo."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from torch import nn

from capsnet_book.experiments.tasks import OwnRouting
from capsnet_book.routings.zoo import ZOO
from capsnet_tutorial.check.loading import found_in
from capsnet_tutorial.errors import expect
from capsnet_tutorial.model import CapsNetConfig


def contestant(routing: str | Callable[..., Any]) -> OwnRouting:
    """What trains and what is told of a routing.

    Args:
        routing: "path/to/file.py:name", a name of the zoo, a function (u_hat, iterations) -> v, a module, or a module's
            class that needs no arguments.

    Raises:
        ValueError: no such file or name, or nothing that can be called.
    """
    if isinstance(routing, str):
        return _named(routing)
    expect(callable(routing), "a routing, (u_hat [B, I, J, D], iterations) -> v [B, J, D]", repr(routing))
    name = getattr(routing, "__name__", type(routing).__name__)
    try:
        source = inspect.getsource(routing if inspect.isroutine(routing) or inspect.isclass(routing) else type(routing))
    except (OSError, TypeError):  # typed into an interpreter
        source = name

    def make(config: CapsNetConfig) -> Any:
        if inspect.isclass(routing):
            return routing()
        return deepcopy(routing) if isinstance(routing, nn.Module) else routing

    return OwnRouting(name, make, _hash(source))


def _named(place: str) -> OwnRouting:
    if place in ZOO:
        return OwnRouting(place, ZOO[place].make, f"zoo {place}")
    expect(":" in place, f"path/to/my_routing.py:name or a name of the zoo, {', '.join(ZOO)}", repr(place))
    found_in(place)  # what cannot be had shall be said now
    path = place.rpartition(":")[0] if "(" not in place else place.partition(":")[0]
    own = Path(path)
    version = _hash(own.read_text(encoding="utf-8") if own.is_file() else place)
    return OwnRouting(f"{own.name}{place[len(path) :]}", lambda config: found_in(place)[0].value, version)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
