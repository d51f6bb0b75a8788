"""Sixteen sliders that bend a digit: the pose of its capsule, varied as in section 5.1 of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import network_of, shared_network

DIMENSIONS = 16
"""Numbers in a digit capsule."""

RANGE = (-0.25, 0.25)
"""How far the paper moves each of them."""


class PoseSliders(anywidget.AnyWidget):
    """Redraws a digit from its capsule while the reader moves the capsule's 16 numbers.

    ``PoseSliders()`` asks the network that comes with the package, ``PoseSliders(model)`` the reader's own.

    Args:
        images: digits, [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; or a `Digits`, which brings its
            labels. None: one digit of each class, from the bundled sample. A network in this place is the ``model``.
        labels: the class of each digit, N whole numbers from 0 to 9; this class's capsule is the one that is moved.
        ranges: how far a slider goes below and above the digit's own pose: one pair for all, or 16 pairs.
            None: (-0.25, 0.25).
        names: what each dimension does: 16 short texts, or for each label 16 of them.
        model: the network that reads and draws: a CapsNet for digits of 28×28 pixels, or a module with the small
            one's weights. None: the one that comes with the package.

    Attributes:
        index: the digit that is shown, 0 to N - 1.
        sways: whether the digit bends itself at first, until the reader takes hold of it.
        offsets: 16 numbers, what the sliders add to the digit's pose.

    Raises:
        ValueError: digits, labels, ranges or names of another shape or out of range; a network of other sizes or
            parts.
    """

    _esm = _parts.module("pose_sliders.js")
    _css = _parts.stylesheet("pose_sliders.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    ranges = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    names = traitlets.Dict().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    sways = traitlets.Bool(False).tag(sync=True)
    offsets = traitlets.List(traitlets.Float(), default_value=[0.0] * DIMENSIONS).tag(sync=True)

    def __init__(
        self,
        images: Any = None,
        labels: Any = None,
        ranges: Sequence[float] | Sequence[Sequence[float]] | None = None,
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
            ranges=_ranges(RANGE if ranges is None else ranges),
            names=_names({} if names is None else names, classes),
        )

    @traitlets.validate("index")
    def _index_is_a_digit(self, proposal: dict) -> int:
        return _parts.index_of_a_digit(self.labels, proposal)

    @traitlets.validate("offsets")
    def _offsets_are_a_pose(self, proposal: dict) -> list[float]:
        return _parts.finite("offsets", proposal["value"], DIMENSIONS)

    def __repr__(self) -> str:
        digits = "digit" if len(self.labels) == 1 else "digits"
        return f"PoseSliders({len(self.labels)} {digits})"


def _ranges(ranges: Any) -> list[list[float]]:
    """16 pairs [low, high], low < 0 < high."""
    try:
        pairs = np.asarray(ranges, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"expected ranges as a pair (low, high) or 16 pairs; got {ranges!r}") from None
    if pairs.shape == (2,):
        pairs = np.tile(pairs, (DIMENSIONS, 1))
    if pairs.shape != (DIMENSIONS, 2):
        raise ValueError(f"expected ranges as a pair (low, high) or 16 pairs; got shape {list(pairs.shape)}")
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < 0).all() and (pairs[:, 1] > 0).all()):
        raise ValueError(f"expected ranges with low < 0 < high; got {ranges!r}")
    return pairs.tolist()


def _names(names: Any, labels: list[int]) -> dict[str, list[str]]:
    """16 texts for each label that has any."""
    by_label = names if isinstance(names, Mapping) else dict.fromkeys(labels, names)
    for label, texts in by_label.items():
        if label not in range(10):
            raise ValueError(f"expected names by label, 0 to 9; got {label!r}")
        enough = isinstance(texts, (list, tuple)) and len(texts) == DIMENSIONS
        if not enough or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"expected {DIMENSIONS} names for digit {label}; got {texts!r}")
    return {str(int(label)): list(texts) for label, texts in by_label.items()}
