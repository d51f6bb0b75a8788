"""A capsule network that is trained from nothing in the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

if TYPE_CHECKING:
    from capsnet_tutorial.model import CapsNet


class RaiseOne(_parts.Widget):
    """A training of the network of ``my_capsnet.py`` in the page, shown while it learns.

    ``RaiseOne(rounds=1)`` trains one network, ``RaiseOne(rounds=[1, 3])`` two at once, from the
    same seed and digits. What its button "Keep it for this book" keeps comes back as a network::

        raised = RaiseOne(rate=0.01, seed=7)
        raised  # shows it; train, then press "Keep it for this book"
        raised.network()  # in a later cell: a CapsNet, in eval mode

    Args:
        settings: values that differ from the defaults, or lists of two values for two networks:
            data ("digits", or "animals" that many artists drew, the same for both),
            net ("capsules", or "cnn": as many numbers in a network without capsules),
            rounds (1, 2, 3, 5), types of primary capsules (2, 4, 8, 16), drawing (the weight of the
            reconstruction, 0 to 0.1, 0 for no decoder), rate, batch (8, 16, 32, 64), m_plus,
            m_minus, lambda_, bug (an id of the catalogue of bugs), seed. The page names the ones
            that it cannot take, and takes the defaults instead.
        records: differences of the two in long trainings, a number a pair, in points of error; they
            are shown beside the pairs that the reader trains.

    Attributes:
        settings: of one network or of two, a dictionary each.
        weights: of the network that the reader kept, a safetensors file's bytes; empty before.
    """

    _esm = _parts.module("raise_one.js")
    _css = _parts.stylesheet("raise_one.css")

    # References that the page follows when it needs the pictures, by the setting `data`.
    digits = traitlets.Dict().tag(sync=True)
    settings = traitlets.List(traitlets.Dict(), minlen=1, maxlen=2).tag(sync=True)
    # The page sends a memoryview.
    weights = traitlets.Bytes().tag(sync=True, from_json=lambda value, _: bytes(value))
    records = traitlets.List(traitlets.Float(), maxlen=20).tag(sync=True)
    # Whether the page's address holds the settings.
    addressed = traitlets.Bool(False).tag(sync=True)

    def __init__(self, *, records: Sequence[float] = (), **settings: Any) -> None:
        sets = ("digits", "animals")
        digits = {name: f"anywidget:{shared_network(name, 'digits').model_id}" for name in sets}
        super().__init__(digits=digits, settings=_by_network(settings), records=list(records))

    def network(self) -> CapsNet:
        """Return the network that the reader kept, in eval mode.

        Raises:
            ValueError: no network was kept yet.
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
        arguments = []
        for name in dict.fromkeys(name for settings in self.settings for name in settings):
            values = [settings.get(name) for settings in self.settings]
            arguments.append(f"{name}={values if len(values) > 1 else values[0]!r}")
        return f"RaiseOne({', '.join(arguments)})"


def _by_network(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of one network, or of two if any value is a list of two."""
    lists: dict[str, Sequence[Any]] = {}
    for name, value in settings.items():
        lists[name.removesuffix("_")] = value if isinstance(value, (list, tuple)) else [value]
    networks = max(map(len, lists.values()), default=1)
    by_network = []
    for k in range(networks):
        by_network.append({name: values[k % len(values)] for name, values in lists.items()})
    return by_network
