"""The whole network, the two sizes that it comes in, and the parts of it that can be exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_tutorial.errors import expect, expect_count, expect_floating, is_free_to_read
from capsnet_tutorial.functional import RoutingTrace, capsule_lengths, mask_capsules, route
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
    """Every size in a CapsNet. The defaults are the paper's."""

    image_size: int = 28
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
    decoder_hidden: tuple[int, ...] = (512, 1024)

    def __post_init__(self) -> None:
        sizes = {name: value for name, value in asdict(self).items() if name != "decoder_hidden"}
        for name, value in sizes.items():
            expect_count(name, value)
        hidden = self.decoder_hidden
        expect(
            isinstance(hidden, Sequence) and not isinstance(hidden, str),
            "decoder_hidden as a tuple",
            repr(hidden),
        )
        for width in hidden:
            expect_count("decoder_hidden's widths", width)
        object.__setattr__(self, "decoder_hidden", tuple(hidden))  # a list when it was JSON
        expect(
            self.primary_side >= 1,
            "an image that both convolutions fit into",
            f"{self.image_size} pixels",
        )

    @classmethod
    def paper(cls) -> CapsNetConfig:
        """Section 4: 1152 primary capsules, 8,215,568 parameters with the decoder."""
        return cls()

    @classmethod
    def small(cls, **sizes: Any) -> CapsNetConfig:
        """For a laptop and for the page: 72 primary capsules, 454,992 parameters; ``sizes`` for others."""
        ours: dict[str, Any] = {
            "conv_channels": 64,
            "conv_stride": 2,
            "primary_types": 8,
            "primary_kernel": 5,
        }
        return cls(**ours | {"decoder_hidden": (128, 256)} | sizes)

    @property
    def primary_side(self) -> int:
        """Height and width of the grid of primary capsules (6 in the paper)."""
        maps = (self.image_size - self.conv_kernel) // self.conv_stride + 1  # 20
        return (maps - self.primary_kernel) // self.primary_stride + 1

    @property
    def primary_capsules(self) -> int:
        """I, the number of primary capsules (1152 in the paper)."""
        return self.primary_types * self.primary_side**2


PRESETS = {
    "small": CapsNetConfig.small,
    "paper": CapsNetConfig.paper,
}  # by the names that commands take
Mask = Callable[[Tensor, Tensor | None], Tensor]
"""(v [B, J, D_out], labels [B] or None) -> [B, J, D_out]."""


@dataclass(frozen=True)
class Parts:
    """The exchangeable parts of a CapsNet: each a function, or an `nn.Module` where it has weights of its own.

    ``CapsNet(config, Parts(routing=my_route))`` trains, saves and loads like any other CapsNet. What a part gives is
    checked for its shape whenever it is called; what it raises keeps its traceback.
    """

    primary: Primary = group_and_squash
    """(features [B, types·dim, H, W], dim) -> u [B, I, dim]."""
    routing: Routing = route
    """(u_hat [B, I, J, D_out], iterations) -> v [B, J, D_out]."""
    mask: Mask = mask_capsules
    """(v [B, J, D_out], labels [B] or None) -> [B, J, D_out]."""

    def __post_init__(self) -> None:
        for name, part in vars(self).items():
            expect(callable(part), f"a function or a module for the part {name}", repr(part))

    @property
    def names(self) -> dict[str, str]:
        """Names of the parts that are not the paper's, by field: what a weights file records."""
        own = (
            field.name for field in fields(self) if getattr(self, field.name) is not field.default
        )
        return {name: part_name(getattr(self, name)) for name in own}


class CapsNetOutput(NamedTuple):
    """Result of a forward pass."""

    capsules: Tensor
    """v, [B, J, D_out]."""
    lengths: Tensor
    """‖v_j‖, [B, J]: read as the probability that class j is present."""
    reconstruction: Tensor
    """[B, pixels], each in (0, 1), drawn from one capsule."""


def named_output(output: Any) -> CapsNetOutput:
    """The output of a network whose ``forward`` returns capsules, lengths and a drawing, in a plain tuple too."""
    output = CapsNetOutput(*output) if type(output) is tuple and len(output) == 3 else output
    wanted = "a network that returns capsules, lengths and a reconstruction, or an objective for what it returns"
    expect(
        hasattr(output, "lengths") and hasattr(output, "reconstruction"),
        wanted,
        type(output).__name__,
    )
    return output


