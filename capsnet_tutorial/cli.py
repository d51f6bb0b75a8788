"""The ``capsnet`` command: train a network, evaluate one, do experiments, check somebody's code."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import torch

from capsnet_tutorial.augmentation import Augmentation
from capsnet_tutorial.check import CHECKERS
from capsnet_tutorial.check.loading import load, piece_of
from capsnet_tutorial.data import Digits, Source, Split, digits, resolved_source
from capsnet_tutorial.errors import expect
from capsnet_tutorial.experiments.cnn import ConvNet
from capsnet_tutorial.experiments.evidence import evidence
from capsnet_tutorial.experiments.plan import Experiments, open_jobs, work_off
from capsnet_tutorial.experiments.records import code_version, describe_run, write_json
from capsnet_tutorial.experiments.rounds import measure_rounds
from capsnet_tutorial.experiments.tables import report
from capsnet_tutorial.experiments.tasks import (
    NETWORKS,
    TASKS,
    Assignment,
    Evaluated,
    every_training_digit,
    measure,
    plain,
)
from capsnet_tutorial.experiments.variants import VARIANTS
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.pretrained import SHIPPED, load_network, load_pretrained, save_weights
from capsnet_tutorial.training import Diverged, OutOfTime, Recipe, fit
from capsnet_tutorial.training.allocator import keep_freed_memory
from capsnet_tutorial.training.processes import FailedElsewhere, Processes, rank
from capsnet_tutorial.training.run import History


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
    assignment = _assignment(options)
    recipe = _recipe(options)
    torch.manual_seed(recipe.seed)
    network = assignment.build()
    commit = code_version()  # now: the files may have changed when the run is done
    folder = Path(options.output)
    checkpoint = folder / "checkpoint.safetensors"
    if checkpoint.exists() and not options.resume:
        raise ValueError(f"{folder} holds a run already: --resume goes on with it, another --output begins a new one")
    processes = Processes()
    processes.from_main(lambda: _make_writable(folder))
    keep_freed_memory()
    sources = get_args(Source)  # what is downloaded is downloaded once, and all processes use the same
    chosen = processes.from_main(lambda: sources.index(resolved_source(options.source, options.data)))
    training, held_out = _splits(sources[int(chosen)], options.data, options.everything)
    task = TASKS[assignment.task]
    measured = {split: task.to_measure_on(data) for split, data in held_out.items()}
    # Where every digit is trained on, only the test digits are left to tell when it is accurate enough.
    watched = measured.get("validation", measured["test"] if recipe.stop_at_accuracy is not None else None)
    if processes.is_main:
        shared = f", {processes.count} processes" if processes.count > 1 else ""
        kept = len(held_out["validation"].labels) if "validation" in held_out else 0
        print(f"{training.count:,} digits to train on ({training.source}), {kept:,} to validate{shared}")

    def described(network: CapsNet | ConvNet, history: History, evaluations: Mapping[str, Evaluated]) -> dict[str, Any]:
        return describe_run(
            command,
            network,
            recipe,
            history,
            {"source": training.source, "training_digits": training.count},
            evaluations,
            commit=commit,
            task=assignment.task,
            network=assignment.network,
            changes=assignment.changes,
        )

    try:
        trained, history = fit(
            network,
            task.to_train_on(training),
            recipe,
            objective=assignment.objective(recipe.reconstruction_weight),
            validation=None if watched is None else lambda network: measure(plain(network), watched).error,
            identity=assignment.identity | {"source": training.source, "everything": options.everything},
            checkpoint=checkpoint,
            resume=options.resume,
            limit_minutes=options.limit_minutes,
            log=folder / "tensorboard" if options.log == "tensorboard" else None,
        )
    except Diverged as problem:
        if processes.is_main:
            write_json(
                folder / "result.json", described(plain(network), problem.history, {}) | {"diverged": str(problem)}
            )
        raise
    if not processes.is_main:
        return 0
    save_weights(plain(trained), folder / "weights.safetensors")
    saved = load_network(folder / "weights.safetensors")  # what is measured is what is in the file
    saved.to(next(trained.parameters()).device)
    if task.harder is not None:
        measured["test_bent"] = task.harder(held_out["test"])
    evaluations = {split: measure(saved, each) for split, each in measured.items()}
    result = described(saved, history, evaluations) | evidence(saved, measured)
    if type(saved) is CapsNet and isinstance(measured["test"], Digits):
        result["rounds"] = measure_rounds(saved, measured["test"])
    write_json(folder / "result.json", result)
    for split, evaluation in evaluations.items():
        print(f"{split.replace('_', ', ')}: {_in_words(evaluation)}")
    print(f"{history.step:,} steps in {history.seconds:.0f} s -> {folder}")
    return 0


def _evaluate(options: argparse.Namespace, command: str) -> int:
    model = load_pretrained(options.weights) if options.weights in SHIPPED else load_network(options.weights)
    data = digits(options.split, options.source, options.data)
    result = measure(model, TASKS[options.task].to_measure_on(data))
    print(json.dumps({"digits": data.count, "source": data.source, "split": options.split} | result._asdict()))
    return 0


def _in_words(evaluation: Evaluated) -> str:
    drawn = getattr(evaluation, "reconstruction_mse", None)
    return f"{1 - evaluation.error:.2%} right" + ("" if drawn is None else f", reconstruction MSE {drawn:.4f} a pixel")


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
    if given["task"] != "digits":
        base = replace(base, augmentation=replace(base.augmentation, shift=TASKS[given["task"]].shift))
    moved = {field.name: given[field.name] for field in fields(Augmentation) if field.name in given}
    simple = {field.name: given[field.name] for field in fields(Recipe) if field.name in given}
    return replace(base, **simple, augmentation=replace(base.augmentation, **moved))


def _experiments(options: argparse.Namespace, command: str) -> int:
    experiments = Experiments.read(options.results)
    part, parts = options.share
    jobs = experiments.jobs(options.names)[part - 1 :: parts]
    if options.dry_run:
        for job in open_jobs(experiments, jobs):
            print(shlex.join(["capsnet", "train", *job.arguments, "--output", f"{options.work}/{job.name}"]))
        return 0
    return work_off(experiments, jobs, main, work=Path(options.work), limit_minutes=options.limit_minutes)


def _results(options: argparse.Namespace, command: str) -> int:
    print(report(Experiments.read(options.results), options.tables), end="")
    return 0


def _share(text: str) -> tuple[int, int]:
    """ "2/3" -> (2, 3)."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"expected a share such as 1/2; got {text!r}")
    return int(part), int(parts)


