"""The things in a file that are pieces of a capsule network, each judged."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from capsnet_check import CHECKERS, check_layer, check_model
from capsnet_check.calls import on_the_cpu
from capsnet_check.kinds import kind_of
from capsnet_check.loading import Source, missing_module
from capsnet_check.report import CANNOT_BE_JUDGED, Report
from capsnet_tutorial.data import digits
from capsnet_tutorial.errors import InputError

_SIDES = (28, 32, 36, 40, 48, 64, 96, 24)
"""Of the images that a network may be made for, in pixels, as they are tried."""
_SHARE = 0.8
"""Of the time limit, for one network: there is time to say what was found by then."""
_PLACE = re.compile(r"((?:[A-Za-z]:\\)?[^:]*)(:?)(.*)", re.DOTALL)
"""FILE or FILE:NAME, where FILE may begin with a drive's letter."""


@dataclass(frozen=True)
class Judgement:
    """What was found about one thing in a file."""

    name: str
    report: Report | None
    """None: it could not be had or called."""
    problem: str = ""
    """Why not."""
    note: str = ""
    """A likely cause, where it cannot be judged."""

    @property
    def status(self) -> int:
        """As of a report."""
        return CANNOT_BE_JUDGED if self.report is None else self.report.status

    @property
    def text(self) -> str:
        """The report, or why there is none."""
        text = f"? {self.problem}" if self.report is None else str(self.report)
        if self.note and self.status == CANNOT_BE_JUDGED:
            text += f"\n\n{self.note}"
        return text

    def as_dict(self) -> dict[str, Any]:
        """Return the judgement in types of JSON."""
        if self.report is None:  # a report that has not passed is false
            findings: dict[str, Any] = {"problem": self.problem}
        else:
            findings = self.report.as_dict()
        return {"name": self.name, "status": self.status, "text": self.text, **findings}


def judgements(
    place: str,
    kind: str | None = None,
    *,
    time_limit: float = 300,
    image_size: Sequence[int] | None = None,
    **limits: float,
) -> Iterator[Judgement]:
    """Yield what is found about each thing that a place names, as it is judged.

    Args:
        place: FILE or FILE:NAME.
        kind: one of `KINDS`; None: by its name and what is in it.
        time_limit: seconds.
        image_size: height and width of a network's images; None: several are tried.
        limits: others are the worker's.
    """
    torch.set_num_threads(max(1, torch.get_num_threads() // 2))
    match = _PLACE.fullmatch(place)
    path, _, name = match.groups() if match else (place, "", "")
    try:
        with on_the_cpu():
            source = Source(Path(path))
        names = [name] if name else source.pieces()
        _expect_names(source, path, name, names)
    except InputError as problem:
        yield Judgement(place, None, str(problem))
        return

    torch.manual_seed(0)
    things: dict[str, Any] = {}
    for name in names:
        try:
            with on_the_cpu():
                things[name] = source.value(name)
        except InputError as problem:
            yield Judgement(name, None, f"not examined: {problem}")
    parts = _types_of_parts(things.values())
    for name, thing in things.items():
        if type(thing) not in parts:  # else it is judged in the whole
            judgement = _judgement(name, thing, kind, _SHARE * time_limit, image_size)
            yield replace(judgement, note=_note(source))


def _expect_names(source: Source, path: str, name: str, names: list[str]) -> None:
    """Raise `InputError` unless the file has what was asked for, or pieces of a capsule network."""
    first_word = re.split(r"\W", names[0])[0] if names else ""
    if first_word == "lambda" or first_word in vars(source.module):
        return
    expected = f"something named {name}" if name else "a piece of a capsule network"
    definitions = ", ".join(source.defined) or "nothing"
    raise InputError(f"expected {expected} in {path}; got {definitions}{source.first_failure}")


def _note(source: Source) -> str:
    """Return a sentence about the modules that a file imports in vain; empty if there are none."""
    return f"Perhaps since {missing_module(', '.join(source.missing))}." if source.missing else ""


def _types_of_parts(things: Any) -> set[type]:
    """Return the types of the modules inside of others."""
    modules = [thing for thing in things if isinstance(thing, nn.Module)]
    return {type(part) for module in modules for part in module.modules() if part is not module}


def _judgement(
    name: str, thing: Any, kind: str | None, seconds: float, image_size: Sequence[int] | None
) -> Judgement:
    try:
        kind = kind or kind_of(thing, name)
        return Judgement(name, _report(thing, kind, seconds, image_size))
    except InputError as problem:
        return Judgement(name, None, f"not examined: {problem}")
    except KeyboardInterrupt:  # nobody can press Ctrl-C here: the code itself raises it
        return Judgement(name, None, "not examined: it raises KeyboardInterrupt")


def _report(thing: Any, kind: str, seconds: float, image_size: Sequence[int] | None) -> Report:
    if kind == "layer":
        return check_layer(thing)
    if kind == "network":
        return _report_of_network(thing, seconds, image_size)
    return CHECKERS[kind](thing)


def _report_of_network(thing: Any, seconds: float, image_size: Sequence[int] | None) -> Report:
    """Return the report with images of a size that the network takes.

    With another size it fails before anything is examined.
    """
    images, labels, _ = digits("test", "sample")
    modules = thing.modules() if isinstance(thing, nn.Module) else ()
    convolutions = (module for module in modules if isinstance(module, nn.Conv2d))
    channels = next((convolution.in_channels for convolution in convolutions), 1)
    ends = time.monotonic() + seconds
    reports = []
    sizes = [(side, side) for side in _SIDES] if image_size is None else [image_size]
    for height, width in sizes:
        examples = _of_size(images[:20], height, width).expand(-1, channels, -1, -1)
        report = check_model(thing, examples, labels[:20], seconds=ends - time.monotonic())
        if report.examined or report.unexamined:
            return report
        reports.append(report)
    tried = f"images of {_SIDES} pixels a side were tried; for others: --image-size"
    if image_size is not None:
        tried = f"images of {height} × {width} pixels were tried"
    return replace(reports[0], unexamined=(f"network ({tried})",))


def _of_size(images: Tensor, height: int, width: int) -> Tensor:
    """Return images with a frame of zeros, or without their edges: [N, 1, height, width]."""
    left = (width - images.shape[3]) // 2
    right = width - images.shape[3] - left
    top = (height - images.shape[2]) // 2
    bottom = height - images.shape[2] - top
    return F.pad(images, (left, right, top, bottom))
