"""The reader's own functions: a chapter keeps those that its check accepts; chapter 9 runs on them.

They are kept as text, in a file beside the notebooks that the reader can open, mend or delete. It
is the reader's own code, and is run as such.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

import capsnet_tutorial
from capsnet_check import CHECKERS, Report, check_margin_loss, check_primary_capsules
from capsnet_tutorial import functional

FILE = Path("my_functions.py")
"""In the notebook's folder."""

PIECES: dict[str, Callable[[Any], Report]] = {
    "squash": CHECKERS["squash"],
    "group": partial(check_primary_capsules, strict=True),
    "route": CHECKERS["routing"],
    "margin_loss": lambda loss: check_margin_loss(
        lambda lengths, labels: loss(lengths, nn.functional.one_hot(labels, lengths.shape[1]))
    ),
    "mask_capsules": CHECKERS["mask"],
}
"""The checkers by the name of the function that a chapter asks for."""


def keep_mine(report: Report, function: Any) -> Report:
    """Keep the text of the reader's function if its check says right; return the report."""
    if report:
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):  # no text, since it was not written in a cell
            return report
        sources = {**_sources(), function.__name__: source}
        FILE.write_text("\n\n".join(sources.values()), encoding="utf-8")
    return report


def kept_functions() -> dict[str, Callable[..., Any]]:
    """Return the kept functions that still pass their check, by name; none if there is no file."""
    sources = _sources()
    names = _names()
    for name, source in sources.items():
        file = f"<{FILE} {name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), names)
    return {
        name: names[name]
        for name, check in PIECES.items()
        if name in sources and check(names[name])
    }


def _sources() -> dict[str, str]:
    """Return the text of each kept function by its name; none where the file cannot be read."""
    if not FILE.is_file():
        return {}
    text = FILE.read_text(encoding="utf-8")
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: f"{ast.get_source_segment(text, node)}\n" for node in functions}


def _names() -> dict[str, Any]:
    """Return the names that the chapters' functions may use."""
    return {
        **vars(capsnet_tutorial),
        "__name__": "my_functions",
        "F": nn.functional,
        "agreement": lambda u_hat, v: torch.einsum("bije,bje->bij", u_hat, v),
        "functional": functional,
        "math": math,
        "nn": nn,
        "torch": torch,
    }
