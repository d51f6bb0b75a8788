"""Networks on disk: safetensors files, checked before use."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, fields, replace
from functools import partial
from importlib import resources
from math import isqrt
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from capsnet_tutorial.errors import FLOATING, InputError, expect
from capsnet_tutorial.files import read_tensors, write_tensors
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts, in_eval_mode, named_output

Network = TypeVar("Network", bound=nn.Module)

MOST_ROUNDS = 10
"""The most rounds of routing that `as_capsnet` can infer from a network's answers."""

LARGEST_STRIDE = 4
"""The largest stride of the first convolution that `as_capsnet` tries."""


# --- loading


def load_pretrained(name: str = "small") -> CapsNet:
    """Return the trained network that comes with the module, in eval mode, float32.

    "small": 454,992 parameters, trained on MNIST's 60,000 training digits less the bundled sample.
    Its card, with the test errors, is ``assets/weights/small.md``.

    Raises:
        ValueError: another name.
    """
    wanted = 'the pretrained network "small", which comes with the module'
    expect(name == "small", wanted, repr(name))
    weights = resources.files("capsnet_tutorial.assets") / "weights" / "small.safetensors"
    with resources.as_file(weights) as path:
        return load_weights(path)


def load_weights(path: str | Path, parts: Parts | None = None) -> CapsNet:
    """Return the CapsNet in a file that `save_weights` wrote, in eval mode, float32.

    A file of tensors without metadata, as `safetensors` writes a ``state_dict``, can be read too if
    names and shapes are those of a CapsNet, of any sizes. The network then has three rounds of
    routing: their number cannot be told from tensors.

    Args:
        path: of the file.
        parts: parts that the network was built from, if not the paper's. They are copied.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated, or holds something else, or a network with other parts.
    """
    if parts is None:
        parts = Parts()
    expect(isinstance(parts, Parts), "Parts, such as Parts(routing=my_route)", repr(parts))
    tensors, about = read_tensors(path)
    if not about:
        config = _config_by_shapes(tensors)
        wanted = f"the weights of a CapsNet in {path}, by their names and shapes"
        if config is None:
            raise InputError(f"expected {wanted}; got others")
        about = {"config": asdict(config)}
    kind = about.get("network", "capsnet")
    expect(kind == "capsnet", f"the weights of a CapsNet in {path}", f"those of a {kind}")
    config = about.get("config")
    part_names = about.get("parts", {})
    network = filled(partial(_build, config, part_names, parts, path), tensors, path)
    network.class_names = _checked_names(about.get("class_names", ()), network.config.classes)
    return network


def _build(config: Any, part_names: Any, parts: Parts, path: str | Path) -> CapsNet:
    """Build the network that a file's metadata describe, from a copy of its parts."""
    sizes = sizes_in(config, CapsNetConfig, path)
    wanted = f"parts named {part_names or 'as the paper has them'}, as in {path}"
    expect(parts.names == part_names, wanted, f"{parts.names}")
    return CapsNet(sizes, deepcopy(parts))


def sizes_in(config: Any, kind: type[Any], path: str | Path) -> Any:
    """Return the sizes of a network from the config in a file's metadata.

    Args:
        config: the metadata's entry; anything.
        kind: dataclass of the sizes.
        path: of the file, for messages.

    Raises:
        ValueError: the entry is no object, or lacks a size, or has another one.
    """
    names = {field.name for field in fields(kind)}
    wanted = f"a config in {path} with every size of a {kind.__name__} and nothing else"
    expect(isinstance(config, dict), wanted, f"{config!r:.80}")
    expect(config.keys() == names, wanted, f"one that differs in {sorted(config.keys() ^ names)}")
    return kind(**config)


def filled(make: Callable[[], Network], tensors: dict[str, Tensor], path: str | Path) -> Network:
    """Return a network with the tensors of a file, in eval mode.

    It is built on the meta device, and gets memory only after all shapes agreed with the file's.

    Args:
        make: builds the network.
        tensors: of the file.
        path: of the file, for messages.

    Raises:
        ValueError: sizes that make no network; a tensor that is missing, unknown, of another shape
            or kind, or not finite.
    """
    try:
        with torch.device("meta"):
            network = make()
    # Sizes that are no numbers, or larger than any memory.
    except (TypeError, OverflowError, RuntimeError) as problem:
        reason = str(problem).splitlines()[0]
        wanted = f"the sizes of a network in {path}"
        raise InputError(f"expected {wanted}; got {reason}") from problem
    state = network.state_dict()
    for name in sorted(state.keys() | tensors.keys()):
        shape = shape_of(state.get(name))
        stored_shape = shape_of(tensors.get(name))
        expect(stored_shape == shape, f"{name} of shape {shape} in {path}", f"{stored_shape}")
    for name, tensor in tensors.items():
        dtype = state[name].dtype
        is_of_kind = tensor.is_floating_point() or not dtype.is_floating_point
        expect(is_of_kind, f"{name} in floating point", f"{tensor.dtype}")
        state[name] = tensor.to(dtype)
        is_finite = bool(state[name].isfinite().all())
        expect(is_finite, f"finite numbers in {name} in {path}", "nan or infinity")
    network.load_state_dict(state, assign=True)
    return network.eval()


