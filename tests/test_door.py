"""What an import brings along. The order of the floors is a contract in pyproject.toml."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import capsnet_tutorial

ROOT = Path(capsnet_tutorial.__file__).parent.parent


def loaded_by(code: str) -> set[str]:
    """Modules that a fresh process has loaded when it is done."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "book"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", f"{code}\nimport sys\nprint('loaded', *sys.modules)"]
    done = subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True)
    return set(done.stdout.rpartition("loaded ")[2].split())


def test_the_module_brings_no_jupyter_and_no_plots():
    network = "capsnet_tutorial.load_pretrained()(torch.rand(2, 1, 28, 28))"
    loaded = loaded_by(f"import torch, capsnet_tutorial, capsnet_tutorial.train\n{network}")
    assert not loaded & {"IPython", "ipywidgets", "matplotlib", "scipy", "accelerate"}


def test_the_pages_are_built_and_widgets_imported_without_torch():
    assert "torch" not in loaded_by("import capsnet_book.palette, capsnet_book.assets, capsnet_book.widgets")
