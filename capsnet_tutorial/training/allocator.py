"""One setting of the C library that training on a processor gains from."""

from __future__ import annotations

import ctypes
import sys


def keep_freed_memory() -> bool:
    """Let glibc keep what a step frees for the next one, instead of asking the kernel for it again and again.

    The same as starting Python with ``MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=2147483647 MALLOC_TOP_PAD_=67108864``.
    It holds until the process ends.

    Returns:
        Whether it could be set: on Linux with glibc only.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        return False
    trim_threshold, top_pad, mmap_max = -1, -2, -4
    settings = ((mmap_max, 0), (trim_threshold, 2**31 - 1), (top_pad, 64 * 2**20))
    return all([libc.mallopt(parameter, value) for parameter, value in settings])
