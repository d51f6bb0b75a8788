"""Networks with a bug of the catalogue in them: to be trained, examined, and found out."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from capsnet_book.bugs.museum import piece_of, variant
from capsnet_tutorial.model import CapsNetOutput, Parts

FIELDS = {"primary_capsules": "primary", "routing": "routing", "mask": "mask"}
"""Fields of `Parts`, by the piece that they hold."""


def planted_parts(bug: str | None) -> Parts:
    """Parts with this bug; the paper's if the bug is in a loss, or None.

    Raises:
        ValueError: no such bug.
    """
    piece = None if bug is None else piece_of(bug)
    if bug is None or piece not in FIELDS:
        return Parts()
    return Parts(**{FIELDS[piece]: variant(piece, bug)})  # type: ignore[arg-type]


def planted_objective(bug: str | None) -> Callable[[CapsNetOutput, Tensor, Tensor], Tensor]:
    """What training minimises, with this bug if it is in a loss: (output, images, labels [B]) -> scalar.

    Raises:
        ValueError: no such bug.
    """
    piece = None if bug is None else piece_of(bug)
    margin = variant("margin_loss", bug if piece == "margin_loss" else None)
    redrawing = variant("reconstruction_loss", bug if piece == "reconstruction_loss" else None)

    def objective(output: CapsNetOutput, images: Tensor, labels: Tensor) -> Tensor:
        return margin(output.lengths, labels) + redrawing(output.reconstruction, images)

    return objective
