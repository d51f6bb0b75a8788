"""The command ``capsnet``: train a network, evaluate one."""

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
from capsnet_tutorial.errors import InputError, expect
from capsnet_tutorial.model import PRESETS, CapsNet
from capsnet_tutorial.train import Diverged, Processes, Recipe, evaluate, train_and_save
from capsnet_tutorial.weights import load_pretrained, load_weights


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0; 1 if a run diverged, 2 if input cannot be used or output not written,
        130 if interrupted.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(arguments)
    # The record holds the command that makes the run anew, from its first step.
    repeatable = [argument for argument in arguments if argument != "--resume"]
    options.command = shlex.join(["capsnet", *repeatable])
    try:
        return options.run(options)
    except KeyboardInterrupt:
        _report("interrupted; --resume goes on from the end of the last epoch of a training")
        return 130
    except Diverged as problem:
        _report(f"{problem}")
        return 1
    except (InputError, OSError) as problem:
        _report(f"{problem}")
        return 2


def _report(message: str) -> None:
    print(f"capsnet: {message}", file=sys.stderr)


# --- subcommands


def _train(options: argparse.Namespace) -> int:
    """Run ``capsnet train``; return the exit status."""
    recipe = recipe_of(options)
    config = PRESETS[options.preset]()
    if options.iterations is not None:
        config = replace(config, iterations=options.iterations)
    processes = Processes.joined()
    with processes.first_before_others():  # two downloads would write the same files
        source = resolved_source(options.source, options.data)
    training = digits("train", source, options.data)
    splits = {split: digits(split, source, options.data) for split in ("validation", "test")}
    validation_digits = splits["validation"].count
    if processes.is_first:
        print(
            f"{training.count:,} digits to train on ({source}), {validation_digits:,} to validate"
        )
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
        measure=partial(_errors_by_split, splits),
        validation=splits["validation"],
        identity={"source": source},
        resume=options.resume,
        threads=options.threads,
        compiled=options.compile,
    )
    if not processes.is_first:
        return 0
    for split in splits:
        error = record[split]["error"]
        mse = record[split]["reconstruction_mse"]
        print(f"{split}: {1 - error:.2%} right, reconstruction MSE {mse:.4f} a pixel")
    seconds = record["training_seconds"]
    threads = record["hardware"]["threads"]
    print(f"{record['steps']:,} steps in {seconds:.0f} s, {threads} threads -> {options.output}")
    return 0


def _errors_by_split(
    splits: dict[str, Digits], network: nn.Module, _: dict[str, Any]
) -> dict[str, Any]:
    """Return a network's errors on each split; the last argument, a run's record, is not used."""
    return {split: evaluate(network, data)._asdict() for split, data in splits.items()}


def _evaluate(options: argparse.Namespace) -> int:
    """Run ``capsnet evaluate``; return the exit status."""
    network, weights = _network(options.weights)
    data = digits(options.split, options.source, options.data)
    errors = evaluate(network, data)
    about = {
        "weights": weights,
        "digits": data.count,
        "source": data.source,
        "split": options.split,
    }
    # Standard output has the line of JSON alone.
    print(f"{weights}: {1 - errors.error:.1%} right", file=sys.stderr)
    print(json.dumps(about | errors._asdict()))
    return 0


def _network(name: str) -> tuple[CapsNet, str]:
    """Return the network that a command line names, and the name or file of its weights.

    Raises:
        InputError: it may be the module's own network or a folder of that name.
    """
    path = _path(name)
    if name == "small":
        wanted = "one network of the name small"
        advice = "name the folder ./small, or run the command elsewhere"
        expect(not path.exists(), wanted, f"the module's own and one in this folder; {advice}")
        return load_pretrained(), name
    file = path / "weights.safetensors" if path.is_dir() else path
    return load_weights(file), str(file)


# --- options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="capsnet", description="Train and evaluate capsule networks."
    )
    parser.add_argument("--version", action="version", version=version("capsnet-tutorial"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    train = commands.add_parser(
        "train",
        help="train a CapsNet on MNIST",
        description="Train a CapsNet on MNIST less its validation split. Writes "
        "checkpoint.safetensors at the end of every epoch, then weights.safetensors and "
        "result.json.",
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
        "--data",
        type=_path,
        help="folder with MNIST/raw; else $CAPSNET_DATA, else the user's cache",
    )


def _path(text: str) -> Path:
    """Return the path that an option names: ~ is the home directory, as in ``--output=~/runs``."""
    if "\0" in text:
        raise argparse.ArgumentTypeError("a path without the character NUL is wanted")
    return Path(text).expanduser()


def add_training_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a training: sizes, folder, digits, and those of `Recipe`.

    A field of `Recipe` or `Augmentation` that has a help text has an option.
    """
    parser.add_argument(
        "--preset", choices=tuple(PRESETS), default="small", help="sizes of the network"
    )
    parser.add_argument(
        "--iterations", type=int, metavar="N", help="rounds of routing (default: the preset's, 3)"
    )
    parser.add_argument(
        "--output",
        type=_path,
        default=Path("runs/small"),
        help="folder for the run's files (default: runs/small)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on from the checkpoint in the output folder"
    )
    parser.add_argument(
        "--threads", type=int, metavar="N", help="of the processor (default: tries what is faster)"
    )
    parser.add_argument("--compile", action="store_true", help="compute the steps by torch.compile")
    _add_data_options(parser)
    for usual in (Recipe(), Augmentation()):
        for field in fields(usual):
            if "help" not in field.metadata:
                continue
            default = getattr(usual, field.name)
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                type=float if default is None else type(default),  # None: an optional float
                default=argparse.SUPPRESS,
                help=f"{field.metadata['help']} (default: {default})".replace("%", "%%"),
            )


def recipe_of(options: argparse.Namespace) -> Recipe:
    """Return the recipe that the options of `add_training_options` describe.

    What is not given is as in `Recipe()`, or `Recipe.quick` where seconds are given.
    """
    given = vars(options)  # a field of the recipe is there only if its option was given
    usual = Recipe.quick(given["seconds"]) if "seconds" in given else Recipe()
    augmentation = replace(usual.augmentation, **_given_fields(Augmentation, given))
    return replace(usual, **_given_fields(Recipe, given), augmentation=augmentation)


def _given_fields(kind: type[Recipe | Augmentation], given: dict[str, Any]) -> dict[str, Any]:
    return {field.name: given[field.name] for field in fields(kind) if field.name in given}


if __name__ == "__main__":
    sys.exit(main())
