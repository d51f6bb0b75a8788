"""A function out of a file that is named on the command line."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from capsnet_tutorial.check.whole import CHECKERS
from capsnet_tutorial.errors import expect

_WORDS = {
    "squash": r"squash",
    "primary_capsules": r"primary|group",
    "routing": r"rout|agreement",
    "margin_loss": r"margin",
    "mask": r"mask",
    "reconstruction_loss": r"recon|decod",
}


def load(place: str) -> Any:
    """What ``path/to/file.py:name`` names; a module's class is made without arguments. The file is run.

    Raises:
        ValueError: no such file, no such name, or a file that cannot be run; the message says which.
    """
    path_text, colon, name = place.rpartition(":")
    expect(bool(colon and path_text and name), "path/to/file.py:function", repr(place))
    path = Path(path_text)
    expect(path.is_file(), f"a Python file before the colon in {place}", f"no file {path}")
    spec = importlib.util.spec_from_file_location(f"_checked_{path.stem}", path)
    expect(spec is not None and spec.loader is not None, "a file whose name ends in .py", path.name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))  # it may import what lies beside it
    try:
        spec.loader.exec_module(module)
        found: Any = module
        for part in name.split("."):
            expect(hasattr(found, part), f"something named {name} in {path}", f"only {_names(module)}")
            found = getattr(found, part)
        return found() if inspect.isclass(found) else found
    except (Exception, SystemExit) as problem:  # a file that exits says nothing about its function
        if isinstance(problem, ValueError) and str(problem).startswith("expected"):
            raise
        raise ValueError(f"{path} cannot be used: {type(problem).__name__}: {problem}") from problem
    finally:
        sys.path.pop(0)


def piece_of(name: str) -> str:
    """Which piece a function is, by its name.

    Raises:
        ValueError: its name does not say.
    """
    fitting = [piece for piece, words in _WORDS.items() if re.search(words, name, re.IGNORECASE)]
    expect(
        len(fitting) == 1,
        f"a name that says which piece {name} is, or --as with one of {', '.join(CHECKERS)}",
        f"{' and '.join(fitting) or 'nothing'} from its name",
    )
    return fitting[0]


def _names(module: Any) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    ]
    return ", ".join(own) or "no function"
