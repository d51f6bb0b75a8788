"""Training, evaluation and checkpoints: one loop for every size, on whatever device there is."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, cast

import torch
from accelerate import Accelerator
from accelerate.utils import convert_to_fp32
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm import tqdm

from capsnet_tutorial.augmentation import Augmentation
from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.files import read_tensors, write_tensors
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT, margin_loss, reconstruction_loss
from capsnet_tutorial.layers import RoutedCapsules
from capsnet_tutorial.model import CapsNetOutput

Network = TypeVar("Network", bound=nn.Module)
Objective = Callable[[Any, Tensor, Tensor], Tensor]
"""What is minimised: (output of network(images, targets), images, targets) -> a scalar, the mean over the images."""


class TrainingData(Protocol):
    """What a network can be trained on; `Digits` is one."""

    @property
    def count(self) -> int:
        """How many examples there are."""

    def batch(self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The chosen examples (int64 [B], from 0 to count - 1): images [B, …] and targets [B, …].

        All chance comes from the generator.
        """


_BAR = "{percentage:3.0f}% |{bar}| {elapsed}<{remaining}{postfix}"


@dataclass(frozen=True)
class Recipe:
    """Everything that decides how a network is trained; with the data, it decides the result."""

    epochs: float = 10
    """How long to train. Ignored where ``seconds`` is given."""
    seconds: float | None = None
    """Train for so long instead, evaluation not counted; the learning rate follows the clock."""
    batch_size: int = 128
    learning_rate: float = 1e-2
    """At its peak: it rises over the first ``warmup`` of the run and falls along a cosine to zero."""
    warmup: float = 0.3
    betas: tuple[float, float] = (0.9, 0.99)
    average: float = 0.998
    """Decay of the running average of the weights; the average is what is evaluated and saved. 0: none."""
    reconstruction_weight: float = RECONSTRUCTION_WEIGHT
    augmentation: Augmentation = field(default_factory=Augmentation)
    routing_gradient: Literal["all", "last"] = "all"
    """Through "all" rounds of routing, or only the "last"."""
    precision: str = "fp32"
    """"fp32", or "bf16" for autocast."""
    seed: int = 0

    def __post_init__(self) -> None:
        expect_count("batch_size", self.batch_size)
        for name in ("epochs", "seconds", "learning_rate"):
            value = getattr(self, name)
            if value is not None:
                expect(value > 0, f"{name} above 0", repr(value))
                expect(value < math.inf, f"{name} to be finite", repr(value))
        expect(0 < self.warmup < 1, "warmup between 0 and 1", repr(self.warmup))
        weight = self.reconstruction_weight
        expect(0 <= weight < math.inf, "reconstruction_weight of at least 0, finite", repr(weight))
        expect(0 <= self.average < 1, "average from 0 to below 1", repr(self.average))
        expect(self.precision in ("fp32", "bf16"), "precision fp32 or bf16", repr(self.precision))
        expect(self.routing_gradient in ("all", "last"), "routing_gradient all or last", repr(self.routing_gradient))

    @classmethod
    def quick(cls, seconds: float) -> Recipe:
        """What serves best when a minute or two is all there is: chosen on the validation digits, on two cores."""
        augmentation = Augmentation(shift=1.0)
        return cls(seconds=seconds, warmup=0.2, average=0.99, routing_gradient="last", augmentation=augmentation)


class Evaluation(NamedTuple):
    """What a network does on a set of digits."""

    error: float
    """Share of digits whose longest capsule is the wrong one, 0 to 1."""
    margin_loss: float
    reconstruction_mse: float
    """Mean squared difference a pixel, decoded from the longest capsule."""


@dataclass
class History:
    """What a run has been through: goes into checkpoints and results."""

    step: int = 0
    seconds: float = 0.0
    """Spent on training, evaluation not counted."""
    curve: list[dict[str, float]] = field(default_factory=list)
    """One entry an epoch: epoch, seconds, loss, and the validation error if there is a validation set."""


class Diverged(RuntimeError):
    """The loss is no longer a finite number."""


