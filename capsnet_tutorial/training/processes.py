"""Several processes that train one network: what they agree on, and what one of them does for all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, broadcast_object_list

Result = TypeVar("Result")


class FailedElsewhere(RuntimeError):
    """The main process could not do its part. It says why; the others only end."""


def rank() -> int:
    """Number of this process; 0 is the main one. Launchers say it before there is any connection."""
    return int(os.environ.get("RANK", 0))


def launched() -> int:
    """How many processes a launcher started; known before there is any connection, too."""
    return int(os.environ.get("WORLD_SIZE", 1))


class Processes:
    """One process, or the several that a launcher started, as one of them sees them.

    Raises:
        ValueError: several were launched, and each would train on its own.
    """

    def __init__(self) -> None:
        self.accelerator = Accelerator(
            mixed_precision="no",  # a recipe says the precision, and then its result tells; not the launcher
            kwargs_handlers=[DistributedDataParallelKwargs(static_graph=True)],  # some weights may have no gradient
        )
        if launched() != self.count:  # each would train the whole network, and write over what the others write
            raise ValueError(
                f"expected {launched()} processes, as were launched, to train together; got {self.count} on its own "
                "(without GPUs, set ACCELERATE_USE_CPU=1)"
            )

    @property
    def count(self) -> int:
        return self.accelerator.num_processes

    @property
    def is_main(self) -> bool:
        """Whether this is the one that prints, writes and evaluates."""
        return self.accelerator.is_main_process

    def from_main(self, work: Callable[[], Result]) -> Result:
        """Let the main process do some work; its result, in every process.

        Where it fails, it fails in every process, so that none waits for ever for the others.
        """
        if self.count == 1:
            return work()
        outcome: list[Any] = [None, False]
        problem = None
        if self.is_main:
            try:
                outcome = [work(), True]
            except BaseException as caught:
                problem = caught
        result, succeeded = broadcast_object_list(outcome)
        if problem is not None:
            raise problem
        if not succeeded:
            raise FailedElsewhere
        return result


class Stopwatch:
    """Seconds by the main process's clock: what is decided by them, all processes decide alike."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        self.now = processes.from_main(time.perf_counter)

    def lap(self) -> float:
        """Seconds since the last lap; ``now`` is the time of its end."""
        before, self.now = self.now, self.processes.from_main(time.perf_counter)
        return self.now - before
