"""Time, memory and work of functions, and the machine.

Functions that are compared take turns, so that noise meets all of them.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

Function = Callable[[], object]


class Target:
    """The device of all measurements, "cpu" or "cuda"."""

    device = "cpu"


def take_turns(functions: dict[str, Function], turns: int) -> dict[str, list[float]]:
    """Return the seconds of each function in each turn; a first turn, to warm up, is left out."""
    for run in functions.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(turns):
        for name, run in functions.items():
            _wait()
            start = time.perf_counter()
            run()
            _wait()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def _wait() -> None:
    """Wait until a GPU is idle; a processor is."""
    if Target.device == "cuda":
        torch.cuda.synchronize()


def against(
    reference: str, functions: dict[str, Function], turns: int
) -> dict[str, dict[str, Any]]:
    """Compare each function with a reference; the two take turns, without the others' memory.

    Returns:
        Median milliseconds of each, and how many times as fast as the reference it is: the median
        of the turns' ratios, and their extremes.
    """
    rows = {}
    for name, run in functions.items():
        pair = {reference: functions[reference], name: run}
        seconds = take_turns(pair, turns)
        turns_of_both = zip(seconds[reference], seconds[name], strict=True)
        ratios = [other / own for other, own in turns_of_both]
        rows[name] = {
            "ms": rounded(1000 * statistics.median(seconds[name])),
            "times_as_fast": rounded(statistics.median(ratios)),
            "from": rounded(min(ratios)),
            "to": rounded(max(ratios)),
        }
    return rows


def peak_bytes(run: Function) -> int:
    """Return the largest memory for tensors at once, in bytes above that before the run.

    PyTorch's allocator counts it.
    """
    if Target.device == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        run()
        _wait()
        return torch.cuda.max_memory_allocated() - before
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # otherwise it logs every start and stop
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
    """Operations and memory traffic of a run."""

    flops: int
    """Of matrix products and convolutions; a multiplication and an addition are two."""
    bytes: int
    """Read and written by the operations, as if nothing stayed in a cache."""


def work(run: Function) -> Work:
    """Count the work of a run; of compiled code nothing can be counted."""
    with FlopCounterMode(display=False) as flops, _Traffic() as traffic:
        run()
    return Work(flops.get_total_flops(), traffic.bytes)


class _Traffic(TorchDispatchMode):
    """The bytes of all tensors that operations read and write; a view moves none."""

    bytes = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        aliases = [output.alias_info for output in function._schema.returns]
        is_view = any(alias is not None and not alias.is_write for alias in aliases)
        if not is_view:
            for leaf in tree_leaves((args, kwargs, result)):
                if isinstance(leaf, torch.Tensor):
                    self.bytes += leaf.nbytes
        return result


def rounded(value: float) -> float:
    """Round to three significant digits."""
    return float(f"{value:.3g}")


def machine() -> dict[str, Any]:
    """Describe the device: name, versions, peak rates; of a processor also its instructions."""
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
    """Measure matrix products in GFLOP/s and copies in GB/s: the best of a few tries."""
    size = 2048 if Target.device == "cpu" else 8192
    single = torch.randn(size, size, device=Target.device)
    source = torch.zeros(64 * 2**20, device=Target.device)
    target = torch.empty_like(source)
    runs: dict[str, tuple[Function, int]] = {
        "float32_gigaflops_a_second": (lambda: single @ single, 2 * size**3),
        "gigabytes_a_second": (lambda: target.copy_(source), 2 * source.nbytes),
    }
    if has_bf16:  # without, a product takes minutes
        half = single.bfloat16()
        runs["bfloat16_gigaflops_a_second"] = (lambda: half @ half, 2 * size**3)
    seconds = take_turns({name: run for name, (run, _) in runs.items()}, 4)
    peak = {}
    for name, (_, amount) in runs.items():
        peak[name] = round(amount / 1e9 / min(seconds[name]), 1)
    return peak


def _cpuinfo(key: str) -> str:
    """Return a value of Linux's list of processors, or "" without it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
    for line in text.splitlines():
        if line.startswith(key):
            return line.partition(":")[2].strip()
    return ""