def evaluate(model: nn.Module, data: Digits, batch_size: int = 500) -> Evaluation:
    """Test error, margin loss and reconstruction error of a network, in eval mode."""
    expect(len(data.images) > 0, "at least one digit", "none")
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    wrong = margin = squared = 0.0
    with torch.no_grad():
        for images, labels in zip(data.images.split(batch_size), data.labels.split(batch_size), strict=True):
            images, labels = images.to(device), labels.to(device)
            output = model(images)
            wrong += (output.lengths.argmax(dim=1) != labels).sum().item()
            margin += margin_loss(output.lengths, labels).item() * len(images)
            squared += (output.reconstruction - images.flatten(1)).square().mean(dim=1).sum().item()
    model.train(was_training)
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
    resume: bool = False,
    progress: bool = True,
    on_epoch: Callable[[Network, History], None] | None = None,
) -> tuple[Network, History]:
    """Train a network on images and their targets.

    Every random choice of a step follows from the seed and the step's number alone. A run that was
    interrupted, at any moment, and resumed, therefore takes the very same steps as one that was not.

    Args:
        network: trained in place; called with images and targets.
        data: what to train on.
        recipe: how.
        objective: what to minimise; the paper's if there is none: `paper_objective`.
        validation: digits, or a function that gives a network's error. Used after every epoch (at the end, if time
            is what limits the run); never trained on.
        identity: what else a checkpoint must have in common with this run, ready for JSON: the task, say.
        checkpoint: a file to write the run's state to before the first step and after every epoch.
        resume: go on from that file, if it exists.
        progress: show a bar.
        on_epoch: called with the network so far and the history after every epoch.

    Returns:
        The network to use (the average of the weights, if the recipe averages), in eval mode, and the history.

    Raises:
        Diverged: the loss became nan or infinite; the last checkpoint is from before.
        ValueError: the checkpoint is damaged, or of another network or recipe; too few digits for a batch.
    """
    steps_per_epoch = data.count // recipe.batch_size
    expect(steps_per_epoch > 0, f"at least one batch of {recipe.batch_size} digits", f"{data.count}")
    objective = paper_objective(recipe.reconstruction_weight) if objective is None else objective
    run = _Run(network, objective, recipe, math.ceil(recipe.epochs * steps_per_epoch), identity or {})
    history = run.history
    if resume and checkpoint is not None and checkpoint.exists():
        run.restore(checkpoint)
    elif checkpoint is not None:
        run.store(checkpoint)

    losses: list[Tensor] = []
    with tqdm(total=100, disable=not (progress and run.accelerator.is_main_process), bar_format=_BAR) as bar:
        while run.share_done < 1:
            epoch, position = divmod(history.step, steps_per_epoch)
            started = time.perf_counter()
            losses.append(run.step(*_batch(data, recipe, epoch, position)))
            history.seconds += time.perf_counter() - started
            bar.update(min(100 * run.share_done, 100) - bar.n)
            if position < steps_per_epoch - 1 and run.share_done < 1:
                continue
            loss = torch.stack(losses).mean().item()
            losses.clear()
            if not math.isfinite(loss):
                raise Diverged(f"the loss is {loss} after {history.step} steps; try a lower learning rate")
            if not run.is_finite:  # the loss was a number, and then the last step spoilt the weights
                raise Diverged(f"the weights are not finite after {history.step} steps; try a lower learning rate")
            point = {"epoch": history.step / steps_per_epoch, "seconds": history.seconds, "loss": loss}
            if validation is not None and (recipe.seconds is None or run.share_done >= 1):
                point["validation_error"] = (
                    evaluate(run.result, validation).error if isinstance(validation, Digits) else validation(run.result)
                )
            history.curve.append(point)
            bar.set_postfix({name: f"{value:.4f}" for name, value in point.items() if name not in ("epoch", "seconds")})
            if checkpoint is not None:
                run.store(checkpoint)
            if on_epoch is not None:
                on_epoch(run.result, history)
    return run.result.eval(), history


def paper_objective(reconstruction_weight: float = RECONSTRUCTION_WEIGHT) -> Objective:
    """Margin loss plus the weighted reconstruction loss, of a `CapsNetOutput`; at weight 0, margin loss alone."""

    def objective(output: CapsNetOutput, images: Tensor, targets: Tensor) -> Tensor:
        margin = margin_loss(output.lengths, targets)
        if not reconstruction_weight:
            return margin
        return margin + reconstruction_weight * reconstruction_loss(output.reconstruction, images)

    return objective


def one_cycle(share_done: float, warmup: float) -> float:
    """The learning rate as a share of its peak: up from 1/25 along a cosine, then down to zero along another."""
    if share_done < warmup:
        return 1 / 25 + (1 - 1 / 25) * (1 - math.cos(math.pi * share_done / warmup)) / 2
    return (1 + math.cos(math.pi * (share_done - warmup) / (1 - warmup))) / 2


