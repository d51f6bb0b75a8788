"""A training run from beginning to end: digits, network, training, measuring, record."""

from __future__ import annotations

import argparse
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from capsnet_book.experiments.cnn import recognising_and_drawing
from capsnet_book.experiments.evidence import evidence
from capsnet_book.experiments.records import code_version, hardware, versions, write_json
from capsnet_book.experiments.tasks import TASKS, TrainingSetup, plain, unwrapped
from capsnet_book.networks import load_network, save_network
from capsnet_tutorial.data import Digits, Source, digits, resolved_source
from capsnet_tutorial.errors import InputError
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import Recipe, fit


def load_splits(source: Source, root: str | None, everything: bool) -> tuple[Digits, dict[str, Digits]]:
    """Digits to train on, and by split those to measure on; the validation digits are among one or the other.

    Args:
        source: as `resolved_source` gives it: not "auto".
        root: as for `digits`.
        everything: train on the validation digits too: MNIST's 60,000, as the paper does.
    """
    training, validation, test = (digits(split, source, root) for split in ("train", "validation", "test"))
    if not everything:
        return training, {"validation": validation, "test": test}
    images = torch.cat([training.images, validation.images])
    return Digits(images, torch.cat([training.labels, validation.labels]), training.source), {"test": test}


def train_and_record(setup: TrainingSetup, recipe: Recipe, options: argparse.Namespace) -> dict[str, Any]:
    """Train, save the weights, measure what is in their file, write the record, which is result.json.

    Args:
        setup: task and network.
        recipe: as for `fit`.
        options: of the command ``train``: where the digits come from, the folder for what the run writes, whether it
            goes on from the checkpoint there; and the ``command`` that repeats it.

    Raises:
        Diverged: there is no record then.
        OSError: the folder cannot be written to.
        ValueError: the folder holds a run already, or as in `fit`.
    """
    folder = Path(options.output)
    torch.manual_seed(recipe.seed)
    network = setup.build()
    commit = code_version()  # now: the files may have changed when the run is done
    checkpoint = folder / "checkpoint.safetensors"
    if checkpoint.exists() and not options.resume:
        raise InputError(f"{folder} holds a run already: --resume goes on with it, another --output begins a new one")
    folder.mkdir(parents=True, exist_ok=True)
    source = resolved_source(options.source, options.data)
    training, held_out = load_splits(source, options.data, options.everything)
    task = TASKS[setup.task]
    measured_on = {split: task.to_measure_on(data) for split, data in held_out.items()}
    # Where every digit is trained on, only the test digits are left to tell when it is accurate enough.
    needs_test = recipe.stop_at_accuracy is not None
    watched = "validation" if "validation" in measured_on else "test" if needs_test else None
    kept = len(held_out["validation"].labels) if "validation" in held_out else 0
    print(f"{training.count:,} digits to train on ({training.source}), {kept:,} to validate")

    def watch(network: nn.Module) -> float:
        return task.measure(plain(network), measured_on[watched or ""])["error"]

    trained, history = fit(
        network,
        task.to_train_on(training),
        recipe,
        objective=setup.objective(recipe.reconstruction_weight),
        validation=watch if watched else None,
        identity=setup.identity | {"source": source, "everything": options.everything},
        checkpoint=checkpoint,
        resume=options.resume,
        threads=options.threads,
    )
    finished = plain(trained)
    save_network(finished, folder / "weights.safetensors")
    parts = deepcopy(finished.parts) if isinstance(finished, CapsNet) else None
    saved = load_network(folder / "weights.safetensors", parts)  # what is measured is what is in the file
    saved.to(next(trained.parameters()).device)
    if task.harder is not None:
        measured_on["test_bent"] = task.harder(held_out["test"])
    found: dict[str, Any] = {
        split: {name: round(value, 6) for name, value in task.measure(saved, data).items()}
        for split, data in measured_on.items()
    }
    recognising, drawing = recognising_and_drawing(unwrapped(trained))
    record = {
        "command": options.command,
        "task": setup.task,
        "network": setup.network,
        "changes": list(setup.changes),
        "config": asdict(setup.config),
        "parameters": recognising + drawing,
        "recognising_parameters": recognising,
        "recipe": asdict(recipe),
        "data": {"source": source, "training_digits": training.count},
        "steps": history.step,
        "training_seconds": round(history.seconds, 1),
        "curve": [_point(each, watched) for each in history.curve],
        "hardware": hardware(saved, history.threads),
        "versions": versions(),
        "commit": commit,
        **found,
        **evidence(saved, measured_on),
    }
    write_json(folder / "result.json", record)
    return record


def _point(point: dict[str, float], watched: str | None) -> dict[str, float]:
    """A point of the curve as a record has it: the error is called after the images that it is of."""
    named = {f"{watched}_error" if key == "validation_error" else key: value for key, value in point.items()}
    return {key: float(f"{value:.6g}") for key, value in named.items()}
