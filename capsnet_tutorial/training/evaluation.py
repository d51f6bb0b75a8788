"""Evaluation of a network: in eval mode, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def in_eval_mode(network: nn.Module) -> Iterator[None]:
    """Examine a network in eval mode; afterwards every module in it is in the mode that was its own."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
