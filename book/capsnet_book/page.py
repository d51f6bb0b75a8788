"""The book's one page of code, `my_capsnet.py`, as a module."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from capsnet_tutorial.errors import expect


@lru_cache(maxsize=1)
def my_capsnet() -> ModuleType:
    """Return `book/my_capsnet.py`, which lies beside this package in a checkout.

    Raises:
        ValueError: the package was installed without it.
    """
    path = Path(__file__).parents[1] / "my_capsnet.py"
    expect(path.is_file(), f"my_capsnet.py at {path}, as in a checkout of the book", "no such file")
    spec = importlib.util.spec_from_file_location("my_capsnet", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
