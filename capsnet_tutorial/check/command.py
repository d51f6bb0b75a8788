"""``capsnet check``: functions, layers and networks out of files, packages and notebooks."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.check import CHECKERS, Report, check_layer, check_model
from capsnet_tutorial.check.loading import CannotLoad, Found, fits, found_in
from capsnet_tutorial.check.worker import in_a_process
from capsnet_tutorial.data import digits

_SIGNATURES = """\
what is checked, and how it is called:
  squash                squash(s [..., D]) -> v of the same shape
  primary_capsules      capsules(features [B, types*dim, H, W], dim) -> u [B, types*H*W, dim]
  routing               route(u_hat [B, I, J, D], iterations) -> v [B, J, D]
  margin_loss           margin_loss(lengths [B, J], labels [B] or one-hot [B, J]) -> scalar, or one for each image
  mask                  mask(v [B, J, D], labels [B] or None) -> [B, J, D]
  reconstruction_loss   loss(reconstruction [B, 784], images [B, 1, 28, 28]) -> scalar, the 0.0005 included
  layer                 a module u -> v, wherever its W lives
  network               a module of images, with labels in any form or none

FILE:NAME               a function, a class, or an expression: model.py:"DigitCaps(1152, 8)"
FILE                    everything in the file whose name says what it is, classes as the file itself makes them
FILE.ipynb:NAME         of a notebook, as of a file, the imports, definitions and assignments are run

The file is run like an import, with all that this may do: check only code that you would import.

exit status: 0 right, 1 wrong, 2 cannot be judged, 3 nothing wrong found but not all of it examined"""

KINDS = (*CHECKERS, "layer", "network")
_SHOWN = 2000


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options, for `capsnet check`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = "Find known mistakes in a capsule network's code. The file is run, as by an import."
    parser.epilog = _SIGNATURES
    parser.add_argument("place", metavar="FILE[:NAME]", help="a file, a name in it, or an expression in quotes")
    parser.add_argument("--as", dest="kind", choices=KINDS, help="what it is (default: by its name and what is in it)")
    parser.add_argument(
        "--input", metavar="3x32x32", help="of a network, channels x height x width; of a layer, one input: 1152x8"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--time-limit", type=float, default=300, metavar="S", help="seconds before it is ended (300)")
    parser.add_argument("--memory-limit", type=float, default=16, metavar="GB", help="of memory (16)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check in a process of its own, and print what it found.

    Returns:
        0 if all is right, 1 if something is wrong, 2 if it cannot be judged, 3 if nothing was found wrong but not all
        was examined.
    """
    asked = {"place": options.place, "kind": options.kind, "input": options.input}
    verdict = in_a_process(asked, options.time_limit, options.memory_limit)
    judged = [each for each in verdict.records if "error" not in each]
    problems = [each["error"] for each in verdict.records if "error" in each] + [verdict.problem] * bool(
        verdict.problem
    )
    if options.json:
        named = [{key: value for key, value in each.items() if key != "text"} for each in judged]
        print(json.dumps({"checked": named, "problems": problems}, indent=1))
    else:
        if judged:
            texts = [f"{each['name']}: {each['text']}" if len(judged) > 1 else each["text"] for each in judged]
            print("\n\n".join(texts))
        if verdict.printed.strip():
            print(f"The code itself printed:\n{verdict.printed[:_SHOWN].rstrip()}", file=sys.stderr)
        for problem in problems:
            print(f"capsnet: {problem}", file=sys.stderr)
    return _worst([*(each["status"] for each in judged), *(2 for _ in problems)])


def _worst(statuses: list[int]) -> int:
    """Wrong before cannot be judged, that before not all examined; without a verdict it cannot be judged."""
    return next((status for status in (1, 2, 3) if status in statuses), 0 if statuses else 2)


def judgements(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A record of each thing that the place names, as it is judged; "error" says why there is none."""
    torch.set_num_threads(max(1, torch.get_num_threads() // 2))
    try:
        found = found_in(options["place"])
    except CannotLoad as problem:
        yield {"error": str(problem)}
        return
    for thing in found:
        if thing.problem:
            yield {"name": thing.name, "status": 2, "text": f"? not examined: {thing.problem}", "findings": []}
            continue
        torch.manual_seed(0)
        try:
            report = _judge(thing, options.get("kind"), _sizes(options.get("input")))
        except ValueError as problem:
            yield {"name": thing.name, "status": 2, "text": f"? not examined: {problem}", "findings": []}
        else:
            yield _record(thing.name, report)


def _record(name: str, report: Report) -> dict[str, Any]:
    findings = [
        {"bug": each.bug, "severity": each.severity, "text": each.text, "line": each.line} for each in report.findings
    ]
    coverage = {key: list(getattr(report, key)) for key in ("examined", "unexamined", "absent")}
    return {"name": name, "status": report.status, "text": str(report), "findings": findings, **coverage}


def _sizes(text: str | None) -> list[int] | None:
    sizes = (text or "").split("x")
    if text and not all(size.isdecimal() and int(size) for size in sizes):
        raise ValueError(f"expected --input such as 3x32x32; got {text!r}")
    return [int(size) for size in sizes] if text else None


def _judge(found: Found, kind: str | None, sizes: list[int] | None) -> Report:
    """The report of one thing.

    Raises:
        ValueError: neither its name nor what it is says which piece, or sizes that it cannot have.
    """
    thing = found.value
    kind = kind or _kind_of(thing, found.name)
    if kind == "network":
        return check_model(thing, *_images(thing, sizes))
    if kind == "layer":
        u = torch.randn(3, *sizes, generator=torch.Generator().manual_seed(0)) if sizes else None
        return check_layer(thing, u)
    return CHECKERS[kind](thing)


def _images(network: Any, sizes: list[int] | None) -> tuple[Tensor, Tensor]:
    """Digits, with the channels of the first convolution or of other sizes, as noise."""
    sample = digits("test", "sample")
    images, labels = sample.images[:20], sample.labels[:20]
    first = next((each for each in network.modules() if isinstance(each, nn.Conv2d)), None)
    if sizes is None and first is not None:
        sizes = [first.in_channels, 28, 28]
    if sizes in (None, [1, 28, 28]):
        return images, labels
    return torch.rand(20, *sizes, generator=torch.Generator().manual_seed(0)), labels


def _kind_of(thing: Any, name: str) -> str:
    named = fits(name)
    if isinstance(thing, nn.Module) and not {"margin_loss", "mask", "reconstruction_loss"} & set(named):
        if any(isinstance(each, nn.Conv2d) for each in thing.modules()):
            return "primary_capsules" if named == ["primary_capsules"] else "network"
        if next(thing.parameters(), None) is not None:
            return "layer"
    if len(named) != 1:
        wanted = f"expected a name that says which piece {name} is, or --as with one of {', '.join(KINDS)}"
        raise ValueError(f"{wanted}; got {' and '.join(named) or 'nothing'} from its name")
    return named[0]
