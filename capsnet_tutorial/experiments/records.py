"""What was measured, written down and found again: a training run, and any other file of results/."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import nn

from capsnet_tutorial.errors import expect
from capsnet_tutorial.experiments.cnn import recognising_and_drawing
from capsnet_tutorial.storage import write_whole
from capsnet_tutorial.training.processes import Processes
from capsnet_tutorial.training.recipe import Recipe
from capsnet_tutorial.training.run import History

PACKAGE = Path(__file__).parents[1]


def describe_run(
    command: str,
    model: nn.Module,
    recipe: Recipe,
    history: History,
    data: Mapping[str, Any],
    evaluations: Mapping[str, NamedTuple],
    *,
    commit: Mapping[str, Any] | None,
    task: str = "digits",
    network: str = "capsnet",
    changes: Sequence[str] = (),
) -> dict[str, Any]:
    """Everything that a table, a figure or somebody who repeats the run needs, ready for JSON.

    Args:
        command: that repeats it.
        model: what was trained; its ``config`` holds its sizes.
        recipe: how it was trained.
        history: how that went.
        data: what it was trained on.
        evaluations: what came of it, by split: named tuples of numbers.
        commit: of the code that ran, from `code_version` at the run's beginning.
        task: what was to be learnt.
        network: which kind of network that was.
        changes: deviations from the paper, by their ids.
    """
    accelerator = Processes().accelerator
    recognising, drawing = recognising_and_drawing(cast(Any, model))
    device = accelerator.device
    return {
        "command": command,
        "task": task,
        "network": network,
        "changes": list(changes),
        "config": asdict(cast(Any, model).config),
        "parameters": recognising + drawing,
        "recognising_parameters": recognising,
        "drawing_parameters": drawing,
        "recipe": asdict(recipe),
        "data": dict(data),
        "steps": history.step,
        "training_seconds": round(history.seconds, 1),
        "curve": [{key: float(f"{value:.6g}") for key, value in point.items()} for point in history.curve],
        **{
            split: {key: round(value, 6) for key, value in each._asdict().items()}
            for split, each in evaluations.items()
        },
        "hardware": {
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "processes": accelerator.num_processes,
        },
        "versions": {"python": platform.python_version()}
        | {package: metadata.version(package) for package in ("torch", "torchvision", "accelerate")},
        "commit": commit,
    }


def code_version(folder: Path = PACKAGE) -> dict[str, Any] | None:
    """Which version of the code this is, where git knows it.

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
    """Where everything that was measured lies: results/ of the checkout, or its copy in an installed package.

    Args:
        package: where the package lies.
    """
    installed = package / "assets" / "results"
    return installed if installed.is_dir() else package.parent / "results"


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
