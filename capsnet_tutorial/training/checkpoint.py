"""Checkpoints: the state of a training run in a safetensors file, written whole or not at all.

The tensors are ``losses``, ``model.NAME``, ``average.NAME`` and ``best.NAME`` (where the recipe asks for them), and
Adam's ``optimizer.KEY.NAME`` of every parameter that had a gradient. The metadata are the run's identity and history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.errors import expect
from capsnet_tutorial.training.state import History, Network, TrainingState
from capsnet_tutorial.weights import read_tensors, write_tensors

_ADAM = ("step", "exp_avg", "exp_avg_sq")


def store(path: Path, state: TrainingState[Network], identity: Mapping[str, Any]) -> None:
    """Write a checkpoint.

    Args:
        path: of the file.
        state: what is written.
        identity: what a run that takes it up must have in common with this one, as JSON has it.

    Raises:
        OSError: it cannot be written; the last one is as it was.
    """
    tensors = _modules(state)
    names = [name for name, _ in state.network.named_parameters()]
    for index, moments in state.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{key}.{names[index]}": moments[key] for key in _ADAM}
    try:
        write_tensors(path, tensors, {"checkpoint": {**identity, "history": asdict(state.history)}})
    except OSError as problem:
        why = problem.strerror or problem
        raise OSError(f"expected to write a checkpoint to {path}; got: {why} ({_left(path)})") from problem


@torch.no_grad()
def restore(path: Path, state: TrainingState[Network], identity: Mapping[str, Any]) -> None:
    """Take up where `store` left off: changes the state in place.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, no checkpoint, or one of a run with another identity.
    """
    stored, about = _read(path)
    for key, wanted in identity.items():
        found = about.get(key)
        expect(found == wanted, f"a checkpoint of a run with the {key} {wanted}", f"{found} in {path}")
    history: Any = about.get("history")
    kinds = {key: type(value) for key, value in asdict(History()).items()}
    fits = isinstance(history, dict) and {key: type(value) for key, value in history.items()} == kinds
    expect(fits, f"a history in {path}", repr(history))

    ours = _modules(state)
    parameters = dict(state.network.named_parameters())
    shapes = {name: list(tensor.shape) for name, tensor in ours.items()}
    for name, parameter in parameters.items():
        if any(f"optimizer.{key}.{name}" in stored for key in _ADAM):
            shapes |= {f"optimizer.{key}.{name}": [] if key == "step" else list(parameter.shape) for key in _ADAM}
    for name in sorted(shapes.keys() | stored.keys()):
        wanted, found = shapes.get(name), list(stored[name].shape) if name in stored else None
        expect(found == wanted, f"{name} of shape {wanted} in the checkpoint {path}", f"{found}")

    for name, tensor in ours.items():
        tensor.copy_(stored[name])
    moments = {
        index: {key: stored[f"optimizer.{key}.{name}"] for key in _ADAM}
        for index, name in enumerate(parameters)
        if f"optimizer.step.{name}" in stored
    }
    state.optimizer.load_state_dict(state.optimizer.state_dict() | {"state": moments})
    state.history = History(**history)


def _modules(state: TrainingState[Network]) -> dict[str, Tensor]:
    """Tensors of a state by their names in the file, the optimiser's left out: the tensors themselves."""
    tensors = {"losses": state.losses}
    for place, module in (("model", state.network), ("average", state.average), ("best", state.best)):
        if module is not None:
            tensors |= {f"{place}.{name}": tensor for name, tensor in module.state_dict().items()}
    return tensors


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    tensors, metadata = read_tensors(path)
    about: Any = metadata.get("checkpoint")
    expect(isinstance(about, dict), f"a checkpoint of a training run in {path}", "another safetensors file")
    return tensors, about


def _left(path: Path) -> str:
    """What there is of a checkpoint after a write that failed."""
    try:
        step = _read(path)[1]["history"]["step"]
    except (OSError, ValueError, KeyError, TypeError):
        return "there is none yet"
    return f"the last one, of step {step:,}, is whole"
