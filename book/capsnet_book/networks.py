"""The book's trained networks and its loader: CapsNets of the book's own parts, and convolutional networks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Literal, overload

import torch

from capsnet_book.assets import asset
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig
from capsnet_book.experiments.variants import parts_by_name
from capsnet_tutorial.errors import expect
from capsnet_tutorial.model import CapsNet, Parts
from capsnet_tutorial.weights import filled, load_weights, pack, read_tensors, save_weights, write_tensors

TRAINED = ("small", "chapter-9", "small-shifted", "small-cnn", "small-pairs", "paper")
"""Names that `trained_network` knows."""


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
        parts: of a CapsNet with parts of your own; those of the book are found by the names in the file.

    Raises:
        FileNotFoundError, ValueError: as `capsnet_tutorial.load_weights`.
    """
    tensors, about = read_tensors(path)
    if about.get("network") == "cnn" and "config" in about:
        return filled(lambda: ConvNet(ConvNetConfig.from_dict(about["config"])), tensors, path)
    return load_weights(path, parts or parts_by_name)


def save_network(network: CapsNet | ConvNet, path: str | Path, dtype: torch.dtype = torch.float16) -> None:
    """Write a network's weights, sizes, kind and the names of its parts, as `capsnet_tutorial.save_weights` does."""
    if isinstance(network, CapsNet):
        save_weights(network, path, dtype)
    else:
        write_tensors(path, pack(network.state_dict(), dtype), {"config": asdict(network.config), "network": "cnn"})
