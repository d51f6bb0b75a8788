"""Affine and elastic transformations of digits: at random for training, by a given amount for measuring.

Images are [N, 1, H, W] with 0 for paper, on any device and in any precision, and so they come back; what comes in at
the border is paper. All chance is drawn on the CPU: the same for the same seed, wherever the images are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from capsnet_tutorial.errors import expect, expect_floating, expect_shape
from capsnet_tutorial.functional import at_least_float32


def option(default: Any, description: str) -> Any:
    """A field that `capsnet train` has an option for; the description is the option's help."""
    return field(default=default, metadata={"help": description})


@dataclass(frozen=True)
class Augmentation:
    """How far training images are moved at random. The default is the paper's: shifts of up to 2 pixels.

    With nothing but shifts by whole numbers, pixels are moved whole; with anything else, they are interpolated.
    """

    shift: float = option(2.0, "pixels, to either side, along both axes")
    rotation: float = option(0.0, "degrees, to either side")
    scale: float = option(0.0, "0.1 for 0.9 to 1.1 times the size, along each axis on its own")
    shear: float = option(0.0, "horizontal, pixels per pixel of height, to either side")
    elastic: float = option(
        0.0, "standard deviation in pixels of the 5×5 knots of a smooth field of displacements"
    )

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            expect(0 <= value < math.inf, f"{name} of at least 0, finite", repr(value))
        expect(self.scale < 1, "scale below 1", repr(self.scale))

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        moved_whole = self.shift == int(self.shift)
        if moved_whole and not (self.rotation or self.scale or self.shear or self.elastic):
            return random_shift(images, int(self.shift), generator)
        count = len(images)

        def within(reach: float) -> Tensor:
            return (2 * torch.rand(count, generator=generator) - 1) * reach

        pose = Pose(
            rotation=within(self.rotation),
            scale_x=1 + within(self.scale),
            scale_y=1 + within(self.scale),
            shear=within(self.shear),
            shift_x=within(self.shift),
            shift_y=within(self.shift),
        )
        bend = (
            smooth_field(count, images.shape[-1], self.elastic, generator) if self.elastic else None
        )
        return transform(images, pose, bend)


@dataclass(frozen=True)
class Pose:
    """What is done to each of N images: numbers, or tensors [N]."""

    rotation: Tensor | float = 0.0
    """Degrees, anticlockwise as one looks at it."""
    scale_x: Tensor | float = 1.0
    scale_y: Tensor | float = 1.0
    shear: Tensor | float = 0.0
    """How far the top leans to the right, in pixels per pixel of height."""
    shift_x: Tensor | float = 0.0
    """Pixels to the right."""
    shift_y: Tensor | float = 0.0
    """Pixels downwards."""


def random_shift(images: Tensor, pixels: int, generator: torch.Generator) -> Tensor:
    """Shift each image by a whole number of pixels, up to ``pixels`` to either side, along both axes."""
    count, _, height, width = images.shape
    windows = (
        F.pad(images, (pixels,) * 4).unfold(2, height, 1).unfold(3, width, 1)
    )  # [N, 1, rows, columns, H, W]
    rows, columns = torch.randint(0, 2 * pixels + 1, (2, count), generator=generator).to(
        images.device
    )
    return windows[torch.arange(count, device=images.device), :, rows, columns]


def transform(images: Tensor, pose: Pose, bend: Tensor | None = None) -> Tensor:
    """Scale, shear, rotate about the centre, then shift; bilinear.

    Args:
        images: [N, 1, H, W], square.
        pose: what to do.
        bend: displacements in pixels [N, H, W, 2] (x, y) on top, or None.
    """
    expect_floating("images", images)
    expect_shape("images", images, "[N, 1, H, W]")
    count, _, height, width = images.shape
    expect(height == width, "square images", f"{height}×{width}")
    sources = at_least_float32(images)

    def per_image(value: Tensor | float) -> Tensor:
        return torch.as_tensor(value, dtype=sources.dtype, device=sources.device).expand(count)

    angle = torch.deg2rad(per_image(pose.rotation))
    cos, sin = angle.cos(), angle.sin()
    zero, one = per_image(0), per_image(1)
    # y points down in an image, so an anticlockwise turn as seen has the sine's sign the other way round.
    turn = _matrix(cos, sin, -sin, cos)
    lean = _matrix(one, -per_image(pose.shear), zero, one)
    stretch = _matrix(per_image(pose.scale_x), zero, zero, per_image(pose.scale_y))
    inverse = torch.linalg.inv(
        turn @ lean @ stretch
    )  # a pixel of the result asks where it came from
    shift = torch.stack([per_image(pose.shift_x), per_image(pose.shift_y)], dim=1) * 2 / width
    theta = torch.cat([inverse, -inverse @ shift.unsqueeze(2)], dim=2)  # [N, 2, 3]
    grid = F.affine_grid(theta, list(images.shape), align_corners=False)  # [N, H, W, 2]
    if bend is not None:
        grid = grid + bend.to(grid) * 2 / width
    return F.grid_sample(sources, grid, align_corners=False).to(images.dtype)


def smooth_field(
    count: int, size: int, strength: float, generator: torch.Generator, coarse: int = 5
) -> Tensor:
    """Random displacements that vary smoothly over the image: pixels, [N, H, W, 2]."""
    knots = torch.randn(count, 2, coarse, coarse, generator=generator) * strength
    return F.interpolate(knots, size=(size, size), mode="bicubic", align_corners=True).permute(
        0, 2, 3, 1
    )


def _matrix(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """[N, 2, 2] from its four elements, each [N]."""
    return torch.stack([torch.stack([a, b], dim=1), torch.stack([c, d], dim=1)], dim=1)