def shape_of(tensor: Tensor | None) -> list[int] | None:
    """Return a tensor's shape for a message; None for a tensor that is not there."""
    return None if tensor is None else list(tensor.shape)


# --- saving


def save_weights(network: nn.Module, path: str | Path, dtype: torch.dtype = torch.float16) -> None:
    """Write a network's weights, sizes and the names of its parts and classes.

    Args:
        network: a CapsNet, or one that `as_capsnet` converts.
        path: of the file.
        dtype: precision of the file. A tensor that would overflow in it keeps its own.

    Raises:
        ValueError: a network that `as_capsnet` refuses; weights that are not finite; a dtype that
            is not floating point.
    """
    is_precision = dtype in FLOATING
    expect(is_precision, "a dtype of floating point, of 16 bits or more", repr(dtype))
    network = as_capsnet(network)
    # The number of rounds may have been set since the network was built.
    config = replace(network.config, iterations=network.routed.iterations)
    tensors = {
        name: _compressed(name, tensor, dtype) for name, tensor in network.state_dict().items()
    }
    about: dict[str, Any] = {"config": asdict(config), "parts": network.parts.names}
    class_names = _checked_names(network.class_names, config.classes)
    if class_names:
        about["class_names"] = class_names
    write_tensors(path, tensors, about)


def _checked_names(names: Any, classes: int) -> tuple[str, ...]:
    """Return names of classes as a tuple; raise `InputError` unless they are as many, or none."""
    is_list = isinstance(names, (tuple, list)) and all(isinstance(name, str) for name in names)
    wanted = f"class_names of the {classes} classes, all different"
    expect(is_list and len(names) in (0, classes), wanted, f"{names!r:.80}")
    expect(len(set(names)) == len(names), wanted, f"{names!r:.80}")
    return tuple(names)


