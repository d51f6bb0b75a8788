"""Helpers of the widgets: their sources, and checks of digits, labels and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from capsnet_book import stills, words
from capsnet_book.widgets import _reload, _sources

SIDE = 28
"""Pixels along a side of a digit."""

_PLAIN = (1, 3, 7, 4, 6, 0, 6, 4, 1, 2)
"""Places of plainly written digits among the sample's zeros, ones, …"""


def module(name: str) -> str | Path:
    """Return a widget's script; during development the path of a file that follows its sources.

    Above it stands the catalogue of the language that is spoken.
    """
    if _reload.is_developing():
        return _reload.joined_copy(name, lambda: words.widget_words() + _sources.module(name))
    return words.widget_words() + _sources.module(name)


def stylesheet(*names: str) -> str | Path:
    """Return a widget's styles; during development the path of a file that follows its sources."""
    if _reload.is_developing():
        return _reload.joined_copy(names[-1], lambda: _sources.stylesheet(*names))
    return _sources.stylesheet(*names)


def pixels(images: Any) -> np.ndarray:
    """Return digits as bytes, uint8 [N, 28, 28].

    Args:
        images: [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8: a numpy array, a torch
            tensor or nested lists.

    Raises:
        ValueError: another shape, no digits, numbers outside [0, 1], nan.
    """
    array = _array(images)
    if array.ndim == 4 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 3 or array.shape[1:] != (SIDE, SIDE) or len(array) == 0:
        raise ValueError(
            "expected digits of shape [N, 28, 28] or [N, 1, 28, 28]; "
            f"got {list(_array(images).shape)}"
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
    """Return pixels [N, 28, 28] and their N labels.

    `images` may be a `capsnet_tutorial.data.Digits`, which has both.

    Raises:
        ValueError: digits or labels of another shape or out of range.
    """
    if hasattr(images, "images") and hasattr(images, "labels"):
        labels = images.labels if labels is None else labels
        images = images.images
    digits = pixels(images)
    if labels is None:
        raise ValueError("expected a label for each digit; got none")
    array = _array(labels)
    if array.shape != (len(digits),) or not np.issubdtype(array.dtype, np.integer):
        actual = f"{array.dtype} of shape {list(array.shape)}"
        raise ValueError(f"expected {len(digits)} whole numbers as labels; got {actual}")
    if array.min() < 0 or array.max() > 9:
        raise ValueError(f"expected labels from 0 to 9; got {array.min()} to {array.max()}")
    return digits, array.tolist()


def default_digits() -> tuple[np.ndarray, list[int]]:
    """Return a plainly written digit of each class, 0 to 9, uint8 [10, 28, 28], and the classes.

    The network `small` was not trained on them.
    """
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    sample = digits("test", source="sample")
    labels = _array(sample.labels)
    positions = [int(np.flatnonzero(labels == j)[place]) for j, place in enumerate(_PLAIN)]
    return pixels(sample.images[positions]), list(range(10))


def digits_to_show(images: Any, labels: Any) -> tuple[np.ndarray, list[int]]:
    """Return the pixels and labels of these digits; without any, those of `default_digits`."""
    if images is not None:
        return digits_and_labels(images, labels)
    if labels is not None:
        raise ValueError("expected digits beside the labels; got labels alone")
    return default_digits()


def numbers(name: str, values: Any, *shapes: tuple[int, ...]) -> np.ndarray:
    """Return finite numbers of one of these shapes, float64.

    Raises:
        ValueError: another shape, nan, infinity, or values that are no numbers.
    """
    wanted = " or ".join(str(list(shape)) for shape in shapes)
    expected = f"expected {name} as finite numbers of shape {wanted}"
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu()
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{expected}; got {values!r}") from None
    if array.shape not in shapes:
        raise ValueError(f"{expected}; got shape {list(array.shape)}")
    if not np.isfinite(array).all():
        raise ValueError(f"{expected}; got nan or infinity")
    return array


def _array(values: Any) -> np.ndarray:
    """Return values as an array."""
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu().numpy()
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError("expected an array of numbers; got lists of different lengths") from None


class Widget(anywidget.AnyWidget):
    """A widget of the book, with its still picture beneath."""

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict, dict] | None:
        stills.show_still(stills.look(type(self).__name__, self.trait_values(sync=True)))
        return super()._repr_mimebundle_(**options)


class DigitsWidget(Widget):
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
