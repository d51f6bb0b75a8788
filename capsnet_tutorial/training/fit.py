"""The training loop: one for every network and size, on whatever there is to compute with."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import convert_to_fp32
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect, trusted_values
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.training import checkpoint as checkpoints
from capsnet_tutorial.training.bar import ProgressBar
from capsnet_tutorial.training.data import TrainingData, batch_of, check_values, mixed_seed
from capsnet_tutorial.training.evaluation import evaluate
from capsnet_tutorial.training.objective import paper_objective
from capsnet_tutorial.training.processes import Processes, Stopwatch, launched, rank
from capsnet_tutorial.training.recipe import Recipe, one_cycle
from capsnet_tutorial.training.state import Diverged, History, Network, Objective, OutOfTime, TrainingState
from capsnet_tutorial.training.tensorboard import TensorBoard

AGREED = 100
"""Several processes ask for the main one's time after so many steps, where nothing depends on every step's."""


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
    processes: Processes | None = None,
) -> tuple[Network, History]:
    """Train a network on images and their targets.

    Every random choice of a step follows from the seed and the step's number alone. A run that was
    interrupted, at any moment, and resumed, therefore takes the very same steps as one that was not.
    Where a launcher started several processes, each takes an equal share of every batch, and all end together.

    Args:
        network: trained in place; called with images and targets.
        data: what to train on. Every example is looked at once, before the first step; no step checks values.
        recipe: how.
        objective: what to minimise; without one, `paper_objective`.
        validation: digits, or a function that gives a network's error. Used after every epoch (at the end, if time
            is what limits the run); never trained on.
        identity: what else a checkpoint must have in common with this run, ready for JSON: the task, say.
        checkpoint: a file to write the run's state to: before the first step, after every epoch, and within one
            after so many ``checkpoint_minutes``.
        resume: go on from that file, if it exists.
        limit_minutes: stop after so long, with a checkpoint; the learning rate remains that of the whole run.
        log: a folder for TensorBoard to read: curves, and histograms of weights, gradients and lengths.
        progress: show a bar.
        on_epoch: called, in the main process, with the network so far and the history after every epoch.
        processes: that take part, where the caller has made them already.

    Returns:
        The network to use (the average of the weights, if the recipe averages; the best, if it has patience),
        in eval mode, and the history.

    Raises:
        Diverged: the loss became nan or infinite; it brings the history, the last checkpoint is from before.
        OutOfTime: ``limit_minutes`` are over.
        OSError: a checkpoint cannot be written; the last one is whole.
        ValueError: the checkpoint is damaged, or of another network or recipe; too few examples for a batch, or bad
            ones; a batch that the processes cannot share equally.
    """
    # Before the processes connect: all refuse the same, and the first to end would cut the others' connection.
    _check(data, recipe, validation, checkpoint, limit_minutes)
    check_values(data, getattr(getattr(network, "config", None), "classes", None))
    processes = Processes() if processes is None else processes
    steps_per_epoch = data.count // recipe.batch_size
    total_steps = math.ceil(recipe.epochs * steps_per_epoch)
    accelerator, device = processes.accelerator, processes.accelerator.device
    share = slice(accelerator.process_index, None, accelerator.num_processes)

    adam = torch.optim.Adam(network.parameters(), lr=recipe.learning_rate, betas=recipe.betas, fused=True)
    objective = paper_objective(recipe.reconstruction_weight) if objective is None else objective
    loss_of, optimizer = accelerator.prepare(_Loss(network.train(), objective, recipe.precision), adam)
    # From here on the network is on its device, and the same in every process.
    state = TrainingState(
        network=network,
        optimizer=adam,
        losses=torch.zeros(steps_per_epoch, device=device),
        average=deepcopy(network) if recipe.average else None,
        best=deepcopy(network) if recipe.patience is not None else None,
    )
    run = _identity(network, recipe, {"examples": data.count, **(identity or {})})

    def save() -> None:
        if checkpoint is not None:
            processes.from_main(partial(checkpoints.store, checkpoint, state, run))

    if checkpoint is not None and resume and processes.from_main(checkpoint.exists):
        checkpoints.restore(checkpoint, state, run)
    else:
        save()
    history = state.history
    board = None if log is None else TensorBoard(log, data, processes)

    def share_done() -> float:
        return history.step / total_steps if recipe.seconds is None else history.seconds / recipe.seconds

    def step() -> None:
        """One step of the optimiser on one batch, of which every process takes its share. Waits for no device."""
        epoch, position = divmod(history.step, steps_per_epoch)
        images, targets = (_on_device(each[share], device) for each in batch_of(data, recipe, epoch, position))
        for group in adam.param_groups:
            group["lr"] = recipe.learning_rate * one_cycle(share_done(), recipe.warmup)
        with _chance(mixed_seed(recipe.seed, epoch, position + 1, 1 + rank()), device), trusted_values():
            loss = loss_of(images, targets)
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        _follow(state, recipe.average)
        state.losses[position] = accelerator.reduce(loss.detach(), "mean")
        history.step += 1

    def end_epoch(loss: float) -> None:
        """Validate, and add a point to the curve."""
        point = {"epoch": history.step / steps_per_epoch, "seconds": history.seconds, "loss": loss}
        if validation is not None and (recipe.seconds is None or share_done() >= 1):
            error = processes.from_main(partial(_error, validation, state.result))
            if state.best is not None and error < min(history.validation_errors, default=math.inf):
                state.best.load_state_dict(state.result.state_dict())
            point["validation_error"] = error
        history.curve.append(point)
        if board is not None:
            board.write(state)

    is_timed = processes.count == 1 or recipe.seconds is not None or limit_minutes is not None
    watch = Stopwatch(processes)
    started = stored = watch.now
    bar = ProgressBar(history, share_done(), recipe.batch_size, visible=progress and processes.is_main)
    with bar, closing(board) if board else nullcontext():
        while not _is_over(recipe, history, share_done()):
            step()
            fills_epoch = history.step % steps_per_epoch == 0
            if is_timed or fills_epoch or share_done() >= 1 or history.step % AGREED == 0:
                history.seconds += watch.lap()
            bar.show(history, share_done())
            ends_epoch = fills_epoch or share_done() >= 1
            is_late = limit_minutes is not None and watch.now - started >= 60 * limit_minutes
            is_due = checkpoint is not None and watch.now - stored >= 60 * checkpoint_minutes
            if not (ends_epoch or is_late or is_due):
                continue
            loss = _finite_loss(state)
            history.seconds += watch.lap()  # an accelerator works on after a step returns; the loss waits for it
            if ends_epoch:
                end_epoch(loss)
                bar.show(history, share_done())
            save()
            stored = watch.now
            if ends_epoch and on_epoch is not None:
                processes.from_main(partial(on_epoch, state.result, history))
            if is_late and not _is_over(recipe, history, share_done()):
                done = f"{history.step:,} steps ({share_done():.0%})"
                raise OutOfTime(f"{limit_minutes:g} minutes are over after {done}")
            watch.lap()  # evaluating and writing is no training
    return (state.result if state.best is None else state.best).eval(), history


class _Loss(nn.Module):
    """A network and its objective as one module: several processes then agree on its gradients."""

    def __init__(self, network: nn.Module, objective: Objective, precision: str) -> None:
        super().__init__()
        self.network = network
        self.objective = objective
        self.in_bf16 = precision == "bf16"

    def forward(self, images: Tensor, targets: Tensor) -> Tensor:
        with torch.autocast(images.device.type, torch.bfloat16, enabled=self.in_bf16):
            output = self.network(images, targets)
        return self.objective(convert_to_fp32(output), images, targets)


def _on_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The same there. From pinned memory the processor need not wait for the copy."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


@contextmanager
def _chance(seed: int, device: torch.device) -> Iterator[None]:
    """What a network draws itself, for dropout say, follows from the seed; chance elsewhere is left alone."""
    on_gpu = device.type == "cuda"
    with torch.random.fork_rng([device] if on_gpu else []):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed is 100 times as slow
        if on_gpu:
            torch.cuda.manual_seed(seed)
        yield


@torch.no_grad()
def _follow(state: TrainingState[Network], decay: float) -> None:
    """Let the average follow the weights; after the first step it is the weights themselves.

    `torch.optim.swa_utils.AveragedModel` does the same, but asks the device for its count at every parameter.
    """
    if state.average is None:
        return
    update = get_ema_multi_avg_fn(decay if state.history.step else 0.0)
    update(list(state.average.parameters()), list(state.network.parameters()), 0)
    for averaged, buffer in zip(state.average.buffers(), state.network.buffers(), strict=True):
        averaged.copy_(buffer)


def _is_over(recipe: Recipe, history: History, share_done: float) -> bool:
    """Whether a run has come to its end, is accurate enough, or has waited long enough for a smaller error."""
    errors = history.validation_errors
    wanted, patience = recipe.stop_at_accuracy, recipe.patience
    is_accurate = wanted is not None and bool(errors) and 100 * (1 - errors[-1]) >= wanted
    has_waited = patience is not None and bool(errors) and len(errors) - 1 - errors.index(min(errors)) >= patience
    return share_done >= 1 or is_accurate or has_waited


def _finite_loss(state: TrainingState[Network]) -> float:
    """This epoch's mean loss so far.

    Raises:
        Diverged: it is not a finite number, or the weights are not.
    """
    history = state.history
    loss = state.losses_so_far.mean().item()
    advice = f"after {history.step} steps; try a lower learning rate"
    if not math.isfinite(loss):
        raise Diverged(f"the loss is {loss} {advice}", history)
    if not all(bool(tensor.isfinite().all()) for tensor in state.network.parameters()):
        raise Diverged(f"the weights are not finite {advice}", history)  # the last step spoilt them
    return loss


def _error(validation: Digits | Callable[[Network], float], network: Network) -> float:
    error = evaluate(network, validation).error if isinstance(validation, Digits) else validation(network)
    expect(math.isfinite(error), "a finite validation error", repr(error))
    return error


def _identity(network: nn.Module, recipe: Recipe, more: Mapping[str, Any]) -> dict[str, Any]:
    """What a checkpoint must have in common with the run that takes it up, as JSON has it."""
    config = getattr(network, "config", None)
    ours = {"network": type(network).__name__, "config": config and asdict(config), "recipe": asdict(recipe)}
    if isinstance(network, CapsNet):  # other parts may have the same weights
        ours["parts"] = network.parts.names
    return json.loads(json.dumps({**ours, **more}))


def _check(
    data: TrainingData,
    recipe: Recipe,
    validation: object,
    checkpoint: Path | None,
    limit_minutes: float | None,
) -> None:
    """Raise `ValueError` if these do not go together."""
    size, count = recipe.batch_size, launched()
    expect(data.count >= size, f"at least one batch of {size} digits", f"{data.count}")
    expect(size % count == 0, f"a batch_size that {count} processes share equally", f"{size}")
    for name in ("patience", "stop_at_accuracy"):
        wanted = getattr(recipe, name) is not None
        expect(not wanted or validation is not None, f"something to validate on, for {name}", "nothing")
    if limit_minutes is not None:
        expect(limit_minutes > 0, "limit_minutes above 0", repr(limit_minutes))
        expect(checkpoint is not None, "a checkpoint, for a run that may be stopped", "none")
