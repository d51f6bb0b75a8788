"""A capsule network that is trained from nothing in the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

if TYPE_CHECKING:
    from capsnet_tutorial.model import CapsNet


class RaiseOne(anywidget.AnyWidget):
    """Trains the network of ``my_capsnet.py`` in the page, and shows it while it learns.

    ``RaiseOne(rounds=1)`` trains one network, ``RaiseOne(rounds=[1, 3])`` two at once, from the same seed and digits.

    Args:
        settings: what is to be other than usual, a value each, or a list of two for two networks:
            rounds (1, 2, 3, 5), types of primary capsules (2, 4, 8, 16), drawing (the weight of the reconstruction,
            0 to 0.1, 0 for no decoder), rate, batch (8, 16, 32, 64), m_plus, m_minus, lambda_, bug (an id of the
            catalogue of bugs), seed. The page says which it does not take, and takes what is usual.
        records: what long trainings of the two differ by, a number a pair, in points of error; shown beside the pairs
            that the reader trains.

    Attributes:
        settings: of one network or of two, each a dictionary of what is not usual.
        weights: of the network that the reader kept, a safetensors file's bytes; empty before.
    """

    _esm = _parts.module("raise_one.js")
    _css = _parts.stylesheet("raise_one.css")

    digits = traitlets.Dict().tag(sync=True)  # a reference that the page follows when it needs them
    settings = traitlets.List(traitlets.Dict(), minlen=1, maxlen=2).tag(sync=True)
    weights = traitlets.Bytes().tag(
        sync=True, from_json=lambda value, _: bytes(value)
    )  # a memoryview, from the page
    records = traitlets.List(traitlets.Float(), maxlen=20).tag(sync=True)
    addressed = traitlets.Bool(False).tag(
        sync=True
    )  # whether the page's address holds the settings

    def __init__(self, *, records: Sequence[float] = (), **settings: Any) -> None:
        digits = {"digits": f"anywidget:{shared_network('digits', 'digits').model_id}"}
        super().__init__(digits=digits, settings=_each(settings), records=list(records))

    def network(self) -> CapsNet:
        """The network that the reader kept, in eval mode.

        Raises:
            ValueError: none was kept yet.
        """
        from capsnet_tutorial.weights import load_weights

        if not self.weights:
            raise ValueError(
                'expected a network that was kept (press "Keep it for this book"); got none'
            )
        with TemporaryDirectory() as folder:
            path = Path(folder) / "kept.safetensors"
            path.write_bytes(self.weights)
            return load_weights(path)

    def __repr__(self) -> str:
        names = {
            name: [each.get(name) for each in self.settings]
            for each in self.settings
            for name in each
        }
        shown = [
            f"{name}={values if len(values) > 1 else values[0]!r}" for name, values in names.items()
        ]
        return f"RaiseOne({', '.join(shown)})"


def _each(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary of settings, or two where any value is a list of two."""
    lists = {
        name.removesuffix("_"): value if isinstance(value, (list, tuple)) else [value]
        for name, value in settings.items()
    }
    count = max(map(len, lists.values()), default=1)
    return [{name: values[k % len(values)] for name, values in lists.items()} for k in range(count)]
