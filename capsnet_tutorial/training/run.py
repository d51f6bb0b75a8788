"""One training run: its state, its steps, its checkpoints."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import torch
from accelerate.utils import convert_to_fp32
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from capsnet_tutorial.errors import expect
from capsnet_tutorial.storage import read_tensors, write_tensors
from capsnet_tutorial.training.processes import Processes
from capsnet_tutorial.training.recipe import Recipe, one_cycle

Network = TypeVar("Network", bound=nn.Module)
Objective = Callable[[Any, Tensor, Tensor], Tensor]
"""What is minimised: (output of network(images, targets), images, targets) -> a scalar, the mean over the images."""


@dataclass
class History:
    """What a run has been through: goes into checkpoints and results."""

    step: int = 0
    seconds: float = 0.0
    """Spent on training, evaluation not counted."""
    curve: list[dict[str, float]] = field(default_factory=list)
    """One entry an epoch: epoch, seconds, loss, and the validation error if there is a validation set."""

    @property
    def validation_errors(self) -> list[float]:
        return [point["validation_error"] for point in self.curve if "validation_error" in point]


class Diverged(RuntimeError):
    """The loss or the weights are no longer finite numbers."""

    def __init__(self, why: str, history: History) -> None:
        super().__init__(why)
        self.history = history
        """What the run has been through, the steps that spoilt it included."""


class Run(Generic[Network]):
    """The state of a training run, how it takes a step, and how it is stored.

    Args:
        network: trained in place.
        objective: what is minimised.
        recipe: how.
        steps_per_epoch: how often the data can fill a batch.
        identity: what a checkpoint must have in common with this run, beside the network's sizes and the recipe.
        processes: who takes part.
    """

    def __init__(
        self,
        network: Network,
        objective: Objective,
        recipe: Recipe,
        steps_per_epoch: int,
        identity: Mapping[str, Any],
        processes: Processes,
    ) -> None:
        self.recipe = recipe
        self.steps_per_epoch = steps_per_epoch
        self.total_steps = math.ceil(recipe.epochs * steps_per_epoch)
        self.identity = identity
        self.processes = processes
        self.accelerator = processes.accelerator
        self.history = History()
        self.network = network.train()
        self.optimizer = torch.optim.Adam(network.parameters(), lr=recipe.learning_rate, betas=recipe.betas, fused=True)
        loss = _Loss(network, objective, bf16=recipe.precision == "bf16")
        self.loss, self.prepared_optimizer = self.accelerator.prepare(loss, self.optimizer)
        # From here on the network is on its device, and the same in every process.
        self.average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(recipe.average))
        self.best = deepcopy(network) if recipe.patience is not None else None
        self.losses = torch.zeros(steps_per_epoch, device=self.accelerator.device)  # of this epoch's steps
        for parameter in network.parameters():  # as Adam's first step would, so that a checkpoint always has it all
            zero = torch.zeros((), device=parameter.device)
            moments = {key: torch.zeros_like(parameter) for key in ("exp_avg", "exp_avg_sq")}
            self.optimizer.state[parameter] = {"step": zero} | moments
        self.written: int | None = None
        """The step of the last checkpoint."""
        self.now = processes.clock()

    @property
    def share_done(self) -> float:
        if self.recipe.seconds is not None:
            return self.history.seconds / self.recipe.seconds
        return self.history.step / self.total_steps

    @property
    def is_done(self) -> bool:
        """Whether it has come to its end, is accurate enough, or has waited long enough for a better network."""
        errors = self.history.validation_errors
        wanted = self.recipe.stop_at_accuracy
        if wanted is not None and errors and 100 * (1 - errors[-1]) >= wanted:
            return True
        if self.recipe.patience is not None and errors:
            waited = len(errors) - 1 - errors.index(min(errors))
            if waited >= self.recipe.patience:
                return True
        return self.share_done >= 1

    @property
    def result(self) -> Network:
        """The network as it is now: its average, if the recipe averages."""
        return cast(Network, self.average.module) if self.recipe.average else self.network

    def tick(self, counted: bool = True) -> None:
        """Look at the clock; what has passed since the last time counts as training, or not."""
        before, self.now = self.now, self.processes.clock()
        if counted:
            self.history.seconds += self.now - before

    def step(self, images: Tensor, targets: Tensor, seed: int) -> None:
        """One step of the optimiser on one batch, of which every process takes its share.

        What chance the network itself draws, for dropout say, follows from the seed.
        """
        share = slice(self.accelerator.process_index, None, self.accelerator.num_processes)
        device = self.accelerator.device
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.learning_rate * one_cycle(self.share_done, self.recipe.warmup)
        on_gpu = device.type == "cuda"
        with torch.random.fork_rng([device] if on_gpu else []):
            torch.default_generator.manual_seed(seed)  # torch.manual_seed is 100 times as slow
            if on_gpu:
                torch.cuda.manual_seed(seed)
            loss = self.loss(images[share].to(device), targets[share].to(device))
        self.prepared_optimizer.zero_grad()
        self.accelerator.backward(loss)
        if self.recipe.clip is not None:
            self.accelerator.clip_grad_norm_(self.network.parameters(), self.recipe.clip)
        self.prepared_optimizer.step()
        self.average.update_parameters(self.network)
        self.losses[self.history.step % self.steps_per_epoch] = self.accelerator.reduce(loss.detach(), "mean")
        self.history.step += 1

    @property
    def losses_so_far(self) -> Tensor:
        """Of this epoch's steps, the last one's included."""
        return self.losses[: (self.history.step - 1) % self.steps_per_epoch + 1]

    def sound_loss(self) -> float:
        """This epoch's mean loss so far.

        Raises:
            Diverged: it is not a finite number, or the weights are not.
        """
        loss = self.losses_so_far.mean().item()
        advice = f"after {self.history.step} steps; try a lower learning rate"
        if not math.isfinite(loss):
            raise Diverged(f"the loss is {loss} {advice}", self.history)
        if not all(bool(tensor.isfinite().all()) for tensor in self.network.parameters()):
            raise Diverged(f"the weights are not finite {advice}", self.history)  # the last step spoilt them
        return loss

    def end_epoch(self, loss: float, validate: Callable[[Network], float] | None) -> dict[str, float]:
        """Evaluate, if there is something to evaluate on, add the epoch to the curve and log it."""
        history = self.history
        point = {"epoch": history.step / self.steps_per_epoch, "seconds": history.seconds, "loss": loss}
        if validate is not None:
            error = self.processes.from_main(lambda: validate(self.result))
            if self.best is not None and error < min(history.validation_errors, default=math.inf):
                self.best.load_state_dict(self.result.state_dict())
            point["validation_error"] = error
        history.curve.append(point)
        losses = self.losses_so_far.tolist()
        for step, each in enumerate(losses, start=history.step - len(losses) + 1):
            self.accelerator.log({"loss": each}, step)
        rate = {"learning_rate": self.optimizer.param_groups[0]["lr"]}
        self.accelerator.log(rate | {key: point[key] for key in ("validation_error",) if key in point}, history.step)
        return point

    def store(self, path: Path) -> None:
        """Write everything that the next step depends on.

        Raises:
            OSError: it cannot be written; the last one is as it was.
        """
        self.processes.from_main(lambda: self._write(path))
        self.written = self.history.step

    @torch.no_grad()
    def restore(self, path: Path) -> None:
        """Take up where `store` left off."""
        stored, metadata = read_tensors(path)
        checkpoint: Any = metadata.get("checkpoint")
        expect(isinstance(checkpoint, dict), f"a checkpoint of a training run in {path}", "another safetensors file")
        for key, wanted in self._identity().items():
            found = checkpoint.get(key)
            expect(found == wanted, f"a checkpoint of a run with the {key} {wanted}", f"{found} in {path}")
        ours = self._tensors()
        for name in ours.keys() | stored.keys():
            wanted, found = (list(each[name].shape) if name in each else None for each in (ours, stored))
            expect(found == wanted, f"{name} of shape {wanted} in the checkpoint {path}", f"{found}")
        history = checkpoint.get("history")
        kinds = {key: type(value) for key, value in asdict(History()).items()}
        fits = isinstance(history, dict) and {key: type(value) for key, value in history.items()} == kinds
        expect(fits, f"a history in {path}", repr(history))
        for name, tensor in ours.items():
            tensor.copy_(stored[name])
        vars(self.history).update(history)
        self.written = self.history.step

    def _write(self, path: Path) -> None:
        about = self._identity() | {"history": asdict(self.history)}
        try:
            write_tensors(path, self._tensors(), {"checkpoint": about})
        except OSError as problem:
            left = "there is none yet" if self.written is None else f"the last one, of step {self.written:,}, is whole"
            why = problem.strerror or problem
            raise OSError(f"expected to write a checkpoint to {path}; got: {why} ({left})") from problem

    def _tensors(self) -> dict[str, Tensor]:
        """Everything that changes from step to step, by name: the tensors themselves."""
        tensors = {"losses": self.losses}
        modules: dict[str, nn.Module | None] = {"model": self.network, "average": self.average, "best": self.best}
        for place, module in modules.items():
            if module is not None:
                tensors |= {f"{place}.{name}": tensor for name, tensor in module.state_dict().items()}
        for name, parameter in self.network.named_parameters():
            tensors |= {f"optimizer.{key}.{name}": each for key, each in self.optimizer.state[parameter].items()}
        return tensors

    def _identity(self) -> dict[str, Any]:
        """What a checkpoint must have in common with the run that takes it up, as JSON has it."""
        config = getattr(self.network, "config", None)
        ours = {
            "network": type(self.network).__name__,
            "config": config and asdict(config),
            "recipe": asdict(self.recipe),
        }
        return json.loads(json.dumps(ours | dict(self.identity)))


class _Loss(nn.Module):
    """A network and what is made of its output, as one module: several processes then agree on its gradients."""

    def __init__(self, network: nn.Module, objective: Objective, bf16: bool) -> None:
        super().__init__()
        self.network = network
        self.objective = objective
        self.bf16 = bf16

    def forward(self, images: Tensor, targets: Tensor) -> Tensor:
        with torch.autocast(images.device.type, torch.bfloat16, enabled=self.bf16):
            output = self.network(images, targets)
        return self.objective(convert_to_fp32(output), images, targets)
