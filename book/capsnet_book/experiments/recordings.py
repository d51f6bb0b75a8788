"""Recorded trainings: the shipped network on a few digits, epoch by epoch, and networks with bugs. Needs no torch."""

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
    with as_file(files("capsnet_book.assets") / "recordings" / "small.safetensors") as shipped:
        try:
            with safe_open(shipped if path is None else path, framework="np") as file:
                stored = json.loads((file.metadata() or {})["recording"])
                tensors = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
                return Recording(**tensors, **stored)
        except (SafetensorError, KeyError, TypeError) as problem:
            raise ValueError(f"expected a recording of a training run; got {path} ({problem})") from problem


class BugRuns(NamedTuple):
    """Short trainings of the small network, right and with each bug of the catalogue; S starts each, T moments.

    The keys are ids of the catalogue, and "none" for the network without a bug.
    """

    steps: list[int]
    """How many steps of training were over at each moment."""
    error: dict[str, np.ndarray]
    """Share of the sample's test digits that were misread, [S, T]."""
    error_alone: dict[str, np.ndarray]
    """The same at the end, for a network that sees the digits one by one instead of all together, [S]."""
    margin_loss: dict[str, np.ndarray]
    """Of the test digits, by the right formula, [S, T]."""
    reconstruction_mse: dict[str, np.ndarray]
    """Of the test digits, a pixel, [S, T]."""


def recorded_bugs() -> BugRuns:
    """What ``python -m benchmarks.bug_curves`` measured."""
    stored = json.loads((files("capsnet_book.assets") / "recordings" / "bugs.json").read_text(encoding="utf-8"))
    measured = {name: {bug: np.array(run[name]) for bug, run in stored["runs"].items()} for name in BugRuns._fields[1:]}
    return BugRuns(stored["steps"], **measured)
