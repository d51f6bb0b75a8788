"""The command ``capsnet-check``: functions, layers and networks out of files and notebooks."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from capsnet_check.kinds import KINDS
from capsnet_check.report import CANNOT_BE_JUDGED, NOT_ALL_EXAMINED, RIGHT, WRONG
from capsnet_check.worker import Outcome, check_in_a_process
from capsnet_tutorial.cli import image_size

_SIGNATURES = """\
what is checked, and how it is called:
  squash                squash(s [..., D]) -> v of the same shape
  primary_capsules      capsules(features [B, types*dim, H, W], dim) -> u [B, types*H*W, dim]
  routing               route(u_hat [B, I, J, D], iterations) -> v [B, J, D]
  margin_loss           margin_loss(lengths [B, J] or capsules [B, J, D], labels [B] or one-hot)
                        -> scalar
  mask                  mask(v [B, J, D], labels [B] or None) -> [B, J, D]
  reconstruction_loss   loss(reconstruction [B, 784], images [B, 1, 28, 28]) -> scalar, the 0.0005
                        included
  layer                 a module u -> v, wherever its W lives
  network               a module of images of 24 to 96 pixels a side, or of --image-size, with
                        labels in any form or none

FILE:NAME               a function, a class, or an expression: model.py:"DigitCaps(1152, 8)"
FILE                    what its names say is a piece, classes as the file itself makes them; parts
                        with the whole. FILE is a Python file or a notebook (.ipynb)

The file is run like an import, with all that this may do: check only code that you would import.

exit status: 0 right, 1 wrong, 2 cannot be judged, 3 nothing wrong found but not all examined"""

_WORST_FIRST = (WRONG, CANNOT_BE_JUDGED, NOT_ALL_EXAMINED, RIGHT)
_PRINTED = 2000
"""Characters of what the code printed that are shown."""
_CONTROL = re.compile(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: the worst of the verdicts; 2 without one, and where anything fails that no
        check expects; 130 if interrupted.
    """
    _let_every_character_be_printed()
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except KeyboardInterrupt:
        print("capsnet-check: interrupted", file=sys.stderr)
        return 130
    except Exception:  # Python's own status for it is 1, which says that the code is wrong
        traceback.print_exc()
        return CANNOT_BE_JUDGED


def _let_every_character_be_printed() -> None:
    """Let signs that a stream's coding lacks, such as ✓ on a Windows pipe, become a "?"."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(options: argparse.Namespace) -> int:
    """Check in a process of its own, and print the verdicts."""
    names = ("place", "kind", "image_size", "time_limit", "memory_limit")
    outcome = check_in_a_process({name: getattr(options, name) for name in names})
    if options.json:
        print(json.dumps(_as_dict(outcome), indent=1))
    else:
        print("\n\n".join(_texts(outcome)))
    if outcome.printed.strip():
        printed = outcome.printed[:_PRINTED].rstrip()
        print(f"The code itself printed:\n{_harmless(printed)}", file=sys.stderr)
    if outcome.problem:
        print(f"capsnet-check: {_harmless(outcome.problem)}", file=sys.stderr)
    return _status(outcome)


def _texts(outcome: Outcome) -> list[str]:
    """Return the verdicts as text, with names where there are several."""
    texts = []
    for judgement in outcome.judgements:
        name = f"{judgement['name']}: " if len(outcome.judgements) > 1 else ""
        texts.append(_harmless(name + judgement["text"]))
    return texts


def _as_dict(outcome: Outcome) -> dict[str, object]:
    """Return the verdicts in types of JSON."""
    verdicts = [
        {key: value for key, value in judgement.items() if key != "text"}
        for judgement in outcome.judgements
    ]
    return {"status": _status(outcome), "problem": outcome.problem, "verdicts": verdicts}


def _status(outcome: Outcome) -> int:
    statuses = [judgement["status"] for judgement in outcome.judgements]
    if outcome.problem:
        statuses.append(CANNOT_BE_JUDGED)
    return worst(statuses)


def worst(statuses: Iterable[int]) -> int:
    """Return the worst status: wrong, cannot be judged, not all examined, right. Of none: 2."""
    statuses = set(statuses)
    if not statuses:
        return CANNOT_BE_JUDGED
    return min(statuses, key=_WORST_FIRST.index)


def _harmless(text: str) -> str:
    """Return a text with its control characters written out: they could change the terminal."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def _positive(text: str) -> float:
    """Return a number above 0, for argparse."""
    with contextlib.suppress(ValueError):
        number = float(text)
        if 0 < number < math.inf:
            return number
    raise argparse.ArgumentTypeError(f"expected a number above 0; got {text}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="capsnet-check",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=(
            "Find known mistakes in a capsule network's code. The file is run, as by an import."
        ),
        epilog=_SIGNATURES,
    )
    parser.add_argument("--version", action="version", version=version("capsnet-tutorial"))
    parser.add_argument(
        "place",
        metavar="FILE[:NAME]",
        help="a file or notebook, a name in it, or an expression in quotes",
    )
    parser.add_argument(
        "--as",
        dest="kind",
        choices=KINDS,
        help="what it is (default: by its name and what is in it)",
    )
    parser.add_argument(
        "--image-size",
        type=image_size,
        metavar="SIDE or HEIGHTxWIDTH",
        help="of a network's images, in pixels (default: squares of 24 to 96 are tried)",
    )
    parser.add_argument(
        "--time-limit",
        type=_positive,
        default=300,
        metavar="S",
        help="seconds before it is ended (300)",
    )
    parser.add_argument(
        "--memory-limit", type=_positive, default=16, metavar="GB", help="of memory (16)"
    )
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
