"""The device and the threads that a training takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from torch import nn

from capsnet_tutorial.data import Digits
from capsnet_tutorial.images import TrainingData
from capsnet_tutorial.model import warn_of_range
from capsnet_tutorial.train.checkpoint import TrainingState
from capsnet_tutorial.train.step import StepLoss

MOST_THREADS = 1024
"""More threads than any processor has; a million would stall the machine."""


def best_device() -> torch.device:
    """Return the GPU to train on, or the processor where there is none."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def on_device(data: TrainingData, device: torch.device) -> TrainingData:
    """Move digits to a device; as bytes where nothing is lost, in a quarter of the memory.

    Other training sets move their batches themselves.
    """
    if not isinstance(data, Digits):
        return data
    images = data.images
    warn_of_range(images)
    if images.dtype == torch.float32:
        as_bytes = (255 * images).round().to(torch.uint8)
        if torch.equal(as_bytes / 255, images):
            images = as_bytes
    return data._replace(images=images.to(device), labels=data.labels.to(device))


@contextmanager
def threads_restored() -> Iterator[None]:
    """Restore the number of PyTorch's threads on exit."""
    usual = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(usual)


def chosen_threads(wanted: int | None, state: TrainingState[Any], step_loss: StepLoss) -> int:
    """Return the number of threads to train with.

    That is the wanted number; without one, a resumed run's, if it can be had; else on a GPU all
    that PyTorch takes, and on the CPU whichever is faster.
    """
    usual = torch.get_num_threads()
    if wanted is not None:
        return wanted
    if state.history.threads in (1, usual):  # 0 in a new run
        return state.history.threads  # a resumed run adds up in the same order
    if step_loss.device.type != "cpu":
        return usual
    return faster_threads(partial(_trial_step, step_loss, deepcopy(state.network)))


def _trial_step(step_loss: StepLoss, network: nn.Module) -> None:
    """Compute the loss of the first step and its gradients, but leave the weights as they are."""
    step_loss(step_loss.of(network), 0, 0).backward()


def faster_threads(step: Callable[[], object]) -> int:
    """Return the number of threads to use: all that PyTorch takes, or one.

    All are used if a step with one takes more than 1.5 times as long. A smaller gain is not worth
    it: beside other work, threads wait for each other, and a step took 20 times as long.
    """
    usual = torch.get_num_threads()
    if usual == 1:
        return 1
    seconds_with_all = seconds_of_a_step(step, usual)
    seconds_with_one = seconds_of_a_step(step, 1)
    return usual if 1.5 * seconds_with_all < seconds_with_one else 1


def seconds_of_a_step(step: Callable[[], object], threads: int) -> float:
    """Return the shorter time of two steps with so many threads; sets the number of threads."""
    torch.set_num_threads(threads)
    step()  # allocates what the timed ones use
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
