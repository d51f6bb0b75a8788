"""Every chapter runs from the wheel, alone in a folder: the oldest versions that pyproject allows, and the newest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .conftest import CHAPTERS, ROOT, absent

RUN = """
import re, sys, nbformat
from nbclient import NotebookClient

def said(notebook):  # what cells say in words that hold for any seed: numbers differ from version to version
    cells = [cell for cell in notebook.cells if "nbval-ignore-output" not in cell.metadata.get("tags", [])]
    texts = {
        cell.source: " ".join(each.get("text") or each.get("data", {}).get("text/plain", "") for each in cell.outputs)
        for cell in cells if cell.cell_type == "code"
    }
    return {source: re.findall(r"\\b(?:True|False)\\b|[✓✗]", text) for source, text in texts.items()}

notebook = nbformat.read(sys.argv[1], as_version=4)
stored = said(notebook)
NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
differ = {source: (stored[source], came) for source, came in said(notebook).items() if came != stored[source]}
assert not differ, differ
"""
CLIENT = ("nbclient", "ipykernel", "nbformat")


def bounds() -> list[str]:
    """What pyproject.toml asks for, with all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(each for extra in extras.values() for each in extra)]


def oldest() -> list[str]:
    """The lower bounds of pyproject.toml, as pip takes them."""
    return [re.sub(r"^([\w-]+)>=([\d.]+).*", r"\1==\2.*", bound) for bound in bounds()]


@pytest.fixture(scope="session", params=["oldest", "newest"])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with the oldest versions, or with the newest: $CAPSNET_OLDEST, $CAPSNET_NEWEST, or made here (5 GB)."""
    if ready := os.environ.get(f"CAPSNET_{request.param.upper()}"):
        return ready
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    made = str(folder / "bin" / "python")
    wanted = oldest() if request.param == "oldest" else bounds()
    command = [made, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--upgrade", *wanted, *CLIENT]
    if (done := subprocess.run(command, capture_output=True, text=True)).returncode:
        absent(f"the {request.param} versions cannot be installed here: {done.stderr[-300:]}")
    return made


@pytest.fixture(scope="session")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel installs, in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder), str(wheel)], check=True)
    return folder


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.name)
def test_a_chapter_runs_alone(python: str, chapter: Path, unpacked: Path, tmp_path: Path) -> None:
    shutil.copy(chapter, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}
    environment.pop("CAPSNET_DATA", None)
    command = [python, "-c", RUN, chapter.name]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