class _Run(Generic[Network]):
    """The state of a training run, how it takes a step, and how it is stored."""

    def __init__(
        self, network: Network, objective: Objective, recipe: Recipe, total_steps: int, identity: Mapping[str, Any]
    ) -> None:
        self.accelerator = Accelerator()
        self.recipe = recipe
        self.total_steps = total_steps
        self.history = History()
        self.identity = identity
        self.network = network.train()
        for layer in network.modules():
            if isinstance(layer, RoutedCapsules):
                layer.gradient = recipe.routing_gradient
        self.average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(recipe.average))
        self.average.to(self.accelerator.device)
        self.optimizer = torch.optim.Adam(network.parameters(), lr=recipe.learning_rate, betas=recipe.betas, fused=True)
        trained = _Loss(network, objective, bf16=recipe.precision == "bf16")
        self.loss, self.prepared_optimizer = self.accelerator.prepare(trained, self.optimizer)
        for parameter in network.parameters():  # as Adam's first step would, so that a checkpoint always has it all
            zero = torch.zeros((), device=parameter.device)
            moments = {key: torch.zeros_like(parameter) for key in ("exp_avg", "exp_avg_sq")}
            self.optimizer.state[parameter] = {"step": zero} | moments

    @property
    def share_done(self) -> float:
        if self.recipe.seconds is not None:
            return self.history.seconds / self.recipe.seconds
        return self.history.step / self.total_steps

    @property
    def is_finite(self) -> bool:
        """Whether all weights are numbers."""
        return all(bool(tensor.isfinite().all()) for tensor in self.network.parameters())

    @property
    def result(self) -> Network:
        return cast(Network, self.average.module) if self.recipe.average else self.network

    def step(self, images: Tensor, targets: Tensor) -> Tensor:
        """One step of the optimiser; the loss, detached."""
        device = self.accelerator.device
        share = slice(self.accelerator.process_index, None, self.accelerator.num_processes)
        images, targets = images[share].to(device), targets[share].to(device)
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.learning_rate * one_cycle(self.share_done, self.recipe.warmup)
        loss = self.loss(images, targets)
        self.prepared_optimizer.zero_grad()
        self.accelerator.backward(loss)
        self.prepared_optimizer.step()
        self.average.update_parameters(self.network)
        self.history.step += 1
        return loss.detach()

    def store(self, path: Path) -> None:
        """Write everything that the next step depends on."""
        if not self.accelerator.is_main_process:
            return
        write_tensors(path, self._tensors(), {"checkpoint": self._identity() | {"history": asdict(self.history)}})

    @torch.no_grad()
    def restore(self, path: Path) -> None:
        """Take up where `store` left off."""
        stored, metadata = read_tensors(path)
        expect("checkpoint" in metadata, f"a checkpoint of a training run in {path}", "another safetensors file")
        checkpoint = metadata["checkpoint"]
        for key, wanted in self._identity().items():
            found = checkpoint.get(key)
            expect(found == wanted, f"a checkpoint of a run with the {key} {wanted}", f"{found} in {path}")
        ours = self._tensors()
        for name in sorted(ours.keys() | stored.keys()):
            wanted, found = (list(each[name].shape) if name in each else None for each in (ours, stored))
            expect(found == wanted, f"{name} of shape {wanted} in the checkpoint {path}", f"{found}")
        history = checkpoint.get("history")
        expect(isinstance(history, dict) and history.keys() == asdict(History()).keys(), "a history", f"{history!r}")
        for name, tensor in ours.items():
            tensor.copy_(stored[name])
        vars(self.history).update(history)

    def _tensors(self) -> dict[str, Tensor]:
        """Everything that changes from step to step, by name: the tensors themselves."""
        tensors = {f"model.{name}": tensor for name, tensor in self.network.state_dict().items()}
        tensors |= {f"average.{name}": tensor for name, tensor in self.average.state_dict().items()}
        for name, parameter in self.network.named_parameters():
            tensors |= {f"optimizer.{key}.{name}": each for key, each in self.optimizer.state[parameter].items()}
        return tensors

    def _identity(self) -> dict[str, Any]:
        """What a checkpoint must have in common with the run that takes it up, as JSON has it."""
        config = getattr(self.network, "config", None)
        ours = {"config": config and asdict(config), "recipe": asdict(self.recipe)}
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
