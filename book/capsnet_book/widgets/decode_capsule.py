"""DecodeCapsule: one image decoded from each of its ten capsules; the mask of section 4.1 by hand."""

from __future__ import annotations

import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

KEEP = ("longest", "label", "all", "none", *"0123456789")
"""What the mask may let through."""

_MISREAD = (342, 442, 101)  # of the sample's test digits, those that the shipped network gets wrong


class DecodeCapsule(_parts.DigitsWidget):
    """Draws a digit from one of its ten capsules, from all of them or from none, beside the error of the drawing.

    Attributes:
        index: the digit that is shown: one of each class, then three that the network misreads, 0 to 12.
        keep: what the mask lets through: "longest", "label", "all", "none", or a capsule, "0" to "9".

    Raises:
        ValueError: no such digit, or another word than those.
    """

    _esm = _parts.module("decode_capsule.js")
    _css = _parts.stylesheet("decode_capsule.css")

    keep = traitlets.Unicode("longest").tag(sync=True)

    def __init__(self) -> None:
        digits, classes = _plain_and_misread()
        super().__init__(network=shared_network(), images=digits.tobytes(), labels=classes)

    @traitlets.validate("keep")
    def _keep_is_known(self, proposal: dict) -> str:
        if proposal["value"] not in KEEP:
            known = '"longest", "label", "all", "none" or "0" to "9"'
            raise ValueError(f"expected keep as {known}; got {proposal['value']!r}")
        return proposal["value"]


def _plain_and_misread() -> tuple[np.ndarray, list[int]]:
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    plain, classes = _parts.one_of_each()
    sample = digits("test", source="sample")
    hard, answers = _parts.digits_and_labels(
        sample.images[list(_MISREAD)], sample.labels[list(_MISREAD)]
    )
    return np.concatenate([plain, hard]), classes + answers
