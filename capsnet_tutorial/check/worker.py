"""A time limit for code that nobody has read."""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable
from typing import Any

import torch


class OutOfTime(BaseException):
    """Raised inside a call that takes too long, and by `in_time` for it."""


class _Job:
    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.done = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None


class _Worker:
    """A thread that runs one job after the other, and never ends: a thread that has computed gradients and ends before
    the interpreter makes PyTorch 2.12 abort at exit."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._work, daemon=True, name="capsnet-check")
        self.thread.start()

    def _work(self) -> None:
        while True:
            try:
                job = self.jobs.get()
                try:
                    with torch.enable_grad():
                        job.value = job.call()
                except OutOfTime:
                    raise
                except BaseException as error:  # a reader's function may raise anything, SystemExit too
                    job.error = error
                job.done.set()
            except OutOfTime:  # the job was given up
                continue

    def interrupt(self) -> None:
        """Python code stops at its next instruction; what sleeps in C sleeps on."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread.ident or 0), ctypes.py_object(OutOfTime))


_worker: _Worker | None = None


def in_time(call: Callable[[], Any], seconds: float) -> Any:
    """What the call returns or raises.

    It runs in another thread: a signal would only work in the main thread, and not on Windows.

    Raises:
        OutOfTime: it took longer than so many seconds; it is interrupted.
    """
    global _worker
    if _worker is None or not _worker.thread.is_alive() or threading.current_thread() is _worker.thread:
        _worker = _Worker()
    worker, job = _worker, _Job(call)
    worker.jobs.put(job)
    finished = False
    try:
        finished = job.done.wait(seconds)
    finally:
        if not finished:  # too long, or the reader pressed Ctrl-C
            _worker = None
            worker.interrupt()
    if not finished:
        raise OutOfTime
    if job.error is not None:
        raise job.error
    return job.value
