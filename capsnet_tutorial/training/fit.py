"""Training and evaluation: one loop for every network and size, on whatever there is to compute with."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from tqdm import tqdm

from capsnet_tutorial.augmentation import Augmentation
from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect
from capsnet_tutorial.functional import margin_loss
from capsnet_tutorial.training.evaluation import in_eval_mode
from capsnet_tutorial.training.objective import paper_objective
from capsnet_tutorial.training.processes import Processes, rank
from capsnet_tutorial.training.recipe import Recipe
from capsnet_tutorial.training.run import History, Network, Objective, Run

_BAR = "{percentage:3.0f}% |{bar}| {elapsed}<{remaining}{postfix}"


class TrainingData(Protocol):
    """What a network can be trained on; `Digits` is one."""

    @property
    def count(self) -> int:
        """How many examples there are."""

    def batch(self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The chosen examples (int64 [B], from 0 to count - 1): images [B, …] and targets [B, …].

        All chance comes from the generator.
        """


class Evaluation(NamedTuple):
    """What a network does on a set of digits."""

    error: float
    """Share of digits whose longest capsule is the wrong one, 0 to 1."""
    margin_loss: float
    reconstruction_mse: float
    """Mean squared difference a pixel, decoded from the longest capsule."""


class OutOfTime(RuntimeError):
    """The run was to stop by now. Its checkpoint is written."""


def evaluate(model: nn.Module, data: Digits, batch_size: int = 500) -> Evaluation:
    """Test error, margin loss and reconstruction error of a network, in eval mode."""
    expect(len(data.images) > 0, "at least one digit", "none")
    device = next(model.parameters()).device
    wrong = margin = squared = 0.0
    with in_eval_mode(model), torch.no_grad():
        for images, labels in zip(data.images.split(batch_size), data.labels.split(batch_size), strict=True):
            images, labels = images.to(device), labels.to(device)
            output = model(images)
            wrong += (output.lengths.argmax(dim=1) != labels).sum().item()
            margin += margin_loss(output.lengths, labels).item() * len(images)
            squared += (output.reconstruction - images.flatten(1)).square().mean(dim=1).sum().item()
    count = len(data.images)
    return Evaluation(wrong / count, margin / count, squared / count)


