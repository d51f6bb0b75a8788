"""Files of results/: the contents of a run's record, and how records are found and read.

A record, results/runs/NAME-SEED.json, has of every run

* ``command`` that repeats it; ``task``, ``network``, ``changes`` (names of `variants.VARIANTS`),
  ``config`` (sizes), ``parameters`` and ``recognising_parameters``, all but the decoder's;
* ``recipe``, ``data``, ``steps``, ``training_seconds``, ``hardware``, ``versions``, ``commit`` of
  the code at the run's beginning (null: an installed package);
* ``curve``: for every epoch ``epoch``, ``seconds``, ``loss``; and ``validation_error``, or
  ``test_error`` where the run trained on every digit and stopped by the test digits;
* ``test`` and, as the task has them, ``validation`` and ``test_bent``: errors by name, from 0 to 1.

Of a CapsNet also the measurements of `evidence.evidence`; of a CNN ``wrong`` alone. The first
records lack some of this.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from capsnet_tutorial.errors import expect

PACKAGE = Path(__file__).parents[1]


def code_version(folder: Path = PACKAGE) -> dict[str, Any] | None:
    """Return the version of the code by git.

    Returns:
        ``{"id": HEAD, "dirty": whether the package's files differ from it}``; None for a package
        that is installed rather than checked out.
    """

    def git(*arguments: str) -> str:
        process = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
        return process.stdout.strip()

    try:
        # An installed package may lie in somebody else's checkout.
        git("ls-files", "--error-unmatch", "__init__.py")
        return {
            "id": git("rev-parse", "HEAD"),
            "dirty": git("status", "--porcelain", "--", ".") != "",
        }
    except (OSError, subprocess.CalledProcessError):
        return None


def folder() -> Path:
    """Return the folder of all results: results/ of the checkout, or its copy in a package."""
    installed = PACKAGE / "assets" / "results"
    return installed if installed.is_dir() else PACKAGE.parents[1] / "results"


def stored(name: str) -> dict[str, Any]:
    """Read a file of results/.

    Args:
        name: without its ending: "speed" for results/speed.json, "runs/small-r3-0" for that run.

    Raises:
        ValueError: there is no such file.
    """
    path = folder() / f"{name}.json"
    expect(path.is_file(), f"a stored result such as runs/small-r3-0 in {folder()}", repr(name))
    return read(path)


def read(path: Path) -> dict[str, Any]:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))
