"""Trained networks: those that come with the package, and any that was saved."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module, resources
from importlib.metadata import PackageNotFoundError
from importlib.metadata import metadata as about_package
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import torch

from capsnet_tutorial.errors import expect, expect_floating
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts
from capsnet_tutorial.storage import pack, read_tensors, unpack, write_tensors

if TYPE_CHECKING:
    from capsnet_book.experiments.cnn import ConvNet

SHIPPED = ("small", "small-shifted", "small-cnn", "small-pairs", "paper")
"""Names that `load_pretrained` knows."""
PACKAGE = "capsnet-tutorial"


@overload
def load_pretrained(name: Literal["small", "small-shifted", "small-pairs", "paper"] = "small") -> CapsNet: ...
@overload
def load_pretrained(name: Literal["small-cnn"]) -> ConvNet: ...
def load_pretrained(name: str = "small") -> CapsNet | ConvNet:
    """A network that comes with the package, in eval mode, float32.

    "small": a CapsNet, 454,992 parameters, trained on MNIST's 60,000 training digits less the bundled sample.
    "small-shifted": the same network, trained for less long, on all 60,000 digits, shifted but never turned or bent.
    "small-cnn": a CNN with as many parameters, trained like that.
    "small-pairs": 750,416 parameters, for two overlapping digits on 36×36 pixels, trained on all 60,000
    (see `capsnet_book.experiments.pairs`).
    "paper": the paper's network, 8,215,568 parameters, trained on all 60,000 digits, shifted. Its 8 MB are in a
    checkout only; an installed package fetches them from the project's release, once.
    Their cards, with the test errors, are ``capsnet_tutorial/assets/weights/NAME.md``.

    Raises:
        FileNotFoundError: "paper" is not here, and cannot be fetched; the message says why.
    """
    expect(name in SHIPPED, f"a pretrained network, one of {', '.join(SHIPPED)}", repr(name))
    weights = resources.files("capsnet_tutorial.assets" if name == "small" else "capsnet_book.assets") / "weights"
    if not (weights / f"{name}.safetensors").is_file():
        return load_network(_fetch(name, (weights / f"{name}.sha256").read_text(encoding="utf-8").split()[0]))
    with resources.as_file(weights / f"{name}.safetensors") as path:
        return load_network(path)


def load_weights(path: str | Path, parts: Parts | None = None) -> CapsNet:
    """The CapsNet in a file that `save_weights` wrote, in eval mode, float32.

    Args:
        path: of the file.
        parts: what the network was made of, if it was saved with parts of your own. Parts of this package are found
            by the names in the file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated, or holds something else, or a network with other parts.
    """
    network = load_network(path, parts)
    expect(isinstance(network, CapsNet), f"the weights of a CapsNet in {path}", "those of a CNN")
    return cast(CapsNet, network)


def load_network(path: str | Path, parts: Parts | None = None) -> CapsNet | ConvNet:
    """The network in a file that `save_weights` wrote, CapsNet or CNN; otherwise as `load_weights`."""
    path = Path(path)
    tensors, metadata = read_tensors(path)
    expect("config" in metadata, f"the weights of a network in {path}", "a safetensors file without its config")
    kind = metadata.get("network", "capsnet")
    expect(kind in ("capsnet", "cnn"), f"a network, capsnet or cnn, in {path}", repr(kind))
    try:
        if kind == "cnn":
            network = _laboratory("cnn").ConvNet.of(metadata["config"])
        else:
            config = CapsNetConfig.from_dict(metadata["config"])
            network = CapsNet(config, _parts(metadata.get("parts", {}), parts, config, path))
    except TypeError as problem:  # a value of a kind that no comparison was written for
        raise ValueError(
            f"expected the sizes of a network in {path}; got {metadata['config']} ({problem})"
        ) from problem
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
    """Write a network's weights, sizes, kind and the names of its parts; in half precision unless told otherwise.

    `torch.int8` halves that again (see `capsnet_tutorial.storage`).
    """
    state = network.state_dict()
    tensors = pack(state) if dtype == torch.int8 else {name: tensor.to(dtype) for name, tensor in state.items()}
    metadata: dict[str, Any] = {"config": asdict(network.config)}
    if not isinstance(network, CapsNet):
        metadata["network"] = "cnn"
    elif network.parts.names:
        metadata["parts"] = network.parts.names
    write_tensors(Path(path), tensors, metadata)


def _fetch(name: str, checksum: str) -> Path:
    """Weights from the release of this version, kept where torch.hub keeps its own; refused with another SHA-256."""
    path = Path(torch.hub.get_dir()) / "checkpoints" / f"{PACKAGE}-{name}-{checksum[:8]}.safetensors"
    if path.is_file():
        return path
    wanted = f"the weights {name!r}, which a checkout of the project has and an installed package fetches"
    try:
        about = about_package(PACKAGE)
        addresses = dict(entry.split(", ", 1) for entry in about.get_all("Project-URL", []))
    except PackageNotFoundError:  # on a path, but not installed
        addresses = {}
    if "Repository" not in addresses:
        raise FileNotFoundError(f"expected {wanted}; got a package that names no address to fetch them from")
    url = f"{addresses['Repository']}/releases/download/v{about['Version']}/{name}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        torch.hub.download_url_to_file(url, str(path), hash_prefix=checksum)
    except (OSError, RuntimeError) as problem:  # no way there, no such file; another checksum
        raise FileNotFoundError(f"expected {wanted} from {url}; got {problem}") from problem
    return path


def _parts(names: Any, own: Parts | None, config: CapsNetConfig, path: Path) -> Parts:
    """Parts by their names in a file: the reader's own if they fit, else those of this package."""
    named = isinstance(names, dict) and all(isinstance(name, str) for name in names.values())
    expect(named, f"names of parts in {path}", repr(names))
    if own is not None:
        expect(own.names == names, f"parts named {names or 'as the paper has them'}, as in {path}", f"{own.names}")
        return own
    return _laboratory("variants").parts_by_name(names, config) if names else Parts()


def _laboratory(module: str) -> Any:
    """A module of experiments/, imported only for a network that needs it: the paper's needs none."""
    return import_module(f"capsnet_book.experiments.{module}")
