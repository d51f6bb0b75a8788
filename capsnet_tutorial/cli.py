"""The ``capsnet`` command: train a network, evaluate one, check somebody's code."""

from __future__ import annotations

import argparse
import ctypes
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import torch

from capsnet_tutorial.augmentation import Augmentation
from capsnet_tutorial.check import CHECKERS
from capsnet_tutorial.check.loading import load, piece_of
from capsnet_tutorial.data import Digits, Split, digits
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.pretrained import SHIPPED, load_pretrained, load_weights, save_weights
from capsnet_tutorial.processes import FailedElsewhere, Processes, rank
from capsnet_tutorial.results import code_version, describe_run, write_json
from capsnet_tutorial.training import Diverged, OutOfTime, Recipe, evaluate, fit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0; 1 if a run diverged or a check failed, 2 if input cannot be used or output not written,
        3 if --limit-minutes ended a run before its end, 130 if interrupted.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(arguments)
    try:
        return options.run(options, f"capsnet {shlex.join(_repeatable(arguments))}")
    except KeyboardInterrupt:
        return _ended(130, "interrupted; a training run goes on from its last checkpoint with --resume")
    except Diverged as problem:
        return _ended(1, f"{problem}")
    except OutOfTime as problem:
        return _ended(3, f"{problem}; the same command with --resume goes on from there")
    except FailedElsewhere:
        return 0
    except (ValueError, OSError) as problem:
        place = f" (process {rank()})" if rank() else ""
        print(f"capsnet{place}: {problem}", file=sys.stderr)
        return 2


def _repeatable(arguments: list[str]) -> list[str]:
    """The arguments less those that say in how many sittings a run was made."""
    sittings = argparse.ArgumentParser(add_help=False)
    sittings.add_argument("--resume", action="store_true")
    sittings.add_argument("--limit-minutes")
    return sittings.parse_known_args(arguments)[1]


def _ended(status: int, why: str) -> int:
    """What several processes agreed on, the main one says; a launcher ends all at the first status that is not 0."""
    if rank():
        return 0
    print(f"capsnet: {why}", file=sys.stderr)
    return status


def _train(options: argparse.Namespace, command: str) -> int:
    recipe = _recipe(options)
    config = CapsNetConfig.preset(options.preset)
    commit = code_version()  # now: the files may have changed when the run is done
    folder = Path(options.output)
    checkpoint = folder / "checkpoint.safetensors"
    if checkpoint.exists() and not options.resume:
        raise ValueError(f"{folder} holds a run already: --resume goes on with it, another --output begins a new one")
    processes = Processes()
    processes.from_main(lambda: _make_writable(folder))
    _keep_freed_memory()
    if processes.count > 1:  # what is downloaded is downloaded once
        processes.from_main(lambda: len(_splits(options)))
    training, validation, test = _splits(options)
    if processes.is_main:
        shared = f", {processes.count} processes" if processes.count > 1 else ""
        print(f"{training.count:,} digits to train on ({training.source}), {validation.count:,} to validate{shared}")
    torch.manual_seed(recipe.seed)
    trained, history = fit(
        CapsNet(config),
        training,
        recipe,
        validation=validation,
        checkpoint=checkpoint,
        resume=options.resume,
        limit_minutes=options.limit_minutes,
        log=folder / "tensorboard" if options.log == "tensorboard" else None,
    )
    if not processes.is_main:
        return 0
    save_weights(trained, folder / "weights.safetensors")
    saved = load_weights(folder / "weights.safetensors")  # what is measured is what is in the file
    saved.to(next(trained.parameters()).device)
    evaluations = {"validation": evaluate(saved, validation), "test": evaluate(saved, test)}
    data = {"source": training.source, "training_digits": training.count}
    write_json(folder / "result.json", describe_run(command, saved, recipe, history, data, evaluations, commit=commit))
    for split, result in evaluations.items():
        print(f"{split}: {1 - result.error:.2%} right, reconstruction MSE {result.reconstruction_mse:.4f} a pixel")
    print(f"{history.step:,} steps in {history.seconds:.0f} s -> {folder}")
    return 0


def _evaluate(options: argparse.Namespace, command: str) -> int:
    model = load_pretrained(options.weights) if options.weights in SHIPPED else load_weights(options.weights)
    data = digits(options.split, options.source, options.data)
    result = evaluate(model, data)
    print(json.dumps({"digits": len(data.images), "source": data.source, "split": options.split} | result._asdict()))
    return 0


def _check(options: argparse.Namespace, command: str) -> int:
    function = load(options.place)
    piece = options.piece or piece_of(options.place.rpartition(":")[2])
    report = CHECKERS[piece](function)
    print(report)
    return 0 if report.passed else 1


