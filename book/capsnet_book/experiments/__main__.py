"""``python -m capsnet_book.experiments``: train with all evidence, do the runs that lack."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.runs import train_and_record
from capsnet_book.experiments.tasks import NETWORKS, TASKS, TrainingSetup
from capsnet_book.experiments.variants import VARIANTS
from capsnet_tutorial.cli import add_data_options, add_recipe_options, recipe_of
from capsnet_tutorial.train import Recipe

COMMAND = "python -m capsnet_book.experiments"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a run that fails ends it."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = command_line().parse_args(arguments)
    options.command = repeated_by(arguments)
    options.run(options)


def repeated_by(arguments: Sequence[str]) -> str:
    """The command that repeats a run on any machine: it names none of this one's folders."""
    folders = argparse.ArgumentParser(add_help=False)
    folders.add_argument("--output", default="")
    folders.add_argument("--data")
    folders.add_argument("--resume", action="store_true")
    own, others = folders.parse_known_args(arguments)
    output = ["--output", f"runs/{Path(own.output).name}"] if own.output else []
    return f"{COMMAND} {shlex.join([*others, *output])}"


def _train(options: argparse.Namespace) -> None:
    setup, recipe = what_to_train(options)
    record = train_and_record(setup, recipe, options)
    for split in ("validation", "test", "test_bent"):
        if (errors := record.get(split)) is not None:
            drawn = errors.get("reconstruction_mse")
            drawing = "" if drawn is None else f", reconstruction MSE {drawn:.4f} a pixel"
            print(f"{split.replace('_', ', ')}: {1 - errors['error']:.2%} right{drawing}")
    print(f"{record['steps']:,} steps in {record['training_seconds']:.0f} s -> {options.output}")


def what_to_train(options: argparse.Namespace) -> tuple[TrainingSetup, Recipe]:
    """Network, task and recipe of a command line."""
    sizes = {name: getattr(options, name) for name in ("task", "network", "preset", "iterations")}
    recipe = recipe_of(options)
    if not hasattr(options, "shift") and options.task != "digits":
        recipe = replace(recipe, augmentation=replace(recipe.augmentation, shift=TASKS[options.task].shift))
    return TrainingSetup(**sizes, changes=tuple(options.change)), recipe


def _run(options: argparse.Namespace) -> None:
    Experiments.read(options.results).run_missing(options.names, main, Path(options.work))


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
    train.add_argument("--preset", default="small", help="small or paper")
    train.add_argument("--iterations", type=int, metavar="N", help="rounds of routing (default: the preset's, 3)")
    train.add_argument(
        "--change",
        action="append",
        default=[],
        metavar="NAME",
        help=f"do one thing differently from the paper, can be given again: {_listed(VARIANTS)}",
    )
    train.add_argument(
        "--everything", action="store_true", help="train on the validation digits too: MNIST's 60,000; no validation"
    )
    train.add_argument("--output", default="runs/small", help="folder for what the run writes")
    train.add_argument("--resume", action="store_true", help="go on from the checkpoint in the output folder")
    train.add_argument("--threads", type=int, metavar="N", help="of the processor (default: tries what is faster)")
    add_recipe_options(train)
    add_data_options(train)

    run = commands.add_parser(
        "run",
        help="do the runs that the tables still lack",
        description="Do the runs of experiments.toml that have no result yet, one after another, the most telling "
        "first. Whatever stops it, the same command goes on from there.",
    )
    run.set_defaults(run=_run)
    run.add_argument("names", nargs="*", metavar="NAME", help="a table, a run or a run with its seed (default: all, "
                     "but no large run)")  # fmt: skip
    run.add_argument("--results", default="results", help="folder of experiments.toml and of what was found")
    run.add_argument("--work", default="runs", help="folder for checkpoints and weights")
    return parser


def _listed(named: Mapping[str, Any]) -> str:
    """Names and their descriptions, for a help text."""
    return "; ".join(f"{name}: {each.summary}" for name, each in named.items()).replace("%", "%%")


if __name__ == "__main__":
    main()
