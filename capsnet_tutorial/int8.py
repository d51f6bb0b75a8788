"""Weights in eight bits a number, half of what float16 takes: for networks that travel to a page.

A tensor of two axes or more becomes whole numbers from -127 to 127, and beside it one scale for each row along the
first axis: the row is whole numbers × scale, off by at most half a scale. `int8.js` reads the same in the page.
"""

from __future__ import annotations

import torch
from torch import Tensor

from capsnet_tutorial.errors import expect

SCALE = ".scale"
"""Ends the name of the tensor that holds the scales of another."""
_LARGEST = 127


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
