"""The loop from the first step to the last.

Every random choice of a step follows from the seed, the epoch and the step's position in it, and a
checkpoint is written at the end of every epoch. So a run of epochs that was killed at any moment
and resumed takes the same steps as an uninterrupted run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.images import Examples, training_data
from capsnet_tutorial.train.checkpoint import (
    Checkpoint,
    History,
    Network,
    TrainingState,
    run_identity,
)
from capsnet_tutorial.train.distributed import Processes
from capsnet_tutorial.train.evaluate import evaluate
from capsnet_tutorial.train.machine import (
    MOST_THREADS,
    best_device,
    chosen_threads,
    on_device,
    threads_restored,
)
from capsnet_tutorial.train.recipe import Objective, Recipe, Schedule, paper_objective
from capsnet_tutorial.train.step import StepLoss, chance_restored

Validation = Examples | Callable[[Network], float]
"""Images and labels, or a function that returns a network's error, from 0 to 1."""


class Diverged(RuntimeError):
    """The loss or the weights are no longer finite numbers."""


def fit(  # noqa: PLR0913 - independent options of a run, by keyword only
    network: Network,
    data: Examples,
    recipe: Recipe,
    *,
    objective: Objective | None = None,
    validation: Validation[Network] | None = None,
    identity: Mapping[str, Any] | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: bool = True,
    on_epoch: Callable[[Network, History], None] | None = None,
    threads: int | None = None,
    compiled: bool = False,
) -> tuple[Network, History]:
    """Train a network on images and their targets; on a GPU, where there is one.

    On several, if ``torchrun`` started the program, a process for each: see `Processes`. Then only
    the first process writes, validates and calls ``on_epoch``.

    Args:
        network: trained in place; called with images and targets.
        data: the training set: `Digits`; a ``Dataset`` of (image, label); or a pair of tensors,
            images [N, C, H, W] from 0 to 1 and labels, see `training_data`. At least one batch: an
            incomplete last batch is left out, and its images come in another epoch.
        recipe: hyperparameters.
        objective: the loss function; without one, `paper_objective`.
        validation: images and labels in one of the same forms, or a function that returns a
            network's error. Used after every epoch (at the end, if time is what limits the run);
            never trained on.
        identity: what else a checkpoint must have in common with this run, ready for JSON.
        checkpoint: a file for the run's state, written at the beginning and after every epoch. No
            other run may write into its folder meanwhile.
        resume: go on from that file, if it exists; without, there must be none.
        progress: show a bar.
        on_epoch: called after every epoch with the network so far and the history.
        threads: of the processor; without a number, `faster_threads` tries which is faster.
        compiled: compute the steps by ``torch.compile``; the first step then takes a minute.

    Returns:
        The network to use (the average of the weights, if the recipe averages), in eval mode, and
        the history.

    Raises:
        Diverged: the loss became nan or infinite; the last checkpoint is from before.
        OSError: a checkpoint cannot be written; the one before is still there, whole.
        ValueError: there is a checkpoint and no wish to resume; it is damaged, or of another
            network or recipe; another run writes into its folder; too few examples for a batch, or
            bad ones.
    """
    expect_arguments(recipe, validation, threads)
    data = training_data(data)
    validation = usable_validation(validation)
    recipe = recipe.for_network(network)
    schedule = Schedule(recipe, data.count)
    processes = Processes.joined()
    processes.expect_same_run(recipe, data.count)
    device = best_device()
    step_loss = StepLoss(
        data=on_device(data, device),
        recipe=recipe,
        objective=objective or paper_objective(recipe.reconstruction_weight),
        device=device,
        processes=processes,
    )
    step_loss.try_batch()
    state = TrainingState(network.to(device).train(), recipe)
    settings = {
        **run_identity(network, recipe, data.count),
        **rounding_settings(processes, compiled),
        **(identity or {}),
    }
    path = None if checkpoint is None else Path(checkpoint)
    file = Checkpoint(path, settings, is_writer=processes.is_first)

    with (
        file.locked(),
        chance_restored(device),
        threads_restored(),
        progress_bar(progress and processes.is_first) as bar,
    ):
        if file.exists():
            wanted = "a folder without a run, or resume=True (--resume) to go on with it"
            expect(resume, wanted, f"{file.path}")
            file.load(state)
            if progress and processes.is_first:
                bar.write(f"going on after {state.history.step:,} steps")
        threads = chosen_threads(threads, state, step_loss)
        state.history.threads = int(processes.from_first(threads))  # after all have read
        torch.set_num_threads(state.history.threads)
        file.save(state)

        batch_loss = processes.wrapped(step_loss.of(compiled_if(compiled, state.network)))
        while not is_over(state.history, schedule):
            loss = processes.mean(train_epoch(state, batch_loss, step_loss, schedule, bar))
            expect_finite(loss, state)
            measurements = {"loss": loss}
            if validation is not None and is_validated(state.history, schedule):
                error = validation_error(state.result, validation) if processes.is_first else 0.0
                measurements["validation_error"] = processes.from_first(error)
            bar.set_postfix({name: f"{value:.4f}" for name, value in measurements.items()})
            point = {
                "epoch": state.history.step / schedule.steps_per_epoch,
                "seconds": state.history.seconds,
                **measurements,
            }
            state.history.curve.append(point)
            file.save(state)
            if on_epoch is not None and processes.is_first:
                on_epoch(state.result, state.history)
    return state.result.eval(), state.history


