"""Run records, and every other file of results/: their fields, how they are written, read and found."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

import torch

from capsnet_tutorial.errors import InputError, expect
from capsnet_tutorial.train import Recipe
from capsnet_tutorial.weights import write_whole

PACKAGE = Path(__file__).parents[1]


RETIRED = ("clip", "patience", "routing_gradient")
"""Fields of recipes in older records: none of those that are kept made use of them."""


class Data(TypedDict):
    """What a run was trained on."""

    source: str
    training_digits: int


class Hardware(TypedDict):
    """What a run was trained with; the device is a GPU's name or "cpu"."""

    device: str
    processor: str
    cores: int
    threads: int
    processes: int


class Commit(TypedDict):
    """Version of the code; dirty if the package's files differed from it."""

    id: str
    dirty: bool


class Round(TypedDict):
    """A round of routing: entropy of the couplings from 0 to 1, error if routing stopped there."""

    entropy: float
    error: float


class Calibration(TypedDict):
    """By length of the longest capsule, ten bins: images, those that are right, mean length."""

    count: list[int]
    right: list[int]
    mean_length: list[float | None]


class Shares(TypedDict):
    """How the capsules below share out the votes for the true class."""

    effective_capsules: float
    capsules: list[int]
    shares: list[float]


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """Everything that a table, a figure or somebody who repeats a training run needs; its fields are those of the JSON.

    A field that is None is not in the file, but for ``commit``.

    Raises:
        ValueError: a field of another kind, or a run that lacks a field which such a run has.
    """

    command: str
    """That repeats the run."""
    task: str
    network: str
    changes: list[str]
    """Deviations from the paper, by their names in `variants.VARIANTS`."""
    config: dict[str, Any]
    """Sizes of the network."""
    parameters: int
    recognising_parameters: int | None = None
    """Those of all layers but the decoder. Not in the oldest records, which lack ``wrong`` too."""
    drawing_parameters: int | None = None
    """Those of the decoder."""
    recipe: Recipe
    data: Data
    steps: int
    training_seconds: float
    curve: list[dict[str, float]]
    """For every epoch: epoch, seconds, loss, and validation_error where the run validates."""
    validation: dict[str, float] | None = None
    """Errors on the validation digits, where they were not trained on."""
    test: dict[str, float] | None = None
    test_bent: dict[str, float] | None = None
    hardware: Hardware
    versions: dict[str, str]
    """Of Python and of the packages that compute."""
    commit: Commit | None
    """Of the code at the run's beginning; None for a package that is installed rather than checked out."""
    diverged: str | None = None
    """Why the run came to no end; nothing is measured then."""
    entropy: float | None = None
    """Of the couplings of the last round, from 0 to 1, where the routing offers couplings that share out a capsule."""
    rounds: list[dict[str, float]] | None = None
    """For every number of rounds that the network is read with, errors by split; the couplings' ``entropy``."""
    wrong: dict[str, str] | None = None
    """Which images are read wrongly, by split, packed."""
    wrong_after: dict[str, list[str]] | None = None
    """The same for every number of rounds that the network is read with."""
    learned: dict[str, list[float]] | None = None
    """What the routing learned beside the matrices, up to a hundred numbers, by name: a gain, say."""
    calibration: dict[str, Calibration] | None = None
    saturated: float | None = None
    """Share of a CapsNet's primary capsules that are longer than 0.99. Only in the newest records."""
    vote_shares: dict[str, Shares] | None = None

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            _expect_kind(f"the record's {name}", getattr(self, name), kind)
        for name in sorted(self._needed()):
            expect(getattr(self, name) is not None, f"{name} in the record of such a run", "none")
        for split in (self.validation, self.test, self.test_bent):
            expect(split is None or 0 <= split.get("error", -1) <= 1, "an error from 0 to 1", f"{split}")

    def _needed(self) -> set[str]:
        """Fields that need not be in every record, but in this one."""
        sizes = {"recognising_parameters", "drawing_parameters"}
        has_evidence = any(getattr(self, name) is not None for name in (*sizes, "wrong"))
        if self.diverged is not None:
            return sizes if has_evidence else set()
        capsnet, one_digit = self.network == "capsnet", self.task != "pairs"
        needed = {"test"} | ({"test_bent"} if one_digit else set())
        if "--everything" not in self.command:
            needed.add("validation")
        if capsnet and one_digit and not self.changes:
            needed.add("rounds")
        if has_evidence:
            needed |= sizes | {"wrong"} | ({"calibration"} if capsnet else set())
        if has_evidence and capsnet and not self.changes:
            needed.add("vote_shares")
        return needed

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunRecord:
        """A record from JSON.

        Raises:
            ValueError: a field that is missing, unknown or of another kind.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(values.keys() - known)
        expect(not unknown, f"fields of a run's record, {', '.join(sorted(known))}", ", ".join(unknown))
        try:
            recipe = {name: value for name, value in values["recipe"].items() if name not in RETIRED}
            return cls(**{**values, "recipe": Recipe.from_dict(recipe)})
        except (KeyError, TypeError) as problem:
            raise InputError(f"expected a run's record; got one where {problem}") from problem

    def to_dict(self) -> dict[str, Any]:
        """The inverse of `from_dict`, ready for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)} | {"recipe": asdict(self.recipe)}
        return {name: value for name, value in values.items() if value is not None or name == "commit"}


