"""A training run written down: what was run, on what, and what came of it."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from capsnet_tutorial.data import Digits
from capsnet_tutorial.files import write_whole
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.training import Evaluation, History, Recipe


def describe_run(
    command: str,
    model: CapsNet,
    recipe: Recipe,
    history: History,
    trained_on: Digits,
    evaluations: dict[str, Evaluation],
) -> dict[str, Any]:
    """Everything that a table, a figure or somebody who repeats the run needs, ready for JSON."""
    return {
        "command": command,
        "config": asdict(model.config),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "recipe": asdict(recipe),
        "data": {"source": trained_on.source, "training_digits": len(trained_on.images)},
        "steps": history.step,
        "training_seconds": round(history.seconds, 1),
        "curve": [{key: float(f"{value:.6g}") for key, value in point.items()} for point in history.curve],
        **{
            split: {key: round(value, 6) for key, value in each._asdict().items()}
            for split, each in evaluations.items()
        },
        "hardware": {
            "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
        },
        "versions": {"python": platform.python_version()}
        | {package: metadata.version(package) for package in ("torch", "torchvision", "accelerate")},
    }


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write JSON for people and programs, whole or not at all."""
    write_whole(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())
