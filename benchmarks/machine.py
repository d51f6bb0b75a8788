"""Description of the machine and its peak rates."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import Any

import torch

from benchmarks.measure import Function, take_turns
from capsnet_tutorial.errors import expect


def describe(device: str) -> dict[str, Any]:
    """Processor or GPU, its instructions, PyTorch's version."""
    found: dict[str, Any] = {
        "device": device,
        "name": torch.cuda.get_device_name() if device == "cuda" else _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "vector_instructions": torch.backends.cpu.get_cpu_capability(),
        "bfloat16_in_hardware": _bfloat16_in_hardware(device),
        "versions": {"python": platform.python_version(), "torch": metadata.version("torch")},
    }
    return found | {"peak": _peak(device)}


def expect_room(gigabytes: float) -> None:
    """Say so if memory is too short for what follows, before it is begun."""
    names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
    if "SC_AVPHYS_PAGES" not in names:
        return
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    expect(free >= gigabytes, f"{gigabytes:.0f} GB of free memory for the full benchmark (--quick needs less)",
           f"{free:.1f} GB")  # fmt: skip


def _peak(device: str) -> dict[str, float]:
    """Matrix products in GFLOP/s, and GB/s of copying memory: the best of a few tries."""
    size = 2048 if device == "cpu" else 8192
    runs: dict[str, Function] = {}
    for dtype in (torch.float32, torch.bfloat16):
        a = torch.randn(size, size, device=device).to(dtype)
        runs[f"{str(dtype).removeprefix('torch.')}_gigaflops_a_second"] = lambda a=a: a @ a  # type: ignore[misc]
    source = torch.zeros(64 * 2**20, device=device)
    target = torch.empty_like(source)
    runs["gigabytes_a_second"] = lambda: target.copy_(source)
    amounts = (2 * size**3, 2 * size**3, 2 * source.nbytes)
    best = {name: min(seconds) for name, seconds in take_turns(runs, 4).items()}
    return {name: round(amount / 1e9 / best[name], 1) for name, amount in zip(runs, amounts, strict=True)}


def _bfloat16_in_hardware(device: str) -> bool:
    if device == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.backends.mkldnn.is_available() and bool(
        torch.ops.mkldnn._is_mkldnn_bf16_supported() and _has_instructions("avx512_bf16", "amx_bf16", "bf16")
    )


def _has_instructions(*names: str) -> bool:
    flags = _cpuinfo("flags") or _cpuinfo("Features")
    return any(name in flags.split() for name in names)


def _processor() -> str:
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _cpuinfo(key: str) -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.partition(":")[2].strip() for line in file if line.startswith(key)), "")
    except OSError:
        return ""
