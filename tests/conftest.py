"""What the tests share: one hypothesis profile, MNIST where it is, no network where it must not be."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.error import URLError

import pytest
from hypothesis import settings

# The same examples on every machine and in every run: a red test is red for everybody.
settings.register_profile(
    "reproducible", deadline=None, derandomize=True, database=None, max_examples=30
)
settings.load_profile("reproducible")


@pytest.fixture(scope="session")
def mnist() -> Path:
    """A folder with MNIST's original files, for the tests that need them."""
    folder = os.environ.get("CAPSNET_DATA")
    if not folder:
        pytest.skip("needs MNIST: set CAPSNET_DATA to a folder that holds MNIST/raw")
    return Path(folder)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No mirror answers."""

    def refuse(*_: object, **__: object) -> None:
        raise URLError("no network in this test")

    monkeypatch.setattr("torchvision.datasets.mnist.download_and_extract_archive", refuse)
