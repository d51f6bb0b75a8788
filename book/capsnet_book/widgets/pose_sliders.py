"""Sixteen sliders that bend a digit: the pose of its capsule, varied as in section 5.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import network_of, shared_network

DIMENSIONS = 16
"""Numbers in a digit capsule."""


class PoseSliders(_parts.DigitsWidget):
    """A digit, reconstructed from its capsule while the reader moves the capsule's 16 numbers.

    ``PoseSliders()`` takes the network that comes with the package, ``PoseSliders(model)`` the
    reader's own.

    Args:
        images: digits, [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; or a `Digits`,
            which has labels. None: one digit of each class, from the bundled sample. A network in
            this place is the ``model``.
        labels: the class of each digit, N whole numbers from 0 to 9; its capsule is moved.
        names: of the dimensions: 16 short texts, or a label -> 16 of them.
        model: a CapsNet for digits of 28×28 pixels, or a module with the small one's weights; None:
            the one that comes with the package.

    Attributes:
        index: the digit that is shown, 0 to N - 1.
        offsets: 16 numbers, added to the digit's pose.

    Raises:
        ValueError: digits, labels or names of another shape or out of range; a network of other
            sizes or parts.
    """

    _esm = _parts.module("pose_sliders.js")
    _css = _parts.stylesheet("pose_sliders.css")

    names = traitlets.Dict().tag(sync=True)
    offsets = traitlets.List(traitlets.Float(), default_value=[0.0] * DIMENSIONS).tag(sync=True)

    def __init__(
        self,
        images: Any = None,
        labels: Any = None,
        names: Sequence[str] | Mapping[int, Sequence[str]] | None = None,
        model: Any = None,
    ) -> None:
        if model is None and hasattr(images, "state_dict"):
            model, images = images, None
        digits, classes = _parts.digits_to_show(images, labels)
        super().__init__(
            network=shared_network() if model is None else network_of(model),
            images=digits.tobytes(),
            labels=classes,
            names=_names({} if names is None else names, classes),
        )

    @traitlets.validate("offsets")
    def _offsets_are_a_pose(self, proposal: dict) -> list[float]:
        return _parts.numbers("offsets", proposal["value"], (DIMENSIONS,)).tolist()


def _names(names: Any, labels: list[int]) -> dict[str, list[str]]:
    """Return the 16 names of each label that has any."""
    by_label = names if isinstance(names, Mapping) else dict.fromkeys(labels, names)
    for label, texts in by_label.items():
        if label not in range(10):
            raise ValueError(f"expected names by label, 0 to 9; got {label!r}")
        enough = isinstance(texts, (list, tuple)) and len(texts) == DIMENSIONS
        if not enough or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"expected {DIMENSIONS} names for digit {label}; got {texts!r}")
    return {str(int(label)): list(texts) for label, texts in by_label.items()}
