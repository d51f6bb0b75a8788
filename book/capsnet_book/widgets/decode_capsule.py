"""DecodeCapsule: an image decoded from each of its ten capsules, the mask by hand. Section 4.1."""

from __future__ import annotations

import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

KEEP = ("longest", "label", "all", "none", *"0123456789")
"""The capsules that the mask keeps, by word or class."""

_MISREAD = (342, 442, 101)
"""Places of the sample's test digits that the shipped network misreads."""


class DecodeCapsule(_parts.DigitsWidget):
    """Reconstructions of a digit from one of its ten capsules, all or none, with their error.

    Attributes:
        index: the digit that is shown, 0 to 12: one of each class, then three that the network
            misreads.
        keep: the capsules that the mask keeps: "longest", "label", "all", "none", or "0" to "9".

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
            words = '"longest", "label", "all", "none" or "0" to "9"'
            raise ValueError(f"expected keep as {words}; got {proposal['value']!r}")
        return proposal["value"]


def _plain_and_misread() -> tuple[np.ndarray, list[int]]:
    """Return the pixels uint8 [13, 28, 28] and the labels of the digits to show."""
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    plain, classes = _parts.default_digits()
    sample = digits("test", source="sample")
    misread, labels = _parts.digits_and_labels(
        sample.images[list(_MISREAD)], sample.labels[list(_MISREAD)]
    )
    return np.concatenate([plain, misread]), classes + labels
