"""BendCapsule: a picture is read, one of its capsules is chosen, and its numbers are bent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import Network, network_of, shared_network

DIMENSIONS = 16
"""Numbers in a class capsule."""

RULES = ("longest", "label", "all", "none")
"""The rules by which a mask keeps capsules."""

_MISREAD = (342, 442, 101)
"""Places of the sample's test digits that the shipped network misreads."""


class BendCapsule(_parts.DigitsWidget):
    """A picture, what each of its capsules would draw, and the sixteen numbers of one to move.

    ``BendCapsule()`` takes the network that comes with the package, ``BendCapsule(model)`` the
    reader's own. A digit can be drawn by hand. Each number is named by what it does to this
    drawing, which the page measures.

    Args:
        images: digits, [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; or a `Digits`,
            which has labels. None: one digit of each class, from the bundled sample. A network in
            this place is the ``model``.
        labels: the class of each digit, N whole numbers from 0 to 9.
        names: of the numbers, in place of those that the page measures: 16 short texts, or a
            label -> 16 of them.
        model: a CapsNet for digits of 28×28 pixels, or a module with the small one's weights; None:
            the one that comes with the package.

    Attributes:
        index: the picture that is read, 0 to N - 1.
        keep: the capsules that are decoded: "longest", "label", "all", "none", or a class, "0" to
            "9".
        offsets: 16 numbers, added to those of the capsule.
        rules: whether the four rules of the mask are offered; then the numbers are folded.

    Raises:
        ValueError: digits, labels or names of another shape or out of range; a network of other
            sizes or parts.
    """

    _esm = _parts.module("bend_capsule.js")
    _css = _parts.stylesheet("bend_capsule.css")

    _classes = 10  # of the network

    names = traitlets.Dict().tag(sync=True)
    keep = traitlets.Unicode("longest").tag(sync=True)
    offsets = traitlets.List(traitlets.Float(), default_value=[0.0] * DIMENSIONS).tag(sync=True)
    rules = traitlets.Bool(False).tag(sync=True)

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
        self._fill(shared_network() if model is None else network_of(model), digits, classes)
        self.names = _names({} if names is None else names, classes)

    def _fill(self, network: Network, images: np.ndarray, labels: list[int]) -> None:
        """Give the widget its network, its pictures and their classes."""
        super().__init__(network=network, images=images.tobytes(), labels=labels)

    @classmethod
    def with_rules(cls) -> BendCapsule:
        """Return one for the mask: a digit of each class, and three that the network misreads."""
        from capsnet_tutorial.data import digits  # here, because it brings torch along

        sample = digits("test", source="sample")
        plain, labels = _parts.default_digits()
        misread, others = _parts.digits_and_labels(
            sample.images[list(_MISREAD)], sample.labels[list(_MISREAD)]
        )
        widget = cls(np.concatenate([plain, misread]), labels + others)
        widget.rules = True
        return widget

    @classmethod
    def animals(cls, index: int = 0) -> BendCapsule:
        """Return one for animals in colour, by artists that its network never saw.

        Raises:
            ValueError: no such animal.
        """
        from safetensors.numpy import load_file

        from capsnet_book.animals import ANIMALS
        from capsnet_book.assets import asset

        shown = load_file(asset("animals/shown.safetensors"))
        widget = cls.__new__(cls)
        widget._classes = len(ANIMALS)
        widget._fill(shared_network("animals"), shown["images"], shown["labels"].tolist())
        widget.index = index
        return widget

    @traitlets.validate("offsets")
    def _offsets_are_a_pose(self, proposal: dict) -> list[float]:
        return _parts.numbers("offsets", proposal["value"], (DIMENSIONS,)).tolist()

    @traitlets.validate("keep")
    def _keep_is_known(self, proposal: dict) -> str:
        classes = {str(label) for label in range(self._classes)}
        if proposal["value"] not in classes.union(RULES):
            words = '"longest", "label", "all", "none" or a class such as "0"'
            raise ValueError(f"expected keep as {words}; got {proposal['value']!r}")
        return proposal["value"]


def _names(names: Any, labels: list[int]) -> dict[str, list[str]]:
    """Return the 16 names of each label that has any.

    Raises:
        ValueError: a label that is no digit, or no 16 texts.
    """
    by_label = names if isinstance(names, Mapping) else dict.fromkeys(labels, names)
    for label, texts in by_label.items():
        if label not in range(10):
            raise ValueError(f"expected names by label, 0 to 9; got {label!r}")
        enough = isinstance(texts, (list, tuple)) and len(texts) == DIMENSIONS
        if not enough or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"expected {DIMENSIONS} names for digit {label}; got {texts!r}")
    return {str(int(label)): list(texts) for label, texts in by_label.items()}
