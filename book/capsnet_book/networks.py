"""The book's trained networks: CapsNets of the book's own parts, and convolutional networks.

A network may be stored in eight bits a number, to travel to a page: a tensor of two axes or more
becomes whole numbers from -127 to 127 with one scale for each row along the first axis. The row is
whole numbers × scale, off by at most half a scale. `widgets/shared/core.js` reads the same format.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, overload

import torch
from torch import Tensor

from capsnet_book.assets import asset
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig
from capsnet_tutorial.errors import InputError, expect
from capsnet_tutorial.files import read_tensors, write_tensors
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts
from capsnet_tutorial.weights import filled, sizes_in

TRAINED = (
    "small",
    "chapter-9",
    "small-shifted",
    "small-turned",
    "small-cnn",
    "small-pairs",
    "animals",
    "paper",
)
"""Names of the trained networks."""

SCALE = ".scale"
"""The ending of the name of a tensor that holds the scales of another."""


@overload
def trained_network(name: Literal["small-cnn"]) -> ConvNet: ...
@overload
def trained_network(name: Literal["small", "small-shifted", "small-pairs", "paper"]) -> CapsNet: ...
@overload
def trained_network(name: str) -> CapsNet | ConvNet: ...
def trained_network(name: str) -> CapsNet | ConvNet:
    """Load a network that the book trained, in eval mode, float32.

    Its card is beside its weights, NAME.md.

    "small": the module's own, which is `capsnet_tutorial.load_pretrained("small")`.
    "chapter-9": the same sizes, trained by the lines of the chapter on training, on the sample.
    "small-shifted": the same sizes, trained for less long, on all 60,000 digits, shifted but never
        turned or bent.
    "small-turned": the same sizes, trained briefly, on digits turned by up to 45 degrees; its
        decoder is not trained.
    "small-cnn": a CNN with as many parameters, trained like that.
    "small-pairs": for two overlapping digits on 36×36 pixels (`capsnet_book.experiments.pairs`).
    "animals": for twelve animals in colour (`capsnet_book.experiments.animals`).
    "paper": the paper's network, 8,215,568 parameters, trained on all 60,000 digits, shifted.

    Raises:
        FileNotFoundError: "paper", where the book is installed without a checkout: its 8 MB are in
            the checkout only.
    """
    expect(name in TRAINED, f"a trained network, one of {', '.join(TRAINED)}", repr(name))
    try:
        return load_network(asset(f"weights/{name}.safetensors"))
    except FileNotFoundError as problem:
        raise FileNotFoundError(
            f"expected the weights {name!r}, which a checkout of the project has; "
            "this installation came without them"
        ) from problem


def load_network(path: str | Path, parts: Parts | None = None) -> CapsNet | ConvNet:
    """Load a network from a file of `save_network`, in eval mode, float32.

    Args:
        path: of the file.
        parts: of a CapsNet, if they are not the paper's.

    Raises:
        FileNotFoundError, ValueError: as `capsnet_tutorial.load_weights`.
    """
    packed, about = read_tensors(path)

    def make() -> CapsNet | ConvNet:
        if about.get("network") == "cnn":
            return ConvNet(sizes_in(about.get("config"), ConvNetConfig, path))
        sizes = sizes_in(about.get("config"), CapsNetConfig, path)
        network = CapsNet(sizes, deepcopy(parts))  # two networks share no part
        names = about.get("parts", {})
        expected = f"parts named {names}, as in {path}"
        expect(network.parts.names == names, expected, f"{network.parts.names}")
        return network

    return filled(make, unpack(packed), path)


def save_network(
    network: CapsNet | ConvNet, path: str | Path, dtype: torch.dtype = torch.float16
) -> None:
    """Write a network's weights, sizes, kind and the names of its parts.

    In `torch.int8` the weights have eight bits a number.
    """
    about: dict[str, Any] = {"config": asdict(network.config)}
    if isinstance(network, CapsNet):
        about["parts"] = network.parts.names
    else:
        about["network"] = "cnn"
    write_tensors(path, pack(network.state_dict(), dtype), about)


# --- eight bits a number


def pack(tensors: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """Convert floats by name to another precision; in `torch.int8` add float32 scales [N].

    In int8 a tensor of one axis is float16. Whole numbers stay as they are.

    Raises:
        ValueError: a number is nan or infinite, for which there is no whole number.
    """
    packed = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            packed[name] = tensor
        elif dtype != torch.int8:
            packed[name] = tensor.to(dtype)
        else:
            expect(bool(tensor.isfinite().all()), f"finite numbers in {name}", "nan or infinity")
            if tensor.dim() < 2:
                packed[name] = tensor.half()
            else:
                packed[name], packed[name + SCALE] = _to_int8(tensor)
    return packed


def _to_int8(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Return a tensor [N, …] as int8, and the scale of each of its rows, float32 [N]."""
    rows = tensor.float().flatten(1)
    largest = rows.abs().amax(dim=1)
    scale = torch.where(largest > 0, largest, 1) / 127  # a row of zeros may have any
    whole = (rows / scale[:, None]).round().to(torch.int8)
    return whole.view(tensor.shape), scale


def unpack(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Invert `pack`, up to rounding; tensors that are not int8 come back as they are.

    Raises:
        ValueError: an int8 tensor without a float32 scale for each of its rows.
    """
    packed_names = {name for name, tensor in tensors.items() if tensor.dtype == torch.int8}
    unpacked = {}
    for name, tensor in tensors.items():
        if name.removesuffix(SCALE) not in packed_names:
            unpacked[name] = tensor
    for name in sorted(packed_names):
        rows = tensors[name]
        scale = _scale_of(rows, name, tensors.get(name + SCALE))
        unpacked[name] = rows * scale.view(-1, *[1] * (rows.dim() - 1))
    return unpacked


def _scale_of(rows: Tensor, name: str, scale: Tensor | None) -> Tensor:
    """Return a tensor's scale, or raise `InputError` unless it has one float32 for each row."""
    expected = f"float32 scales {list(rows.shape[:1])} beside {name} {list(rows.shape)}"
    if scale is None:
        raise InputError(f"expected {expected}; got none")
    is_right = scale.dtype == torch.float32 and scale.shape == rows.shape[:1]
    expect(is_right, expected, f"{scale.dtype} {list(scale.shape)}")
    return scale
