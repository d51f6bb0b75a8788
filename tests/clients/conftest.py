"""What all clients look at: the built book, the chapters, and the packages as installed.

A client that is not on this machine is skipped, and the summary says what to install; in CI it
fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.conftest import addresses, book, chromium, playwright, visit
from tools.refresh_notebooks import all_notebooks

__all__ = ["addresses", "book", "chromium", "playwright", "visit"]  # fixtures

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = [path for path in all_notebooks(ROOT) if path.parent.name == "chapters"]
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.nightly)
            # Fresh environments, and whole books in them, take their time.
            item.add_marker(pytest.mark.timeout(3600))


def absent(why: str) -> None:
    """Skip what cannot be tried here, or fail where all must be."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The module's wheel and the book's."""
    folder = tmp_path_factory.mktemp("wheels")
    places = (str(ROOT), str(ROOT / "book"))
    subprocess.run(
        [sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", str(folder), *places],
        check=True,
    )
    return [next(folder.glob(f"{name}*.whl")) for name in ("capsnet_tutorial", "capsnet_book")]
