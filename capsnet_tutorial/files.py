"""Tensors on disk: safetensors, written whole or not at all."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Write a safetensors file; ``metadata``'s values are stored as JSON.

    The file is written beside its place and moved there: whoever looks finds the old one or the new
    one, never a part.
    """
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = {key: json.dumps(value, ensure_ascii=False) for key, value in metadata.items()}
    write_whole(path, save(contiguous, metadata=text))


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file's content in one step."""
    partial = path.with_name(f".{path.name}.partial")  # always the same name: what a kill leaves, the next write takes
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException as problem:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if (
            isinstance(problem, OSError) and problem.errno and problem.filename is None
        ):  # a full disk does not say for what
            problem.filename = str(path)
        raise


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The inverse of `write_tensors`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is truncated, or no safetensors file, or not one of ours.
    """
    if not path.is_file():
        raise FileNotFoundError(f"expected a weights file at {path}; there is none")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = {key: json.loads(value) for key, value in (file.metadata() or {}).items()}
            return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
    except (SafetensorError, json.JSONDecodeError) as problem:
        raise ValueError(f"expected a whole safetensors file of this package; got {path} ({problem})") from problem
