"""The whole network, its two sizes, and its exchangeable parts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils import _pytree

from capsnet_tutorial.errors import (
    expect,
    expect_count,
    expect_device,
    expect_floating,
    expect_image_dtype,
    expect_number,
    is_free_to_read,
)
from capsnet_tutorial.functional import (
    RoutingTrace,
    capsule_lengths,
    expect_dtype,
    mask_capsules,
    route,
)
from capsnet_tutorial.layers import (
    Decoder,
    Primary,
    PrimaryCapsules,
    RoutedCapsules,
    Routing,
    expect_result,
    group_and_squash,
    part_name,
)


@dataclass(frozen=True)
class CapsNetConfig:
    """Sizes of a CapsNet. The defaults are the paper's.

    Large images make many primary capsules, and s adds up all of them. With 3,200 for two classes,
    at a learning rate of 0.01, both class capsules can become 1 long within a few steps, and the
    margin loss stays at ½·0.9². So `fit` takes a lower rate beyond 320 primary capsules for each
    class, unless `Recipe` names one: 0.002 there.
    """

    image_size: int | tuple[int, int] = 28
    """Height and width of the images; one number for square ones."""
    in_channels: int = 1
    conv_channels: int = 256
    conv_kernel: int = 9
    conv_stride: int = 1
    primary_types: int = 32
    primary_dim: int = 8
    primary_kernel: int = 9
    primary_stride: int = 2
    classes: int = 10
    class_dim: int = 16
    iterations: int = 3
    decoder_hidden: tuple[int, ...] | None = (512, 1024)
    """Widths of the decoder's hidden layers; None: no decoder, and no reconstruction."""

    def __post_init__(self) -> None:
        hidden = self.decoder_hidden
        for name, size in vars(self).items():
            if name not in ("image_size", "decoder_hidden"):
                expect_count(name, size)
        if hidden is not None:
            is_sequence = isinstance(hidden, Sequence) and not isinstance(hidden, str)
            expect(is_sequence, "decoder_hidden as a tuple, or None", repr(hidden))
            for width in hidden:
                expect_count("decoder_hidden's widths", width)
            # A config read from JSON has a list here; a frozen dataclass is set only in this way.
            object.__setattr__(self, "decoder_hidden", tuple(hidden))
        object.__setattr__(self, "image_size", _one_or_two_sides(self.image_size))
        smallest = self.conv_kernel + (self.primary_kernel - 1) * self.conv_stride
        wanted = f"an image_size that both convolutions fit into: at least {smallest} pixels"
        expect(min(self.primary_grid) >= 1, wanted, f"{self.image_size}")

    @classmethod
    def paper(cls) -> CapsNetConfig:
        """Return the sizes of section 4: 1152 primary capsules, 8,215,568 parameters."""
        return cls()

    @classmethod
    def small(cls, **sizes: Any) -> CapsNetConfig:
        """Return sizes for a laptop: 72 primary capsules, 454,992 parameters.

        Args:
            sizes: fields with other values.
        """
        small: dict[str, Any] = {
            "conv_channels": 64,
            "conv_stride": 2,
            "primary_types": 8,
            "primary_kernel": 5,
            "decoder_hidden": (128, 256),
        }
        return cls(**small | sizes)

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image."""
        if isinstance(self.image_size, int):
            return self.in_channels, self.image_size, self.image_size
        return self.in_channels, *self.image_size

    @property
    def primary_grid(self) -> tuple[int, int]:
        """Rows and columns of the grid of primary capsules (6 and 6 in the paper)."""
        _, height, width = self.image_shape
        return self._primary_side(height), self._primary_side(width)

    def _primary_side(self, side: int) -> int:
        """Return how many primary capsules of a type lie along a side of the image."""
        features_side = (side - self.conv_kernel) // self.conv_stride + 1
        return (features_side - self.primary_kernel) // self.primary_stride + 1

    @property
    def primary_capsules(self) -> int:
        """I, the number of primary capsules (1152 in the paper)."""
        return self.primary_types * math.prod(self.primary_grid)


def _warn_of_memory(config: CapsNetConfig) -> None:
    """Warn of the memory for W, its gradient and Adam's two averages before it is asked for."""
    votes = config.primary_capsules * config.classes
    weights = votes * config.primary_dim * config.class_dim
    gib = weights * 4 * torch.float32.itemsize / 2**30
    if gib > MUCH_MEMORY:
        warnings.warn(
            f"{config.primary_capsules:,} primary capsules and {config.classes:,} classes make "
            f"{weights:,} weights, some {gib:,.0f} GiB in training: larger strides of the "
            "convolutions, or smaller images, take less",
            stacklevel=3,
        )


