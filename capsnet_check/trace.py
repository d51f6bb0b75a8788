"""A recorder of a network's operations as they run, which can replace what some of them give."""

from __future__ import annotations

import linecache
import math
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import torch.utils.checkpoint
from torch import Tensor
from torch.overrides import TorchFunctionMode

from capsnet_check.calls import Trouble, is_theirs

Replacements = Mapping[int, Tensor]
"""What operations give instead of their own output, by their index."""

_is_theirs = lru_cache(is_theirs)
_CHECKPOINT = str(torch.utils.checkpoint.__file__)


@dataclass(frozen=True, eq=False)
class Operation:
    """One call of a function of torch."""

    index: int
    """Its number in the run; the same in another run of the same code."""
    name: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    place: tuple[str, int]
    """File and line of the code under examination; ("", 0) where there is none."""
    is_checkpointed: bool
    """Whether torch.utils.checkpoint runs it again for the gradient, out of our sight."""

    @property
    def output(self) -> Tensor:
        """The first output."""
        return self.outputs[0]

    @property
    def line(self) -> str:
        """File, number and text of the line of code."""
        path, number = self.place
        if not number:
            return ""
        return f"{Path(path).name}, line {number}: {linecache.getline(path, number).strip()}"


class StopTracing(BaseException):
    """Raised after the last operation of interest, so that the rest is not computed."""


class Trace(TorchFunctionMode):
    """A recorder of operations, which replaces what some of them give.

    There a machine has no GPU: `.cuda()` and `device="cuda"` do nothing.

    Args:
        replacements: what operations give instead.
        keep: indices of the operations to record; None: all.
        stop: index of the operation after which to raise `StopTracing`.
    """

    ends = math.inf
    """The time, by the clock `time.monotonic`, after which an operation is refused."""

    def __init__(
        self,
        replacements: Replacements | None = None,
        keep: Collection[int] | None = None,
        stop: int | None = None,
    ) -> None:
        super().__init__()
        self.replacements = replacements or {}
        self.keep = keep
        self.stop = stop
        self.count = 0
        """Operations that were begun."""
        self.operations: list[Operation] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if time.monotonic() > self.ends:
            raise Trouble("It took too long, and was not examined to the end (seconds=…).")
        args, kwargs = _without_cuda(func, args, kwargs or {})
        if func in (Tensor.cuda, Tensor.to) and len(args) == 1 and not kwargs:
            return args[0]

        index = self.count
        self.count += 1
        out = self.replacements[index] if index in self.replacements else func(*args, **kwargs)
        if self.keep is None or index in self.keep:
            self._record(index, func, (args, kwargs), out)
        if index == self.stop:
            raise StopTracing
        return out

    def _record(self, index: int, func: Callable[..., Any], given: Any, out: Any) -> None:
        outputs = tensors_in(out)
        if not outputs and func is Tensor.__setitem__:
            outputs = tensors_in(given)[:1]  # it returns None and changes its first argument
        if outputs:
            inputs = tensors_in(given)
            place = _place()
            name = func.__name__
            self.operations.append(
                Operation(index, name, inputs, outputs, place, _is_checkpointed())
            )


def _without_cuda(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of an operation without any CUDA device."""
    if _is_cuda(kwargs.get("device")):
        kwargs = {name: value for name, value in kwargs.items() if name != "device"}
    if func is Tensor.cuda:
        return args[:1], {}
    if func is Tensor.to:
        args = tuple(value for value in args if not _is_cuda(value))
    return args, kwargs


def _is_cuda(value: Any) -> bool:
    return isinstance(value, (str, torch.device)) and str(value).startswith("cuda")


def _place() -> tuple[str, int]:
    """Return file and line of the innermost frame of the code under examination."""
    frame: Any = sys._getframe(1)
    while frame and not _is_theirs(frame.f_code.co_filename):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


def _is_checkpointed() -> bool:
    """Return True inside of a call of torch.utils.checkpoint."""
    frame: Any = sys._getframe(1)
    while frame and frame.f_code.co_filename != _CHECKPOINT:
        frame = frame.f_back
    return frame is not None


def tensors_in(value: Any) -> list[Tensor]:
    """Return every tensor in tuples, lists, mappings and objects."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Mapping):
        parts = list(value.values())
    elif isinstance(value, (tuple, list)):
        parts = list(value)
    elif hasattr(value, "__dict__") and not callable(value):
        parts = [] if isinstance(value, torch.Generator) else list(vars(value).values())
    else:
        parts = []
    return [tensor for part in parts for tensor in tensors_in(part)]
