"""A scene of parts to turn, and their votes, of pose matrices and of vectors."""

from __future__ import annotations

import json
from typing import Any

import traitlets

from capsnet_book.assets import asset
from capsnet_book.widgets import _parts

MOST = 12
"""The largest number of parts beside the whole's."""


def recorded_scenes() -> dict[str, Any]:
    """Return ten scenes, one of each whole, and the weights of the two networks."""
    return json.loads(asset("scenes.json").read_text(encoding="utf-8"))


class TurnScene(_parts.Widget):
    """Five parts of one whole among parts of none, to turn, and the votes of two networks.

    One votes with pose matrices, M W, one with vectors, W u. Both were trained on wholes turned by
    up to 45 degrees.

    Attributes:
        angle: by which the whole scene is turned, in degrees from -180 to 180.
        clutter: the number of parts of no whole, 0 to 12.

    Raises:
        ValueError: a number out of range.
    """

    _esm = _parts.module("turn_scene.js")
    _css = _parts.stylesheet("turn_scene.css")

    scene: traitlets.List[Any] = traitlets.List().tag(sync=True)
    weights = traitlets.Dict().tag(sync=True)
    angle = traitlets.Int(0).tag(sync=True)
    clutter = traitlets.Int(0).tag(sync=True)

    def __init__(self, angle: int = 0, clutter: int = 0) -> None:
        recorded = recorded_scenes()
        super().__init__(
            scene=recorded["scenes"][0],
            weights=recorded["weights"],
            angle=angle,
            clutter=clutter,
        )

    @traitlets.validate("angle", "clutter")
    def _in_range(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        allowed = {"angle": range(-180, 181), "clutter": range(MOST + 1)}[name]
        if value not in allowed:
            raise ValueError(f"expected {name} from {allowed[0]} to {allowed[-1]}; got {value}")
        return value

    def __repr__(self) -> str:
        return f"TurnScene(angle={self.angle}, clutter={self.clutter})"
