"""A capsule network that is trained from nothing in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

if TYPE_CHECKING:
    from capsnet_tutorial.model import CapsNet

BUGS = (
    "softmax-axis",
    "capsule-view",
    "no-update-rounds",
    "margin-not-squared",
    "mask-prediction",
    "recon-mean",
)
"""What can be planted: ids of the catalogue of bugs."""

OFFERED: dict[str, tuple[Any, ...]] = {
    "rounds": (1, 2, 3, 5),
    "types": (2, 4, 8, 16),
    "batch": (8, 16, 32, 64),
    "bug": ("", *BUGS),
}
BETWEEN = {
    "drawing": (0, 0.1),
    "rate": (1e-5, 1),
    "m_plus": (0, 1),
    "m_minus": (0, 1),
    "lambda": (0, 10),
    "seed": (0, 999_999),
}


class RaiseOne(anywidget.AnyWidget):
    """Trains the network of ``my_capsnet.py`` in the page, and shows it while it learns.

    ``RaiseOne(rounds=1)`` trains one network, ``RaiseOne(rounds=[1, 3])`` two at once, from the same seed and digits.

    Args:
        settings: what is to be other than usual, a value each, or a list of two for two networks:
            rounds (1, 2, 3, 5), types of primary capsules (2, 4, 8, 16), drawing (the weight of the reconstruction,
            0 to 0.1, 0 for no decoder), rate, batch (8, 16, 32, 64), m_plus, m_minus, lambda_, bug (an id of `BUGS`),
            seed.
        records: what long trainings of the two differ by, a number a pair, in points of error; shown beside the pairs
            that the reader trains.

    Attributes:
        settings: of one network or of two, each a dictionary of what is not usual.
        weights: of the network that the reader kept, a safetensors file's bytes; empty before.

    Raises:
        ValueError: a setting that there is not, or a value out of its range.
    """

    _esm = _parts.module("raise_one.js")
    _css = _parts.stylesheet("raise_one.css")

    digits = traitlets.Dict().tag(sync=True, to_json=lambda value, _: _references(value))
    settings = traitlets.List(traitlets.Dict(), minlen=1, maxlen=2).tag(sync=True)
    weights = traitlets.Bytes().tag(sync=True, from_json=lambda value, _: bytes(value))  # a memoryview, from the page
    records = traitlets.List(traitlets.Float(), maxlen=20).tag(sync=True)
    addressed = traitlets.Bool(False).tag(sync=True)  # whether the page's address holds the settings

    def __init__(self, *, records: Sequence[float] = (), **settings: Any) -> None:
        shared = {"digits": shared_network("digits", "digits")}
        super().__init__(digits=shared, settings=_pair(settings), records=list(records))

    @traitlets.validate("settings")
    def _settings_are_offered(self, proposal: dict) -> list[dict[str, Any]]:
        for settings in proposal["value"]:
            for name, value in settings.items():
                _check(name, value)
        return proposal["value"]

    def network(self) -> CapsNet:
        """The network that the reader kept, in eval mode.

        Raises:
            ValueError: none was kept yet.
        """
        from capsnet_tutorial.weights import load_weights

        if not self.weights:
            raise ValueError('expected a network that was kept (press "Keep it for this book"); got none')
        with TemporaryDirectory() as folder:
            path = Path(folder) / "kept.safetensors"
            path.write_bytes(self.weights)
            return load_weights(path)

    def __repr__(self) -> str:
        names = {name: [each.get(name) for each in self.settings] for each in self.settings for name in each}
        shown = [f"{name}={values if len(values) > 1 else values[0]!r}" for name, values in names.items()]
        return f"RaiseOne({', '.join(shown)})"


def _pair(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One dictionary of settings, or two where any value is a list of two."""
    named = {"lambda" if name == "lambda_" else name: value for name, value in given.items()}
    lists = {name: value for name, value in named.items() if isinstance(value, Sequence) and not isinstance(value, str)}
    for name, values in lists.items():
        if len(values) != 2:
            raise ValueError(f"expected a value of {name}, or two for two networks; got {values!r}")
    return [
        {name: value[k] if name in lists else value for name, value in named.items()} for k in range(2 if lists else 1)
    ]


def _check(name: str, value: Any) -> None:
    """A `ValueError` unless the page offers that value."""
    if name in OFFERED:
        if value not in OFFERED[name]:
            raise ValueError(f"expected {name} to be one of {', '.join(map(repr, OFFERED[name]))}; got {value!r}")
        return
    if name not in BETWEEN:
        raise ValueError(f"expected settings among {', '.join([*OFFERED, *BETWEEN])}; got {name}")
    low, high = BETWEEN[name]
    if not isinstance(value, (int, float)) or not low <= value <= high or (name == "seed" and value != int(value)):
        raise ValueError(f"expected {name} from {low:g} to {high:g}; got {value!r}")


def _references(models: Mapping[str, Any]) -> dict[str, str]:
    """The models as references, which the page follows when it needs them."""
    return {name: f"anywidget:{model.model_id}" for name, model in models.items()}
