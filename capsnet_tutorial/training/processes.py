"""Several processes that train one network: what they agree on, and what one of them does for all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, broadcast

from capsnet_tutorial.errors import expect


class FailedElsewhere(RuntimeError):
    """The main process could not do its part. It says why; the others only end."""


def rank() -> int:
    """Which process this is; 0 is the main one. Launchers say it before there is any connection."""
    return int(os.environ.get("RANK", 0))


class Processes:
    """One process, or the several that a launcher started, as one of them sees them.

    Args:
        log: a folder for TensorBoard's files, or None.
    """

    def __init__(self, log: Path | None = None) -> None:
        expect(
            log is None or find_spec("tensorboard") is not None,
            "tensorboard to be installed (pip install tensorboard)",
            "a run to log without it",
        )
        self.accelerator = Accelerator(
            mixed_precision="no",  # a recipe says the precision, and then its result tells; not the launcher
            log_with=None if log is None else "tensorboard",
            project_dir=log and log.parent,
            kwargs_handlers=[DistributedDataParallelKwargs(static_graph=True)],  # some weights may have no gradient
        )
        launched = int(os.environ.get("WORLD_SIZE", 1))
        if launched != self.count:  # each would train the whole network, and write over what the others write
            raise ValueError(
                f"expected {launched} processes, as were launched, to train together; got {self.count} on its own "
                "(without GPUs, set ACCELERATE_USE_CPU=1)"
            )
        if log is not None:
            self.accelerator.init_trackers(log.name)

    @property
    def count(self) -> int:
        return self.accelerator.num_processes

    @property
    def is_main(self) -> bool:
        """Whether this is the one that prints, writes and evaluates."""
        return self.accelerator.is_main_process

    def from_main(self, work: Callable[[], float | None]) -> float:
        """Let the main process do some work; the number that it gets, or 0, in every process.

        Where it fails, it fails in every process, so that none waits for ever for the others.
        """
        if self.count == 1:
            return work() or 0.0
        value, problem = 0.0, None
        if self.is_main:
            try:
                value = work() or 0.0
            except BaseException as caught:
                problem = caught
        said = torch.tensor([value, problem is not None], dtype=torch.float64, device=self.accelerator.device)
        value, failed = broadcast(said).tolist()
        if problem is not None:
            raise problem
        if failed:
            raise FailedElsewhere
        return value

    def clock(self) -> float:
        """Seconds on the main process's clock: what is decided by it, all decide alike."""
        return self.from_main(time.perf_counter)

    def close(self) -> None:
        """Write what is logged to the end."""
        for tracker in self.accelerator.trackers:
            tracker.finish()