def _expect_kind(name: str, value: Any, kind: Any) -> None:
    """Raise `ValueError` unless a value is of the kind that an annotation names."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if origin is UnionType:
        if value is None and NoneType in inner:
            return
        (kind,) = (each for each in inner if each is not NoneType)
        _expect_kind(name, value, kind)
    elif is_typeddict(kind):
        keys = get_type_hints(kind)
        expect(isinstance(value, dict) and value.keys() == keys.keys(), f"{name} with {', '.join(keys)}", repr(value))
        for key, each in keys.items():
            _expect_kind(f"{name}.{key}", value[key], each)
    elif origin is list:
        expect(isinstance(value, list), f"{name} as a list", repr(value))
        for each in value:
            _expect_kind(f"each of {name}", each, inner[0])
    elif origin is dict:
        expect(isinstance(value, dict), f"{name} as an object", repr(value))
        for key, each in value.items():
            _expect_kind(f"{name}.{key}", each, inner[1])
    else:
        kinds = (int, float) if kind is float else (kind,)
        expect(type(value) in kinds, f"{name} as {kind.__name__}", repr(value))


def hardware(network: torch.nn.Module, threads: int) -> Hardware:
    """What there is to compute with."""
    device = next(network.parameters()).device
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "processor": platform.machine(),
        "cores": os.cpu_count() or 1,
        "threads": threads,
        "processes": 1,
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that compute."""
    packages = ("torch", "torchvision")
    return {"python": platform.python_version()} | {package: metadata.version(package) for package in packages}


def code_version(folder: Path = PACKAGE) -> Commit | None:
    """Version of the code, where git knows it.

    Returns:
        ``{"id": HEAD, "dirty": whether the package's files differ from it}``; None for a package that is installed
        rather than checked out.
    """

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # an installed package may lie in somebody's checkout
        return {"id": git("rev-parse", "HEAD"), "dirty": git("status", "--porcelain", "--", ".") != ""}
    except (OSError, subprocess.CalledProcessError):
        return None


def folder(package: Path = PACKAGE) -> Path:
    """Folder of everything that was measured: results/ of the checkout, or its copy in an installed package.

    Args:
        package: where the package lies.
    """
    installed = package / "assets" / "results"
    return installed if installed.is_dir() else package.parents[1] / "results"


def stored(name: str, package: Path = PACKAGE) -> dict[str, Any]:
    """A file of results/.

    Args:
        name: without its ending: "speed" for results/speed.json, "runs/small-r3-0" for that run.
        package: where the package lies.

    Raises:
        ValueError: there is no such file.
    """
    root = folder(package)
    found = {path.relative_to(root).with_suffix("").as_posix(): path for path in root.rglob("*.json")}
    expect(name in found, f"a stored result, one of {', '.join(sorted(found)) or 'none'}", repr(name))
    return json.loads(found[name].read_text(encoding="utf-8"))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write JSON for people and programs, whole or not at all: a list of plain values is one line."""
    write_whole(path, (_pretty(value, "\n") + "\n").encode())


def _pretty(value: Any, newline: str, in_list: bool = False) -> str:
    """JSON indented by two. One line: a list of plain values, and in a list an object of plain values."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    plain = not any(isinstance(each, (dict, list)) for each in inside)
    if not inside or (plain and (in_list or isinstance(value, list))):
        return json.dumps(value, ensure_ascii=False)
    inner = newline + "  "
    lines = [_pretty(each, inner, isinstance(value, list)) for each in inside]
    if isinstance(value, dict):
        names = [json.dumps(name, ensure_ascii=False) for name in value]
        lines = [f"{name}: {line}" for name, line in zip(names, lines, strict=True)]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + inner + ("," + inner).join(lines) + newline + last
