"""Training: the recipe, the loop from first to last step, its checkpoints, evaluation.

Every random choice of a step follows from the seed and the step's number alone, and a checkpoint is written at the end
of every epoch: a run of epochs that was killed at any moment and resumed takes the steps of one that was not.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor, nn
from tqdm import tqdm

from capsnet_tutorial import functional
from capsnet_tutorial.augment import Augmentation, option
from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect, expect_count, expect_floating
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT, at_least_float32
from capsnet_tutorial.model import CapsNet, in_eval_mode, named_output
from capsnet_tutorial.weights import only_writer, read_tensors, write_tensors

Network = TypeVar("Network", bound=nn.Module)
Objective = Callable[[Any, Tensor, Tensor], Tensor]
"""The loss: (output of network(images, targets), images, targets) -> a scalar, the mean over the images."""

# --- what is chosen


@dataclass(frozen=True)
class Recipe:
    """How a network is trained: with the network and the data, it decides the result."""

    epochs: float = option(10.0, "how often to see each image; ignored where seconds are given")
    seconds: float | None = option(
        None, "train for so long; warmup is then 0.2, average 0.99, shift 1, unless given"
    )
    batch_size: int = option(128, "images a step")
    learning_rate: float = option(
        1e-2, "at its peak, between a rise and a fall to zero, both along cosines"
    )
    warmup: float = option(0.3, "share of the run in which the rate rises")
    betas: tuple[float, float] = (0.9, 0.99)
    average: float = option(
        0.998, "decay of the average of the weights, which is saved; less in a short run; 0: none"
    )
    stop_at_accuracy: float | None = option(
        None, "percent of the validation images right, to stop at"
    )
    reconstruction_weight: float = option(
        RECONSTRUCTION_WEIGHT, "of the reconstruction loss beside the margin loss"
    )
    augmentation: Augmentation = field(default_factory=Augmentation)
    precision: Literal["fp32", "bf16"] = option(
        "fp32", "of the network's arithmetic; bf16 by autocast"
    )
    seed: int = option(0, "of every random choice")

    def __post_init__(self) -> None:
        expect_count("batch_size", self.batch_size)
        seconds, weight, accuracy = self.seconds, self.reconstruction_weight, self.stop_at_accuracy
        expect(0 < self.epochs < math.inf, "epochs above 0, finite", repr(self.epochs))
        expect(seconds is None or 0 < seconds < math.inf, "seconds above 0, finite", repr(seconds))
        expect(
            0 < self.learning_rate < math.inf,
            "learning_rate above 0, finite",
            repr(self.learning_rate),
        )
        expect(0 < self.warmup < 1, "warmup between 0 and 1", repr(self.warmup))
        expect(0 <= self.average < 1, "average from 0 to below 1", repr(self.average))
        expect(
            accuracy is None or 0 < accuracy <= 100, "stop_at_accuracy in percent", repr(accuracy)
        )
        validated = accuracy is None or seconds is None
        expect(validated, "stop_at_accuracy in a run of epochs", "a run of seconds, validated once")
        expect(0 <= weight < math.inf, "reconstruction_weight of at least 0, finite", repr(weight))
        expect(self.precision in ("fp32", "bf16"), "precision fp32 or bf16", repr(self.precision))

    @classmethod
    def quick(cls, seconds: float) -> Recipe:
        """A recipe for a minute or two: chosen on the validation digits, on two cores."""
        return cls(seconds=seconds, warmup=0.2, average=0.99, augmentation=Augmentation(shift=1.0))


def one_cycle(share_done: float, warmup: float) -> float:
    """Learning rate as a share of its peak: up from 1/25 along a cosine, then down to zero along another."""
    if share_done < warmup:
        return 1 / 25 + (1 - 1 / 25) * (1 - math.cos(math.pi * share_done / warmup)) / 2
    return (1 + math.cos(math.pi * (share_done - warmup) / (1 - warmup))) / 2


def paper_objective(
    reconstruction_weight: float = RECONSTRUCTION_WEIGHT,
    margin_loss: Callable[..., Tensor] = functional.margin_loss,
    reconstruction_loss: Callable[..., Tensor] = functional.reconstruction_loss,
) -> Objective:
    """Margin loss plus the weighted reconstruction loss, of a `CapsNetOutput`; at weight 0, margin loss alone."""

    def objective(output: Any, images: Tensor, targets: Tensor) -> Tensor:
        output = named_output(output)
        margin = margin_loss(output.lengths, targets)
        if not reconstruction_weight:
            return margin
        return margin + reconstruction_weight * reconstruction_loss(output.reconstruction, images)

    return objective


# --- what is trained on


class TrainingData(Protocol):
    """What a network can be trained on: `Digits`, say."""

    @property
    def count(self) -> int:
        """How many examples there are."""

    def batch(
        self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Images [B, …] and targets [B, …] of the chosen examples, int64 [B]; all chance comes from the generator."""


