"""Time, memory and work of a function. Ratios are of runs that took turns: a noisy machine is noisy to all."""

from __future__ import annotations

import os
import statistics
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

Function = Callable[[], object]


def take_turns(functions: dict[str, Function], turns: int) -> dict[str, list[float]]:
    """Seconds of each function, ``turns`` times, one after the other; a first turn that warms up is not counted."""
    for run in functions.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(turns):
        for name, run in functions.items():
            seconds[name].append(timeit.timeit(lambda run=run: _finish(run), number=1))  # type: ignore[misc]
    return seconds


def against(reference: str, functions: dict[str, Function], turns: int) -> dict[str, dict[str, Any]]:
    """Each function and the reference take turns, just the two of them: nobody finds the memory that a third one left.

    Returns:
        For each its median milliseconds, and how many times as fast as the reference it is: the median of the turns'
        ratios, and their extremes.
    """
    rows = {}
    for name, run in functions.items():
        pair = {"reference": functions[reference], "own": run} if name != reference else {"reference": run}
        seconds = take_turns(pair, turns)
        own = seconds.get("own", seconds["reference"])
        ratios = [theirs / ours for theirs, ours in zip(seconds["reference"], own, strict=True)]
        rows[name] = {
            "ms": _rounded(1000 * statistics.median(own)),
            "times_as_fast": _rounded(statistics.median(ratios)),
            "from": _rounded(min(ratios)),
            "to": _rounded(max(ratios)),
        }
    return rows


def peak_bytes(run: Function, device: str = "cpu") -> int:
    """The most memory for tensors that stood at once above what stood before, as PyTorch's allocator counts it."""
    if device != "cpu":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        run()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it would tell of every start and stop
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as profiler:
        run()
    results = profiler.profiler.kineto_results  # type: ignore[union-attr]
    events = [event for event in results.events() if event.name() == "[memory]"]
    held = peak = 0  # of all tensors, as PyTorch's allocator counts it
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


class Work(NamedTuple):
    """What was asked of the machine."""

    flops: int
    """Of matrix products and convolutions, as PyTorch counts them: a multiplication and an addition are two."""
    bytes: int
    """That the operations read and wrote, each counted as if nothing stayed in a cache."""


def work(run: Function) -> Work:
    """Counted while it runs."""
    with FlopCounterMode(display=False) as flops, _Traffic() as traffic:
        run()
    return Work(flops.get_total_flops(), traffic.bytes)


class _Traffic(TorchDispatchMode):
    bytes = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        is_view = any(returned.alias_info is not None and not returned.alias_info.is_write
                      for returned in function._schema.returns)  # fmt: skip
        if not is_view:
            tensors = [each for each in tree_leaves((args, kwargs, result)) if isinstance(each, torch.Tensor)]
            self.bytes += sum(each.nbytes for each in tensors)
        return result


def _finish(run: Function) -> None:
    run()
    if torch.cuda.is_available():
        torch.cuda.synchronize()  # a GPU is handed its work and does it later


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
