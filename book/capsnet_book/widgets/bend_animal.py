"""BendAnimal: an animal in colour, bent by the numbers of its capsule."""

from __future__ import annotations

import traitlets
from safetensors.numpy import load_file

from capsnet_book.assets import asset
from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

DIMENSIONS = 16
"""Numbers in a capsule."""


class BendAnimal(_parts.DigitsWidget):
    """An animal that an unseen artist drew, and its drawing from the 16 numbers of its capsule.

    The capsules of the ten pictures were computed by the network `animals`; its decoder runs in
    the page.

    Args:
        index: the animal that is shown first, 0 to 9.

    Attributes:
        offsets: 16 numbers, added to those of the longest capsule.

    Raises:
        ValueError: no such animal.
    """

    _esm = _parts.module("bend_animal.js")
    _css = _parts.stylesheet("bend_animal.css")

    capsules = traitlets.Bytes().tag(sync=True)
    offsets = traitlets.List(traitlets.Float(), default_value=[0.0] * DIMENSIONS).tag(sync=True)

    def __init__(self, index: int = 0) -> None:
        shown = load_file(asset("animals/shown.safetensors"))
        super().__init__(
            network=shared_network("animals-decoder"),
            images=shown["images"].tobytes(),  # uint8 [10, 3, 32, 32]
            capsules=shown["capsules"].tobytes(),  # float32 [10, 12, 16]
            labels=shown["labels"].tolist(),
        )
        self.index = index

    @traitlets.validate("offsets")
    def _offsets_are_sixteen(self, proposal: dict) -> list[float]:
        return _parts.numbers("offsets", proposal["value"], (DIMENSIONS,)).tolist()

    def __repr__(self) -> str:
        return f"BendAnimal({len(self.labels)} animals)"
