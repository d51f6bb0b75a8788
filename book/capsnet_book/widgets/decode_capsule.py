"""DecodeCapsule: one image decoded from each of its ten capsules; the mask of section 4.1 by hand."""

from __future__ import annotations

from typing import Any

import anywidget
import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

KEEP = ("longest", "label", "all", "none", *"0123456789")
"""What the mask may let through."""

_MISREAD = (342, 442, 101)  # of the sample's test digits, those that the shipped network gets wrong


class DecodeCapsule(anywidget.AnyWidget):
    """Draws a digit from one of its ten capsules, from all of them or from none, beside the error of the drawing.

    Args:
        images: digits, [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; or a `Digits`, which brings its
            labels. None: one digit of each class, from the bundled sample, then three that the network misreads.
        labels: the class of each digit, N whole numbers from 0 to 9.
        keep: what the mask lets through: "longest", "label", "all", "none", or a capsule, "0" to "9".

    Attributes:
        index: the digit that is shown, 0 to N - 1.
        keep: what the mask lets through now.

    Raises:
        ValueError: digits or labels of another shape or out of range, or another word than those.
    """

    _esm = _parts.module("decode_capsule.js")
    _css = _parts.stylesheet("decode_capsule.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    keep = traitlets.Unicode("longest").tag(sync=True)

    def __init__(self, images: Any = None, labels: Any = None, keep: str = "longest") -> None:
        digits, classes = _parts.digits_to_show(images, labels, _plain_and_misread)
        super().__init__(network=shared_network(), images=digits.tobytes(), labels=classes, keep=str(keep))

    @traitlets.validate("index")
    def _index_is_a_digit(self, proposal: dict) -> int:
        return _parts.index_of_a_digit(self.labels, proposal)

    @traitlets.validate("keep")
    def _keep_is_known(self, proposal: dict) -> str:
        if proposal["value"] not in KEEP:
            known = '"longest", "label", "all", "none" or "0" to "9"'
            raise ValueError(f"expected keep as {known}; got {proposal['value']!r}")
        return proposal["value"]

    def __repr__(self) -> str:
        digits = "digit" if len(self.labels) == 1 else "digits"
        return f"DecodeCapsule({len(self.labels)} {digits})"


def _plain_and_misread() -> tuple[np.ndarray, list[int]]:
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    plain, classes = _parts.one_of_each()
    sample = digits("test", source="sample")
    hard, answers = _parts.digits_and_labels(sample.images[list(_MISREAD)], sample.labels[list(_MISREAD)])
    return np.concatenate([plain, hard]), classes + answers
