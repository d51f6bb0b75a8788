"""MarginLoss: ten lengths and present classes by hand, and their margin losses. Equation 4."""

from __future__ import annotations

import traitlets

from capsnet_book.widgets import _parts

CLASSES = 10

LENGTHS = (0.05, 0.04, 0.16, 0.62, 0.06, 0.24, 0.03, 0.08, 0.48, 0.12)
"""A three that could be an eight."""

HALF = 0.5
"""The length of all bars before a reader has guessed."""


class MarginLoss(_parts.Widget):
    """Ten capsule lengths to drag, and the margin loss of each as a curve.

    Args:
        guessing: whether the reader is first asked for the ten lengths of a 3 on an 8.

    Attributes:
        lengths: ten numbers from 0 to 1; at first a three that could be an eight.
        guessing: whether the losses are hidden, since the reader is still guessing.
        present: the classes that are in the image, in order; any number of 0 to 9, none included.
        selected: the class whose curve is shown.

    Raises:
        ValueError: numbers of another count or out of range.
    """

    _esm = _parts.module("margin_loss.js")
    _css = _parts.stylesheet("margin_loss.css")

    lengths = traitlets.List(traitlets.Float(), default_value=list(LENGTHS)).tag(sync=True)
    present = traitlets.List(traitlets.Int(), default_value=[3]).tag(sync=True)
    selected = traitlets.Int(3).tag(sync=True)
    guessing = traitlets.Bool(False).tag(sync=True)
    hesitant = traitlets.List(traitlets.Float(), default_value=list(LENGTHS)).tag(sync=True)

    def __init__(self, guessing: bool = False) -> None:
        super().__init__(guessing=guessing)
        if guessing:
            self.set_trait("lengths", [HALF] * CLASSES)
            self.set_trait("present", [3, 8])

    @traitlets.validate("lengths")
    def _lengths_are_lengths(self, proposal: dict) -> list[float]:
        lengths = _parts.numbers("lengths", proposal["value"], (CLASSES,)).tolist()
        if min(lengths) < 0 or max(lengths) > 1:
            raise ValueError(
                f"expected lengths from 0 to 1; got {min(lengths):g} to {max(lengths):g}"
            )
        return lengths

    @traitlets.validate("present")
    def _present_are_classes(self, proposal: dict) -> list[int]:
        return _classes(proposal["value"])

    @traitlets.validate("selected")
    def _selected_is_a_class(self, proposal: dict) -> int:
        return _classes([proposal["value"]])[0]

    def __repr__(self) -> str:
        return f"MarginLoss(present={self.present})"


def _classes(values: list[int]) -> list[int]:
    """Return class numbers in order, without repetitions, or raise `ValueError`."""
    if not all(0 <= label < CLASSES for label in values):
        raise ValueError(f"expected classes from 0 to 9; got {values!r}")
    return sorted(set(values))
