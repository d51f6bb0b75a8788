"""The ``capsnet`` command: train a network, evaluate one."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import torch
from torch import nn

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits, Source, Split, digits, resolved_source
from capsnet_tutorial.errors import InputError
from capsnet_tutorial.model import PRESETS, CapsNet
from capsnet_tutorial.train import Diverged, Recipe, evaluate, train_and_save
from capsnet_tutorial.weights import load_pretrained, load_weights


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0; 1 if a run diverged, 2 if input cannot be used or output not written,
        130 if interrupted.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(arguments)
    options.command = shlex.join(["capsnet", *(each for each in arguments if each != "--resume")])
    try:
        return options.run(options)
    except KeyboardInterrupt:
        status, why = (
            130,
            "interrupted; a training run goes on from the end of its last epoch with --resume",
        )
    except Diverged as problem:
        status, why = 1, f"{problem}"
    except (InputError, OSError) as problem:
        status, why = 2, f"{problem}"
    print(f"capsnet: {why}", file=sys.stderr)
    return status


# --- what the subcommands do


def _train(options: argparse.Namespace) -> int:
    recipe = recipe_of(options)
    config = PRESETS[options.preset]()
    if options.iterations is not None:
        config = replace(config, iterations=options.iterations)
    source = resolved_source(options.source, options.data)
    training = digits("train", source, options.data)
    held_out = {split: digits(split, source, options.data) for split in ("validation", "test")}
    validation_digits = held_out["validation"].count
    print(f"{training.count:,} digits to train on ({source}), {validation_digits:,} to validate")
    torch.manual_seed(recipe.seed)
    record = train_and_save(
        CapsNet(config),
        training,
        recipe,
        options.output,
        about={
            "command": options.command,
            "config": asdict(config),
            "data": {"source": source, "training_digits": training.count},
        },
        measure=partial(_errors_by_split, held_out),
        validation=held_out["validation"],
        identity={"source": source},
        resume=options.resume,
        threads=options.threads,
    )
    for split in held_out:
        error = record[split]["error"]
        mse = record[split]["reconstruction_mse"]
        print(f"{split}: {1 - error:.2%} right, reconstruction MSE {mse:.4f} a pixel")
    seconds = record["training_seconds"]
    threads = record["hardware"]["threads"]
    print(f"{record['steps']:,} steps in {seconds:.0f} s, {threads} threads -> {options.output}")
    return 0


def _errors_by_split(
    held_out: dict[str, Digits], network: nn.Module, _: dict[str, Any]
) -> dict[str, Any]:
    return {split: evaluate(network, data)._asdict() for split, data in held_out.items()}


def _evaluate(options: argparse.Namespace) -> int:
    path = Path(options.weights)
    file = path / "weights.safetensors" if path.is_dir() else path
    network = load_pretrained() if options.weights == "small" else load_weights(file)
    data = digits(options.split, options.source, options.data)
    about = {"digits": data.count, "source": data.source, "split": options.split}
    errors = evaluate(network, data)
    print(
        f"{1 - errors.error:.1%} right", file=sys.stderr
    )  # standard output has the line of JSON alone
    print(json.dumps(about | errors._asdict()))
    return 0


# --- their options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="capsnet", description="Train and evaluate capsule networks."
    )
    parser.add_argument("--version", action="version", version=version("capsnet-tutorial"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    train = commands.add_parser(
        "train",
        help="train a CapsNet on MNIST",
        description="Train a CapsNet on MNIST less its validation split. Writes checkpoint.safetensors at the end of "
        "every epoch, then weights.safetensors and result.json.",
    )
    train.set_defaults(run=_train)
    add_training_options(train)

    evaluation = commands.add_parser("evaluate", help="measure a network's errors")
    evaluation.set_defaults(run=_evaluate)
    evaluation.add_argument(
        "weights", help="small; or a folder that `capsnet train` wrote, or the weights in it"
    )
    evaluation.add_argument("--split", choices=get_args(Split), default="test")
    _add_data_options(evaluation)
    return parser


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", choices=get_args(Source), default="auto", help="where digits come from"
    )
    parser.add_argument(
        "--data", help="folder with MNIST/raw; else $CAPSNET_DATA, else the user's cache"
    )


def add_training_options(parser: argparse.ArgumentParser) -> None:
    """Options of a training: sizes, folder, digits, and one for each described field of `Recipe` and `Augmentation`."""
    parser.add_argument(
        "--preset", choices=tuple(PRESETS), default="small", help="sizes of the network"
    )
    parser.add_argument(
        "--iterations", type=int, metavar="N", help="rounds of routing (default: the preset's, 3)"
    )
    parser.add_argument(
        "--output",
        default="runs/small",
        help="folder for what the run writes (default: runs/small)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on from the checkpoint in the output folder"
    )
    parser.add_argument(
        "--threads", type=int, metavar="N", help="of the processor (default: tries what is faster)"
    )
    _add_data_options(parser)
    for usual in (Recipe(), Augmentation()):
        for field in (each for each in fields(usual) if "help" in each.metadata):
            default = getattr(usual, field.name)
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                type=float if default is None else type(default),
                default=argparse.SUPPRESS,
                help=f"{field.metadata['help']} (default: {default})".replace("%", "%%"),
            )


def recipe_of(options: argparse.Namespace) -> Recipe:
    """The recipe that the options of `add_training_options` describe; what is not given is as in `Recipe()`."""
    given = vars(options)  # has only those of the recipe that were given
    base = Recipe.quick(given["seconds"]) if "seconds" in given else Recipe()
    own, moves = (
        {field.name: given[field.name] for field in fields(kind) if field.name in given}
        for kind in (Recipe, Augmentation)
    )
    return replace(base, **own, augmentation=replace(base.augmentation, **moves))


if __name__ == "__main__":
    sys.exit(main())
