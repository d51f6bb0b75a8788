"""Trained networks: those that come with the package, and any that was saved."""

from __future__ import annotations

from dataclasses import asdict
from importlib import resources
from pathlib import Path

import torch

from capsnet_tutorial.errors import expect, expect_floating
from capsnet_tutorial.files import read_tensors, write_tensors
from capsnet_tutorial.model import CapsNet, CapsNetConfig

SHIPPED = ("small",)
"""Names that `load_pretrained` knows."""


def load_pretrained(name: str = "small") -> CapsNet:
    """A network that comes with the package, in eval mode, float32.

    "small": 454,992 parameters, trained on MNIST's 60,000 training digits less the bundled sample.
    Its card, with the test error, is ``capsnet_tutorial/weights/small.md``.
    """
    expect(name in SHIPPED, f"a pretrained network, one of {', '.join(SHIPPED)}", repr(name))
    with resources.as_file(resources.files("capsnet_tutorial") / "weights" / f"{name}.safetensors") as path:
        return load_weights(path)


def load_weights(path: str | Path) -> CapsNet:
    """The network in a file that `save_weights` wrote, in eval mode, float32.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated, or holds something else.
    """
    path = Path(path)
    tensors, metadata = read_tensors(path)
    expect("config" in metadata, f"the weights of a CapsNet in {path}", "a safetensors file without its config")
    model = CapsNet(CapsNetConfig.from_dict(metadata["config"]))
    wanted = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: list(tensor.shape) for name, tensor in tensors.items()}
    differ = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    if differ:
        first = differ[0]
        raise ValueError(f"expected {first} of shape {wanted.get(first)} in {path}; got {found.get(first)}")
    for name, tensor in tensors.items():
        expect_floating(name, tensor)
        expect(bool(tensor.isfinite().all()), f"finite numbers in {name} in {path}", "nan or infinity")
    model.load_state_dict(tensors)
    return model.eval()


def save_weights(model: CapsNet, path: str | Path, dtype: torch.dtype = torch.float16) -> None:
    """Write a network's weights and sizes, in half precision unless told otherwise."""
    tensors = {name: tensor.to(dtype) for name, tensor in model.state_dict().items()}
    write_tensors(Path(path), tensors, {"config": asdict(model.config)})
