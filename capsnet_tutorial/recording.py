"""A training run to look back on: what the shipped network made of a few digits, epoch by epoch. Needs no torch."""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open


class Recording(NamedTuple):
    """E moments of a run, N digits that the network was not trained on."""

    epochs: list[int]
    """How many epochs of training were over at each moment; the first is 0."""
    labels: list[int]
    images: np.ndarray
    """The digits as they were written, [N, 784]."""
    reconstructions: np.ndarray
    """Drawn from the longest capsule, [E, N, 784]."""
    couplings: np.ndarray
    """c of the last round of routing, [E, N, I, J]."""
    lengths: np.ndarray
    """[E, N, J]."""
    curve: list[dict[str, float]]
    """Every epoch of the run: epoch, loss, validation_error."""
    about: dict[str, Any]
    """`command`, the run's; `shipped`: its last weights are the shipped ones, bit for bit; `types` of capsules."""

    @property
    def predictions(self) -> np.ndarray:
        """The class of the longest capsule, [E, N]."""
        return self.lengths.argmax(axis=-1)


def recorded_run(path: Path | None = None) -> Recording:
    """The run that comes with the package, or one that `tools/record_training.py` wrote.

    Raises:
        ValueError: the file is no recording.
    """
    with as_file(files("capsnet_tutorial") / "recordings" / "small.safetensors") as shipped:
        try:
            with safe_open(shipped if path is None else path, framework="np") as file:
                told = json.loads((file.metadata() or {})["recording"])
                tensors = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
                return Recording(**tensors, **told)
        except (SafetensorError, KeyError, TypeError) as problem:
            raise ValueError(f"expected a recording of a training run; got {path} ({problem})") from problem
