"""The set-up cells, run as in Colab: a torch that is there stays as it is, and what is missing is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import nbformat
import pytest

from .conftest import CHAPTERS, absent

RUN = ("01-try-it", "13-message-passing", "18-when-it-does-not-learn")  # the others' cells are those of the first
THERE = ("torch", "torchvision", "ipython", "pip")  # as in Colab, which has much more
SEE = """
import capsnet_tutorial, torch
network = capsnet_tutorial.load_pretrained("small")
print(capsnet_tutorial.__file__, torch.__version__, torch.__file__, sep="\\n")
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


@pytest.fixture
def colab(tmp_path: Path) -> Path:
    """An environment that sees torch and IPython of the one that runs this test, and nothing else of it."""
    there, environment = tmp_path / "there", tmp_path / "environment"
    there.mkdir()
    for name in closure(THERE):
        for file in {Path(str(file)).parts[0] for file in distribution(name).files or ()} - {"..", "__pycache__"}:
            (there / file).exists() or (there / file).symlink_to(distribution(name).locate_file(file))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (installed,) = environment.glob("lib/python*/site-packages")
    (installed / "there.pth").write_text(f"{there}\n", encoding="utf-8")
    return environment


def set_up(name: str, wheel: Path) -> str:
    """The set-up cell of a chapter, with the wheel for its project."""
    (path,) = (path for path in CHAPTERS if path.stem == name)
    cell = next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    return re.sub(r'("capsnet_tutorial": )".*"', rf'\1"{wheel}"', cell)


def test_torch_stays_and_the_package_comes(colab: Path, wheel: Path, tmp_path: Path) -> None:
    python = colab / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for chapter in RUN:
        cell = set_up(chapter, wheel)
        modules = re.findall(r'^ +"(\w+)":', cell, re.MULTILINE)
        code = f"{cell}\nimport {', '.join(modules)}\n{SEE}"
        command = [python, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", code]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        said = done.stdout + done.stderr
        if "No matching distribution" in said or "Connection" in said:
            absent(f"what the set-up cells install cannot be had here: {said[-300:]}")
        assert done.returncode == 0, said[-3000:]
        where, version, torch = done.stdout.splitlines()[-3:]
        assert where.startswith(str(colab))
        assert version.partition("+")[0] == distribution("torch").version.partition("+")[0]
        assert torch.startswith(str(tmp_path / "there"))
        assert not list(colab.glob("lib/python*/site-packages/torch/"))