def _compressed(name: str, tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a tensor in another precision, or as it is where that would overflow."""
    if not tensor.is_floating_point():
        return tensor
    # The file is loaded as float32: float64 may hold numbers that are infinite there.
    is_finite = bool(tensor.float().isfinite().all())
    expect(is_finite, f"finite numbers in {name}", "nan, infinity or more than float32 holds")
    rounded = tensor.to(dtype)
    return rounded if rounded.isfinite().all() else tensor


def as_capsnet(network: nn.Module) -> CapsNet:
    """Convert a network of equal structure to `CapsNet`; return a `CapsNet` as it is.

    A network such as the one built in the book does not tell its number of rounds: it is inferred
    from the answers to two images of bright noise. A subclass of CapsNet becomes a plain one.
    Wrappers for compiling and for several GPUs are taken off.

    Raises:
        ValueError: weights whose names and shapes are not those of a CapsNet for square images, or
            answers that are not those of such a network with 1 to 10 rounds; a subclass that
            answers otherwise than a CapsNet with its weights.
    """
    network = getattr(network, "_orig_mod", network)  # torch.compile wraps it
    if isinstance(network, (nn.DataParallel, DistributedDataParallel)):
        return as_capsnet(network.module)
    if type(network) is CapsNet:
        return network
    if isinstance(network, CapsNet):
        return _from_subclass(network)
    return _from_stranger(network)


def _from_subclass(network: CapsNet) -> CapsNet:
    """Return a plain CapsNet with a subclass's sizes, parts and weights.

    Raises:
        ValueError: the two answer differently.
    """
    config = replace(network.config, iterations=network.routed.iterations)
    parts = deepcopy(network.parts)
    plain = filled(lambda: CapsNet(config, parts), network.state_dict(), type(network).__name__)
    plain.class_names = network.class_names
    images = _noise(config).to(plain.conv.weight)
    expected = _answers(plain, plain, images)
    answers = _answers(network, plain, images)
    difference = float((answers.lengths - expected.lengths).abs().max())
    if expected.reconstruction is not None:
        drawing_difference = (answers.reconstruction - expected.reconstruction).abs().max()
        difference = max(difference, float(drawing_difference))
    wanted = f"a {type(network).__name__} that answers as a CapsNet with its weights does"
    expect(difference < 1e-3, wanted, f"answers that are {difference:.2g} off")
    return plain


def _from_stranger(network: nn.Module) -> CapsNet:
    """Return a CapsNet with the weights of a network of another class, its rounds inferred.

    Raises:
        ValueError: other weights than those of a CapsNet, or other answers.
    """
    tensors = network.state_dict() if isinstance(network, nn.Module) else {}
    config = _config_by_shapes(tensors)
    if config is None:
        wanted = "a CapsNet, or a network whose weights have the names and shapes of one"
        others = f"{type(network).__name__}, whose weights are others"
        raise InputError(f"expected {wanted}; got {others}")
    config_of_all_rounds = replace(config, iterations=MOST_ROUNDS)
    plain = filled(lambda: CapsNet(config_of_all_rounds), tensors, "the network")
    images = _noise(config).to(plain.conv.weight)
    with torch.no_grad(), _without_warnings():
        _, trace = plain.trace(images)
    answers = _answers(network, plain, images)
    # For each number of rounds, how far the lengths [B, J] are from the network's.
    differences = (trace.v.norm(dim=-1) - answers.lengths).abs().amax(dim=(1, 2))  # [R]
    wanted = "a network that answers as a CapsNet with its weights does, after 1 to 10 rounds"
    smallest = float(differences.min())
    expect(smallest < 1e-3, wanted, f"lengths that are {smallest:.2g} off")
    iterations = int(differences.argmin()) + 1
    return filled(lambda: CapsNet(replace(config, iterations=iterations)), tensors, "the network")


def _noise(config: CapsNetConfig) -> Tensor:
    """Return two images of bright noise, on which the rounds of routing differ."""
    generator = torch.Generator().manual_seed(0)
    return 100 * torch.rand(2, *config.image_shape, generator=generator)


def _answers(network: nn.Module, plain: CapsNet, images: Tensor) -> Any:
    """Return a network's output in eval mode, computed with the weights of the plain CapsNet.

    They are equal, but in float32 whatever the network's precision is.
    """
    with in_eval_mode(network), torch.no_grad(), _without_warnings():
        output = torch.func.functional_call(network, plain.state_dict(), (images,))
    return named_output(output)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Say nothing of the noise's pixels, which are far above 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _config_by_shapes(tensors: dict[str, Tensor]) -> CapsNetConfig | None:
    """Return the sizes that a network's tensors, by name, have; None if they are no CapsNet's.

    No tensor tells the strides: the second is the paper's, and the first follows from the number of
    primary capsules.
    """
    try:
        maps, channels, kernel, _ = tensors["conv.weight"].shape
        _, _, primary_kernel, _ = tensors["primary.conv.weight"].shape
        _, classes, primary_dim, class_dim = tensors["routed.weight"].shape
        *hidden, pixels = _decoder_widths(tensors)
    except (KeyError, ValueError):
        return None
    sizes: dict[str, Any] = {
        "image_size": isqrt(pixels // channels),
        "in_channels": channels,
        "conv_channels": maps,
        "conv_kernel": kernel,
        "primary_types": len(tensors["primary.conv.weight"]) // primary_dim,
        "primary_dim": primary_dim,
        "primary_kernel": primary_kernel,
        "classes": classes,
        "class_dim": class_dim,
        "decoder_hidden": tuple(hidden),
    }
    for stride in range(1, LARGEST_STRIDE + 1):
        try:
            config = CapsNetConfig(**sizes, conv_stride=stride)
        except InputError:  # the second convolution does not fit any more
            return None
        if _has_sizes(tensors, config):
            return config
    return None


def _decoder_widths(tensors: dict[str, Tensor]) -> list[int]:
    """Return the widths of the decoder's layers, the pixels last."""
    places = [
        int(name.split(".")[1])
        for name in tensors
        if name.startswith("decoder.") and name.endswith(".weight")
    ]
    return [len(tensors[f"decoder.{place}.weight"]) for place in sorted(places)]


def _has_sizes(tensors: dict[str, Tensor], config: CapsNetConfig) -> bool:
    """Return True if the tensors have the names and shapes of a CapsNet of these sizes."""
    with torch.device("meta"):
        state = CapsNet(config).state_dict()
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    return shapes == {name: tensor.shape for name, tensor in state.items()}
