"""Helpers of the widgets: their JavaScript and CSS, checks of digits, labels and numbers."""

from __future__ import annotations

from typing import Any

import anywidget
import numpy as np
import traitlets

from capsnet_book.widgets._sources import module as module
from capsnet_book.widgets._sources import stylesheet as stylesheet

SIDE = 28
"""Pixels along a side of a digit."""

_PLAIN = (1, 3, 7, 4, 6, 0, 6, 4, 1, 2)  # which one of the sample's zeros, ones, …


def pixels(images: Any) -> np.ndarray:
    """Digits as bytes, uint8 [N, 28, 28].

    Args:
        images: [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; a numpy array, a torch tensor, nested
            lists, or one such digit.

    Raises:
        ValueError: another shape, no digits, numbers outside [0, 1], nan.
    """
    array = _array(images)
    if array.ndim == 4 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 3 or array.shape[1:] != (SIDE, SIDE) or len(array) == 0:
        raise ValueError(
            f"expected digits of shape [N, 28, 28] or [N, 1, 28, 28]; got {list(_array(images).shape)}"
        )
    if array.dtype == np.uint8:
        return array
    if not np.issubdtype(array.dtype, np.floating):
        raise ValueError(f"expected digits as floats in [0, 1] or as uint8; got {array.dtype}")
    if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
        raise ValueError(
            f"expected digits within [0, 1]; got numbers from {array.min():g} to {array.max():g}"
        )
    return np.rint(array * 255).astype(np.uint8)


def digits_and_labels(images: Any, labels: Any) -> tuple[np.ndarray, list[int]]:
    """Pixels [N, 28, 28] and one label each; `images` may be a `capsnet_tutorial.data.Digits`, which has both."""
    if hasattr(images, "images") and hasattr(images, "labels"):
        labels = images.labels if labels is None else labels
        images = images.images
    digits = pixels(images)
    if labels is None:
        raise ValueError("expected a label for each digit; got none")
    array = _array(labels)
    if array.shape != (len(digits),) or not np.issubdtype(array.dtype, np.integer):
        came = f"{array.dtype} of shape {list(array.shape)}"
        raise ValueError(f"expected {len(digits)} whole numbers as labels; got {came}")
    if array.min() < 0 or array.max() > 9:
        raise ValueError(f"expected labels from 0 to 9; got {array.min()} to {array.max()}")
    return digits, array.tolist()


def one_of_each() -> tuple[np.ndarray, list[int]]:
    """A plainly written digit of each class, 0 to 9, that the network `small` was not trained on."""
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    sample = digits("test", source="sample")
    labels = _array(sample.labels)
    chosen = [int(np.flatnonzero(labels == label)[which]) for label, which in enumerate(_PLAIN)]
    return pixels(sample.images[chosen]), list(range(10))


def digits_to_show(images: Any, labels: Any) -> tuple[np.ndarray, list[int]]:
    """The digits and labels that a widget was given, or one digit of each class if it was given neither."""
    if images is not None:
        return digits_and_labels(images, labels)
    if labels is not None:
        raise ValueError("expected digits beside the labels; got labels alone")
    return one_of_each()


def numbers(name: str, values: Any, *shapes: tuple[int, ...]) -> np.ndarray:
    """Finite numbers of one of these shapes, float64, or a `ValueError` that says what came."""
    expected = f"expected {name} as finite numbers of shape {' or '.join(str(list(shape)) for shape in shapes)}"
    try:
        array = np.asarray(
            values.detach().cpu() if hasattr(values, "detach") else values, dtype=float
        )
    except (TypeError, ValueError):
        raise ValueError(f"{expected}; got {values!r}") from None
    if array.shape not in shapes:
        raise ValueError(f"{expected}; got shape {list(array.shape)}")
    if not np.isfinite(array).all():
        raise ValueError(f"{expected}; got nan or infinity")
    return array


def _array(values: Any) -> np.ndarray:
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu().numpy()
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError("expected an array of numbers; got lists of different lengths") from None


class DigitsWidget(anywidget.AnyWidget):
    """A widget that shows one of several digits, and asks a network about it."""

    network = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)

    @traitlets.validate("index")
    def _index_is_a_digit(self, proposal: dict[str, Any]) -> int:
        if not 0 <= proposal["value"] < len(self.labels):
            raise ValueError(
                f"expected an index from 0 to {len(self.labels) - 1}; got {proposal['value']}"
            )
        return int(proposal["value"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.labels)} digit{'s' * (len(self.labels) != 1)})"
