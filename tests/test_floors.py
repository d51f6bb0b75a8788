"""The house has floors: a file imports only from those below it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import capsnet_tutorial

PACKAGE = Path(capsnet_tutorial.__file__).parent

# From the ground up. What stands on a line may import what stands on the lines before.
FLOORS = (
    "errors",
    "palette",
    "allocator",
    "implicit",
    "functional",
    "attention",
    "message_passing",
    "bugs",
    "layers",
    "model",
    "check",
    "objective",
    "baseline",
    "planted",
    "changes",
    "files",
    "int8",
    "pretrained",
    "augmentation",
    "data",
    "pairs",
    "affine",
    "recipe",
    "processes",
    "run",
    "training",
    "rounds",
    "tasks",
    "results",
    "experiments",
    "tables",
    "recording",
    "poses",
    "figures",
    "widgets",
    "cli",
)


def floor(path: Path) -> str:
    """The module of a file; a folder's files share its floor."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def sources() -> list[Path]:
    """Every file but the door: the package's own __init__ only says where things are."""
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imported(source: str) -> Iterator[str]:
    """The modules of this package that a file names in an import, anywhere in it."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import hides its floor"
            if node.module == "capsnet_tutorial":
                names = [f"capsnet_tutorial.{alias.name}" for alias in node.names]
            else:
                names = [node.module or ""]
        for name in names:
            if name.startswith("capsnet_tutorial."):
                yield name.split(".")[1]
            assert name != "capsnet_tutorial", f"line {node.lineno}: import from the module that holds it"


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_file_imports_only_from_floors_below(path):
    own = floor(path)
    assert own in FLOORS, f"{own} has no floor: add it to FLOORS"
    for name in imported(path.read_text(encoding="utf-8")):
        assert name in FLOORS, f"{own} imports {name}, which is no module of the house"
        assert name == own or FLOORS.index(name) < FLOORS.index(own), f"{own} imports {name}, which is above it"


def test_a_step_upwards_would_be_seen():
    assert list(imported("from capsnet_tutorial.model import CapsNet")) == ["model"]
    assert list(imported("def f():\n    import capsnet_tutorial.widgets.ui")) == ["widgets"]
    assert list(imported("from capsnet_tutorial import cli, data")) == ["cli", "data"]
    assert not list(imported("import torch\nfrom torch import nn"))
    with pytest.raises(AssertionError, match="relative"):
        list(imported("from . import model"))


def test_the_door_opens_without_torch():
    code = "import sys, capsnet_tutorial, capsnet_tutorial.palette; sys.exit('torch' in sys.modules)"
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": path})


def test_every_public_name_is_behind_the_door():
    for name in capsnet_tutorial.__all__:
        assert getattr(capsnet_tutorial, name).__name__ == name
        assert name in dir(capsnet_tutorial)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = capsnet_tutorial.Nothing
