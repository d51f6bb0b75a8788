"""What a training step costs: time and memory."""

from __future__ import annotations

import inspect
import os
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from capsnet_book.experiments.tasks import TASKS, TrainingSetup
from capsnet_tutorial.data import Digits
from capsnet_tutorial.train import OnDevice, Recipe


class Cost(NamedTuple):
    """Of one step: forward, backward, Adam."""

    milliseconds: float
    megabytes: float
    """The most that its tensors took at once, above what the network takes; nan on a GPU."""


def costs(setups: Mapping[str, TrainingSetup], data: Digits, recipe: Recipe, turns: int = 5) -> dict[str, Cost]:
    """Of each network, on the same batch. They take turns: a noisy machine is noisy to all."""
    steps = {name: _step(setup, data, recipe) for name, setup in setups.items()}
    megabytes = {name: peak_bytes(step) / 2**20 for name, step in steps.items()}  # this warms up, too
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(turns):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            seconds[name].append(time.perf_counter() - start)
    return {name: Cost(1000 * statistics.median(seconds[name]), megabytes[name]) for name in steps}


def peak_bytes(run: Callable[[], object]) -> int:
    """The most memory for tensors that stood at once above what stood before, as PyTorch's allocator counts it."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it would tell of every start and stop
    known = inspect.signature(profile).parameters
    quiet: dict[str, Any] = {"acc_events": True} if "acc_events" in known else {}  # unknown to PyTorch 2.4
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, **quiet) as profiler:
        run()
    results = profiler.profiler.kineto_results  # type: ignore[union-attr]
    events = [event for event in results.events() if event.name() == "[memory]"]
    held = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def _step(setup: TrainingSetup, data: Digits, recipe: Recipe) -> Callable[[], None]:
    torch.manual_seed(0)
    network = setup.build().train()
    objective = setup.objective(recipe.reconstruction_weight)
    adam = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)
    examples = TASKS[setup.task].to_train_on(data)
    examples = OnDevice(examples, torch.device("cpu")) if isinstance(examples, Digits) else examples
    chosen, chance = torch.arange(recipe.batch_size), torch.Generator().manual_seed(0)
    images, targets = examples.batch(chosen, recipe.augmentation, chance)

    def step() -> None:
        adam.zero_grad()
        objective(network(images, targets), images, targets).backward()
        adam.step()

    return step
