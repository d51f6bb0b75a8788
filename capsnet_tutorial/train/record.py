"""A whole run: a network is trained, saved and measured, and its record is written."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any, TypedDict, Unpack

import torch
from torch import nn

from capsnet_tutorial.errors import expect
from capsnet_tutorial.files import write_json
from capsnet_tutorial.images import Examples
from capsnet_tutorial.train.checkpoint import Network
from capsnet_tutorial.train.distributed import Processes
from capsnet_tutorial.train.loop import Validation, fit
from capsnet_tutorial.train.recipe import Objective, Recipe
from capsnet_tutorial.weights import as_capsnet, load_weights, save_weights

CHECKPOINT = "checkpoint.safetensors"
WEIGHTS = "weights.safetensors"
RECORD = "result.json"


class RunOptions(TypedDict, total=False):
    """Options of `fit` that a whole run takes as well."""

    objective: Objective
    validation: Validation[Any] | None
    identity: Mapping[str, Any]
    resume: bool
    progress: bool
    threads: int | None
    compiled: bool


def train_and_save(  # noqa: PLR0913 - fit's first three and a folder; the rest by keyword only
    network: Network,
    data: Examples,
    recipe: Recipe,
    folder: str | Path,
    *,
    about: Mapping[str, Any],
    measure: Callable[[nn.Module, dict[str, Any]], Mapping[str, Any]],
    store: Callable[[Network, Path], nn.Module] | None = None,
    **options: Unpack[RunOptions],
) -> dict[str, Any]:
    """Train a network; write its weights, measure what is in their file, write the record.

    A folder then holds checkpoint.safetensors, weights.safetensors and result.json, the record.

    Args:
        network: trained in place.
        data: the training set, as for `fit`.
        recipe: hyperparameters.
        folder: for the files; made if it does not exist.
        about: entries of the record that are known before: the command, the network's sizes.
        measure: (the network in the file, the record so far) -> more entries: errors by split, say.
        store: writes the trained network to a file and loads it from there; without one, by
            `save_weights` and `load_weights`.
        options: of `fit`.

    Returns:
        The record: ``about``; ``parameters``, ``recipe``, ``steps``, ``training_seconds``,
        ``curve``, ``hardware`` and ``versions``; and what ``measure`` returned. Of several
        processes, only the first measures and writes; the others return an empty record.

    Raises:
        Diverged, OSError: as `fit`.
        ValueError: as `fit`; or the folder has results and no checkpoint that they came from.
    """
    folder = Path(folder)
    _expect_no_results_without_checkpoint(folder)
    result, history = fit(network, data, recipe, checkpoint=folder / CHECKPOINT, **options)
    processes = Processes.joined()
    if not processes.is_first:
        return {}
    network_in_file = (store or _save_and_load)(result, folder / WEIGHTS)
    network_in_file.to(next(result.parameters()).device)
    record = {
        **about,
        "parameters": sum(parameter.numel() for parameter in result.parameters()),
        "recipe": asdict(recipe.for_network(result)),
        "steps": history.step,
        "training_seconds": round(history.seconds, 1),
        "curve": [_rounded(point) for point in history.curve],
        "hardware": hardware(network_in_file, history.threads) | {"processes": processes.count},
        "versions": versions(),
    }
    record |= measure(network_in_file, record)
    write_json(folder / RECORD, record)
    return record


def _expect_no_results_without_checkpoint(folder: Path) -> None:
    """Raise `InputError` where a new run would replace the results of one that cannot go on."""
    if (folder / CHECKPOINT).exists():
        return
    results = [name for name in (WEIGHTS, RECORD) if (folder / name).exists()]
    wanted = "a folder without results of an earlier run (move them, or name another --output)"
    expect(not results, wanted, f"{' and '.join(results)} in {folder}, without their checkpoint")


def _save_and_load(network: nn.Module, path: Path) -> nn.Module:
    """Write a network's weights to a file; return the network that the file then holds."""
    save_weights(network, path)
    return load_weights(path, as_capsnet(network).parts)


def _rounded(point: Mapping[str, float]) -> dict[str, float]:
    """Return a point of the curve with six digits a number."""
    return {name: float(f"{value:.6g}") for name, value in point.items()}


def hardware(network: nn.Module, threads: int) -> dict[str, Any]:
    """Return the device of a network, the processor, its cores, and the threads that were used."""
    device = next(network.parameters()).device
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "processor": platform.machine(),
        "cores": os.cpu_count() or 1,
        "threads": threads,
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute."""
    packages = {name: metadata.version(name) for name in ("torch", "torchvision")}
    return {"python": platform.python_version(), **packages}
