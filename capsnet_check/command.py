"""``capsnet-check``: functions, layers and networks out of files and packages."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from capsnet_check import CHECKERS, Report, check_layer, check_model
from capsnet_check.loading import Source, fits
from capsnet_tutorial.data import digits
from capsnet_tutorial.errors import InputError

_SIGNATURES = """\
what is checked, and how it is called:
  squash                squash(s [..., D]) -> v of the same shape
  primary_capsules      capsules(features [B, types*dim, H, W], dim) -> u [B, types*H*W, dim]
  routing               route(u_hat [B, I, J, D], iterations) -> v [B, J, D]
  margin_loss           margin_loss(lengths [B, J], labels [B]) -> scalar
  mask                  mask(v [B, J, D], labels [B] or None) -> [B, J, D]
  reconstruction_loss   loss(reconstruction [B, 784], images [B, 1, 28, 28]) -> scalar, the 0.0005 included
  layer                 a module u -> v, wherever its W lives
  network               a module of square images, of 24 to 96 pixels a side, with labels in any form or none

FILE:NAME               a function, a class, or an expression: model.py:"DigitCaps(1152, 8)"
FILE                    what its names say is a piece, classes as the file itself makes them; parts with the whole

The file is run like an import, with all that this may do: check only code that you would import.

exit status: 0 right, 1 wrong, 2 cannot be judged, 3 nothing wrong found but not all of it examined"""

KINDS = (*CHECKERS, "layer", "network")
_SIDES = (
    28,
    32,
    36,
    40,
    48,
    64,
    96,
    24,
)  # of the images that a network may be made for, as they are tried, in pixels


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status of `run`; 2 if anything fails that no check expects, 130 if interrupted.
    """
    options = _parser().parse_args(arguments)
    try:
        return run(options)
    except KeyboardInterrupt:
        print("capsnet-check: interrupted", file=sys.stderr)
        return 130
    except Exception:  # Python's own status for it is 1, which says that the code is wrong
        traceback.print_exc()
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="capsnet-check",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Find known mistakes in a capsule network's code. The file is run, as by an import.",
        epilog=_SIGNATURES,
    )
    parser.add_argument("--version", action="version", version=version("capsnet-tutorial"))
    parser.add_argument(
        "place", metavar="FILE[:NAME]", help="a file, a name in it, or an expression in quotes"
    )
    parser.add_argument(
        "--as",
        dest="kind",
        choices=KINDS,
        help="what it is (default: by its name and what is in it)",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=300,
        metavar="S",
        help="seconds before it is ended (300)",
    )
    parser.add_argument(
        "--memory-limit", type=float, default=16, metavar="GB", help="of memory (16)"
    )
    return parser


def run(options: argparse.Namespace) -> int:
    """Check in a process of its own, and print what it found.

    Returns:
        The worst status: wrong before cannot be judged, that before not all examined; 2 without a verdict.
    """
    names = ("place", "kind", "time_limit", "memory_limit")
    judged, problem, printed = in_a_process({name: getattr(options, name) for name in names})
    print("\n\n".join(f"{name}: {text}" if len(judged) > 1 else text for name, _, text in judged))
    if printed.strip():
        print(f"The code itself printed:\n{printed[:2000].rstrip()}", file=sys.stderr)
    if problem:
        print(f"capsnet-check: {problem}", file=sys.stderr)
    statuses = [status for _, status, _ in judged] + [2] * bool(problem)
    return next((status for status in (1, 2, 3) if status in statuses), 0 if statuses else 2)


