"""Several processes of one training, one for each GPU, as ``torchrun`` starts them.

The batch stays global: each process makes the whole batch, with the same random numbers, and
computes the gradient of its part; DistributedDataParallel averages the gradients. So a training
takes the same steps, up to rounding, with any number of processes. The first process alone locks
the run's folder, writes, validates and shows a bar.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from capsnet_tutorial.errors import expect
from capsnet_tutorial.train.recipe import Recipe


@dataclass(frozen=True)
class Processes:
    """The processes of a training, seen from one of them; a single one, unless given."""

    rank: int = 0
    """Number of this process, counted from 0."""
    count: int = 1
    """How many processes there are."""

    @classmethod
    def joined(cls) -> Processes:
        """Join the processes that ``torchrun`` started, if it started this one."""
        if not dist.is_available():
            return cls()
        if not dist.is_initialized():
            if not dist.is_torchelastic_launched():
                return cls()
            if torch.cuda.is_available():
                torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
            dist.init_process_group()
            # Not at the end of a training: a process cannot join a second time.
            atexit.register(dist.destroy_process_group)
        return cls(dist.get_rank(), dist.get_world_size())

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that writes."""
        return self.rank == 0

    def expect_same_run(self, recipe: Recipe, examples: int) -> None:
        """Raise `InputError` unless the processes can take equal parts of the same batches."""
        if self.count == 1:
            return
        wanted = f"a batch_size that {self.count} processes can share out equally"
        expect(recipe.batch_size % self.count == 0, wanted, f"{recipe.batch_size}")
        wanted = "a run of epochs with several processes, whose clocks differ"
        expect(recipe.seconds is None, wanted, "a run of seconds")
        mean = self.mean(examples)
        wanted = "as many examples in each process"
        expect(mean == examples, wanted, f"{examples} here, {mean:.1f} on average")

    def part(self, batch: Tensor) -> Tensor:
        """Return this process's part of a batch [B, …]: [B / count, …]."""
        return batch[self.rank :: self.count]

    def wrapped(self, loss: nn.Module) -> nn.Module:
        """Return a module that averages the gradients of its parameters over the processes.

        Args:
            loss: returns a loss. What gave a part of it only, a network's outputs, would not do:
                parameters without a gradient, such as a decoder's whose loss has no weight, are
                searched for from the output on, in the first step.
        """
        if self.count == 1:
            return loss
        return DistributedDataParallel(loss, find_unused_parameters=True, static_graph=True)

    def mean(self, value: float) -> float:
        """Return the mean of a number over the processes; nan, if it is nan in one."""
        return value if self.count == 1 else _sum(value) / self.count

    def from_first(self, value: float) -> float:
        """Return the number that the first process has, after all have come to this line."""
        if self.count == 1:
            return value
        return _sum(value if self.is_first else 0.0)

    def wait(self) -> None:
        """Wait until all processes have come to this line."""
        self.mean(0.0)

    @contextmanager
    def first_before_others(self) -> Iterator[None]:
        """Let the first process do something before the others do it: a download, say."""
        if not self.is_first:
            self.wait()
        yield
        if self.is_first:
            self.wait()


def _sum(value: float) -> float:
    """Return the sum of a number over the processes."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    total = torch.tensor(value, dtype=torch.float64, device=device)
    dist.all_reduce(total)
    return total.item()
