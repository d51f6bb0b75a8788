"""The command ``capsnet``: train a network, evaluate it, name pictures, check a project."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor, nn

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits, Source, Split, digits, resolved_source
from capsnet_tutorial.errors import InputError, expect
from capsnet_tutorial.images import (
    bent_drawings,
    read_folder,
    read_picture,
    split_held_out,
    write_pictures,
)
from capsnet_tutorial.model import PRESETS, CapsNet, CapsNetConfig
from capsnet_tutorial.train import Diverged, Processes, Recipe, evaluate, train_and_save
from capsnet_tutorial.train.recipe import usual_rate
from capsnet_tutorial.train.record import WEIGHTS
from capsnet_tutorial.weights import load_pretrained, load_weights

HELD_OUT = 0.2
"""Share of a folder's pictures that is not trained on."""
FEWEST_BATCHES = 8
"""In an epoch of pictures, unless the size of a batch is given."""
FEWEST_STEPS = 400
"""In a training on pictures, unless epochs or seconds are given."""
ENOUGH_IN_A_BATCH = 32
"""Pictures in a batch, from which on the usual rate is taken."""
MOST_EXAMPLES = 12
"""Rows of the picture of bent examples, one for each class."""


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


@dataclass(frozen=True)
class _Data:
    """Images of a training, and what its record and its checkpoint say of them."""

    training: Digits
    measured: dict[str, Digits]
    """By the name of the split. The first is validated on after every epoch."""
    about: dict[str, Any]
    identity: dict[str, Any]


def _train(options: argparse.Namespace) -> int:
    """Run ``capsnet train``; return the exit status."""
    if options.images is None:
        _train_on_digits(options)
    else:
        _train_on_pictures(options)
    return 0


def _train_on_digits(options: argparse.Namespace) -> None:
    """Train a network on MNIST, or on the sample."""
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
    data = _Data(
        training=training,
        measured=splits,
        about={"source": source, "training_digits": training.count},
        identity={"source": source},
    )
    recipe = recipe_of(options)
    torch.manual_seed(recipe.seed)
    _train_and_report(CapsNet(_config(options)), data, recipe, options)


def _train_on_pictures(options: argparse.Namespace) -> None:
    """Train a network on a folder of class folders; draw examples that it was not trained on."""
    pictures, names = read_folder(options.images, options.size)
    training, held_out = split_held_out(pictures, HELD_OUT, getattr(options, "seed", 0))
    _, channels, height, width = pictures.images.shape
    colour = "in colour" if channels == 3 else "grey"
    if Processes.joined().is_first:
        print(f"{len(names)} classes: {', '.join(names)}; {colour}, resized to {height} × {width}")
        print(f"{training.count:,} pictures to train on, {held_out.count:,} held out")
    data = _Data(
        training=training,
        measured={"held_out": held_out},
        about={"source": str(options.images), "classes": names, "training_images": training.count},
        identity={"classes": list(names), "pictures": _digest(pictures)},
    )
    size = (height, width)
    config = replace(_config(options), image_size=size, in_channels=channels, classes=len(names))
    recipe = _recipe_for_pictures(options, training.count)
    torch.manual_seed(recipe.seed)
    network = CapsNet(config)
    network.class_names = names
    if recipe.learning_rate is None:
        recipe = _with_rate_for_batches(recipe, network)
    trained = _train_and_report(network, data, recipe, options)
    if trained is None:
        return
    first_of_each = [int((held_out.labels == k).nonzero()[0]) for k in range(len(names))]
    examples = held_out.images[first_of_each[:MOST_EXAMPLES]]
    path = options.output / "bent.png"
    write_pictures(path, bent_drawings(trained, examples))
    print(f"pictures that are held out, redrawn and bent -> {path}")


def _train_and_report(
    network: CapsNet, data: _Data, recipe: Recipe, options: argparse.Namespace
) -> CapsNet | None:
    """Train a network, write its files, print its errors.

    Returns:
        The network in the file; None in all processes but the first.
    """
    record = train_and_save(
        network,
        data.training,
        recipe,
        options.output,
        about={
            "command": options.command,
            "config": asdict(network.config),
            "data": data.about,
        },
        measure=partial(_errors_by_split, data.measured),
        validation=next(iter(data.measured.values())),
        identity=data.identity,
        resume=options.resume,
        threads=options.threads,
        compiled=options.compile,
    )
    if not Processes.joined().is_first:
        return None
    for split in data.measured:
        error = record[split]["error"]
        mse = record[split]["reconstruction_mse"]
        name = split.replace("_", " ")
        print(f"{name}: {1 - error:.2%} right, reconstruction MSE {mse:.4f} a pixel")
    seconds = record["training_seconds"]
    threads = record["hardware"]["threads"]
    print(f"{record['steps']:,} steps in {seconds:.0f} s, {threads} threads -> {options.output}")
    return load_weights(options.output / WEIGHTS)


