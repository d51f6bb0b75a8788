"""Numbers in the text come from results/: `{{ small_accuracy }}` in a page is what results/small.json says.

A run's JSON is written by the command that measured it. A page that names a number which no file has is a warning of
the build, and `make book` makes warnings errors.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config


def substitutions(results: Path) -> dict[str, str]:
    """What the pages may name, from every training run under results/."""
    found = {}
    for path in sorted(results.glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        if "test" in run:
            found[f"{path.stem}_accuracy"] = f"{100 * (1 - run['test']['error']):.2f} %"
            found[f"{path.stem}_mse"] = f"{run['test']['reconstruction_mse']:.4f}"
            found[f"{path.stem}_minutes"] = f"{run['training_seconds'] / 60:.0f}"
            threads = run["hardware"]["threads"]
            found[f"{path.stem}_threads"] = "one core" if threads == 1 else f"{threads} cores"
            found[f"{path.stem}_parameters"] = f"{run['parameters']:,}"
        for row in run.get("rows", []):
            found[f"accuracy_after_{row['seconds']:.0f}_s"] = (
                f"{sum(row['accuracy']) / len(row['accuracy']):.1f} %"
            )
    return found


def set_substitutions(app: Sphinx, config: Config) -> None:
    config.myst_substitutions = config.myst_substitutions | substitutions(
        Path(app.srcdir) / "results"
    )


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", set_substitutions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
