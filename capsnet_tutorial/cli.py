"""The ``capsnet`` command: train a network, evaluate one, do experiments, check somebody's code, race a routing."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields, replace
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from capsnet_book.experiments.plan import Experiments, missing_jobs, run_jobs
from capsnet_book.experiments.runs import TrainingRun
from capsnet_book.experiments.tasks import NETWORKS, TASKS, TrainingSetup
from capsnet_book.experiments.variants import VARIANTS
from capsnet_book.experiments.verdicts import report
from capsnet_book.networks import TRAINED, load_network, trained_network
from capsnet_book.race import command as race_command

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.check import command
from capsnet_tutorial.data import Source, Split, digits
from capsnet_tutorial.training import Diverged, OutOfTime, Recipe
from capsnet_tutorial.training.processes import FailedElsewhere, rank


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0; 1 if a run diverged or a check failed, 2 if input cannot be used or output not written,
        3 if --limit-minutes ended a run before its end, 130 if interrupted.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(arguments)
    options.command = f"capsnet {shlex.join(_repeatable(arguments))}"
    try:
        return options.run(options)
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
    """Exit status of what several processes agreed on: the main one prints why.

    A launcher ends all processes at the first status that is not 0, so the others end with 0.
    """
    if rank():
        return 0
    print(f"capsnet: {why}", file=sys.stderr)
    return status


# --- what the subcommands do


def _train(options: argparse.Namespace) -> int:
    setup = TrainingSetup(
        task=options.task,
        network=options.network,
        preset=options.preset,
        iterations=options.iterations,
        changes=tuple(options.change),
    )
    run = TrainingRun(
        setup=setup,
        recipe=_recipe(options),
        folder=Path(options.output),
        command=options.command,
        source=options.source,
        root=options.data,
        everything=options.everything,
    )
    record = run.train(resume=options.resume, limit_minutes=options.limit_minutes, log=options.log == "tensorboard")
    if record is None:  # this is not the main process
        return 0
    for split in ("validation", "test", "test_bent"):
        if (errors := getattr(record, split)) is not None:
            drawn = errors.get("reconstruction_mse")
            drawing = "" if drawn is None else f", reconstruction MSE {drawn:.4f} a pixel"
            print(f"{split.replace('_', ', ')}: {1 - errors['error']:.2%} right{drawing}")
    print(f"{record.steps:,} steps in {record.training_seconds:.0f} s -> {run.folder}")
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    path = Path(options.weights)
    if options.weights in TRAINED:
        network = trained_network(options.weights)
    else:
        network = load_network(path / "weights.safetensors" if path.is_dir() else path)
    by_size = {task.image_size: name for name, task in TASKS.items()}
    task = TASKS[options.task or by_size.get(network.config.image_size, "digits")]
    data = digits(options.split, options.source, options.data)
    errors = task.measure(network, task.to_measure_on(data))
    if data.source == "sample" and options.weights != "small":
        print("the bundled sample is of MNIST's training digits: the network may have learned them", file=sys.stderr)
    print(json.dumps({"digits": data.count, "source": data.source, "split": options.split} | errors._asdict()))
    return 0


def _experiments(options: argparse.Namespace) -> int:
    experiments = Experiments.read(options.results)
    jobs = experiments.jobs(options.names)
    if options.dry_run:
        for job in missing_jobs(experiments, jobs):
            print(shlex.join(["capsnet", "train", *job.arguments, "--output", f"{options.work}/{job.name}"]))
        return 0
    return run_jobs(experiments, jobs, main, work=Path(options.work), limit_minutes=options.limit_minutes)


def _results(options: argparse.Namespace) -> int:
    print(report(Experiments.read(options.results), options.tables), end="")
    return 0


# --- their options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="capsnet", description="Train, evaluate, check and race capsule networks.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_train(commands)
    _add_evaluate(commands)
    _add_experiments(commands)
    _add_results(commands)
    command.add_options(commands.add_parser("check", help="find known mistakes in a capsule network's code"))
    race_command.add_options(commands.add_parser("race", help="is a routing any good? race it against the paper's"))
    return parser


def _add_train(commands: Any) -> None:
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
    train.add_argument(
        "--log",
        choices=("tensorboard",),
        help="write curves and histograms to the output folder, to watch the run",
    )
    _add_recipe_options(train)
    _add_data_options(train)


def _add_evaluate(commands: Any) -> None:
    evaluation = commands.add_parser("evaluate", help="measure a network's errors")
    evaluation.set_defaults(run=_evaluate)
    evaluation.add_argument(
        "weights", help=f"{', '.join(TRAINED)}; or a folder that `capsnet train` wrote, or the weights in it"
    )
    evaluation.add_argument(
        "--task", choices=tuple(TASKS), help="what it was trained for (default: the task with images of its size)"
    )
    evaluation.add_argument("--split", choices=get_args(Split), default="test")
    _add_data_options(evaluation)


def _add_experiments(commands: Any) -> None:
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
    experiments.add_argument("--dry-run", action="store_true", help="print the commands instead")
    experiments.add_argument(
        "--results",
        default="results",
        help="folder of experiments.toml and of what was found (default: results, as in a checkout)",
    )
    experiments.add_argument("--work", default="runs", help="folder for checkpoints and weights")


def _add_results(commands: Any) -> None:
    results = commands.add_parser("results", help="print what the experiments found")
    results.set_defaults(run=_results)
    results.add_argument("tables", nargs="*", metavar="TABLE", help="only these tables (default: summary and all)")
    results.add_argument(
        "--results", help="folder of experiments.toml and of what was found (default: the project's own)"
    )


def _listed(named: Mapping[str, Any]) -> str:
    """Names and their descriptions, for a help text."""
    return "; ".join(f"{name}: {each.summary}" for name, each in named.items()).replace("%", "%%")


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", choices=get_args(Source), default="auto", help="where digits come from")
    parser.add_argument("--data", help="folder with MNIST/raw; else $CAPSNET_DATA, else the user's cache")


def _add_recipe_options(parser: argparse.ArgumentParser) -> None:
    """An option for each described field of `Recipe` and `Augmentation`.

    What is not given is not in the namespace, and as in `Recipe()`, or in `Recipe.quick` with --seconds.
    """
    length = parser.add_mutually_exclusive_group()
    plain, quick = Recipe(), Recipe.quick(60)
    for defaults, with_seconds in ((plain, quick), (plain.augmentation, quick.augmentation)):
        hints = get_type_hints(type(defaults))
        for field in _described(type(defaults)):
            default, other = getattr(defaults, field.name), getattr(with_seconds, field.name)
            kind: Any = hints[field.name]
            choices = get_args(kind) if get_origin(kind) is Literal else None
            if not choices:  # float, int, or one of them or None
                (kind,) = {*get_args(kind)} - {NoneType} or {kind}
            shown = "none" if default is None else f"{default:g}" if kind is float else f"{default}"
            if other != default and field.name != "seconds":
                shown += f"; with --seconds {other:g}"
            (length if field.name in ("epochs", "seconds") else parser).add_argument(
                f"--{field.name.replace('_', '-')}",
                type=str if choices else kind,
                choices=choices,
                default=argparse.SUPPRESS,
                help=f"{field.metadata['help']} (default: {shown})".replace("%", "%%"),
            )


def _described(kind: type) -> list[Field]:
    """Fields of a dataclass that have an option."""
    return [field for field in fields(kind) if "help" in field.metadata]


def _recipe(options: argparse.Namespace) -> Recipe:
    """The recipe that the options describe."""
    given = vars(options)  # has only those that were given
    base = Recipe.quick(given["seconds"]) if "seconds" in given else Recipe()
    if given["task"] != "digits":
        base = replace(base, augmentation=replace(base.augmentation, shift=TASKS[given["task"]].shift))
    values, moves = (
        {field.name: given[field.name] for field in _described(kind) if field.name in given}
        for kind in (Recipe, Augmentation)
    )
    return replace(base, **values, augmentation=replace(base.augmentation, **moves))


if __name__ == "__main__":
    sys.exit(main())
