"""``python -m capsnet_book.experiments``: train with all evidence, do the runs that lack."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from capsnet_book.experiments.cnn import recognising_and_drawing
from capsnet_book.experiments.evidence import evidence
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import code_version, hardware, versions, write_json
from capsnet_book.experiments.tasks import NETWORKS, TASKS, TrainingSetup, plain, unwrapped
from capsnet_book.experiments.variants import VARIANTS
from capsnet_book.networks import load_network, save_network
from capsnet_tutorial.cli import add_training_options, recipe_of
from capsnet_tutorial.data import Digits, digits, resolved_source
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import Recipe, fit

COMMAND = "python -m capsnet_book.experiments"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a run that fails ends it."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = command_line().parse_args(arguments)
    options.command = f"{COMMAND} {shlex.join(each for each in arguments if each != '--resume')}"
    options.run(options)


def _run(options: argparse.Namespace) -> None:
    Experiments.read("results").run_missing(options.names, main, Path("runs"))


def _train(options: argparse.Namespace) -> None:
    """Train, save the weights, measure what is in their file, write the record, which is result.json."""
    setup, recipe = what_to_train(options)
    folder, task = Path(options.output), TASKS[setup.task]
    torch.manual_seed(recipe.seed)
    network = setup.build()
    commit = code_version()  # now: the files may have changed when the run is done
    source = resolved_source(options.source, options.data)
    training, validation, test = (
        digits(split, source, options.data) for split in ("train", "validation", "test")
    )
    measured_on = {"validation": task.to_measure_on(validation), "test": task.to_measure_on(test)}
    watched = "validation"
    if options.everything:
        images, labels = (
            torch.cat(each) for each in zip(training[:2], validation[:2], strict=True)
        )
        training = Digits(images, labels, training.source)
        del measured_on["validation"]
        # Only the test digits are left to tell when it is accurate enough.
        watched = "test" if recipe.stop_at_accuracy is not None else ""
    print(f"{training.count:,} digits to train on ({source})")

    def watch(network: nn.Module) -> float:
        return task.measure(plain(network), measured_on[watched])["error"]

    trained, history = fit(
        network,
        task.to_train_on(training),
        recipe,
        objective=setup.objective(recipe.reconstruction_weight),
        validation=watch if watched else None,
        identity={
            "task": setup.task,
            "changes": list(setup.changes),
            "source": source,
            "everything": options.everything,
        },
        checkpoint=folder / "checkpoint.safetensors",
        resume=options.resume,
        threads=options.threads,
    )
    finished = plain(trained)
    save_network(finished, folder / "weights.safetensors")
    parts = deepcopy(finished.parts) if isinstance(finished, CapsNet) else None
    saved = load_network(
        folder / "weights.safetensors", parts
    )  # what is measured is what is in the file
    saved.to(next(trained.parameters()).device)
    if task.harder is not None:
        measured_on["test_bent"] = task.harder(test)
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
    print(
        *(f"{split}: {1 - errors['error']:.2%} right;" for split, errors in found.items()), folder
    )


def _point(point: dict[str, float], watched: str) -> dict[str, float]:
    """A point of the curve as a record has it: the error is called after the images that it is of."""
    named = {
        f"{watched}_error" if key == "validation_error" else key: value
        for key, value in point.items()
    }
    return {key: float(f"{value:.6g}") for key, value in named.items()}


def what_to_train(options: argparse.Namespace) -> tuple[TrainingSetup, Recipe]:
    """Network, task and recipe of a command line."""
    sizes = {name: getattr(options, name) for name in ("task", "network", "preset", "iterations")}
    recipe = recipe_of(options)
    if not hasattr(options, "shift"):
        recipe = replace(
            recipe, augmentation=replace(recipe.augmentation, shift=TASKS[options.task].shift)
        )
    return TrainingSetup(**sizes, changes=tuple(options.change)), recipe


def command_line() -> argparse.ArgumentParser:
    """Reads what stands behind the command."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").partition(": ")[2])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    train = commands.add_parser(
        "train",
        help="train a network",
        description="Train a network and gather what an experiment needs of it. Writes checkpoint.safetensors, "
        "weights.safetensors and result.json.",
    )
    train.set_defaults(run=_train)
    train.add_argument("--task", choices=tuple(TASKS), default="digits", help=_listed(TASKS))
    train.add_argument(
        "--network",
        choices=NETWORKS,
        default="capsnet",
        help="a CapsNet; a CNN of its size; or a CNN of its size without the decoder",
    )
    train.add_argument(
        "--change",
        action="append",
        choices=tuple(VARIANTS),
        default=[],
        metavar="NAME",
        help=f"do one thing differently from the paper, can be given again: {_listed(VARIANTS)}",
    )
    train.add_argument(
        "--everything",
        action="store_true",
        help="train on the validation digits too: MNIST's 60,000; no validation",
    )
    add_training_options(train)

    run = commands.add_parser(
        "run",
        help="do the runs that the tables still lack",
        description="Do the runs of results/experiments.toml that have no result yet, one after another, in runs/. "
        "Whatever stops it, the same command goes on from there.",
    )
    run.set_defaults(run=_run)
    run.add_argument("names", nargs="*", metavar="NAME", help="a table, a run or a run with its seed (default: all, "
                     "but no large run)")  # fmt: skip
    return parser


def _listed(named: Mapping[str, Any]) -> str:
    """Names and their descriptions, for a help text."""
    return "; ".join(f"{name}: {each.summary}" for name, each in named.items()).replace("%", "%%")


if __name__ == "__main__":
    main()