# --- the loop


@dataclass
class History:
    """Steps, seconds and curve of a run: goes into checkpoints and results."""

    step: int = 0
    seconds: float = 0.0
    """Spent on training, evaluation not counted."""
    threads: int = 0
    """Of the processor, that the run took."""
    curve: list[dict[str, float]] = field(default_factory=list)
    """One entry an epoch: epoch, seconds, loss, and the validation error if there is a validation set."""


class Diverged(RuntimeError):
    """The loss or the weights are no longer finite numbers."""


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
    threads: int | None = None,
) -> tuple[Network, History]:
    """Train a network on images and their targets; on a GPU, where there is one.

    Args:
        network: trained in place; called with images and targets.
        data: what to train on.
        recipe: how.
        objective: what to minimise; without one, `paper_objective`.
        validation: digits, or a function that gives a network's error. Used after every epoch (at the end, if time
            is what limits the run); never trained on.
        identity: what else a checkpoint must have in common with this run, ready for JSON: the task, say.
        checkpoint: a file for the run's state, written at the beginning and after every epoch. No other run may
            write into its folder meanwhile.
        resume: go on from that file, if it exists; without, there must be none.
        progress: show a bar.
        on_epoch: called after every epoch with the network so far and the history.
        threads: of the processor; without a number, `faster_threads` tries which is faster here and now.

    Returns:
        The network to use (the average of the weights, if the recipe averages), in eval mode, and the history.

    Raises:
        Diverged: the loss became nan or infinite; the last checkpoint is from before.
        OSError: a checkpoint cannot be written; the last one is whole.
        ValueError: there is a checkpoint and no wish to resume; it is damaged, or of another network or recipe; another
            run writes into its folder; too few examples for a batch, or bad ones.
    """
    gpu = (
        "cuda"
        if torch.cuda.is_available()
        else "mps"
        if torch.backends.mps.is_available()
        else None
    )
    device, usual_threads = torch.device(gpu or "cpu"), torch.get_num_threads()
    steps_per_epoch = data.count // recipe.batch_size
    total_steps = math.ceil(recipe.epochs * steps_per_epoch)
    expect(
        steps_per_epoch > 0, f"at least one batch of {recipe.batch_size} digits", f"{data.count}"
    )
    expect_count("threads", 1 if threads is None else threads)
    fresh = resume or checkpoint is None or not checkpoint.exists()
    expect(
        fresh, "a folder without a run, or resume=True (--resume) to go on with it", f"{checkpoint}"
    )
    watched = recipe.stop_at_accuracy is None or validation is not None
    expect(watched, "something to validate on, for stop_at_accuracy", "nothing")
    # In a short run the average remembers an eighth of it, or ten steps: with more, what is saved is far from done.
    decay = recipe.average if recipe.seconds else min(recipe.average, max(0.9, 1 - 8 / total_steps))
    objective = objective or paper_objective(recipe.reconstruction_weight)
    if isinstance(data, Digits):
        expect_floating("images", data.images)
        whole = (
            (255 * data.images).round().to(torch.uint8)
        )  # a quarter of the device's memory, where nothing is lost
        images = whole if torch.equal(whole / 255, data.images) else data.images
        data = data._replace(images=images.to(device), labels=data.labels.to(device))

    network.to(device).train()
    average = deepcopy(network) if recipe.average else None
    result = network if average is None else average
    adam, history = _adam(network, recipe, fused=device.type != "mps"), History()
    identity = _identity(network, recipe) | {"examples": data.count} | dict(identity or {})

    def store() -> None:
        if checkpoint is not None:
            about = {"checkpoint": {**identity, "history": asdict(history)}}
            write_tensors(checkpoint, _state(network, average, adam), about)

    def loss_of(network: nn.Module, epoch: int, position: int) -> Tensor:
        """Loss of one step's images: which they are, and all other chance, follows from the seed and its place."""
        chosen = _order(data.count, recipe.seed, epoch)[position * recipe.batch_size :][
            : recipe.batch_size
        ]
        generator = torch.Generator().manual_seed(_mixed_seed(recipe.seed, epoch, position + 1))
        images, targets = (
            each.to(device) for each in data.batch(chosen, recipe.augmentation, generator)
        )
        torch.manual_seed(
            _mixed_seed(recipe.seed, epoch, position + 1, 1)
        )  # what a network draws, for dropout say
        with (
            torch.autocast(device.type, torch.bfloat16)
            if recipe.precision == "bf16"
            else nullcontext()
        ):
            output = network(images, targets)
        return objective(in_float32(output), images, targets)

    def share_done(seconds: float) -> float:
        return history.step / total_steps if recipe.seconds is None else seconds / recipe.seconds

    def is_over() -> bool:
        error = history.curve[-1].get("validation_error", 1) if history.curve else 1
        return share_done(history.seconds) >= 1 or 100 * (1 - error) >= (
            recipe.stop_at_accuracy or math.inf
        )

    with (
        ExitStack() as afterwards,
        only_writer(checkpoint) if checkpoint is not None else nullcontext(),
        torch.random.fork_rng(
            [device] if device.type == "cuda" else []
        ),  # chance elsewhere is left alone
        tqdm(
            total=100,
            disable=not progress,
            bar_format="{n:3.0f}% |{bar}| {elapsed}<{remaining}{postfix}",
        ) as bar,
    ):
        if checkpoint is not None and checkpoint.exists():
            history = _restored(checkpoint, _state(network, average, adam), identity)
            if progress:
                bar.write(f"going on after {history.step:,} steps")
        if threads is None and history.threads in (1, usual_threads):
            threads = history.threads  # a resumed run adds up in the same order
        afterwards.callback(torch.set_num_threads, usual_threads)
        if threads is None:
            twin = deepcopy(network)
            threads = (
                usual_threads if gpu else faster_threads(lambda: loss_of(twin, 0, 0).backward())
            )
        torch.set_num_threads(threads)
        history.threads = threads
        store()

        while not is_over():
            epoch, losses, started, seconds = (
                history.step // steps_per_epoch,
                [],
                time.perf_counter(),
                history.seconds,
            )
            for position in range(steps_per_epoch):
                for group in adam.param_groups:
                    group["lr"] = recipe.learning_rate * one_cycle(
                        share_done(seconds), recipe.warmup
                    )
                loss = loss_of(network, epoch, position)
                adam.zero_grad()
                loss.backward()
                adam.step()
                if average is not None:
                    _follow(average, network, decay if history.step else 0.0)
                losses.append(loss.detach())
                history.step += 1
                seconds = history.seconds + time.perf_counter() - started
                bar.update(min(100 * share_done(seconds), 100) - bar.n)
                if share_done(seconds) >= 1:
                    break
            mean = torch.stack(losses).mean().item()  # waits for the device
            history.seconds += time.perf_counter() - started
            if not math.isfinite(mean) or not all(
                bool(each.isfinite().all()) for each in network.parameters()
            ):
                what = (
                    "the weights are not finite" if math.isfinite(mean) else f"the loss is {mean}"
                )
                raise Diverged(f"{what} after {history.step} steps; try a lower learning rate")
            point = {"loss": mean}
            if validation is not None and (
                recipe.seconds is None or share_done(history.seconds) >= 1
            ):
                error = (
                    evaluate(result, validation).error
                    if isinstance(validation, Digits)
                    else validation(result)
                )
                expect(math.isfinite(error), "a finite validation error", repr(error))
                point["validation_error"] = error
            bar.set_postfix({name: f"{value:.4f}" for name, value in point.items()})
            history.curve.append(
                {"epoch": history.step / steps_per_epoch, "seconds": history.seconds} | point
            )
            store()
            if on_epoch is not None:
                on_epoch(result, history)
    return result.eval(), history


