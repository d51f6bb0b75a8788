"""Whole capsule networks in the styles of public code, with the mistakes that each carries, to measure the checkers on.

Written from the facts in audits of public implementations, none copied, and without looking at the checkers.
`NETWORKS` lists them; a network is built fresh, with the initial weights its style uses.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from . import (
    attribute,
    capsules_first,
    devices,
    einsums,
    five_axes,
    fixed_batch,
    merged,
    returned,
    separate,
    views,
)


@dataclass(frozen=True)
class Specimen:
    """One network: its name, how to build it, and the ids of the mistakes that it carries."""

    name: str
    build: Callable[[], nn.Module]
    bugs: frozenset[str]


STYLES = (five_axes, capsules_first, einsums, separate, attribute, fixed_batch, devices, views, merged, returned)
NETWORKS = tuple(
    Specimen(f"{style.__name__.rpartition('.')[2]}-{name}", build, frozenset(bugs.split()))
    for style in STYLES
    for name, (build, bugs) in style.NETWORKS.items()
)