def judgements(
    place: str, kind: str | None = None, *, time_limit: float = 300, **limits: float
) -> Iterator[tuple[str, int, str]]:
    """(name, status, report) of each thing that the place names, as it is judged."""
    torch.set_num_threads(max(1, torch.get_num_threads() // 2))
    path, _, name = re.fullmatch(r"((?:[A-Za-z]:\\)?[^:]*)(:?)(.*)", place, re.DOTALL).groups()  # type: ignore[union-attr]
    try:
        source = Source(Path(path))
        names = [name] if name else source.pieces()
        if not names or re.split(r"\W", names[0])[0] not in ("lambda", *vars(source.module)):
            wanted = f"something named {name}" if name else "a piece of a capsule network"
            raise InputError(
                f"expected {wanted} in {path}; got {', '.join(source.defined) or 'nothing'}"
            )
    except InputError as problem:
        yield place, 2, f"? {problem}"
        return
    torch.manual_seed(0)
    things: dict[str, Any] = {}
    for name in names:
        try:
            things[name] = source.value(name)
        except InputError as problem:
            yield name, 2, f"? not examined: {problem}"
    modules = [thing for thing in things.values() if isinstance(thing, nn.Module)]
    parts = {type(part) for module in modules for part in [*module.modules()][1:]}
    for name, thing in things.items():
        if type(thing) in parts:  # judged in the whole
            continue
        try:
            report = _judge(thing, kind or _kind_of(thing, name), 0.8 * time_limit)
            yield name, report.status, str(report)
        except ValueError as problem:
            yield name, 2, f"? not examined: {problem}"


def _judge(thing: Any, kind: str, seconds: float) -> Report:
    if kind == "layer":
        return check_layer(thing)
    if kind != "network":
        return CHECKERS[kind](thing)
    images, labels, _ = digits("test", "sample")
    modules = thing.modules() if isinstance(thing, nn.Module) else ()
    channels = next((each.in_channels for each in modules if isinstance(each, nn.Conv2d)), 1)
    ends, reports = time.monotonic() + seconds, []
    for (
        side
    ) in _SIDES:  # a network that takes images of another size fails before anything is examined
        given = F.pad(images[:20], ((side - 28) // 2,) * 4).expand(-1, channels, -1, -1)
        reports.append(check_model(thing, given, labels[:20], seconds=ends - time.monotonic()))
        if reports[-1].examined or reports[-1].unexamined:
            return reports[-1]
    return replace(
        reports[0], unexamined=(f"network (images of {_SIDES} pixels a side were tried)",)
    )


def _kind_of(thing: Any, name: str) -> str:
    """What a thing is by what is in it, else by its name.

    Raises:
        ValueError: neither says so.
    """
    named = fits(name)
    if isinstance(thing, nn.Module) and not {"margin_loss", "mask", "reconstruction_loss"} & set(
        named
    ):
        if any(isinstance(each, nn.Conv2d) for each in thing.modules()):
            return "network"
        if next(thing.parameters(), None) is not None:
            return "layer"
    if len(named) != 1:
        wanted = f"expected a name that says which piece {name} is, or --as with one of {', '.join(KINDS)}"
        raise ValueError(f"{wanted}; got {' and '.join(named) or 'nothing'} from its name")
    return named[0]


# --- in a process of its own: nobody has read that code


def in_a_process(options: dict[str, Any]) -> tuple[list[tuple[str, int, str]], str, str]:
    """Check in another process, with these options of the command.

    The process has its own group, which is ended with all that it started; no terminal, no arguments of ours, no GPU.
    What it finds it writes into a file, piece by piece: one that ends before it has said so has given no verdict,
    whatever its exit status.

    Returns:
        The judgements, as far as it came; why there are no more, empty if it came to its end; what the code printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        found, printed = Path(folder, "found.jsonl"), Path(folder, "printed.txt")
        found.touch()
        with printed.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, json.dumps(options), str(found)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=os.environ | {"PYTHONIOENCODING": "utf-8", "CUDA_VISIBLE_DEVICES": ""},
            )
        try:
            status = process.wait(options["time_limit"])
            problem = f"it ended itself before the check was done, with status {status}"
            if status < 0:  # a signal: most often for want of memory
                problem = f"it was ended by signal {-status}. Was there too little memory? (--memory-limit)"
        except subprocess.TimeoutExpired:
            problem = f"it did not return within {options['time_limit']:g} s. Does a loop never end? (--time-limit)"
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
            process.wait()
        lines = found.read_text(encoding="utf-8").splitlines()
        with printed.open(encoding="utf-8", errors="replace") as file:
            said = file.read(10_000)
    done = lines[-1:] == ["done"]
    return (
        [tuple(json.loads(line)) for line in lines if line.endswith("]")],
        "" if done else problem,
        said,
    )


def _in_this_process() -> None:
    """The check itself: what the other process runs, with limits on its memory and on what it prints."""
    options, found = json.loads(sys.argv[1]), Path(sys.argv[2])
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows knows no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(options["memory_limit"] * 2**30),) * 2)
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (2**30,) * 2
        )  # of a file: what is printed in a loop without end
    sys.argv = [options["place"].partition(":")[0]]
    with found.open("w", encoding="utf-8", buffering=1) as file:
        for judgement in judgements(**options):
            print(json.dumps(judgement), file=file)
        print("done", file=file)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(0)  # threads that it started do not keep it


if __name__ == "__main__":
    _in_this_process()
