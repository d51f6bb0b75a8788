"""The packages, installed: a set-up cell as in Colab, and every chapter with the oldest and the newest versions."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import nbformat
import pytest

from .conftest import CHAPTERS, PIP, ROOT, absent

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
COLAB = (
    "torch",
    "torchvision",
    "ipython",
    "pip",
)  # what is there before a set-up cell runs; Colab has much more
SEE = """
import capsnet_book, capsnet_tutorial, torch
capsnet_tutorial.load_pretrained("small")
print(capsnet_book.__file__, capsnet_tutorial.__file__, torch.__file__, sep="\\n")
"""


def closure(names: tuple[str, ...]) -> set[str]:
    """Packages that are here, with all that they need."""
    found, left = set(), list(names)
    while left:
        name = re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", left.pop().strip())[0]).lower()
        try:
            needs = [] if name in found else distribution(name).requires or []
        except PackageNotFoundError:  # for another system
            continue
        found.add(name)
        left += [need for need in needs if "extra ==" not in need]
    return found


def test_a_set_up_cell_installs_both_packages_and_leaves_torch_alone(
    wheels: list[Path], tmp_path: Path
) -> None:
    there, environment = tmp_path / "there", tmp_path / "environment"
    there.mkdir()
    for name in closure(COLAB):
        for file in {Path(str(file)).parts[0] for file in distribution(name).files or ()} - {
            "..",
            "__pycache__",
        }:
            (there / file).exists() or (there / file).symlink_to(
                distribution(name).locate_file(file)
            )
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (installed,) = environment.glob("lib/python*/site-packages")
    (installed / "there.pth").write_text(f"{there}\n", encoding="utf-8")
    cell = next(
        cell.source
        for cell in nbformat.read(CHAPTERS[0], as_version=4).cells
        if cell.cell_type == "code"
    )
    for module, wheel in zip(("capsnet_tutorial", "capsnet_book"), wheels, strict=True):
        cell = re.sub(rf'("{module}": )".*"', rf'\1"{wheel}"', cell)
    command = [
        environment / "bin" / "python",
        "-m",
        "IPython",
        "--no-banner",
        "--colors=NoColor",
        "-c",
        cell + SEE,
    ]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    if "No matching distribution" in said or "Connection" in said:
        absent(f"what the set-up cells install cannot be had here: {said[-300:]}")
    assert done.returncode == 0, said[-3000:]
    book, module, torch = done.stdout.splitlines()[-3:]
    assert book.startswith(str(environment)) and module.startswith(str(environment))
    assert torch.startswith(str(there))
    assert not list(installed.glob("torch"))


def bounds() -> list[str]:
    """What both packages ask for, with all extras."""
    found = []
    for place in (ROOT, ROOT / "book"):
        project = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = project.get("optional-dependencies", {}).values()
        found += [*project["dependencies"], *(bound for extra in extras for bound in extra)]
    return found


@pytest.fixture(scope="module", params=["oldest", "newest"])
def python(
    request: pytest.FixtureRequest, wheels: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An environment with the packages, and with the oldest versions that they allow, or the newest (5 GB for both)."""
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    made = folder / "bin" / "python"
    oldest = [re.sub(r"^([\w-]+)>=([\d.]+).*", r"\1==\2.*", bound) for bound in bounds()]
    wanted = oldest if request.param == "oldest" else bounds()
    command = [made, *PIP, "install", "--upgrade", *wanted, *CLIENT]
    if (done := subprocess.run(command, capture_output=True, text=True, check=False)).returncode:
        absent(f"the {request.param} versions cannot be installed here: {done.stderr[-300:]}")
    subprocess.run([made, *PIP, "install", "--no-deps", *wheels], check=True)
    return made


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_runs_alone(python: Path, chapter: Path, tmp_path: Path) -> None:
    shutil.copy(chapter, tmp_path)
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in ("CAPSNET_DATA", "PYTHONPATH")
    }
    command = [python, "-c", RUN, chapter.name]
    done = subprocess.run(
        command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
