"""Tensors on disk: safetensors files written whole or not at all, and weights in eight bits a number.

In eight bits, for networks that travel to a page, a tensor of two axes or more becomes whole numbers from -127 to 127
with one scale for each row along the first axis: the row is whole numbers × scale, off by at most half a scale.
`widgets/shared/int8.js` reads the same in the page.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from capsnet_tutorial.errors import expect

SCALE = ".scale"
"""Ends the name of the tensor that holds the scales of another."""
_LARGEST = 127


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


def pack(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Floats by name -> int8 [N, ...] with float32 scales [N] beside it; float16 where there is one axis only.

    Raises:
        ValueError: a number that is nan or infinite, of which whole numbers could not tell.
    """
    packed = {}
    for name, tensor in tensors.items():
        expect(bool(tensor.isfinite().all()), f"finite numbers in {name}", "nan or infinity")
        if tensor.dim() < 2:
            packed[name] = tensor.half()
            continue
        rows = tensor.float().flatten(1)
        largest = rows.abs().amax(dim=1)
        scale = torch.where(largest > 0, largest, 1) / _LARGEST  # [N], a row of zeros has any
        packed[name] = (rows / scale[:, None]).round().to(torch.int8).view(tensor.shape)
        packed[name + SCALE] = scale
    return packed


def unpack(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The inverse of `pack`, up to rounding; tensors that are not int8 come back as they are.

    Raises:
        ValueError: an int8 tensor without a float32 scale for each of its rows.
    """
    whole = {name for name, tensor in tensors.items() if tensor.dtype == torch.int8}
    unpacked = {name: tensor for name, tensor in tensors.items() if name.removesuffix(SCALE) not in whole}
    for name in sorted(whole):
        rows, scale = tensors[name], tensors.get(name + SCALE)
        fits = scale is not None and scale.dtype == torch.float32 and scale.shape == rows.shape[:1]
        came = "none" if scale is None else f"{scale.dtype} {list(scale.shape)}"
        expect(fits, f"float32 scales {list(rows.shape[:1])} beside {name} {list(rows.shape)}", came)
        assert scale is not None
        unpacked[name] = rows * scale.view(-1, *[1] * (rows.dim() - 1))
    return unpacked