def faster_threads(step: Callable[[], object]) -> int:
    """Threads to train with: one, or as many as PyTorch takes where a step is half as fast again with them.

    A little is not worth it: beside work that may come they wait for each other, and a step took 20 times as long.
    """
    seconds: dict[int, float] = {}
    for threads in dict.fromkeys((torch.get_num_threads(), 1)):
        torch.set_num_threads(threads)
        step()  # the first one makes what later ones find
        for _ in range(2):
            started = time.perf_counter()
            step()
            seconds[threads] = min(seconds.get(threads, math.inf), time.perf_counter() - started)
    many = next(iter(seconds))
    return many if 1.5 * seconds[many] < seconds[1] else 1


def in_float32(output: Any) -> Any:
    """The output of a network for the loss: a tensor, or a tuple of tensors, named or not; else as it is."""
    if isinstance(output, (tuple, list)):
        parts = tuple(map(in_float32, output))
        return type(output)(*parts) if hasattr(output, "_fields") else parts
    return at_least_float32(output) if isinstance(output, Tensor) else output


@torch.no_grad()
def _follow(average: nn.Module, network: nn.Module, decay: float) -> None:
    """Let the average follow the weights."""
    for ours, theirs in zip(average.parameters(), network.parameters(), strict=True):
        ours.lerp_(theirs, 1 - decay)
    for kept, now in zip(average.buffers(), network.buffers(), strict=True):
        kept.copy_(now)


