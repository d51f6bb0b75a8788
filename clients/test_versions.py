"""Every chapter runs from the wheel, alone in a folder: the oldest versions that pyproject allows, and today's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .conftest import CHAPTERS, ROOT, absent

RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
"""
CLIENT = ("nbclient", "ipykernel", "nbformat")
OLDEST = os.environ.get("CAPSNET_OLDEST")  # a Python with the oldest versions already; else they are installed (5 GB)


def oldest() -> list[str]:
    """The lower bounds of pyproject.toml, as pip takes them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    bounds = [*project["dependencies"], *(each for extra in extras.values() for each in extra)]
    return [re.sub(r"^([\w-]+)>=([\d.]+).*", r"\1==\2.*", bound) for bound in bounds]


@pytest.fixture(scope="session")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with the oldest versions."""
    if OLDEST:
        return OLDEST
    folder = tmp_path_factory.mktemp("oldest")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    command = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *oldest(), *CLIENT]
    if (done := subprocess.run(command, capture_output=True, text=True)).returncode:
        absent(f"the oldest versions cannot be installed here: {done.stderr[-300:]}")
    return python


@pytest.fixture(scope="session")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel installs, in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder), str(wheel)], check=True)
    return folder


@pytest.mark.parametrize("versions", ["oldest", "newest"])
@pytest.mark.parametrize("chapter", [path.name for path in CHAPTERS])
def test_a_chapter_runs_alone(
    versions: str, chapter: str, unpacked: Path, chapters_alone: Path, request: pytest.FixtureRequest
) -> None:
    python = request.getfixturevalue("old_python") if versions == "oldest" else sys.executable
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}
    environment.pop("CAPSNET_DATA", None)
    command = [python, "-c", RUN, chapter]
    done = subprocess.run(command, cwd=chapters_alone, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