def _one_or_two_sides(size: Any) -> int | tuple[int, int]:
    """Return an image's size: one number where it is square, else height and width.

    Raises:
        ValueError: neither a whole number nor two, at least 1.
    """
    if not isinstance(size, (tuple, list)):
        expect_count("image_size", size)
        return size
    expect(len(size) == 2, "image_size as height and width", repr(size))
    height, width = size
    expect_count("image_size's height", height)
    expect_count("image_size's width", width)
    return height if height == width else (height, width)


PRESETS = {
    "small": CapsNetConfig.small,
    "paper": CapsNetConfig.paper,
}
"""Configs by the names that ``capsnet train --preset`` takes."""
MUCH_MEMORY = 8.0
"""GiB that training W may take without a warning."""
OVERSHOOT = 0.1
"""How far pixels may lie outside of 0 to 1 without a warning: interpolation overshoots."""
Mask = Callable[[Tensor, Tensor | None], Tensor]
"""(v [B, J, D_out], labels [B] or [B, J] or None) -> [B, J, D_out]."""
Drawing = Callable[[Tensor], Tensor]
"""(masked capsules [B, J·D_out]) -> [B, pixels] or [B, C, H, W], each pixel from 0 to 1."""


@dataclass(frozen=True)
class Parts:
    """Exchangeable parts of a CapsNet: functions, or an `nn.Module` where a part has weights.

    ``CapsNet(config, Parts(routing=my_route))`` trains, saves and loads like any other CapsNet. The
    shape of a part's result is checked at every call; an error in a part keeps its traceback.
    """

    primary: Primary = group_and_squash
    """(features [B, types·dim, H, W], dim) -> u [B, I, dim]."""
    routing: Routing = route
    """(u_hat [B, I, J, D_out], iterations) -> v [B, J, D_out]."""
    mask: Mask = mask_capsules
    """(v [B, J, D_out], labels [B] or [B, J] or None) -> [B, J, D_out]."""
    decoder: Drawing | None = None
    """(masked capsules [B, J·D_out]) -> [B, pixels] or [B, C, H, W]; None: the paper's, with the
    config's ``decoder_hidden``."""

    def __post_init__(self) -> None:
        for name, part in vars(self).items():
            is_default = name == "decoder" and part is None
            is_part = is_default or (callable(part) and not isinstance(part, type))
            expect(is_part, f"a function or a module for the part {name}", repr(part))

    @property
    def names(self) -> dict[str, str]:
        """Names of the parts that are not the paper's, by field: a weights file records them."""
        names = {}
        for field in fields(self):
            part = getattr(self, field.name)
            if part is not field.default:
                names[field.name] = part_name(part)
        return names


class CapsNetOutput(NamedTuple):
    """Output of a forward pass."""

    capsules: Tensor
    """v, [B, J, D_out]."""
    lengths: Tensor
    """‖v_j‖, [B, J]: read as the probability that class j is present."""
    reconstruction: Tensor
    """[B, pixels], each in (0, 1), drawn from the masked capsules; None without a decoder."""


# With its name registered, torch.export can save a program that returns it.
if hasattr(_pytree, "_register_namedtuple"):
    _pytree._register_namedtuple(
        CapsNetOutput, serialized_type_name="capsnet_tutorial.model.CapsNetOutput"
    )