@lru_cache(maxsize=1)
def _order(count: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(
        count, generator=torch.Generator().manual_seed(_mixed_seed(seed, epoch, 0))
    )


def _mixed_seed(*numbers: int) -> int:
    """One seed from several numbers, far from the seeds of their neighbours."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") >> 1


# --- checkpoints


def _adam(network: nn.Module, recipe: Recipe, fused: bool) -> torch.optim.Adam:
    """Adam whose moments are there from the beginning, so that every checkpoint holds the same tensors."""
    adam = torch.optim.Adam(network.parameters(), betas=recipe.betas, fused=fused)
    for each in network.parameters():
        step = torch.zeros((), device=each.device if fused else "cpu")
        adam.state[each] = {
            "step": step,
            "exp_avg": torch.zeros_like(each),
            "exp_avg_sq": torch.zeros_like(each),
        }
    return adam


def _state(
    network: nn.Module, average: nn.Module | None, adam: torch.optim.Adam
) -> dict[str, Tensor]:
    """What the next step depends on beside recipe, data and history: the tensors themselves, by name."""
    tensors = {f"model.{name}": tensor for name, tensor in network.state_dict().items()}
    if average is not None:
        tensors |= {f"average.{name}": tensor for name, tensor in average.state_dict().items()}
    for name, parameter in network.named_parameters():
        tensors |= {f"adam.{key}.{name}": moment for key, moment in adam.state[parameter].items()}
    return tensors


@torch.no_grad()
def _restored(path: Path, tensors: dict[str, Tensor], identity: Mapping[str, Any]) -> History:
    """Fill a run's tensors from its checkpoint, which is checked first; its history until then."""
    stored, metadata = read_tensors(path)
    about: Any = metadata.get("checkpoint")
    expect(
        isinstance(about, dict),
        f"a checkpoint of a training run in {path}",
        "another safetensors file",
    )
    for key, wanted in identity.items():
        came = about.get(key)
        if isinstance(wanted, dict) and isinstance(came, dict):  # say what differs alone
            both = wanted.keys() & came.keys()
            wanted, came = (
                {k: v for k, v in each.items() if k not in both or wanted[k] != came[k]}
                for each in (wanted, came)
            )
        expect(
            came == wanted, f"a checkpoint of a run with the {key} {wanted}", f"{came} in {path}"
        )
    history: Any = about.get("history")
    kinds = {key: type(value) for key, value in asdict(History()).items()}
    fits = (
        isinstance(history, dict) and {key: type(value) for key, value in history.items()} == kinds
    )
    expect(fits, f"a history in {path}", repr(history))
    for name in sorted(tensors.keys() | stored.keys()):
        ours, found = (
            list(each[name].shape) if name in each else None for each in (tensors, stored)
        )
        expect(ours == found, f"{name} of shape {ours} in the checkpoint {path}", f"{found}")
    for name, tensor in tensors.items():
        tensor.copy_(stored[name])
    return History(**history)


def _identity(network: nn.Module, recipe: Recipe) -> dict[str, Any]:
    """What a run that goes on from a checkpoint must have in common with the one that wrote it, as JSON has it."""
    config = getattr(network, "config", None)
    ours = {
        "network": type(network).__name__,
        "config": config and asdict(config),
        "recipe": asdict(recipe),
    }
    if isinstance(network, CapsNet):  # other parts may have the same weights
        ours["parts"] = network.parts.names
    return json.loads(json.dumps(ours))


# --- evaluation


class Evaluation(NamedTuple):
    """Errors of a CapsNet on a set of digits."""

    error: float
    """Share of digits whose longest capsule is the wrong one, 0 to 1."""
    margin_loss: float
    reconstruction_mse: float
    """Mean squared difference a pixel, decoded from the longest capsule."""


def evaluate(network: nn.Module, data: Digits, batch_size: int = 500) -> Evaluation:
    """Errors of a network on some digits, at least one, in eval mode."""

    def measure(images: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        output = named_output(network(images))
        margin = functional.margin_loss(output.lengths, labels).expand(
            len(images)
        )  # the batch's mean, for each
        drawn = (output.reconstruction - images.flatten(1)).square().mean(dim=1)
        return output.lengths.argmax(dim=1) != labels, margin, drawn

    found = over_batches(network, measure, data.images, data.labels, batch_size=batch_size)
    return Evaluation(*(each.double().mean().item() for each in found))


def over_batches(
    network: nn.Module,
    measure: Callable[..., tuple[Tensor, ...]],
    *examples: Tensor,
    batch_size: int = 500,
) -> tuple[Tensor, ...]:
    """Measurements of every example, in eval mode and without gradients, on the network's device.

    Args:
        network: afterwards in the mode that it was in.
        measure: (a batch of each of the examples' tensors) -> some tensors [B, …].
        examples: tensors [N, …], at least one long: images and labels, say.
        batch_size: B, of all batches but the last.

    Returns:
        What ``measure`` gave, [N, …] each, on the CPU.
    """
    expect(len(examples[0]) > 0, "at least one image", "none")
    device = next(network.parameters()).device
    batches = zip(*(tensor.split(batch_size) for tensor in examples), strict=True)
    with in_eval_mode(network), torch.no_grad():
        measured = (measure(*(tensor.to(device) for tensor in batch)) for batch in batches)
        found = [tuple(values.cpu() for values in each) for each in measured]
    return tuple(torch.cat(values) for values in zip(*found, strict=True))
