"""Networks on disk: safetensors files, checked before use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from capsnet_tutorial.errors import InputError, expect, expect_floating
from capsnet_tutorial.files import read_tensors, write_tensors
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts, in_eval_mode, named_output

Network = TypeVar("Network", bound=nn.Module)


def load_pretrained(name: str = "small") -> CapsNet:
    """The trained network that comes with the module, in eval mode, float32.

    "small": 454,992 parameters, trained on MNIST's 60,000 training digits less the bundled sample. Its card, with the
    test errors, is ``assets/weights/small.md``.
    """
    expect(
        name == "small", 'the pretrained network "small", which comes with the module', repr(name)
    )
    with resources.as_file(
        resources.files("capsnet_tutorial.assets") / "weights" / f"{name}.safetensors"
    ) as path:
        return load_weights(path)


def load_weights(path: str | Path, parts: Parts | None = None) -> CapsNet:
    """The CapsNet in a file that `save_weights` wrote, in eval mode, float32.

    A file of tensors alone, as `safetensors` writes a ``state_dict``, is read where they are the small or the paper's:
    as a network of three rounds, since the tensors do not tell.

    Args:
        path: of the file.
        parts: what the network was made of, if not of the paper's parts.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated, or holds something else, or a network with other parts.
    """
    (tensors, about), parts = read_tensors(path), parts or Parts()
    kind, names = about.get("network", "capsnet"), about.get("parts", {})
    if not about:
        about = {"config": asdict(_preset_of(tensors, f"others in {path}"))}
    expect(kind == "capsnet", f"the weights of a CapsNet in {path}", f"those of a {kind}")

    def make() -> CapsNet:
        config = sizes_in(about.get("config"), CapsNetConfig, path)
        expect(
            parts.names == names,
            f"parts named {names or 'as the paper has them'}, as in {path}",
            f"{parts.names}",
        )
        return CapsNet(config, parts)

    return filled(make, tensors, path)


def sizes_in(config: Any, kind: type[Any], path: str | Path) -> Any:
    """The sizes of a network, by the ``config`` in a file's metadata.

    Raises:
        ValueError: it has not each of them, or has others, or is no object at all.
    """
    names = {field.name for field in fields(kind)}
    wanted = f"a config in {path} with every size of a {kind.__name__} and nothing else"
    expect(isinstance(config, dict), wanted, f"{config!r:.80}")
    expect(config.keys() == names, wanted, f"one that differs in {sorted(config.keys() ^ names)}")
    return kind(**config)


def as_capsnet(network: nn.Module) -> CapsNet:
    """A `CapsNet` as it is; another network, such as the one built in the book, as a CapsNet that answers alike.

    How many rounds the other one does, only its answers tell: they are compared for two images of bright noise.

    Raises:
        ValueError: its weights have not the names and shapes of the small or of the paper's network, or its answers
            are not those of such a network with 1 to 10 rounds.
    """
    if isinstance(
        network := getattr(network, "_orig_mod", network), CapsNet
    ):  # what torch.compile was given
        return network
    tensors = network.state_dict() if isinstance(network, nn.Module) else {}
    config = _preset_of(tensors, f"{type(network).__name__}, whose weights are others")

    def with_rounds(count: int) -> CapsNet:
        return filled(lambda: CapsNet(replace(config, iterations=count)), tensors, "the network")

    ours, noise = (
        with_rounds(10),
        torch.rand(2, 1, 28, 28, generator=torch.Generator().manual_seed(0)),
    )
    with in_eval_mode(network), torch.no_grad():
        images = 100 * noise.to(
            ours.conv.weight
        )  # in float32, as ours, whatever the network's weights are in
        theirs = named_output(torch.func.functional_call(network, ours.state_dict(), (images,)))
        _, trace = ours.trace(images)
    off = (trace.v.norm(dim=-1) - theirs.lengths).abs().amax(dim=(1, 2))  # [R]
    answers = "a network that answers as a CapsNet with its weights does, after 1 to 10 rounds"
    expect(bool(off.min() < 1e-3), answers, f"lengths that are {float(off.min()):.2g} off")
    return with_rounds(int(off.argmin()) + 1)


def _preset_of(tensors: dict[str, Tensor], others: str) -> CapsNetConfig:
    """The small or the paper's sizes; `InputError` unless these are the weights of such a network by name and shape."""
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    for config in (CapsNetConfig.small(), CapsNetConfig.paper()):
        with torch.device("meta"):
            if shapes == {
                name: tensor.shape for name, tensor in CapsNet(config).state_dict().items()
            }:
                return config
    wanted = "a CapsNet, or a network whose weights have the names and shapes of the small or of the paper's one"
    raise InputError(f"expected {wanted}; got {others}")


def save_weights(network: nn.Module, path: str | Path, dtype: torch.dtype = torch.float16) -> None:
    """Write a network's weights, sizes and the names of its parts, in half precision.

    Raises:
        ValueError: another network than `as_capsnet` takes.
    """
    network = as_capsnet(network)
    sizes = asdict(network.config) | {
        "iterations": network.routed.iterations
    }  # which can be set afterwards
    about, stored = {"config": sizes, "parts": network.parts.names}, network.state_dict()
    floats = {
        name: tensor.to(dtype) for name, tensor in stored.items() if tensor.is_floating_point()
    }
    write_tensors(path, stored | floats, about)


def filled(make: Callable[[], Network], tensors: dict[str, Tensor], path: str | Path) -> Network:
    """A network with the numbers of a file, in eval mode.

    It is made without memory, and given some only after its tensors were found to be as large as those of the file.

    Args:
        make: builds the network.
        tensors: of the file.
        path: of the file, for messages.

    Raises:
        ValueError: sizes that make no network, a tensor that is missing, not the network's, of another shape or kind,
            or not finite.
    """
    try:
        with torch.device("meta"):
            network = make()
    except (
        TypeError,
        OverflowError,
        RuntimeError,
    ) as problem:  # no number, or larger than any memory
        raise InputError(
            f"expected the sizes of a network in {path}; got {str(problem).splitlines()[0]}"
        ) from problem
    wanted = network.state_dict()
    for name in sorted(wanted.keys() | tensors.keys()):
        ours, theirs = (
            list(each[name].shape) if name in each else None for each in (wanted, tensors)
        )
        expect(ours == theirs, f"{name} of shape {ours} in {path}", f"{theirs}")
    for name, tensor in tensors.items():
        if wanted[name].is_floating_point():
            expect_floating(name, tensor)
        wanted[name] = tensor.to(wanted[name].dtype)
        expect(
            bool(wanted[name].isfinite().all()),
            f"finite numbers in {name} in {path}",
            "nan or infinity",
        )
    network.load_state_dict(wanted, assign=True)
    return network.eval()