def named_output(output: Any) -> CapsNetOutput:
    """Return a network's output with names: a plain tuple of three becomes a `CapsNetOutput`.

    Raises:
        ValueError: the output has no lengths and no reconstruction.
    """
    if type(output) is tuple and len(output) == len(CapsNetOutput._fields):
        return CapsNetOutput(*output)
    has_names = hasattr(output, "lengths") and hasattr(output, "reconstruction")
    wanted = "a network that returns capsules, lengths and a reconstruction"
    expect(has_names, f"{wanted}, or an objective for its output", type(output).__name__)
    return output


class CapsNet(nn.Module):
    """Convolution, primary capsules, routed capsules, decoder. Figures 1 and 2.

    Shapes for the paper's sizes::

        images [B, 1, 28, 28] -> [B, 256, 20, 20] -> u [B, 1152, 8] -> v [B, 10, 16] -> [B, 784]

    Args:
        config: sizes; the paper's, unless given.
        parts: functions that group capsules, route, mask and draw; the paper's, unless given.

    Raises:
        ValueError: a config or parts of another type.
    """

    class_names: tuple[str, ...] = ()
    """The classes' names, where they were set, in the order of the capsules.

    ``network.class_names = ("cat", "dog")``: a weights file keeps them.
    """

    def __init__(self, config: CapsNetConfig | None = None, parts: Parts | None = None) -> None:
        super().__init__()
        if config is None:
            config = CapsNetConfig.paper()
        if parts is None:
            parts = Parts()
        expect(
            isinstance(config, CapsNetConfig),
            'a CapsNetConfig, such as CapsNetConfig.small() (load_pretrained("small") is trained)',
            repr(config),
        )
        wanted = "Parts, such as Parts(routing=my_route)"
        expect(isinstance(parts, Parts), wanted, repr(parts))
        _warn_of_memory(config)
        self.config = config
        self.conv = nn.Conv2d(
            config.in_channels, config.conv_channels, config.conv_kernel, config.conv_stride
        )
        self.primary = PrimaryCapsules(
            in_channels=config.conv_channels,
            types=config.primary_types,
            dim=config.primary_dim,
            kernel=config.primary_kernel,
            stride=config.primary_stride,
            group=parts.primary,
        )
        self.routed = RoutedCapsules(
            in_capsules=config.primary_capsules,
            in_dim=config.primary_dim,
            out_capsules=config.classes,
            out_dim=config.class_dim,
            iterations=config.iterations,
            routing=parts.routing,
        )
        self.mask = parts.mask
        self.has_own_decoder = parts.decoder is not None
        # Any: a function, a module, or None; which of them, only the config and the parts know.
        self.decoder: Any = parts.decoder or _papers_decoder(config)

    def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
        """Compute the class capsules of images, their lengths, and a reconstruction.

        Args:
            images: [B, C, H, W], floats from 0 to 1; [B, 1, 28, 28] in the paper.
            labels: integers [B], or zeros and ones [B, J]. With labels (training), the capsules of
                the true classes are decoded; without (inference), the longest.

        Raises:
            ValueError: images or labels of another shape or dtype; on the CPU also images that are
                not finite.
        """
        features = self.features(images)  # [B, 256, 20, 20]
        u = self.primary(features)  # [B, I, D_in]
        v = self.routed(u)  # [B, J, D_out]
        lengths = capsule_lengths(v)  # [B, J]
        if self.decoder is None:
            # Typed as if it were there, as it is in all networks that have a decoder.
            nothing: Any = None
            return CapsNetOutput(v, lengths, nothing)
        masked = self.mask(v, labels)  # [B, J, D_out]
        expect_result("mask", self.mask, masked, v.shape)
        reconstruction = self.decode(masked)  # [B, pixels]
        return CapsNetOutput(v, lengths, reconstruction)

    @property
    def parts(self) -> Parts:
        """The parts that the network consists of."""
        decoder = self.decoder if self.has_own_decoder else None
        return Parts(self.primary.group, self.routed.routing, self.mask, decoder)

    def features(self, images: Tensor) -> Tensor:
        """Return the first convolution's features of images: [B, 256, 20, 20]."""
        expect_image_dtype(images)
        channels, height, width = self.config.image_shape
        wanted = f"images of shape [B, {channels}, {height}, {width}]"
        fits = images.shape[1:] == (channels, height, width)
        expect(fits, wanted, f"shape {list(images.shape)}")
        expect_dtype("images", images, self.conv.weight)
        expect_device("images", images, "the network", self.conv.weight)
        _expect_pixels(images)
        return F.relu(self.conv(images))

    def primary_capsules(self, images: Tensor) -> Tensor:
        """Return the primary capsules of images: u, [B, I, D_in]."""
        return self.primary(self.features(images))

    def trace(self, images: Tensor) -> tuple[Tensor, RoutingTrace]:
        """Return class capsules and every round's quantities of the paper's routing."""
        return self.routed.trace(self.primary_capsules(images))

    def decode(self, capsules: Tensor) -> Tensor:
        """Draw class capsules [B, J, D_out] as they are, masked or not: [B, pixels].

        Raises:
            ValueError: capsules of another shape or dtype; a network without a decoder.
        """
        expect(self.decoder is not None, "a network with a decoder", "decoder_hidden=None")
        shape = (self.config.classes, self.config.class_dim)
        expect_floating("capsules", capsules)
        wanted = f"capsules of shape [B, {shape[0]}, {shape[1]}]"
        expect(capsules.shape[1:] == shape, wanted, f"shape {list(capsules.shape)}")
        expect_dtype("capsules", capsules, self.conv.weight)
        drawing = self.decoder(capsules.flatten(1))
        if self.has_own_decoder:
            drawing = drawing.flatten(1)
            shape = (capsules.shape[0], math.prod(self.config.image_shape))
            expect_result("decoder", self.decoder, drawing, shape)
        return drawing

    @torch.no_grad()
    def predict(self, images: Tensor, threshold: float | None = None) -> Tensor:
        """Return the class whose capsule is longest, integers [B]; or all classes that are there.

        Args:
            images: as for `forward`.
            threshold: the length from which on a class counts as present, 0.5 say. The answer is
                then bool [B, J]: several classes, or none of them.
        """
        v = self.routed(self.primary_capsules(images))  # [B, J, D_out]
        lengths = capsule_lengths(v)
        if threshold is None:
            return lengths.argmax(dim=1)
        expect_number("threshold", threshold)
        return lengths >= threshold


