"""The book's trained networks and its loader: CapsNets of the book's own parts, and convolutional networks.

A network may be stored in eight bits a number, to travel to a page: a tensor of two axes or more becomes whole numbers
from -127 to 127 with one scale for each row along the first axis. The row is whole numbers × scale, off by at most half
a scale. `widgets/shared/core.js` reads the same.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Literal, overload

import torch
from torch import Tensor

from capsnet_book.assets import asset
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig
from capsnet_tutorial.errors import expect
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
    "paper",
)
"""Names that `trained_network` knows."""

SCALE = ".scale"
"""Ends the name of the tensor that holds the scales of another."""


@overload
def trained_network(name: Literal["small-cnn"]) -> ConvNet: ...
@overload
def trained_network(name: Literal["small", "small-shifted", "small-pairs", "paper"]) -> CapsNet: ...
@overload
def trained_network(name: str) -> CapsNet | ConvNet: ...
def trained_network(name: str) -> CapsNet | ConvNet:
    """A network that the book trained, in eval mode, float32. Its card is beside its weights, NAME.md.

    "small": the module's own, which is `capsnet_tutorial.load_pretrained("small")`.
    "chapter-9": the same sizes, trained by the lines of chapter 9, on the sample alone.
    "small-shifted": the same sizes, trained for less long, on all 60,000 digits, shifted but never turned or bent.
    "small-turned": the same sizes, trained briefly, on digits turned by up to 45 degrees; its decoder draws nothing.
    "small-cnn": a CNN with as many parameters, trained like that.
    "small-pairs": for two overlapping digits on 36×36 pixels (see `capsnet_book.experiments.pairs`).
    "paper": the paper's network, 8,215,568 parameters, trained on all 60,000 digits, shifted.

    Raises:
        FileNotFoundError: "paper", where the book is installed without a checkout: its 8 MB are in the checkout only.
    """
    expect(name in TRAINED, f"a trained network, one of {', '.join(TRAINED)}", repr(name))
    try:
        return load_network(asset(f"weights/{name}.safetensors"))
    except FileNotFoundError as problem:
        raise FileNotFoundError(
            f"expected the weights {name!r}, which a checkout of the project has; this installation came without them"
        ) from problem


def load_network(path: str | Path, parts: Parts | None = None) -> CapsNet | ConvNet:
    """The network in a file that `save_network` wrote, in eval mode, float32.

    Args:
        path: of the file.
        parts: what a CapsNet was made of, if not of the paper's parts.

    Raises:
        FileNotFoundError, ValueError: as `capsnet_tutorial.load_weights`.
    """
    packed, about = read_tensors(path)

    def make() -> CapsNet | ConvNet:
        if about.get("network") == "cnn":
            return ConvNet(sizes_in(about.get("config"), ConvNetConfig, path))
        network, names = (
            CapsNet(sizes_in(about.get("config"), CapsNetConfig, path), parts),
            about.get("parts", {}),
        )
        expect(
            network.parts.names == names,
            f"parts named {names}, as in {path}",
            f"{network.parts.names}",
        )
        return network

    return filled(make, unpack(packed), path)


def save_network(
    network: CapsNet | ConvNet, path: str | Path, dtype: torch.dtype = torch.float16
) -> None:
    """Write a network's weights, sizes, kind and the names of its parts; in `torch.int8`, eight bits a number."""
    about = {"parts": network.parts.names} if isinstance(network, CapsNet) else {"network": "cnn"}
    write_tensors(
        path, pack(network.state_dict(), dtype), {"config": asdict(network.config), **about}
    )


# --- eight bits a number


def pack(tensors: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """Floats by name in another precision; in `torch.int8`: [N, ...] with float32 scales [N] beside it.

    What has one axis only is float16 there. Whole numbers stay as they are.

    Raises:
        ValueError: a number that is nan or infinite, of which whole numbers could not tell.
    """
    packed = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            packed[name] = tensor
        elif dtype != torch.int8:
            packed[name] = tensor.to(dtype)
        else:
            expect(bool(tensor.isfinite().all()), f"finite numbers in {name}", "nan or infinity")
            packed |= _rows(name, tensor) if tensor.dim() >= 2 else {name: tensor.half()}
    return packed


def _rows(name: str, tensor: Tensor) -> dict[str, Tensor]:
    rows = tensor.float().flatten(1)
    largest = rows.abs().amax(dim=1)
    scale = torch.where(largest > 0, largest, 1) / 127  # [N], a row of zeros has any
    return {
        name: (rows / scale[:, None]).round().to(torch.int8).view(tensor.shape),
        name + SCALE: scale,
    }


def unpack(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The inverse of `pack`, up to rounding; tensors that are not int8 come back as they are.

    Raises:
        ValueError: an int8 tensor without a float32 scale for each of its rows.
    """
    whole = {name for name, tensor in tensors.items() if tensor.dtype == torch.int8}
    unpacked = {
        name: tensor for name, tensor in tensors.items() if name.removesuffix(SCALE) not in whole
    }
    for name in sorted(whole):
        rows, scale = tensors[name], tensors.get(name + SCALE)
        fits = scale is not None and scale.dtype == torch.float32 and scale.shape == rows.shape[:1]
        came = "none" if scale is None else f"{scale.dtype} {list(scale.shape)}"
        expect(
            fits, f"float32 scales {list(rows.shape[:1])} beside {name} {list(rows.shape)}", came
        )
        assert scale is not None
        unpacked[name] = rows * scale.view(-1, *[1] * (rows.dim() - 1))
    return unpacked
