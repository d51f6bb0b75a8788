"""Recorded trainings of networks with bugs. Needs no torch."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from capsnet_book.assets import asset


class BugRuns(NamedTuple):
    """Short trainings of the small network, right and with each bug of the catalogue; S starts each, T moments.

    The keys are ids of the catalogue, and "none" for the network without a bug.
    """

    steps: list[int]
    """How many steps of training were over at each moment."""
    error: dict[str, np.ndarray]
    """Share of the sample's test digits that were misread, [S, T]."""


def recorded_bugs() -> BugRuns:
    """What ``python -m benchmarks.bug_curves`` measured."""
    stored = json.loads(asset("recordings/bugs.json").read_text(encoding="utf-8"))
    return BugRuns(stored["steps"], {bug: np.array(run["error"]) for bug, run in stored["runs"].items()})
