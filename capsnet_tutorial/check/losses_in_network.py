"""A network's own losses: methods and submodules whose name says so, called in every way that their arguments allow.

A loss of four arguments is two: with a perfect reconstruction it is the margin loss, and what it gains when the
reconstruction is another is the reconstruction loss.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from capsnet_tutorial.check.axes import spread, tensors_in
from capsnet_tutorial.check.isolate import CapsuleLayer
from capsnet_tutorial.check.losses import check_margin_loss, check_reconstruction_loss
from capsnet_tutorial.check.no_gpu import without_cuda
from capsnet_tutorial.check.report import Finding

Loss = Callable[..., Any]

ROLES = {
    "labels": re.compile(r"label|target|truth|^y$|^y_|_y$|one_?hot", re.I),
    "reconstruction": re.compile(r"recon|rebuil|redraw", re.I),
    "capsules": re.compile(r"caps|length|prob|norm", re.I),
    "images": re.compile(r"image|img|data", re.I),
}
"""What an argument is, by its name; one whose name does not say is tried as each of the others."""

_CLASSES = 10


def losses_in(network: nn.Module, layer: CapsuleLayer | None) -> Iterator[Finding]:
    """What the checkers of the losses say of a network's own; those that cannot be called are "not judged"."""
    judged: set[str] = set()
    own = sorted(_own_losses(network).items(), key=lambda pair: len(_arguments(pair[1])))  # single ones first
    for name, function in own:
        for piece in _pieces_of(name, function):
            if piece in judged:
                continue
            findings = _judged(piece, function, layer)
            if findings is None:
                what = piece.replace("_", " ")
                yield Finding(None, f"`{name}` was not judged as a {what}: its arguments are others.", convention=True)
                continue
            judged.add(piece)
            for finding in findings:
                yield replace(finding, text=f"`{name}`. {finding.text}", example=None)


def _own_losses(network: nn.Module) -> dict[str, Loss]:
    """Methods of the network and its parts, and parts, with a loss in their names."""
    found: dict[str, Loss] = {}
    for path, module in network.named_modules():
        if type(module).__module__.startswith("torch."):
            continue
        if path and re.search("loss", f"{path} {type(module).__name__}", re.I):
            found[path] = module
        for name in dir(type(module)):
            if re.search("loss", name, re.I) and not hasattr(nn.Module, name):
                value = getattr(module, name)
                if inspect.ismethod(value) or inspect.isfunction(value):
                    found[f"{path}.{name}".lstrip(".")] = value
    return found


def _pieces_of(name: str, function: Loss) -> tuple[str, ...]:
    """Which losses it may be."""
    said = f"{name} {type(function).__name__}".lower()
    if "margin" in said:
        return ("margin_loss",)
    if "recon" in said or "decod" in said:
        return ("reconstruction_loss",)
    return ("margin_loss", "reconstruction_loss") if len(_arguments(function)) == 4 else ("margin_loss",)


def _arguments(function: Loss) -> list[str]:
    """The names of the arguments that it wants."""
    target = function.forward if isinstance(function, nn.Module) else function
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    plain = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    known = lambda name: any(pattern.search(name) for pattern in ROLES.values())  # noqa: E731
    return [each.name for each in plain if each.default is each.empty or (each.default is None and known(each.name))]


def _judged(piece: str, function: Loss, layer: CapsuleLayer | None) -> list[Finding] | None:
    """Findings of the first way of calling it that the paper or known mistakes explain; None without one."""
    check = check_margin_loss if piece == "margin_loss" else check_reconstruction_loss
    for way in _ways(piece, function, layer):
        try:
            way(*_TRIAL[piece])
        except Exception:
            continue
        report = check(way)
        told = lambda finding: finding.topic not in ("", "unexplained")  # noqa: E731
        if all(finding.bug or finding.convention or told(finding) for finding in report.findings):
            findings = [finding for finding in report.findings if not finding.convention]
            if any(finding.topic == "weight" for finding in findings):
                text = "It gives the reconstruction loss without its weight, which is not judged."
                return [Finding(None, text, convention=True)]
            return findings
    return None


_TRIAL = {
    "margin_loss": (torch.full((2, _CLASSES), 0.5), torch.tensor([0, 1])),
    "reconstruction_loss": (torch.zeros(2, 784), torch.ones(2, 1, 28, 28)),
}


def _ways(piece: str, function: Loss, layer: CapsuleLayer | None) -> Iterator[Loss]:
    """The loss as its checker calls it, for each meaning of its arguments and each form of what they hold."""
    names = _arguments(function)
    both = len(names) == 4
    roles = list(ROLES) if both else ["labels", "capsules"] if piece == "margin_loss" else ["reconstruction", "images"]
    for order in _orders(names, roles):
        for hot, capsules, flat in product((False, True), _forms(layer), (True, False)):
            given = _Given(hot, capsules, flat)

            def margin(lengths: Tensor, labels: Tensor, order: Sequence[str] = order, given: _Given = given) -> Any:
                page = torch.zeros(len(lengths), 1, 28, 28)
                return _called(function, order, given.all(lengths, labels, page, page))

            def redrawing(drawn: Tensor, images: Tensor, order: Sequence[str] = order, given: _Given = given) -> Any:
                labels = torch.zeros(len(images), dtype=torch.long)
                lengths = torch.where(F.one_hot(labels, _CLASSES).bool(), 0.95, 0.05)
                perfect = given.all(lengths, labels, images, images)
                came = _called(function, order, given.all(lengths, labels, images, drawn.reshape(images.shape)))
                return came - _called(function, order, perfect) if both else came

            yield margin if piece == "margin_loss" else redrawing


def _orders(names: Sequence[str], roles: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Which argument is what: every way that no name speaks against."""
    if len(names) != len(roles):
        return
    for order in permutations(roles):
        said = [[role for role, pattern in ROLES.items() if pattern.search(name)] for name in names]
        if all(role in fits or not fits for role, fits in zip(order, said, strict=True)):
            yield order


def _forms(layer: CapsuleLayer | None) -> list[Callable[[Tensor], Tensor]]:
    """Lengths [B, J] as they are; as capsules [B, J, 16]; and as the layer's own output."""

    def capsules(lengths: Tensor) -> Tensor:
        dim = layer.sizes["D_out"] if layer else 16
        return lengths.unsqueeze(-1) * torch.full((dim,), dim**-0.5).to(lengths)

    forms: list[Callable[[Tensor], Tensor]] = [lambda lengths: lengths, capsules]
    if layer is not None:
        axes = layer.output_axes
        forms.append(lambda lengths: spread(capsules(lengths), ("B", "J", "D_out"), axes))
    return forms


class _Given:
    """The forms in which a loss is given what it wants."""

    def __init__(self, hot: bool, capsules: Callable[[Tensor], Tensor], flat: bool) -> None:
        self.hot, self.capsules, self.flat = hot, capsules, flat

    def all(self, lengths: Tensor, labels: Tensor, images: Tensor, drawn: Tensor) -> Mapping[str, Tensor]:
        return {
            "labels": F.one_hot(labels, lengths.shape[1]).to(lengths) if self.hot else labels,
            "capsules": self.capsules(lengths),
            "images": images.to(lengths.dtype),
            "reconstruction": drawn.flatten(1) if self.flat else drawn,
        }


def _called(function: Loss, order: Sequence[str], given: Mapping[str, Tensor]) -> Any:
    with without_cuda():
        out = function(*(given[role] for role in order))
    return next((each for each in tensors_in(out) if each.numel() == 1), out)
