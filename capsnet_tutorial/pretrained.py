"""Trained networks: those that come with the package, and any that was saved."""

from __future__ import annotations

from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any, Literal, cast, overload

import torch

from capsnet_tutorial.errors import expect, expect_floating
from capsnet_tutorial.experiments.cnn import ConvNet, ConvNetConfig
from capsnet_tutorial.experiments.variants import build_changed, changes_of
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.storage import pack, read_tensors, unpack, write_tensors

_CONFIGS: dict[str, type[CapsNetConfig] | type[ConvNetConfig]] = {"capsnet": CapsNetConfig, "cnn": ConvNetConfig}

SHIPPED = ("small", "small-shifted", "small-cnn", "small-pairs")
"""Names that `load_pretrained` knows."""


@overload
def load_pretrained(name: Literal["small", "small-shifted", "small-pairs"] = "small") -> CapsNet: ...
@overload
def load_pretrained(name: Literal["small-cnn"]) -> ConvNet: ...
def load_pretrained(name: str = "small") -> CapsNet | ConvNet:
    """A network that comes with the package, in eval mode, float32.

    "small": a CapsNet, 454,992 parameters, trained on MNIST's 60,000 training digits less the bundled sample.
    "small-shifted": the same network, trained for less long, on all 60,000 digits, shifted but never turned or bent.
    "small-cnn": a CNN with as many parameters, trained like that.
    "small-pairs": 750,416 parameters, for two overlapping digits on 36×36 pixels, trained on all 60,000
    (see `capsnet_tutorial.experiments.pairs`).
    Their cards, with the test errors, are ``capsnet_tutorial/assets/weights/NAME.md``.
    """
    expect(name in SHIPPED, f"a pretrained network, one of {', '.join(SHIPPED)}", repr(name))
    with resources.as_file(resources.files("capsnet_tutorial.assets") / "weights" / f"{name}.safetensors") as path:
        return load_network(path)


def load_weights(path: str | Path) -> CapsNet:
    """The CapsNet in a file that `save_weights` wrote, in eval mode, float32.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated, or holds something else.
    """
    network = load_network(path)
    expect(isinstance(network, CapsNet), f"the weights of a CapsNet in {path}", "those of a CNN")
    return cast(CapsNet, network)


def load_network(path: str | Path) -> CapsNet | ConvNet:
    """The network in a file that `save_weights` wrote, of whichever kind and however changed; eval mode, float32.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated, or holds something else.
    """
    path = Path(path)
    tensors, metadata = read_tensors(path)
    expect("config" in metadata, f"the weights of a network in {path}", "a safetensors file without its config")
    kind, changes = metadata.get("network", "capsnet"), metadata.get("changes", [])
    expect(
        isinstance(kind, str) and kind in _CONFIGS, f"a network, one of {', '.join(_CONFIGS)}, in {path}", repr(kind)
    )
    named = isinstance(changes, list) and all(isinstance(name, str) for name in changes)
    expect(named, f"a list of changes, by name, in {path}", repr(changes))
    try:
        config = _CONFIGS[kind].from_dict(metadata["config"])
    except TypeError as problem:  # a value of a kind that no comparison was written for
        raise ValueError(
            f"expected the sizes of a network in {path}; got {metadata['config']} ({problem})"
        ) from problem
    network = build_changed(config, changes)
    tensors = unpack(tensors)
    wanted = {name: list(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: list(tensor.shape) for name, tensor in tensors.items()}
    differ = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    if differ:
        first = differ[0]
        raise ValueError(f"expected {first} of shape {wanted.get(first)} in {path}; got {found.get(first)}")
    for name, tensor in tensors.items():
        expect_floating(name, tensor)
        expect(bool(tensor.isfinite().all()), f"finite numbers in {name} in {path}", "nan or infinity")
    network.load_state_dict(tensors)
    return network.eval()


def save_weights(network: CapsNet | ConvNet, path: str | Path, dtype: torch.dtype = torch.float16) -> None:
    """Write a network's weights, sizes, kind and changes; in half precision unless told otherwise.

    `torch.int8` halves that again (see `capsnet_tutorial.storage`).
    """
    state = network.state_dict()
    tensors = pack(state) if dtype == torch.int8 else {name: tensor.to(dtype) for name, tensor in state.items()}
    metadata: dict[str, Any] = {"config": asdict(network.config)}
    if isinstance(network, ConvNet):
        metadata["network"] = "cnn"
    if changes_of(network):
        metadata["changes"] = changes_of(network)
    write_tensors(Path(path), tensors, metadata)
