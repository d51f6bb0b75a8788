"""The reader's drawing, read by two networks of the zoo side by side, each trained with its own way to route."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import anywidget
import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network
from capsnet_book.widgets.draw_digit import FIRST

TITLES = {
    "paper": "routing by agreement",
    "even": "even shares",
    "inverted-attention": "inverted attention",
    "em": "EM of Gaussians",
    "k-means": "k-means",
    "sinkhorn": "balanced couplings",
}
"""What the routings are called here, by their names in `capsnet_book.routings.zoo`: those whose weights the
package brings (folder ``zoo`` of the assets, written by ``tools/ship_zoo.py``)."""


class TwoRoutings(anywidget.AnyWidget):
    """A pad to draw a digit on, and what two networks that route differently make of it: lengths and couplings.

    In a page, a network's weights are fetched when its routing is chosen.

    Args:
        left: name of a routing, of `TITLES`.
        right: name of another, or the same.

    Attributes:
        left: as above.
        right: as above.
        image: the 28×28 pixels that the networks see, 784 bytes, 0 (paper) to 255 (ink).

    Raises:
        ValueError: no such routing, an image of another size.
    """

    _esm = _parts.module("two_routings.js")
    _css = _parts.stylesheet("two_routings.css")

    networks = traitlets.Dict().tag(sync=True, to_json=lambda value, _: _references(value))
    titles = traitlets.Dict(TITLES).tag(sync=True)
    samples = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    disputed = traitlets.List(traitlets.Int()).tag(sync=True)
    left = traitlets.Unicode("paper").tag(sync=True)
    right = traitlets.Unicode("even").tag(sync=True)
    image = traitlets.Bytes().tag(sync=True, from_json=lambda value, _: bytes(value))  # a memoryview, from the page

    def __init__(self, left: str = "paper", right: str = "even") -> None:
        plain, classes = _parts.one_of_each()
        digits, labels = disputed()
        super().__init__(
            networks={name: shared_network(name, folder="zoo") for name in TITLES},
            samples=np.concatenate([plain, digits]).tobytes(),
            labels=classes + labels,
            disputed=list(range(len(classes), len(classes) + len(labels))),
            left=left,
            right=right,
            image=plain[FIRST].tobytes(),
        )

    @traitlets.validate("left", "right")
    def _routing_is_known(self, proposal: dict) -> str:
        if proposal["value"] not in TITLES:
            raise ValueError(f"expected a routing, one of {', '.join(TITLES)}; got {proposal['value']!r}")
        return proposal["value"]

    @traitlets.validate("image")
    def _image_is_a_digit(self, proposal: dict) -> bytes:
        return _parts.bytes_of_a_digit(proposal)

    def __repr__(self) -> str:
        return f"TwoRoutings({self.left!r}, {self.right!r})"


@cache
def disputed() -> tuple[np.ndarray, list[int]]:
    """Digits of MNIST's test set, bytes [N, 28, 28], and their labels: any two networks of the zoo disagree on some."""
    from safetensors.numpy import load  # here, as all else that only a widget at work needs

    tensors = load((files("capsnet_book.assets") / "zoo" / "disputed.safetensors").read_bytes())
    return tensors["images"], tensors["labels"].tolist()


def _references(networks: dict[str, Any]) -> dict[str, str]:
    """As `anywidget.WidgetTrait` writes one."""
    return {name: f"anywidget:{network.model_id}" for name, network in networks.items()}
