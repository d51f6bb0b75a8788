"""What all clients look at: the built book, the notebooks, and the wheel.

`make clients` runs these; `make test` does not, since they take a quarter of an hour and two more environments. A
client that is not on this machine is skipped, and the summary says what to install; with CAPSNET_ALL_CLIENTS=1 (the
nightly workflow) it fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from refresh_notebooks import all_notebooks

from tests.browser.conftest import addresses, book, chromium, visit

__all__ = ["addresses", "book", "chromium", "visit"]  # fixtures

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = all_notebooks(ROOT)
CHAPTERS = [path for path in NOTEBOOKS if path.parent.name == "chapters"]


def absent(why: str) -> None:
    """Skip what cannot be tried here, or fail where all must be."""
    if os.environ.get("CAPSNET_ALL_CLIENTS"):
        pytest.fail(why)
    pytest.skip(why)


def short(path: Path) -> str:
    """A notebook's name in a test's."""
    return f"{path.parent.name}/{path.stem}"


@pytest.fixture(scope="session")
def pages(addresses: dict[str, str]) -> str:
    """Where the built book is served."""
    return f"{addresses['http']}book/"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is published."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))
