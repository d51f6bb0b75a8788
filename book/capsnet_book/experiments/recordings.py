"""Recorded trainings of networks with bugs. Needs no torch."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import NamedTuple

import numpy as np


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