def fit(
    network: Network,
    data: TrainingData,
    recipe: Recipe,
    *,
    objective: Objective | None = None,
    validation: Digits | Callable[[Network], float] | None = None,
    identity: Mapping[str, Any] | None = None,
    checkpoint: Path | None = None,
    checkpoint_minutes: float = 5,
    resume: bool = False,
    limit_minutes: float | None = None,
    log: Path | None = None,
    progress: bool = True,
    on_epoch: Callable[[Network, History], None] | None = None,
) -> tuple[Network, History]:
    """Train a network on images and their targets.

    Every random choice of a step follows from the seed and the step's number alone. A run that was
    interrupted, at any moment, and resumed, therefore takes the very same steps as one that was not.
    Where a launcher started several processes, each takes an equal share of every batch, and all end together.

    Args:
        network: trained in place; called with images and targets.
        data: what to train on.
        recipe: how.
        objective: what to minimise; without one, `paper_objective`.
        validation: digits, or a function that gives a network's error. Used after every epoch (at the end, if time
            is what limits the run); never trained on.
        identity: what else a checkpoint must have in common with this run, ready for JSON: the task, say.
        checkpoint: a file to write the run's state to: before the first step, after every epoch, and within one
            after so many ``checkpoint_minutes``.
        resume: go on from that file, if it exists.
        limit_minutes: stop after so long, with a checkpoint; the learning rate remains that of the whole run.
        log: a folder for TensorBoard to read.
        progress: show a bar.
        on_epoch: called, in the main process, with the network so far and the history after every epoch.

    Returns:
        The network to use (the average of the weights, if the recipe averages; the best, if it has patience),
        in eval mode, and the history.

    Raises:
        Diverged: the loss became nan or infinite; it brings the history, the last checkpoint is from before.
        OutOfTime: ``limit_minutes`` are over.
        OSError: a checkpoint cannot be written; the last one is whole.
        ValueError: the checkpoint is damaged, or of another network or recipe; too few digits for a batch; a batch
            that the processes cannot share equally; a gradient that the network's routing does not offer.
    """
    steps_per_epoch = data.count // recipe.batch_size
    expect(steps_per_epoch > 0, f"at least one batch of {recipe.batch_size} digits", f"{data.count}")
    for name in ("patience", "stop_at_accuracy"):
        wanted = getattr(recipe, name) is not None
        expect(not wanted or validation is not None, f"something to validate on, for {name}", "nothing")
    if limit_minutes is not None:
        expect(limit_minutes > 0, "limit_minutes above 0", repr(limit_minutes))
        expect(checkpoint is not None, "a checkpoint, for a run that may be stopped", "none")
    processes = Processes(log)
    expect(
        recipe.batch_size % processes.count == 0,
        f"a batch_size that {processes.count} processes share equally",
        f"{recipe.batch_size}",
    )
    objective = paper_objective(recipe.reconstruction_weight) if objective is None else objective
    run = Run(network, objective, recipe, steps_per_epoch, {"examples": data.count} | dict(identity or {}), processes)
    validate = None if validation is None else partial(_error, validation)
    history = run.history
    started = stored = run.now
    if checkpoint is not None:
        if resume and processes.from_main(checkpoint.exists):
            run.restore(checkpoint)
        else:
            run.store(checkpoint)

    with _Bar(run, visible=progress and processes.is_main) as bar, closing(processes):
        run.tick(counted=False)
        while not run.is_done:
            epoch, position = divmod(history.step, steps_per_epoch)
            images, targets = _batch(data, recipe, epoch, position)
            run.step(images, targets, seed=_mixed(recipe.seed, epoch, position + 1, 1 + rank()))
            run.tick()
            bar.show()
            ends_epoch = position == steps_per_epoch - 1 or run.share_done >= 1
            is_late = limit_minutes is not None and run.now - started >= 60 * limit_minutes
            is_due = checkpoint is not None and run.now - stored >= 60 * checkpoint_minutes
            if not (ends_epoch or is_late or is_due):
                continue
            loss = run.sound_loss()
            run.tick()  # an accelerator works on after a step returns; the loss waits for it
            if ends_epoch:
                is_time = recipe.seconds is None or run.share_done >= 1
                bar.show(run.end_epoch(loss, validate if is_time else None))
            if checkpoint is not None:
                run.store(checkpoint)
                stored = run.now
            if ends_epoch and on_epoch is not None:
                processes.from_main(lambda: on_epoch(run.result, history))
            if is_late and not run.is_done:
                raise OutOfTime(
                    f"{limit_minutes:g} minutes are over after {history.step:,} steps ({run.share_done:.0%})"
                )
            run.tick(counted=False)
    return (run.result if run.best is None else run.best).eval(), history


def _error(validation: Digits | Callable[[Network], float], network: Network) -> float:
    error = evaluate(network, validation).error if isinstance(validation, Digits) else validation(network)
    expect(math.isfinite(error), "a finite validation error", repr(error))
    return error


class _Bar(tqdm):
    """How far a run is, how long it will still take, how fast it goes."""

    def __init__(self, run: Run, visible: bool) -> None:
        history = run.history
        self._run, self._point = run, dict[str, float]()
        self._first = history.step, history.seconds
        super().__init__(total=100, initial=self._percent, disable=not visible, bar_format=_BAR)

    @property
    def _percent(self) -> float:
        return min(100 * self._run.share_done, 100)

    def show(self, point: dict[str, float] | None = None) -> None:
        """Where the run is now, and, from then on, a point of its curve."""
        history = self._run.history
        images = (history.step - self._first[0]) * self._run.recipe.batch_size
        self._point = point or self._point
        kept = [f"{name}={value:.4f}" for name, value in self._point.items() if name not in ("epoch", "seconds")]
        speed = f"{images / max(history.seconds - self._first[1], 1e-9):,.0f} images/s"
        self.set_postfix_str(", ".join([speed, *kept]), refresh=point is not None)
        self.update(self._percent - self.n)


def _batch(data: TrainingData, recipe: Recipe, epoch: int, position: int) -> tuple[Tensor, Tensor]:
    """The images of one step, augmented, and their targets."""
    order = _order(data.count, recipe.seed, epoch)
    chosen = order[position * recipe.batch_size :][: recipe.batch_size]
    generator = torch.Generator().manual_seed(_mixed(recipe.seed, epoch, position + 1))
    return data.batch(chosen, recipe.augmentation, generator)


@lru_cache(maxsize=1)
def _order(count: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(count, generator=torch.Generator().manual_seed(_mixed(seed, epoch, 0)))


def _mixed(*numbers: int) -> int:
    """One seed from several numbers, far from the seeds of their neighbours."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") >> 1
