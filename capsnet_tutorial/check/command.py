"""``capsnet check``: functions, layers and networks out of files, packages and notebooks."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from capsnet_tutorial.check.layer import check_layer
from capsnet_tutorial.check.loading import CannotLoad, Found, found_in, piece_of, pieces_in
from capsnet_tutorial.check.report import Report
from capsnet_tutorial.check.whole import CHECKERS, check_model
from capsnet_tutorial.check.worker import in_a_process
from capsnet_tutorial.data import digits

SIGNATURES = """\
what is checked, and how it is called:
  squash                squash(s [..., D]) -> v of the same shape
  primary_capsules      capsules(features [B, types*dim, H, W], dim) -> u [B, types*H*W, dim]
  routing               route(u_hat [B, I, J, D], iterations) -> v [B, J, D]
  margin_loss           margin_loss(lengths [B, J], labels [B] or one-hot [B, J]) -> scalar, or one for each image
  mask                  mask(v [B, J, D], labels [B] or None) -> [B, J, D]
  reconstruction_loss   loss(reconstruction [B, 784], images [B, 1, 28, 28]) -> scalar, the 0.0005 included
  layer                 a module u -> v that owns W; its axes and its rounds are found
  network               a module of images, with labels in any form or none

FILE:NAME               a function, a class, or an expression: model.py:"DigitCaps(1152, 8)"
FILE                    everything in the file whose name says what it is
FILE.ipynb:NAME         its code cells are run in order; one that fails ends it, and what stands before it counts

exit status: 0 right, 1 wrong, 2 could not be called. Without --as, the name says which piece it is; a module that
owns a W is a layer, one that holds convolutions a network."""

KINDS = (*CHECKERS, "layer", "network")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options, for `capsnet check`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = "Find known mistakes in a capsule network's code. The file is run, as by an import."
    parser.epilog = SIGNATURES
    parser.add_argument("place", metavar="FILE[:NAME]", help="a file, a name in it, or an expression in quotes")
    parser.add_argument("--as", dest="piece", choices=KINDS, help="what it is (default: by its name)")
    parser.add_argument("--weight", metavar="NAME", help="of a layer or network: the parameter that is W")
    parser.add_argument(
        "--axes", metavar="WHAT=ORDER", action="append", help='and its axes: "weight=J I D_out D_in", "u=…", "v=…"'
    )
    parser.add_argument("--iterations", metavar="NAME", help="and the attribute or argument that holds the rounds")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--time-limit", type=float, default=300, metavar="S", help="seconds before it is ended (300)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check in a process of its own.

    Returns:
        0 if all is right, 1 if something is wrong, 2 if it could not be called.
    """
    named = {"--as": options.piece, "--weight": options.weight, "--iterations": options.iterations}
    arguments = [options.place, *(["--json"] * options.json)]
    arguments += [f"{name}={value}" for name, value in named.items() if value]
    arguments += [f"--axes={order}" for order in options.axes or ()]
    return in_a_process(arguments, options.time_limit)


def main(arguments: Sequence[str] | None = None) -> int:
    """The check itself; what the other process runs."""
    parser = argparse.ArgumentParser(prog="capsnet check")
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        things = found_in(options.place) if _has_name(options.place) else pieces_in(options.place)
        overrides = {"weight": options.weight, "iterations": options.iterations, "axes": _axes(options.axes)}
        judged = [(thing, judge(thing, options.piece, overrides)) for thing in things]
    except CannotLoad as problem:
        print(json.dumps({"error": str(problem)}) if options.json else f"capsnet: {problem}", file=_where(options.json))
        return 2
    if options.json:
        print(json.dumps([as_record(thing.name, report) for thing, report in judged], indent=1))
    else:
        print("\n\n".join(f"{thing.name}: {report}" if len(judged) > 1 else f"{report}" for thing, report in judged))
    return max(status(report) for _, report in judged)


def status(report: Report) -> int:
    """The exit status of one report."""
    if report.passed:
        return 0
    wrong = bool(report.bugs) or not report.failed_call
    return 1 if wrong else 2


def _axes(orders: Sequence[str] | None) -> dict[str, str] | None:
    named = dict(order.partition("=")[::2] for order in orders or ())
    if any(what not in ("u", "weight", "v") or not order for what, order in named.items()):
        raise CannotLoad(f'expected --axes "u=…", "weight=…" or "v=…"; got {", ".join(orders or ())}')
    return named or None


def judge(found: Found, piece: str | None, overrides: Mapping[str, Any] | None = None) -> Report:
    """The report of one thing.

    Args:
        overrides: `weight`, `axes` and `iterations` of a layer or a network.

    Raises:
        CannotLoad: neither its name nor what it is says which piece.
    """
    thing = found.value
    kind = piece or _kind_of(thing, found.name)
    if kind == "network":
        sample = digits("test", "sample")
        return check_model(thing, sample.images[:20], sample.labels[:20], **(overrides or {}))
    return check_layer(thing, **(overrides or {})) if kind == "layer" else CHECKERS[kind](thing)


def _kind_of(thing: Any, name: str) -> str:
    if isinstance(thing, nn.Module):
        if any(isinstance(each, nn.Conv2d) for each in thing.modules()):
            return "primary_capsules" if "primary" in name.lower() else "network"
        if any(sum(size != 1 for size in each.shape) >= 3 for each in thing.parameters()):
            return "layer"
    return piece_of(name)


def as_record(name: str, report: Report) -> dict[str, Any]:
    """A report as JSON has it."""
    findings = [{"bug": each.bug, "severity": each.severity, "text": each.text} for each in report.findings]
    return {"name": name, "passed": report.passed, "status": status(report), "findings": findings}


def _has_name(place: str) -> bool:
    return ":" in place.replace(":\\", "", 1)


def _where(as_json: bool) -> Any:
    return sys.stdout if as_json else sys.stderr


if __name__ == "__main__":
    torch.set_num_threads(max(1, torch.get_num_threads() // 2))
    sys.exit(main())
