"""State of a training run, and the file from which a run that was ended goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from capsnet_tutorial.errors import expect
from capsnet_tutorial.files import only_writer, read_tensors, write_tensors
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train.recipe import Recipe
from capsnet_tutorial.weights import shape_of

Network = TypeVar("Network", bound=nn.Module)


@dataclass
class History:
    """Steps, seconds and learning curve of a run: goes into checkpoints and results."""

    step: int = 0
    """Steps taken."""
    seconds: float = 0.0
    """Spent on training, evaluation not counted."""
    threads: int = 0
    """Threads of the processor that the run takes."""
    curve: list[dict[str, float]] = field(default_factory=list)
    """One entry an epoch: epoch, seconds, loss, and the validation error of a validated epoch."""


class TrainingState(Generic[Network]):
    """All that changes in a run: the network, the average of its weights, Adam's moments, history.

    Args:
        network: trained in place, on the device where its weights lie.
        recipe: hyperparameters.
    """

    def __init__(self, network: Network, recipe: Recipe) -> None:
        self.network = network
        self.average = deepcopy(network) if recipe.average else None
        self.adam = _adam(network, recipe)
        self.history = History()

    @property
    def result(self) -> Network:
        """The network to use: the average, if the recipe averages."""
        return self.network if self.average is None else self.average

    def step(self, loss: Tensor, learning_rate: float, decay: float) -> None:
        """Take a step of Adam down the gradient of a loss; let the average follow."""
        for group in self.adam.param_groups:
            group["lr"] = learning_rate
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        if self.average is not None:
            _update_average(self.average, self.network, decay)

    def tensors(self) -> dict[str, Tensor]:
        """Return weights, average and Adam's moments by name.

        They are no copies: `Checkpoint.load` writes into them.
        """
        tensors = {f"model.{name}": tensor for name, tensor in self.network.state_dict().items()}
        if self.average is not None:
            average = self.average.state_dict()
            tensors |= {f"average.{name}": tensor for name, tensor in average.items()}
        for name, parameter in self.network.named_parameters():
            moments = self.adam.state[parameter]
            tensors |= {f"adam.{key}.{name}": moment for key, moment in moments.items()}
        return tensors


def _adam(network: nn.Module, recipe: Recipe) -> torch.optim.Adam:
    """Return Adam with moments of zero, so that all checkpoints hold tensors of the same names."""
    parameters = list(network.parameters())
    fused = all(parameter.device.type != "mps" for parameter in parameters)
    adam = torch.optim.Adam(parameters, betas=recipe.betas, fused=fused)
    for parameter in parameters:
        adam.state[parameter] = {
            # The fused implementation counts its steps on the device, the other on the CPU.
            "step": torch.zeros((), device=parameter.device if fused else "cpu"),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }
    return adam


@torch.no_grad()
def _update_average(average: nn.Module, network: nn.Module, decay: float) -> None:
    """Update the exponential moving average of the parameters; copy the buffers."""
    for mean, parameter in zip(average.parameters(), network.parameters(), strict=True):
        mean.lerp_(parameter, 1 - decay)
    for copy, buffer in zip(average.buffers(), network.buffers(), strict=True):
        copy.copy_(buffer)


class Checkpoint:
    """The file of a run's state.

    Args:
        path: of the file. No other run may write into its folder meanwhile. None: no file, so
            `exists` is false and `save` writes nothing.
        identity: settings that must match when resuming, ready for JSON.
        is_writer: whether this process writes the file; of several, the others read it only.
    """

    def __init__(
        self, path: Path | None, identity: Mapping[str, Any], is_writer: bool = True
    ) -> None:
        self.path = path
        self.identity = identity
        self.is_writer = is_writer

    def locked(self) -> AbstractContextManager[None]:
        """Lock the file's folder for this run, while the context lasts.

        Raises:
            ValueError: another run has it.
        """
        if self.path is None or not self.is_writer:
            return nullcontext()
        return only_writer(self.path)

    def exists(self) -> bool:
        """Return whether there is a run to go on with."""
        return self.path is not None and self.path.exists()

    def save(self, state: TrainingState[Any]) -> None:
        """Write the run's state, whole or not at all.

        Raises:
            OSError: the file cannot be written; the one before is still there, whole.
        """
        if self.path is not None and self.is_writer:
            about = {"checkpoint": {**self.identity, "history": asdict(state.history)}}
            write_tensors(self.path, state.tensors(), about)

    @torch.no_grad()
    def load(self, state: TrainingState[Any]) -> None:
        """Fill the state from the file, in place, after the whole of it was checked.

        Raises:
            ValueError: the file is damaged, or of another network, recipe or training set.
        """
        assert self.path is not None
        stored, metadata = read_tensors(self.path)
        about: Any = metadata.get("checkpoint")
        wanted = f"a checkpoint of a training run in {self.path}"
        expect(isinstance(about, dict), wanted, "another safetensors file")
        self._expect_same_run(about)
        history = self._history(about.get("history"))
        tensors = state.tensors()
        for name in sorted(tensors.keys() | stored.keys()):
            shape = shape_of(tensors.get(name))
            wanted = f"{name} of shape {shape} in the checkpoint {self.path}"
            expect(shape_of(stored.get(name)) == shape, wanted, f"{shape_of(stored.get(name))}")
        for name, tensor in tensors.items():
            tensor.copy_(stored[name])
        state.history = history

    def _expect_same_run(self, about: dict[str, Any]) -> None:
        """Raise `InputError` unless the run has the same settings; name those that differ."""
        for key in sorted(self.identity.keys() | about.keys() - {"history"}):
            ours = self.identity.get(key)
            theirs = about.get(key)
            if isinstance(ours, dict) and isinstance(theirs, dict):
                ours, theirs = _without_equal(ours, theirs), _without_equal(theirs, ours)
            wanted = f"a checkpoint of a run with the {key} {ours}"
            expect(theirs == ours, wanted, f"{theirs} in {self.path}")

    def _history(self, stored: Any) -> History:
        """Return the stored history; raise `InputError` unless its fields have their types."""
        types = {name: type(value) for name, value in asdict(History()).items()}
        fits = isinstance(stored, dict) and types == {
            name: type(value) for name, value in stored.items()
        }
        expect(fits, f"a history in {self.path}", repr(stored))
        return History(**stored)


def _without_equal(items: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """Return the items that others lack or have with another value."""
    return {
        name: value for name, value in items.items() if name not in others or others[name] != value
    }


def run_identity(network: nn.Module, recipe: Recipe, examples: int) -> dict[str, Any]:
    """Return the settings that must match when resuming, with the types that JSON gives back."""
    config = getattr(network, "config", None)
    identity = {
        "network": type(network).__name__,
        "config": None if config is None else asdict(config),
        "recipe": asdict(recipe),
        "examples": examples,
    }
    if isinstance(network, CapsNet):  # other parts may have the same weights
        identity["parts"] = network.parts.names
    return json.loads(json.dumps(identity))  # tuples become lists, as in a file that was read
