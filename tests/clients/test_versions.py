"""The packages, installed: a set-up cell as in Colab, chapters with oldest and newest versions."""

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

RUN_NOTEBOOK = Path(__file__).with_name("run_notebook.py")
CLIENT = ("nbclient", "ipykernel", "nbformat")
COLAB = ("torch", "torchvision", "ipython", "pip")
"""Packages that are there before a set-up cell runs; Colab has many more."""
PRINT_PLACES = """
import capsnet_book, capsnet_tutorial, torch
capsnet_tutorial.load_pretrained("small")
print(capsnet_book.__file__, capsnet_tutorial.__file__, torch.__file__, sep="\\n")
"""


def closure(names: tuple[str, ...]) -> set[str]:
    """Return installed packages with all that they need."""
    packages: set[str] = set()
    left = list(names)
    while left:
        requirement = left.pop().strip()
        name = re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()
        if name in packages:
            continue
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:  # for another system
            continue
        packages.add(name)
        left += [need for need in needs if "extra ==" not in need]
    return packages


def link_packages(names: set[str], folder: Path) -> None:
    """Link the files of installed packages into a folder."""
    for name in names:
        files = distribution(name).files or ()
        top = {Path(str(file)).parts[0] for file in files} - {"..", "__pycache__"}
        for part in top:
            link = folder / part
            if not link.exists():
                link.symlink_to(distribution(name).locate_file(part))


def set_up_cell(wheels: list[Path]) -> str:
    """Return a chapter's set-up cell; it installs these wheels in place of folders."""
    cells = nbformat.read(CHAPTERS[0], as_version=4).cells
    source = next(cell.source for cell in cells if cell.cell_type == "code")
    for module, wheel in zip(("capsnet_tutorial", "capsnet_book"), wheels, strict=True):
        source = re.sub(rf'("{module}": )".*"', rf'\1"{wheel}"', source)
    return source


def without(*names: str) -> dict[str, str]:
    """Return the environment's variables less these."""
    return {name: value for name, value in os.environ.items() if name not in names}


def test_a_set_up_cell_installs_both_packages_and_leaves_torch_alone(
    wheels: list[Path], tmp_path: Path
) -> None:
    packages = tmp_path / "there"
    packages.mkdir()
    link_packages(closure(COLAB), packages)
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (installed,) = environment.glob("lib/python*/site-packages")
    (installed / "there.pth").write_text(f"{packages}\n", encoding="utf-8")
    python = environment / "bin" / "python"
    code = set_up_cell(wheels) + PRINT_PLACES
    run = subprocess.run(
        [python, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", code],
        cwd=tmp_path,
        env=without("PYTHONPATH"),
        capture_output=True,
        text=True,
        check=False,
    )
    output = run.stdout + run.stderr
    if "No matching distribution" in output or "Connection" in output:
        absent(f"what the set-up cells install cannot be had here: {output[-300:]}")
    assert run.returncode == 0, output[-3000:]
    book, module, torch = run.stdout.splitlines()[-3:]
    assert book.startswith(str(environment))
    assert module.startswith(str(environment))
    assert torch.startswith(str(packages))
    assert not list(installed.glob("torch"))


def bounds() -> list[str]:
    """Return what both packages ask for, with all extras."""
    requirements: list[str] = []
    for place in (ROOT, ROOT / "book"):
        project = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        requirements += project["dependencies"]
        for extra in project.get("optional-dependencies", {}).values():
            requirements += extra
    return requirements


def oldest_bounds() -> list[str]:
    """Return the requirements as the oldest versions that they allow."""
    return [re.sub(r"^([\w-]+)>=([\d.]+).*", r"\1==\2.*", bound) for bound in bounds()]


@pytest.fixture(scope="module", params=["oldest", "newest"])
def python(
    request: pytest.FixtureRequest, wheels: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Make an environment with the packages and the oldest or the newest versions of the rest.

    Both together take 5 GB.
    """
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    versions = oldest_bounds() if request.param == "oldest" else bounds()
    command = [python, *PIP, "install", "--upgrade", *versions, *CLIENT]
    installation = subprocess.run(command, capture_output=True, text=True, check=False)
    if installation.returncode:
        reason = installation.stderr[-300:]
        absent(f"the {request.param} versions cannot be installed here: {reason}")
    subprocess.run([python, *PIP, "install", "--no-deps", *wheels], check=True)
    return python


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_runs_alone(python: Path, chapter: Path, tmp_path: Path) -> None:
    shutil.copy(chapter, tmp_path)
    run = subprocess.run(
        [python, RUN_NOTEBOOK, chapter.name],
        cwd=tmp_path,
        env=without("CAPSNET_DATA", "PYTHONPATH"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