def _config(options: argparse.Namespace) -> CapsNetConfig:
    """Return the preset's sizes, with the rounds of routing that are asked for."""
    config = PRESETS[options.preset]()
    if options.iterations is None:
        return config
    return replace(config, iterations=options.iterations)


def _recipe_for_pictures(options: argparse.Namespace, count: int) -> Recipe:
    """Return a recipe for so many pictures: a small set has smaller batches and more epochs.

    What is given as an option stays.
    """
    recipe = recipe_of(options)
    given = vars(options)
    if "batch_size" not in given:
        processes = Processes.joined().count
        batch_size = min(recipe.batch_size, count // FEWEST_BATCHES)
        part = max(1, batch_size // processes)  # an equal one for each process
        recipe = replace(recipe, batch_size=part * processes)
    if "epochs" not in given and "seconds" not in given:
        steps_per_epoch = max(1, count // recipe.batch_size)
        recipe = replace(recipe, epochs=max(recipe.epochs, FEWEST_STEPS / steps_per_epoch))
    return recipe


def _with_rate_for_batches(recipe: Recipe, network: CapsNet) -> Recipe:
    """Return a recipe with a rate that falls as the root of a batch's size, below 32 images.

    A step of Adam is as long for a small batch as for a large one, and follows fewer images. With
    batches of 4 at the usual rate, a network learned two plain classes, and lost them again.
    """
    share = math.sqrt(min(1.0, recipe.batch_size / ENOUGH_IN_A_BATCH))
    return replace(recipe, learning_rate=share * usual_rate(network))


def _digest(data: Digits) -> str:
    """Return a short text that differs for other images or labels."""
    content = data.images.numpy().tobytes() + data.labels.numpy().tobytes()
    return hashlib.sha256(content).hexdigest()[:16]


def _errors_by_split(
    splits: dict[str, Digits], network: nn.Module, _: dict[str, Any]
) -> dict[str, Any]:
    """Return a network's errors on each split; the last argument, a run's record, is not used."""
    return {split: evaluate(network, data)._asdict() for split, data in splits.items()}


def _evaluate(options: argparse.Namespace) -> int:
    """Run ``capsnet evaluate``; return the exit status."""
    network, weights = _network(options.weights)
    if options.images is None:
        data = digits(options.split, options.source, options.data)
        about = {"digits": data.count, "source": data.source, "split": options.split}
    else:
        data = _pictures_for(network, weights, options.images)
        about = {"images": data.count, "source": data.source}
    errors = evaluate(network, data)
    # Standard output has the line of JSON alone.
    print(f"{weights}: {1 - errors.error:.1%} right", file=sys.stderr)
    print(json.dumps({"weights": weights} | about | errors._asdict()))
    return 0


def _pictures_for(network: CapsNet, weights: str, folder: Path) -> Digits:
    """Return the pictures of a folder with the classes, the size and the colours of a network."""
    _expect_names(network, weights)
    channels, height, width = network.config.image_shape
    pictures, names = read_folder(folder, (height, width), channels)
    wanted = f"the classes of {weights}, {', '.join(network.class_names)}"
    expect(names == network.class_names, wanted, ", ".join(names))
    return pictures


def _predict(options: argparse.Namespace) -> int:
    """Run ``capsnet predict``; return the exit status."""
    network, weights = _network(options.weights)
    _expect_names(network, weights)
    channels, height, width = network.config.image_shape
    images = [read_picture(path, (height, width), channels) for path in options.files]
    for path, image in zip(options.files, images, strict=True):
        with torch.no_grad():
            lengths = network(image.unsqueeze(0)).lengths[0]  # [J]
        print(f"{path}: {_in_words(network.class_names, lengths, options.threshold)}")
    return 0


def _project(options: argparse.Namespace) -> int:
    """Run ``capsnet project check``; return the exit status.

    It is the checker's, in a process of its own: the module imports none of it.
    """
    command = [sys.executable, "-m", "capsnet_check.project", str(options.plan)]
    return subprocess.run(command, check=False).returncode


def _in_words(names: Sequence[str], lengths: Tensor, threshold: float | None) -> str:
    """Return classes with their lengths, the longest first.

    Args:
        names: of the classes.
        lengths: of their capsules, [J].
        threshold: the least length of a class that is named, if any; without one, the first three
            are.
    """
    order = lengths.argsort(descending=True).tolist()
    named = [f"{names[k]} {lengths[k]:.2f}" for k in order]
    if threshold is None:
        return ", ".join(named[:3])
    count = int((lengths >= threshold).sum())
    return ", ".join(named[:count]) or f"none of the classes; the longest is {named[0]}"


def _expect_names(network: CapsNet, weights: str) -> None:
    """Raise `InputError` unless a network has names for its classes."""
    wanted = f"the names of the classes in {weights} (`capsnet train --images` keeps them there,"
    wanted = f"{wanted} and `network.class_names = …` before `save_weights`)"
    expect(bool(network.class_names), wanted, "none")


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
    file = path / WEIGHTS if path.is_dir() else path
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
        help="train a CapsNet on MNIST, or on a folder of pictures",
        description="Train a CapsNet on MNIST less its validation split, or on four fifths of a "
        "folder of pictures. Writes checkpoint.safetensors at the end of every epoch, then "
        "weights.safetensors and result.json; of pictures also bent.png: pictures that it was not "
        "trained on, redrawn, with one number of their capsules bent.",
    )
    train.set_defaults(run=_train)
    train.add_argument(
        "--images",
        type=_path,
        metavar="FOLDER",
        help="pictures to train on in place of MNIST, a folder for each class; small sets get "
        "smaller batches, a lower rate and more epochs than said below",
    )
    train.add_argument(
        "--size",
        type=image_size,
        default=(32, 32),
        metavar="PIXELS",
        help="what pictures are resized to: a side, or HEIGHTxWIDTH (default: 32)",
    )
    add_training_options(train)
    evaluation = commands.add_parser("evaluate", help="measure a network's errors")
    evaluation.set_defaults(run=_evaluate)
    evaluation.add_argument(
        "weights", help="small; or a folder that `capsnet train` wrote, or the weights in it"
    )
    evaluation.add_argument("--split", choices=get_args(Split), default="test")
    evaluation.add_argument(
        "--images",
        type=_path,
        metavar="FOLDER",
        help="pictures to measure on in place of digits, a folder for each class",
    )
    _add_data_options(evaluation)
    prediction = commands.add_parser(
        "predict",
        help="say what is in pictures",
        description="Print the class of each picture, with the length of its capsule, and the two "
        "next ones.",
    )
    prediction.set_defaults(run=_predict)
    prediction.add_argument(
        "weights", help="a folder that `capsnet train --images` wrote, or the weights in it"
    )
    prediction.add_argument("files", nargs="+", type=_path, metavar="FILE", help="a picture")
    prediction.add_argument(
        "--threshold",
        type=float,
        metavar="LENGTH",
        help="name all classes whose capsules are at least so long: several, or none",
    )
    _add_project(commands)
    return parser


def _add_project(commands: Any) -> None:
    """Add ``capsnet project check``."""
    project = commands.add_parser("project", help="check the plan and the results of a project")
    steps = project.add_subparsers(required=True, metavar="STEP")
    check = steps.add_parser(
        "check",
        help="say which points of the rubric a project has, as far as a command can see",
        description="Was the plan committed before its results, and followed? Do own parts pass "
        "capsnet-check? Are there three pairs of seeds, with an interval? Those are five of the "
        "ten points of the book's page Projects. Exit status: 0 if all hold, 1 if not, 2 if plan "
        "or results cannot be read.",
    )
    check.add_argument("plan", type=_path, metavar="PLAN", help="such as project.toml")
    check.set_defaults(run=_project)


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


def image_size(text: str) -> tuple[int, int]:
    """Return the height and the width that an option names: ``32`` or ``24x48``."""
    sides = text.split("x")
    are_numbers = all(side.isdecimal() and int(side) > 0 for side in sides)
    if len(sides) > 2 or not are_numbers:
        raise argparse.ArgumentTypeError(f"a size such as 32 or 24x48 is wanted; got {text}")
    return int(sides[0]), int(sides[-1])


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
