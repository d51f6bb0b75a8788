"""What a thing in somebody's file is: a piece of a capsule network, a layer or a network."""

from __future__ import annotations

import re
from typing import Any

from torch import nn

from capsnet_check import CHECKERS
from capsnet_tutorial.errors import InputError

KINDS = (*CHECKERS, "layer", "network")

_WORDS = {
    "squash": r"squash",
    "primary_capsules": r"primary|group_into",
    "routing": r"rout|agreement",
    "margin_loss": r"margin",
    "mask": r"mask",
    "reconstruction_loss": r"recon",
}
_NEVER_MODULES_WITH_ROUTING = {"margin_loss", "mask", "reconstruction_loss"}


def pieces_named(name: str) -> list[str]:
    """Return the pieces that a name may mean, by its last part."""
    last = re.sub(r"\(.*", "", name, flags=re.DOTALL).rpartition(".")[2]
    return [piece for piece, words in _WORDS.items() if re.search(words, last, re.IGNORECASE)]


def kind_of(thing: Any, name: str) -> str:
    """Return what a thing is by what is in it, else by its name.

    Raises:
        InputError: neither says so.
    """
    pieces = pieces_named(name)
    if isinstance(thing, nn.Module) and not _NEVER_MODULES_WITH_ROUTING & set(pieces):
        if any(isinstance(module, nn.Conv2d) for module in thing.modules()):
            return "network"
        if next(thing.parameters(), None) is not None:
            return "layer"
    if len(pieces) != 1:
        expected = f"a name that says which piece {name} is, or --as with one of {', '.join(KINDS)}"
        meanings = " and ".join(pieces) or "nothing"
        raise InputError(f"expected {expected}; got {meanings} from its name")
    return pieces[0]
