"""TrainingReplay: the recorded training of the shipped network, epoch by epoch."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from capsnet_book.experiments.recordings import recorded_run
from capsnet_book.widgets import _parts


class TrainingReplay(anywidget.AnyWidget):
    """Loss and validation error of a run, and what its network made of five digits at seventeen moments.

    Args:
        epoch: the moment that is shown first, after so many epochs of training; one of `epochs`.
        digit: the digit whose routing is shown first, 0 to 4.

    Attributes:
        epochs: the moments that were recorded.
        epoch: the one that is shown.
        digit: the digit whose routing is shown.

    Raises:
        ValueError: a moment that was not recorded, a digit that is not there.
    """

    _esm = _parts.module("training_replay.js")
    _css = _parts.stylesheet("training_replay.css")

    recording = traitlets.Bytes().tag(sync=True)
    epoch = traitlets.Int().tag(sync=True)
    digit = traitlets.Int().tag(sync=True)

    def __init__(self, epoch: int = 8, digit: int = 3) -> None:
        run = recorded_run()
        self.epochs, self._digits = run.epochs, len(run.labels)
        recording = (files("capsnet_book.assets") / "recordings" / "small.safetensors").read_bytes()
        super().__init__(
            recording=recording,
            epoch=_one_of("epoch", self.epochs, epoch),
            digit=_one_of("digit", range(self._digits), digit),
        )

    @traitlets.validate("epoch")
    def _epoch_was_recorded(self, proposal: dict) -> int:
        return _one_of("epoch", self.epochs, proposal["value"])

    @traitlets.validate("digit")
    def _digit_is_there(self, proposal: dict) -> int:
        return _one_of("digit", range(self._digits), proposal["value"])

    def __repr__(self) -> str:
        return f"TrainingReplay(epoch={self.epoch}, digit={self.digit})"


def _one_of(name: str, allowed: Any, value: Any) -> int:
    if isinstance(value, bool) or value not in allowed:
        raise ValueError(f"expected {name} to be one of {', '.join(map(str, allowed))}; got {value!r}")
    return int(value)