def _papers_decoder(config: CapsNetConfig) -> Decoder | None:
    """Return the paper's decoder in a config's sizes; None where it has none."""
    if config.decoder_hidden is None:
        return None
    return Decoder(
        inputs=config.classes * config.class_dim,
        hidden=config.decoder_hidden,
        pixels=math.prod(config.image_shape),
    )


def _expect_pixels(images: Tensor) -> None:
    """Raise `InputError` unless pixels are finite; warn once if they are not from 0 to 1."""
    if images.numel() == 0 or not is_free_to_read(images):
        return
    low, high = images.aminmax()
    is_finite = bool(low.isfinite() & high.isfinite())
    expect(is_finite, "finite images", "nan or infinity among the pixels")
    warn_of_range(images)


def warn_of_range(images: Tensor) -> None:
    """Warn, once in a program, of images whose pixels are not from 0 to 1."""
    if images.numel() == 0:
        return
    low, high = images.aminmax()
    if low >= -OVERSHOOT and high <= 1 + OVERSHOOT:
        return
    warning = "images have pixels below 0 or above 1; a CapsNet reads and draws them from 0 to 1"
    advice = "leave out the normalisation by mean and deviation"
    if low >= 0 and high > 2 and images.equal(images.round()):
        warning = "images have pixels from 0 to 255; a CapsNet reads and draws them from 0 to 1"
        advice = "divide by 255"
    # Python shows a warning once for each text and line of code: so each of the two comes once.
    warnings.warn(f"{warning}: {advice}", stacklevel=1)


@contextmanager
def in_eval_mode(network: nn.Module) -> Iterator[None]:
    """Put a network into eval mode; restore every submodule's mode on exit."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, is_training in modes:
            module.training = is_training