class CapsNet(nn.Module):
    """Convolution, primary capsules, routed capsules, decoder. Figures 1 and 2.

    Shapes are given for the paper's sizes::

        images [B, 1, 28, 28] -> [B, 256, 20, 20] -> u [B, 1152, 8] -> v [B, 10, 16] -> [B, 784]

    Args:
        config: sizes; the paper's, unless given.
        parts: how to cut capsules, route and mask; the paper's, unless given.
    """

    def __init__(self, config: CapsNetConfig | None = None, parts: Parts | None = None) -> None:
        super().__init__()
        config = CapsNetConfig.paper() if config is None else config
        parts = Parts() if parts is None else parts
        self.config = config
        self.conv = nn.Conv2d(
            config.in_channels, config.conv_channels, config.conv_kernel, config.conv_stride
        )
        maps, kernel, stride = config.conv_channels, config.primary_kernel, config.primary_stride
        self.primary = PrimaryCapsules(
            maps, config.primary_types, config.primary_dim, kernel, stride, parts.primary
        )
        below, above = (
            (config.primary_capsules, config.primary_dim),
            (config.classes, config.class_dim),
        )
        self.routed = RoutedCapsules(*below, *above, config.iterations, routing=parts.routing)
        self.mask = parts.mask
        pixels = config.in_channels * config.image_size**2
        self.decoder = Decoder(config.classes * config.class_dim, config.decoder_hidden, pixels)

    def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
        """Recognise and redraw.

        Args:
            images: [B, 1, 28, 28], floats, finite.
            labels: integers [B]. Given (training): redraw from the true class's capsule; else from the longest.
        """
        u = self.primary_capsules(images)  # [B, I, D_in]
        v = self.routed(u)  # [B, J, D_out]
        lengths = capsule_lengths(v)  # [B, J]
        masked = self.mask(v, labels)  # [B, J, D_out]
        expect_result("mask", self.mask, masked, v.shape)
        reconstruction = self.decode(masked)  # [B, pixels]
        return CapsNetOutput(v, lengths, reconstruction)

    @property
    def parts(self) -> Parts:
        """The parts it is made of."""
        return Parts(self.primary.group, self.routed.routing, self.mask)

    def primary_capsules(self, images: Tensor) -> Tensor:
        """Primary capsules u, [B, I, D_in], of the first convolution's features."""
        channels, side = self.config.in_channels, self.config.image_size
        expect_floating("images", images)
        fits = images.shape[1:] == (channels, side, side)
        expect(
            fits, f"images of shape [B, {channels}, {side}, {side}]", f"shape {list(images.shape)}"
        )
        if is_free_to_read(images):
            expect(
                bool(images.isfinite().all()), "finite images", "nan or infinity among the pixels"
            )
        return self.primary(F.relu(self.conv(images)))  # of features [B, 256, 20, 20]

    def trace(self, images: Tensor) -> tuple[Tensor, RoutingTrace]:
        """Class capsules, and everything that the paper's routing computed on the way to them."""
        return self.routed.trace(self.primary_capsules(images))

    def decode(self, capsules: Tensor) -> Tensor:
        """Draw class capsules [B, J, D_out] as they are, masked or not: [B, pixels]."""
        j, d = self.config.classes, self.config.class_dim
        expect_floating("capsules", capsules)
        expect(
            capsules.shape[1:] == (j, d),
            f"capsules of shape [B, {j}, {d}]",
            f"shape {list(capsules.shape)}",
        )
        return self.decoder(capsules.flatten(1))

    @torch.no_grad()
    def predict(self, images: Tensor) -> Tensor:
        """The class whose capsule is longest, integers [B]."""
        return capsule_lengths(self.routed(self.primary_capsules(images))).argmax(dim=1)


@contextmanager
def in_eval_mode(network: nn.Module) -> Iterator[None]:
    """Examine a network in eval mode; afterwards every module in it is in the mode that was its own."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
