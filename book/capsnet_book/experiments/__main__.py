"""``python -m capsnet_book.experiments``: train with all evidence, do the missing runs."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from capsnet_book.experiments.cnn import ConvNet, Labelled, recognising_and_drawing
from capsnet_book.experiments.evidence import evidence
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import code_version
from capsnet_book.experiments.tasks import (
    NETWORKS,
    TASKS,
    Task,
    TrainingSetup,
    plain,
    unwrapped,
)
from capsnet_book.experiments.variants import VARIANTS
from capsnet_book.networks import load_network, save_network
from capsnet_tutorial.cli import add_training_options, recipe_of
from capsnet_tutorial.data import Digits, digits, resolved_source
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import Recipe, train_and_save

COMMAND = "python -m capsnet_book.experiments"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a failing run ends it."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = command_line().parse_args(arguments)
    repeated = [argument for argument in arguments if argument != "--resume"]
    options.command = f"{COMMAND} {shlex.join(repeated)}"
    options.run(options)


def _run(options: argparse.Namespace) -> None:
    Experiments.read("results").run_missing(options.names, main, Path("runs"))


def _train(options: argparse.Namespace) -> None:
    """Train a network, save and measure it, write the record of the experiment."""
    setup, recipe = what_to_train(options)
    task = TASKS[setup.task]
    source = resolved_source(options.source, options.data)
    training = digits("train", source, options.data)
    validation = digits("validation", source, options.data)
    test = digits("test", source, options.data)
    measured_on = {"validation": task.to_measure_on(validation), "test": task.to_measure_on(test)}
    watched: str | None = "validation"
    if options.everything:
        training = joined(training, validation)
        del measured_on["validation"]
        # Only the test digits are left to tell when it is accurate enough.
        watched = "test" if recipe.stop_at_accuracy is not None else None
    print(f"{training.count:,} digits to train on ({source})")

    torch.manual_seed(recipe.seed)
    network = setup.build()
    recognising, _ = recognising_and_drawing(unwrapped(network))
    measurements = Measurements(task, measured_on, test, watched)
    record = train_and_save(
        network,
        task.to_train_on(training),
        recipe,
        options.output,
        about={
            "command": options.command,
            "task": setup.task,
            "network": setup.network,
            "changes": list(setup.changes),
            "config": asdict(setup.config),
            "recognising_parameters": recognising,
            "data": {"source": source, "training_digits": training.count},
            "commit": code_version(),  # of now: the files may have changed when the run is done
        },
        measure=measurements,
        store=save_and_load,
        objective=setup.objective(recipe.reconstruction_weight),
        validation=None if watched is None else measurements.watched_error,
        identity={
            "task": setup.task,
            "changes": list(setup.changes),
            "source": source,
            "everything": options.everything,
        },
        resume=options.resume,
        threads=options.threads,
    )
    for split in measurements.splits:
        print(f"{split}: {1 - record[split]['error']:.2%} right;", end=" ")
    print(options.output)


def joined(first: Digits, second: Digits) -> Digits:
    """Return two sets of digits as one, with the first one's source."""
    images = torch.cat([first.images, second.images])
    labels = torch.cat([first.labels, second.labels])
    return Digits(images, labels, first.source)


def save_and_load(trained: nn.Module, path: Path) -> CapsNet | ConvNet:
    """Write a trained network's weights; return the network in the file."""
    network = plain(trained)
    save_network(network, path)
    parts = network.parts if isinstance(network, CapsNet) else None
    return load_network(path, parts)


@dataclass
class Measurements:
    """Measurements of a trained network for its record: its errors by split, and all evidence."""

    task: Task
    measured_on: dict[str, Labelled]
    """Pictures by split."""
    test: Digits
    watched: str | None
    """The split that the run stops by; its error stands in the curve."""

    @property
    def splits(self) -> list[str]:
        """Names of the splits that are measured at the end."""
        bent = [] if self.task.harder is None else ["test_bent"]
        return [*self.measured_on, *bent]

    def watched_error(self, network: nn.Module) -> float:
        """Return a network's error on the watched split."""
        assert self.watched is not None
        return self.task.measure(plain(network), self.measured_on[self.watched])["error"]

    def __call__(self, saved: nn.Module, record: dict[str, Any]) -> dict[str, Any]:
        """Return the entries that a record still lacks, and its curve with the split's name."""
        assert isinstance(saved, (CapsNet, ConvNet))
        pictures = dict(self.measured_on)
        if self.task.harder is not None:
            pictures["test_bent"] = self.task.harder(self.test)
        errors = {}
        for split, data in pictures.items():
            measured = self.task.measure(saved, data)
            errors[split] = {name: round(value, 6) for name, value in measured.items()}
        curve = [self._named(point) for point in record["curve"]]
        return {"curve": curve, **errors, **evidence(saved, pictures)}

    def _named(self, point: dict[str, float]) -> dict[str, float]:
        """Return a point of the curve whose error is called after the split that it is of."""
        name = f"{self.watched}_error"
        return {name if key == "validation_error" else key: value for key, value in point.items()}


def what_to_train(options: argparse.Namespace) -> tuple[TrainingSetup, Recipe]:
    """Return network, task and recipe of a command line."""
    sizes = {name: getattr(options, name) for name in ("task", "network", "preset", "iterations")}
    recipe = recipe_of(options)
    if not hasattr(options, "shift"):
        augmentation = replace(recipe.augmentation, shift=TASKS[options.task].shift)
        recipe = replace(recipe, augmentation=augmentation)
    return TrainingSetup(**sizes, changes=tuple(options.change)), recipe


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").partition(": ")[2])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    train = commands.add_parser(
        "train",
        help="train a network",
        description="Train a network and measure it for an experiment. "
        "Writes checkpoint.safetensors, weights.safetensors and result.json.",
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
        description="Do the runs of results/experiments.toml that have no result yet, one after "
        "another, in runs/. After an interruption the same command continues.",
    )
    run.set_defaults(run=_run)
    run.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a table, a run or a run with its seed (default: all, but no large run)",
    )
    return parser


def _listed(named: Mapping[str, Any]) -> str:
    """Return names and their summaries for a help text, where "%" is written twice."""
    lines = [f"{name}: {entry.summary}" for name, entry in named.items()]
    return "; ".join(lines).replace("%", "%%")


if __name__ == "__main__":
    main()
