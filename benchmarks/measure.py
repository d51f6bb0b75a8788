"""Time, memory and work of a function, and the machine. Ratios are of runs that took turns: noise is noisy to all."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

Function = Callable[[], object]


class Target:
    """What computes: everything that is measured lies on its ``device``, "cpu" or "cuda"."""

    device = "cpu"


def take_turns(functions: dict[str, Function], turns: int) -> dict[str, list[float]]:
    """Seconds of each function, ``turns`` times, one after the other; a first turn that warms up is not counted."""
    for run in functions.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(turns):
        for name, run in functions.items():
            _wait()
            started = time.perf_counter()
            run()
            _wait()
            seconds[name].append(time.perf_counter() - started)
    return seconds


def _wait() -> None:
    """Until a GPU has done what it was given; a processor has."""
    if Target.device == "cuda":
        torch.cuda.synchronize()


def against(
    reference: str, functions: dict[str, Function], turns: int
) -> dict[str, dict[str, Any]]:
    """Each function and the reference take turns, just the two of them: nobody finds the memory that a third one left.

    Returns:
        For each its median milliseconds, and how many times as fast as the reference it is: the median of the turns'
        ratios, and their extremes.
    """
    rows = {}
    for name, run in functions.items():
        pair = (
            {"reference": functions[reference], "own": run}
            if name != reference
            else {"reference": run}
        )
        seconds = take_turns(pair, turns)
        own = seconds.get("own", seconds["reference"])
        ratios = [theirs / ours for theirs, ours in zip(seconds["reference"], own, strict=True)]
        rows[name] = {
            "ms": rounded(1000 * statistics.median(own)),
            "times_as_fast": rounded(statistics.median(ratios)),
            "from": rounded(min(ratios)),
            "to": rounded(max(ratios)),
        }
    return rows


def peak_bytes(run: Function) -> int:
    """The most memory for tensors that stood at once above what stood before, as PyTorch's allocator counts it."""
    if Target.device == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        run()
        _wait()
        return torch.cuda.max_memory_allocated() - before
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it would tell of every start and stop
    with profile(
        activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True
    ) as profiler:
        run()
    results = profiler.profiler.kineto_results  # type: ignore[union-attr]
    events = [event for event in results.events() if event.name() == "[memory]"]
    held = peak = 0
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
    """Counted while it runs; of compiled code nothing can be counted."""
    with FlopCounterMode(display=False) as flops, _Traffic() as traffic:
        run()
    return Work(flops.get_total_flops(), traffic.bytes)


class _Traffic(TorchDispatchMode):
    bytes = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        outputs = (returned.alias_info for returned in function._schema.returns)
        if not any(
            alias is not None and not alias.is_write for alias in outputs
        ):  # a view moves nothing
            tensors = [
                each
                for each in tree_leaves((args, kwargs, result))
                if isinstance(each, torch.Tensor)
            ]
            self.bytes += sum(each.nbytes for each in tensors)
        return result


def rounded(value: float) -> float:
    """To three digits."""
    return float(f"{value:.3g}")


def machine() -> dict[str, Any]:
    """Processor, its instructions, PyTorch's version, peak rates; of a GPU, if that is measured, name and rates."""
    versions = {"python": platform.python_version(), "torch": torch.__version__.partition("+")[0]}
    if Target.device == "cuda":
        return {
            "name": torch.cuda.get_device_name(),
            "versions": versions,
            "peak": _peak(has_bf16=True),
        }
    has_bf16 = torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    flags = (_cpuinfo("flags") or _cpuinfo("Features")).split()
    has_bf16 = has_bf16 and not {"avx512_bf16", "amx_bf16", "bf16"}.isdisjoint(flags)
    return {
        "name": _cpuinfo("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "vector_instructions": torch.backends.cpu.get_cpu_capability(),
        "bfloat16_in_hardware": has_bf16,
        "versions": versions,
        "peak": _peak(has_bf16),
    }


def _peak(has_bf16: bool) -> dict[str, float]:
    """Matrix products in GFLOP/s, and GB/s of copying memory: the best of a few tries."""
    size, source = (
        2048 if Target.device == "cpu" else 8192,
        torch.zeros(64 * 2**20, device=Target.device),
    )
    single, target = torch.randn(size, size, device=Target.device), torch.empty_like(source)
    runs: dict[str, tuple[Function, int]] = {
        "float32_gigaflops_a_second": (lambda: single @ single, 2 * size**3),
        "gigabytes_a_second": (lambda: target.copy_(source), 2 * source.nbytes),
    }
    if has_bf16:  # without, a product takes minutes
        half = single.bfloat16()
        runs["bfloat16_gigaflops_a_second"] = (lambda: half @ half, 2 * size**3)
    best = {
        name: min(seconds)
        for name, seconds in take_turns({name: run for name, (run, _) in runs.items()}, 4).items()
    }
    return {name: round(amount / 1e9 / best[name], 1) for name, (_, amount) in runs.items()}


def _cpuinfo(key: str) -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(
                (line.partition(":")[2].strip() for line in file if line.startswith(key)), ""
            )
    except OSError:
        return ""
