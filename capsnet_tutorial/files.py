"""Files: written whole or not at all, by one process at a time; JSON and tensors."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from capsnet_tutorial.errors import InputError


def write_whole(path: str | Path, content: bytes) -> None:
    """Replace a file atomically: readers see the old content or the new one, never a part.

    Raises:
        OSError: it cannot be written; the old content is untouched.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException as problem:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(problem, OSError) and problem.errno and problem.filename is None:
            problem.filename = str(path)  # the error of a full disk names no file
        raise


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Lock a file's folder for this process, and delete stale partial files of killed ones.

    The lock ends with the process, however it ends.

    Raises:
        ValueError: another process has locked the folder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(path.parent / ".lock").acquire(blocking=False)
    except Timeout as problem:
        wanted = "a folder that no other run writes to"
        raise InputError(f"expected {wanted}; got {path.parent}, where one is at work") from problem
    with lock:
        for partial in path.parent.glob(f".{path.name}.*.partial"):
            partial.unlink()
        yield


# --- JSON


def write_json(path: str | Path, value: dict[str, Any]) -> None:
    """Write JSON for people and programs, whole or not at all.

    A list of plain values is one line, and so is an object of plain values in a list.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    plain_values = r'(?:"[^"]*"|[^][{}"])*'  # strings, and anything without brackets
    plain_list = rf"\[{plain_values}\]"
    plain_object_in_list = rf"(?<=  )\{{{plain_values}\}}"  # behind an indent, not behind a key
    text = re.sub(f"{plain_list}|{plain_object_in_list}", _in_one_line, text)
    write_whole(path, text.encode())


def _in_one_line(lines: re.Match[str]) -> str:
    """Return lines joined: a line's end and the next indent become a space after a comma."""
    return re.sub(r"(,?)\n\s*", lambda end: "" if not end[1] else ", ", lines[0])


# --- tensors


def write_tensors(path: str | Path, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Write a safetensors file, whole or not at all; the metadata's values are stored as JSON."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = {key: json.dumps(value, ensure_ascii=False) for key, value in metadata.items()}
    write_whole(path, save(contiguous, metadata=text))


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the metadata of a file: the inverse of `write_tensors`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is truncated, no safetensors file, or has another program's metadata.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"expected a weights file at {path}; there is none. The module's own is called small"
        )
    metadata: dict[str, str] = {}
    try:
        with safe_open(path, framework="pt") as file:
            names = file.keys()  # the file itself cannot be iterated over
            tensors = {name: file.get_tensor(name) for name in names}
            metadata = file.metadata() or {}
        return tensors, {key: json.loads(value) for key, value in metadata.items()}
    except SafetensorError as problem:
        raise InputError(f"expected a whole safetensors file; got {path} ({problem})") from problem
    # Text that is no JSON; or JSON with a number of thousands of digits, or thousands of brackets.
    except (ValueError, RecursionError) as problem:
        wanted = f"metadata of this package in {path}, which are JSON, or none"
        raise InputError(f"expected {wanted}; got {metadata!s:.80} ({problem})") from problem
