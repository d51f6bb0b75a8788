"""Networks with a bug of the catalogue, to train and to examine."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from capsnet_book.bugs.reference_bugs import piece_of, variant
from capsnet_tutorial.model import CapsNetOutput, Parts

FIELDS = {"primary_capsules": "primary", "routing": "routing", "mask": "mask"}
"""A piece of the network -> the field of `Parts` that holds it."""


def planted_parts(bug: str | None) -> Parts:
    """Return parts with a bug; the paper's parts if the bug is in a loss, or None.

    Raises:
        ValueError: no such bug.
    """
    if bug is None:
        return Parts()
    piece = piece_of(bug)
    if piece not in FIELDS:
        return Parts()
    return Parts(**{FIELDS[piece]: variant(piece, bug)})  # type: ignore[arg-type]


def planted_objective(bug: str | None) -> Callable[[CapsNetOutput, Tensor, Tensor], Tensor]:
    """Return the loss function of a training, with a bug if it is in one of its two parts.

    Returns:
        (output, images, labels [B]) -> scalar.

    Raises:
        ValueError: no such bug.
    """
    margin_bug = reconstruction_bug = None
    if bug is not None:
        piece = piece_of(bug)
        margin_bug = bug if piece == "margin_loss" else None
        reconstruction_bug = bug if piece == "reconstruction_loss" else None
    margin = variant("margin_loss", margin_bug)
    reconstruction = variant("reconstruction_loss", reconstruction_bug)

    def objective(output: CapsNetOutput, images: Tensor, labels: Tensor) -> Tensor:
        return margin(output.lengths, labels) + reconstruction(output.reconstruction, images)

    return objective
