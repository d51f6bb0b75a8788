"""``capsnet race``: a routing out of a file against the paper's."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import get_args

from capsnet_book.experiments.tasks import TASKS
from capsnet_book.race.contestant import contestant
from capsnet_book.race.race import properties_of, race
from capsnet_book.routings.zoo import ZOO
from capsnet_tutorial.check.worker import in_a_process
from capsnet_tutorial.data import Source

DESCRIPTION = """\
Is a routing any good? First what a routing should satisfy, in seconds; then the small network is trained with it and
with the paper's, for the same epochs with the same seeds. Prints one table, paired differences and a verdict."""

EPILOG = f"""\
the routing              (u_hat [B, I, J, D], iterations) -> v [B, J, D]: a function, a module, or a class without
                         arguments; a method couplings(u_hat, iterations) -> c [B, I, J] shows its couplings
FILE:NAME                its place; an expression such as my_routing.py:"MyRouting(16)" does, too
a name of the zoo        {", ".join(name for name in ZOO if name != "paper")}

The same command goes on where it was stopped. A race of 12 epochs needs no training of the paper's routing, and has
the zoo's in its table: the project brings their records.

exit status: 0 raced, 1 it lacks a property, 2 it could not be called or not be trained, 130 interrupted"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options, for `capsnet race`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.add_argument("routing", metavar="FILE:NAME", help="where it stands; or a name of the zoo")
    parser.add_argument("--task", choices=tuple(TASKS), default="digits", help="what is learnt (digits)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="how many: 0 to N - 1 (3)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=5, metavar="M", help="for everything, roughly (5)")
    length.add_argument("--epochs", type=float, metavar="E", help="of each training, instead of minutes")
    parser.add_argument("--output", default="runs/race", help="folder for what is trained and for race.json")
    parser.add_argument(
        "--time-limit",
        type=float,
        default=120,
        metavar="S",
        help="seconds for the properties, and for a call of it in training (120)",
    )
    parser.add_argument("--source", choices=get_args(Source), default="auto", help="where digits come from")
    parser.add_argument("--data", help="folder with MNIST/raw; else $CAPSNET_DATA, else the user's cache")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Try the routing in a process of its own, which may be ended, then race it."""
    status = in_a_process([options.routing, options.task], options.time_limit, "race")
    if status:
        return status
    result = race(
        options.routing,
        minutes=options.minutes,
        epochs=options.epochs,
        seeds=options.seeds,
        task=options.task,
        source=options.source,
        root=options.data,
        folder=options.output,
        call_seconds=options.time_limit,
    )
    print(result)
    return 0


def main(arguments: Sequence[str]) -> int:
    """The properties alone, told if one fails; what the other process runs."""
    place, task = arguments
    try:
        found = properties_of(contestant(place), task)
    except ValueError as problem:
        print(f"capsnet: {problem}", file=sys.stderr)
        return 2
    if found.passed:
        return 0
    print(f"{place}\n{found}\n\nIt is not raced: what says NO comes first.")
    return 2 if found.lacking == ["can be called"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
