"""The door of the house: what an import brings along. The order of the floors is a contract in pyproject.toml."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import capsnet_tutorial

PACKAGE = Path(capsnet_tutorial.__file__).parent


def test_the_door_opens_without_torch():
    code = "import sys, capsnet_tutorial, capsnet_book.palette; sys.exit('torch' in sys.modules)"
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": path})


def test_loading_the_small_network_and_running_it_imports_no_laboratory():
    rooms = "bugs", "check", "cli", "experiments", "figures", "routings", "training", "widgets"
    laboratory = tuple(f"capsnet_tutorial.{room}" for room in rooms)
    code = f"""
import sys, torch, capsnet_tutorial
network = capsnet_tutorial.load_pretrained("small")
network(torch.rand(2, 1, 28, 28))
print(*(name for name in sys.modules if name.startswith({laboratory})))
"""
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert loaded.stdout.split() == []


def test_every_public_name_is_behind_the_door():
    for name in capsnet_tutorial.__all__:
        assert getattr(capsnet_tutorial, name).__name__ == name
        assert name in dir(capsnet_tutorial)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = capsnet_tutorial.Nothing
