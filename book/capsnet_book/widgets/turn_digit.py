"""TurnDigit: a digit on a dial, read by capsules that turn and by the book's."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

MODES = ("turn", "raise")


class TurnDigit(_parts.DigitsWidget):
    """A digit, given or drawn, to turn by hand: its parts, their votes, and both networks' lengths.

    Both networks were trained with digits turned by up to 45 degrees: "small-turning", whose
    primary capsules turn, and "small-turned", the book's. A decoder draws the digit from the pose
    that the first one reads.

    Args:
        index: the digit that is shown first, 0 to 9.
        angle: by which it is turned, in degrees from -180 to 180, anticlockwise.
        pose: by which the pose that was read is turned before it is drawn, in the same degrees.
        mode: "turn", or "raise": in the drawing's place a training stands, from nothing, in the
            page, and the network that it raises reads the digit on the dial.

    Raises:
        ValueError: no such digit, an angle out of range, no such mode.
    """

    _esm = _parts.module("turn_digit.js")
    _css = _parts.stylesheet("turn_digit.css")

    turning = anywidget.WidgetTrait().tag(sync=True)
    decoder = anywidget.WidgetTrait().tag(sync=True)
    angle = traitlets.Int(0).tag(sync=True)
    pose = traitlets.Int(0).tag(sync=True)
    mode = traitlets.Unicode("turn").tag(sync=True)
    # A reference that the page follows when a training needs the digits.
    digits = traitlets.Dict().tag(sync=True)

    def __init__(self, index: int = 4, angle: int = 0, pose: int = 0, mode: str = "turn") -> None:
        digits, classes = _parts.default_digits()
        super().__init__(
            network=shared_network("small-turned"),
            turning=shared_network("small-turning"),
            decoder=shared_network("small-turning-decoder"),
            images=digits.tobytes(),
            labels=classes,
            angle=angle,
            pose=pose,
            mode=mode,
        )
        if mode == "raise":
            file = shared_network("digits", "digits")
            self.digits = {"digits": f"anywidget:{file.model_id}"}
        self.index = index

    @traitlets.validate("angle", "pose")
    def _in_range(self, proposal: dict[str, Any]) -> int:
        name = proposal["trait"].name
        degrees = proposal["value"]
        if not -180 <= degrees <= 180:
            raise ValueError(f"expected {name} from -180 to 180; got {degrees}")
        return int(degrees)

    @traitlets.validate("mode")
    def _is_a_mode(self, proposal: dict[str, Any]) -> str:
        if proposal["value"] not in MODES:
            raise ValueError(f"expected mode as {' or '.join(MODES)}; got {proposal['value']}")
        return str(proposal["value"])

    def __repr__(self) -> str:
        mode = "" if self.mode == "turn" else f", mode={self.mode!r}"
        return f"TurnDigit(index={self.index}, angle={self.angle}{mode})"
