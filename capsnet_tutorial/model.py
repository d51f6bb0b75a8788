"""The whole network, and the two sizes that it comes in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_tutorial.errors import expect, expect_count, expect_fields, expect_floating
from capsnet_tutorial.functional import RoutingTrace, capsule_lengths, mask_capsules
from capsnet_tutorial.layers import Decoder, PrimaryCapsules, RoutedCapsules


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
        expect(isinstance(hidden, Sequence) and not isinstance(hidden, str), "decoder_hidden as a tuple", repr(hidden))
        for width in hidden:
            expect_count("decoder_hidden's widths", width)
        object.__setattr__(self, "decoder_hidden", tuple(hidden))  # a list when it was JSON
        expect(self.primary_side >= 1, "an image that both convolutions fit into", f"{self.image_size} pixels")

    @classmethod
    def paper(cls) -> CapsNetConfig:
        """Section 4: 1152 primary capsules, 8,215,568 parameters with the decoder."""
        return cls()

    @classmethod
    def small(cls) -> CapsNetConfig:
        """For a laptop and for the page: 72 primary capsules, 454,992 parameters with the decoder."""
        return cls(
            conv_channels=64,
            conv_stride=2,
            primary_types=8,
            primary_kernel=5,
            decoder_hidden=(128, 256),
        )

    @classmethod
    def preset(cls, name: str) -> CapsNetConfig:
        """ "paper" or "small"."""
        presets = {"paper": cls.paper, "small": cls.small}
        expect(name in presets, f"a preset, one of {', '.join(presets)}", repr(name))
        return presets[name]()

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> CapsNetConfig:
        """The inverse of `dataclasses.asdict`, from JSON."""
        expect_fields(cls, fields)
        return cls(**fields)

    @property
    def conv_side(self) -> int:
        """Height and width of the first convolution's maps (20 in the paper)."""
        return (self.image_size - self.conv_kernel) // self.conv_stride + 1

    @property
    def primary_side(self) -> int:
        """Height and width of the grid of primary capsules (6 in the paper)."""
        return (self.conv_side - self.primary_kernel) // self.primary_stride + 1

    @property
    def primary_capsules(self) -> int:
        """I, the number of primary capsules (1152 in the paper)."""
        return self.primary_types * self.primary_side**2

    @property
    def pixels(self) -> int:
        """Numbers an image."""
        return self.in_channels * self.image_size**2


class CapsNetOutput(NamedTuple):
    """What one forward pass gives."""

    capsules: Tensor
    """v, [B, J, D_out]."""
    lengths: Tensor
    """‖v_j‖, [B, J]: the probability that class j is present."""
    reconstruction: Tensor
    """[B, pixels], each in (0, 1), drawn from one capsule."""


class CapsNet(nn.Module):
    """Convolution, primary capsules, routed capsules, decoder. Figures 1 and 2.

    Shapes are given for the paper's sizes::

        images [B, 1, 28, 28] -> [B, 256, 20, 20] -> u [B, 1152, 8] -> v [B, 10, 16] -> [B, 784]
    """

    def __init__(self, config: CapsNetConfig | None = None) -> None:
        super().__init__()
        config = CapsNetConfig.paper() if config is None else config
        self.config = config
        self.conv = nn.Conv2d(config.in_channels, config.conv_channels, config.conv_kernel, config.conv_stride)
        self.primary = PrimaryCapsules(
            config.conv_channels, config.primary_types, config.primary_dim, config.primary_kernel, config.primary_stride
        )
        self.routed = RoutedCapsules(
            config.primary_capsules, config.primary_dim, config.classes, config.class_dim, config.iterations
        )
        self.decoder = Decoder(config.classes * config.class_dim, config.decoder_hidden, config.pixels)

    def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
        """Recognise and redraw.

        Args:
            images: [B, 1, 28, 28], floats, finite.
            labels: integers [B]. Given (training): redraw from the true class's capsule; else from the longest.
        """
        v = self.class_capsules(images)
        return CapsNetOutput(v, capsule_lengths(v), self.decode(mask_capsules(v, labels)))

    def primary_capsules(self, images: Tensor) -> Tensor:
        """u, the output of the primary capsules: [B, I, D_in]."""
        self._check(images)
        return self.primary(F.relu(self.conv(images)))

    def class_capsules(self, images: Tensor) -> Tensor:
        """v, the output of the routed capsules: [B, J, D_out]."""
        return self.routed(self.primary_capsules(images))

    def trace(self, images: Tensor) -> tuple[Tensor, RoutingTrace]:
        """The class capsules and everything that routing computed on the way to them."""
        return self.routed.trace(self.primary_capsules(images))

    def decode(self, capsules: Tensor) -> Tensor:
        """Draw class capsules [B, J, D_out] as they are, masked or not: [B, pixels]."""
        expected = (self.config.classes, self.config.class_dim)
        expect_floating("capsules", capsules)
        expect(
            capsules.dim() == 3 and capsules.shape[1:] == expected,
            f"capsules of shape [B, {expected[0]}, {expected[1]}]",
            f"shape {list(capsules.shape)}",
        )
        return self.decoder(capsules.flatten(1))

    @torch.no_grad()
    def predict(self, images: Tensor) -> Tensor:
        """The class whose capsule is longest, integers [B]."""
        return capsule_lengths(self.class_capsules(images)).argmax(dim=1)

    def _check(self, images: Tensor) -> None:
        shape = (self.config.in_channels, self.config.image_size, self.config.image_size)
        expect_floating("images", images)
        expect(
            images.dim() == 4 and images.shape[1:] == shape,
            f"images of shape [B, {', '.join(map(str, shape))}]",
            f"shape {list(images.shape)}",
        )
        if not torch.compiler.is_compiling():
            expect(bool(images.isfinite().all()), "finite images", "nan or infinity among the pixels")


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
