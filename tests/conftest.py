"""What the tests share: one hypothesis profile, MNIST where it is, a network that refuses."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
    """The folder with MNIST's original files, for the tests that need them."""
    return mnist_folder(os.environ)


def mnist_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder that CAPSNET_DATA names; without one skip the test.

    Where CAPSNET_REQUIRE_MNIST is set, as in CI, fail it: nobody reads what was skipped there.
    """
    folder = environment.get("CAPSNET_DATA")
    if folder:
        return Path(folder)
    reason = "needs MNIST: set CAPSNET_DATA to a folder that holds MNIST/raw"
    if environment.get("CAPSNET_REQUIRE_MNIST"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every download of MNIST fail."""

    def refuse(*_: object, **__: object) -> None:
        raise URLError("no network in this test")

    monkeypatch.setattr("torchvision.datasets.mnist.download_and_extract_archive", refuse)
