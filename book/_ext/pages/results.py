"""Numbers in the text come from results/: `{{ small_accuracy }}` is what results/small.json says.

A run's JSON is written by the command that measured it. A page that names a number which no file
has is a warning of the build, and `make book` makes warnings errors.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import _


def substitutions(results: Path) -> dict[str, str]:
    """Return name -> number for every JSON file in the folder `results`."""
    numbers: dict[str, str] = {}
    for path in sorted(results.glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        if "test" in run:
            numbers |= training_numbers(path.stem, run)
        for row in run.get("rows", []):
            key = f"accuracy_after_{row['seconds']:.0f}_s"
            numbers[key] = f"{fmean(row['accuracy']):.1f} %"
    return numbers


def training_numbers(name: str, run: dict[str, Any]) -> dict[str, str]:
    """Return the numbers of one training run."""
    threads = run["hardware"]["threads"]
    return {
        f"{name}_accuracy": f"{100 * (1 - run['test']['error']):.2f} %",
        f"{name}_mse": f"{run['test']['reconstruction_mse']:.4f}",
        f"{name}_minutes": f"{run['training_seconds'] / 60:.0f}",
        f"{name}_threads": _("one core") if threads == 1 else _("{0} cores").format(threads),
        f"{name}_parameters": f"{run['parameters']:,}",
    }


def set_substitutions(app: Sphinx, config: Config) -> None:
    """Add the numbers to what MyST may substitute."""
    numbers = substitutions(Path(app.srcdir) / "results")
    config.myst_substitutions = config.myst_substitutions | numbers


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("config-inited", set_substitutions)
