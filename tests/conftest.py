"""What the tests share: one hypothesis profile, a few digits, MNIST where it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every machine and in every run: a red test is red for everybody.
settings.register_profile("reproducible", deadline=None, derandomize=True, database=None, max_examples=30)
settings.load_profile("reproducible")


@pytest.fixture(scope="session")
def mnist() -> Path:
    """A folder with MNIST's original files, for the tests that need them."""
    folder = os.environ.get("CAPSNET_DATA")
    if not folder:
        pytest.skip("needs MNIST: set CAPSNET_DATA to a folder that holds MNIST/raw")
    return Path(folder)