def usable_validation(validation: Validation[Any] | None) -> Validation[Any] | None:
    """Return validation images in the form that `evaluate` takes; a function or None as it is."""
    if validation is None or callable(validation):
        return validation
    return training_data(validation)


def rounding_settings(processes: Processes, compiled: bool) -> dict[str, Any]:
    """Return settings of a run that change its rounding, where they are not the usual ones.

    Several processes add up in another order than one; compiled steps fuse operations.
    """
    settings: dict[str, Any] = {}
    if processes.count > 1:
        settings["processes"] = processes.count
    if compiled:
        settings["compiled"] = True
    return settings


def expect_arguments(recipe: Any, validation: Any, threads: Any) -> None:
    """Raise `InputError` unless these arguments of `fit` are of their kinds and fit together."""
    expect(isinstance(recipe, Recipe), "a Recipe, such as Recipe(epochs=3)", repr(recipe))
    is_watched = recipe.stop_at_accuracy is None or validation is not None
    expect(is_watched, "something to validate on, for stop_at_accuracy", "nothing")
    if threads is not None:
        expect_count("threads", threads)
        expect(threads <= MOST_THREADS, f"at most {MOST_THREADS} threads", f"{threads}")


# --- steps


def compiled_if(is_compiled: bool, network: nn.Module) -> Any:
    """Return what a step calls: the network, or what ``torch.compile`` makes of it."""
    return torch.compile(network) if is_compiled else network


def train_epoch(
    state: TrainingState[Any],
    batch_loss: nn.Module,
    step_loss: StepLoss,
    schedule: Schedule,
    bar: tqdm,
) -> float:
    """Take the steps of an epoch, fewer where the run ends before; return their mean loss.

    Args:
        state: of the run.
        batch_loss: of the state's network.
        step_loss: gives it the batches of the steps.
        schedule: of the run.
        bar: shows the share of the run that is over.
    """
    history = state.history
    epoch = history.step // schedule.steps_per_epoch
    seconds_before = history.seconds
    started = time.perf_counter()
    losses = []
    for position in range(schedule.steps_per_epoch):
        loss = step_loss(batch_loss, epoch, position)
        learning_rate = schedule.learning_rate(history.step, history.seconds)
        state.step(loss, learning_rate, schedule.decay(history.step))
        losses.append(loss.detach())
        history.step += 1
        history.seconds = seconds_before + time.perf_counter() - started
        share_done = schedule.share_done(history.step, history.seconds)
        bar.update(min(100 * share_done, 100) - bar.n)
        if share_done >= 1:
            break
    mean_loss = torch.stack(losses).mean().item()  # waits for the device: only now is it all done
    history.seconds = seconds_before + time.perf_counter() - started
    return mean_loss


def is_over(history: History, schedule: Schedule) -> bool:
    """Return whether a run has ended: by its length, or by its accuracy after the last epoch."""
    if schedule.share_done(history.step, history.seconds) >= 1:
        return True
    wanted = schedule.recipe.stop_at_accuracy
    if wanted is None or not history.curve:
        return False
    return 100 * (1 - history.curve[-1]["validation_error"]) >= wanted


def is_validated(history: History, schedule: Schedule) -> bool:
    """Return whether to validate now: after every epoch, or at the end of a run of seconds."""
    if schedule.recipe.seconds is None:
        return True
    return schedule.share_done(history.step, history.seconds) >= 1


def validation_error(network: Network, validation: Validation[Network]) -> float:
    """Return a network's error on images, or by a function, from 0 to 1.

    Raises:
        ValueError: the function returned nan or infinity.
    """
    if not callable(validation):
        return evaluate(network, validation).error
    error = validation(network)
    expect(math.isfinite(error), "a finite validation error", repr(error))
    return error


def expect_finite(loss: float, state: TrainingState[Any]) -> None:
    """Raise `Diverged` unless the loss and all weights are finite."""
    advice = f"after {state.history.step} steps; try a lower learning rate"
    if not math.isfinite(loss):
        raise Diverged(f"the loss is {loss} {advice}")
    if not all(parameter.isfinite().all() for parameter in state.network.parameters()):
        raise Diverged(f"the weights are not finite {advice}")


def progress_bar(is_shown: bool) -> tqdm:
    """Return a bar in percent, with the time left."""
    return tqdm(
        total=100,
        disable=not is_shown,
        bar_format="{n:3.0f}% |{bar}| {elapsed}<{remaining}{postfix}",
    )