def _assignment(options: argparse.Namespace) -> Assignment:
    return Assignment(
        task=options.task,
        network=options.network,
        preset=options.preset,
        iterations=options.iterations,
        changes=tuple(options.change),
    )


def _splits(source: Source, root: str | None, everything: bool) -> tuple[Digits, dict[str, Digits]]:
    """The digits to train on, and those to measure on, by split."""
    training = every_training_digit(source, root) if everything else digits("train", source, root)
    splits: tuple[Split, ...] = ("test",) if everything else ("validation", "test")
    held_out: dict[str, Digits] = {split: digits(split, source, root) for split in splits}
    came = {data.source for data in (training, *held_out.values())}
    expect(came == {source}, f"every split from {source}", ", ".join(sorted(came)))
    return training, held_out


def _make_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".capsnet").touch()
        (folder / ".capsnet").unlink()
    except OSError as problem:
        raise OSError(f"expected a folder that can be written to; got {folder} ({problem.strerror})") from problem


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
    evaluation.add_argument("--task", choices=tuple(TASKS), default="digits", help="what it was trained for")
    evaluation.add_argument("--split", choices=("train", "validation", "test"), default="test")
    _add_data_options(evaluation)

    experiments = commands.add_parser(
        "experiments",
        help="do the runs that the tables still lack",
        description="Do the runs of experiments.toml that have no result yet, one after another, the most telling "
        "first. Whatever stops it, the same command goes on from there.",
    )
    experiments.set_defaults(run=_experiments)
    experiments.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a table, a run or a run with its seed (default: all, but no large run)",
    )
    experiments.add_argument("--limit-minutes", type=float, metavar="M", help="stop after so long, with exit status 3")
    experiments.add_argument(
        "--share", type=_share, default=(1, 1), metavar="I/N", help="only every N-th, from the I-th"
    )
    experiments.add_argument("--dry-run", action="store_true", help="print the commands instead")
    experiments.add_argument("--results", default="results", help="folder of experiments.toml and of what was found")
    experiments.add_argument("--work", default="runs", help="folder for checkpoints and weights")

    results = commands.add_parser("results", help="print what the experiments found")
    results.set_defaults(run=_results)
    results.add_argument("tables", nargs="*", metavar="TABLE", help="only these tables (default: summary and all)")
    results.add_argument(
        "--results", help="folder of experiments.toml and of what was found (default: the project's own)"
    )

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


def _listed(named: Mapping[str, Any]) -> str:
    """Names and what they say, for a help text."""
    return "; ".join(f"{name}: {each.says}" for name, each in named.items()).replace("%", "%%")


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
    add("stop_at_accuracy", float, "percent of the validation images right, to stop at (the test's with --everything)")
    add("average", float, "decay of the weights' running average, 0 for none")
    add("reconstruction_weight", float, "of the reconstruction loss beside the margin loss")
    add("precision", str, "of the arithmetic", ("fp32", "bf16"))
    add("seed", int, "of every random choice")
    add("shift", float, "pixels, at random")
    add("rotation", float, "degrees, at random")
    add("scale", float, "share, at random")
    add("shear", float, "pixels per pixel, at random")
    add("elastic", float, "pixels, at random")


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", choices=get_args(Source), default="auto", help="where digits come from")
    parser.add_argument("--data", help="folder with MNIST/raw; else $CAPSNET_DATA, else the user's cache")


if __name__ == "__main__":
    sys.exit(main())
