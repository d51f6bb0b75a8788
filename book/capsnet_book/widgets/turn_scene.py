"""A scene of parts to turn, and their votes: of pose matrices and of vectors, both trained near the upright."""

from __future__ import annotations

import json
from typing import Any

import anywidget
import traitlets

from capsnet_book.assets import asset
from capsnet_book.widgets import _parts

WHOLES, MOST = 10, 12


class TurnScene(anywidget.AnyWidget):
    """Five parts of one whole among parts of none, in the plane. Turn them, and two networks vote: one with pose
    matrices, M W, one with vectors, W u. Both were trained on wholes turned by up to 45 degrees.

    Attributes:
        whole: which of the ten, 0 to 9.
        angle: by which the whole scene is turned, in degrees from -180 to 180.
        clutter: how many parts besides, 0 to 12.
        rounds: that the votes are routed with, 1 or 3.

    Raises:
        ValueError: a number out of range.
    """

    _esm = _parts.module("turn_scene.js")
    _css = _parts.stylesheet("turn_scene.css")

    scenes: traitlets.List[Any] = traitlets.List().tag(sync=True)
    weights = traitlets.Dict().tag(sync=True)
    whole = traitlets.Int(0).tag(sync=True)
    angle = traitlets.Int(0).tag(sync=True)
    clutter = traitlets.Int(0).tag(sync=True)
    rounds = traitlets.Int(3).tag(sync=True)

    def __init__(self, whole: int = 0, angle: int = 0, clutter: int = 0, rounds: int = 3) -> None:
        shown = json.loads(asset("scenes.json").read_text(encoding="utf-8"))
        super().__init__(
            scenes=shown["scenes"], weights=shown["weights"], whole=whole, angle=angle, clutter=clutter, rounds=rounds
        )

    @traitlets.validate("whole", "angle", "clutter", "rounds")
    def _in_range(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        allowed = {
            "whole": range(WHOLES),
            "angle": range(-180, 181),
            "clutter": range(MOST + 1),
            "rounds": (1, 3),
        }[name]
        if value not in allowed:
            ends = "1 or 3" if name == "rounds" else f"from {allowed[0]} to {allowed[-1]}"
            raise ValueError(f"expected {name} {ends}; got {value}")
        return value

    def __repr__(self) -> str:
        return f"TurnScene(whole={self.whole}, angle={self.angle}, clutter={self.clutter}, rounds={self.rounds})"