def _recipe(options: argparse.Namespace) -> Recipe:
    """The options that are fields of a recipe or of its augmentation."""
    given = vars(options)  # has only those that were given
    base = Recipe.quick(given["seconds"]) if "seconds" in given else Recipe()
    moved = {field.name: given[field.name] for field in fields(Augmentation) if field.name in given}
    simple = {field.name: given[field.name] for field in fields(Recipe) if field.name in given}
    return replace(base, **simple, augmentation=replace(base.augmentation, **moved))


def _splits(options: argparse.Namespace) -> list[Digits]:
    splits: tuple[Split, ...] = ("train", "validation", "test")
    return [digits(split, options.source, options.data) for split in splits]


def _make_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".capsnet").touch()
        (folder / ".capsnet").unlink()
    except OSError as problem:
        raise OSError(f"expected a folder that can be written to; got {folder} ({problem.strerror})") from problem


def _keep_freed_memory() -> None:
    """Let glibc keep what a step frees for the next one, instead of asking the kernel for it again and again."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):
            trim_threshold, top_pad, mmap_max = -1, -2, -4
            for parameter, value in ((mmap_max, 0), (trim_threshold, 2**31 - 1), (top_pad, 64 * 2**20)):
                libc.mallopt(parameter, value)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="capsnet", description="Train, evaluate and check capsule networks.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    train = commands.add_parser(
        "train",
        help="train a network on MNIST",
        description="Train a network on MNIST less its validation split. Writes checkpoint.safetensors, "
        "weights.safetensors and result.json.",
    )
    train.set_defaults(run=_train)
    train.add_argument("--preset", default="small", help="small or paper")
    train.add_argument("--output", default="runs/small", help="folder for what the run writes")
    train.add_argument("--resume", action="store_true", help="go on from the checkpoint in the output folder")
    train.add_argument(
        "--limit-minutes",
        type=float,
        metavar="M",
        help="stop after so long, with a checkpoint to --resume from and exit status 3; the recipe stays as it is",
    )
    train.add_argument("--log", choices=("tensorboard",), help="write curves to the output folder, to watch the run")
    _add_recipe_options(train)
    _add_data_options(train)

    evaluation = commands.add_parser("evaluate", help="measure a network's errors")
    evaluation.set_defaults(run=_evaluate)
    evaluation.add_argument("weights", help=f"{' or '.join(SHIPPED)}, or a file that `capsnet train` wrote")
    evaluation.add_argument("--split", choices=("train", "validation", "test"), default="test")
    _add_data_options(evaluation)

    check = commands.add_parser(
        "check",
        help="find known mistakes in a capsule network's code",
        description="Run a function from a file on inputs that tell the known mistakes apart. The file is run, as by "
        "an import. Exit status: 0 if the function is right, 1 if not, 2 if it cannot be found.",
    )
    check.set_defaults(run=_check)
    check.add_argument(
        "place", metavar="FILE.py:FUNCTION", help="a function, or a module's class that needs no arguments"
    )
    check.add_argument("--as", dest="piece", choices=tuple(CHECKERS), help="which piece it is (default: by its name)")
    return parser


def _add_recipe_options(parser: argparse.ArgumentParser) -> None:
    """An option for each field of a recipe. What is not given is as in `Recipe()`, or `Recipe.quick` with --seconds."""
    quick = Recipe.quick(60)

    def add(name: str, kind: type, help_text: str, choices: tuple[str, ...] | None = None) -> None:
        defaults = [
            getattr(recipe if hasattr(recipe, name) else recipe.augmentation, name) for recipe in (Recipe(), quick)
        ]
        said = f"{defaults[0]}" if defaults[0] == defaults[1] else f"{defaults[0]}; with --seconds {defaults[1]}"
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=kind,
            choices=choices,
            default=argparse.SUPPRESS,
            help=f"{help_text} (default: {said})",
        )

    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--epochs", type=float, default=argparse.SUPPRESS, help="how often to see each digit (default: 10)"
    )
    length.add_argument("--seconds", type=float, default=argparse.SUPPRESS, help="train for so long instead")
    add("batch_size", int, "digits a step")
    add("learning_rate", float, "at its peak")
    add("warmup", float, "share of the run in which the rate rises")
    add("clip", float, "the gradient's largest norm")
    add("patience", int, "epochs without a smaller validation error to stop after, with the best weights")
    add("average", float, "decay of the weights' running average, 0 for none")
    add("reconstruction_weight", float, "of the reconstruction loss beside the margin loss")
    add("routing_gradient", str, "through which rounds of routing", ("all", "last"))
    add("precision", str, "of the arithmetic", ("fp32", "bf16"))
    add("seed", int, "of every random choice")
    add("shift", float, "pixels, at random")
    add("rotation", float, "degrees, at random")
    add("scale", float, "share, at random")
    add("shear", float, "pixels per pixel, at random")
    add("elastic", float, "pixels, at random")


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", choices=("auto", "mnist", "sample"), default="auto", help="where digits come from")
    parser.add_argument("--data", help="folder with MNIST/raw; else $CAPSNET_DATA, else the user's cache")


if __name__ == "__main__":
    sys.exit(main())
