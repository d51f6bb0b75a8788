"""Affine and elastic transformations of images: at random, or by a given amount.

Images are [N, C, H, W] with 0 for paper, on any device and in any precision; the result has the
same device and precision. Pixels shifted in from outside are 0. All random numbers are drawn on the
CPU: the same for the same seed, wherever the images are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from capsnet_tutorial.errors import expect, expect_floating, expect_shape, is_number
from capsnet_tutorial.functional import at_least_float32


def option(default: Any, description: str) -> Any:
    """Return a dataclass's field for which `capsnet train` has an option, with its help text."""
    return field(default=default, metadata={"help": description})


@dataclass(frozen=True)
class Augmentation:
    """Random transformation of training images. The default is the paper's: shifts up to 2 pixels.

    If shift is a whole number and everything else is 0, pixels are moved as they are; any other
    transformation interpolates between them.
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
            fits = is_number(value) and value >= 0
            expect(fits, f"{name} as a number of at least 0, finite", repr(value))
        expect(self.scale < 1, "scale below 1", repr(self.scale))

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Transform each image at random.

        Args:
            images: [N, C, H, W].
            generator: source of all chance.
        """
        if self.shifts_alone:
            return random_shift(images, int(self.shift), generator)
        expect_shape("images", images, "[N, C, H, W]")
        count, _, height, width = images.shape
        pose = Pose(
            rotation=_uniform(count, self.rotation, generator),
            scale_x=1 + _uniform(count, self.scale, generator),
            scale_y=1 + _uniform(count, self.scale, generator),
            shear=_uniform(count, self.shear, generator),
            shift_x=_uniform(count, self.shift, generator),
            shift_y=_uniform(count, self.shift, generator),
        )
        if not self.elastic:
            return transform(images, pose)
        bend = smooth_field(count, (height, width), self.elastic, generator)
        return transform(images, pose, bend)

    @property
    def shifts_alone(self) -> bool:
        """Whether images are shifted by whole pixels and not transformed otherwise."""
        is_whole = self.shift == int(self.shift)
        return is_whole and not (self.rotation or self.scale or self.shear or self.elastic)


def _uniform(count: int, reach: float, generator: torch.Generator) -> Tensor:
    """Draw numbers between -reach and reach, [count]."""
    return (2 * torch.rand(count, generator=generator) - 1) * reach


@dataclass(frozen=True)
class Pose:
    """Affine transformation of N images: numbers, or tensors [N]."""

    rotation: Tensor | float = 0.0
    """Degrees, anticlockwise as seen."""
    scale_x: Tensor | float = 1.0
    scale_y: Tensor | float = 1.0
    shear: Tensor | float = 0.0
    """Lean of the top to the right, in pixels per pixel of height."""
    shift_x: Tensor | float = 0.0
    """Pixels to the right."""
    shift_y: Tensor | float = 0.0
    """Pixels downwards."""


def random_shift(images: Tensor, pixels: int, generator: torch.Generator) -> Tensor:
    """Shift each image by a random number of whole pixels along both axes.

    Args:
        images: [N, C, H, W].
        pixels: the farthest shift to either side, from 0 to the image's side.
        generator: source of all chance.
    """
    expect_shape("images", images, "[N, C, H, W]")
    count, _, height, width = images.shape
    fits = isinstance(pixels, int) and 0 <= pixels <= min(height, width)
    expect(fits, f"a shift from 0 to {min(height, width)} pixels", repr(pixels))
    padded = F.pad(images, (pixels, pixels, pixels, pixels))
    windows = padded.unfold(2, height, 1).unfold(3, width, 1)  # [N, C, rows, columns, H, W]
    # The top left corners of the windows to cut out; a shift of 0 starts at `pixels`.
    starts = torch.randint(0, 2 * pixels + 1, (2, count), generator=generator)
    rows, columns = starts.to(images.device)
    return windows[torch.arange(count, device=images.device), :, rows, columns]


def transform(images: Tensor, pose: Pose, bend: Tensor | None = None) -> Tensor:
    """Scale, shear and rotate images about the centre, then shift them; bilinear.

    Args:
        images: [N, C, H, W].
        pose: the transformation.
        bend: displacements in pixels, [N, H, W, 2] (x, y), added to the place from which each pixel
            of the result is taken; or None.

    Returns:
        [N, C, H, W].
    """
    expect_floating("images", images)
    expect_shape("images", images, "[N, C, H, W]")
    count, _, height, width = images.shape
    sources = at_least_float32(images)

    def per_image(value: Tensor | float) -> Tensor:
        return torch.as_tensor(value, dtype=sources.dtype, device=sources.device).expand(count)

    angle = torch.deg2rad(per_image(pose.rotation))
    cos, sin = angle.cos(), angle.sin()
    zero, one = per_image(0), per_image(1)
    # y points down in an image, which turns the sine's sign.
    turn = _matrix(cos, sin, -sin, cos)
    lean = _matrix(one, -per_image(pose.shear), zero, one)
    stretch = _matrix(per_image(pose.scale_x), zero, zero, per_image(pose.scale_y))
    # Sampling asks of each pixel of the result where it came from.
    inverse = torch.linalg.inv(turn @ lean @ stretch)
    # Places are from -1 to 1 across the image: a pixel is 2 / width, or 2 / height.
    sides = torch.tensor([width, height], dtype=sources.dtype, device=sources.device)
    inverse = inverse * (sides / sides.unsqueeze(1))  # the same map for such places
    shift = torch.stack([per_image(pose.shift_x), per_image(pose.shift_y)], dim=1) * 2 / sides
    theta = torch.cat([inverse, -inverse @ shift.unsqueeze(2)], dim=2)  # [N, 2, 3]
    grid = F.affine_grid(theta, list(images.shape), align_corners=False)  # [N, H, W, 2]
    if bend is not None:
        grid = grid + bend.to(grid) * 2 / sides
    return F.grid_sample(sources, grid, align_corners=False).to(images.dtype)


def smooth_field(
    count: int, size: tuple[int, int], strength: float, generator: torch.Generator, coarse: int = 5
) -> Tensor:
    """Draw displacements that vary smoothly over an image.

    Args:
        count: N.
        size: height and width of the images, in pixels.
        strength: standard deviation of the displacements at the knots, in pixels.
        generator: source of all chance.
        coarse: knots along each axis; between them it is interpolated.

    Returns:
        Pixels to the right and downwards, [N, H, W, 2].
    """
    knots = torch.randn(count, 2, coarse, coarse, generator=generator) * strength
    field = F.interpolate(knots, size=size, mode="bicubic", align_corners=True)
    return field.permute(0, 2, 3, 1)


def _matrix(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """Return matrices [N, 2, 2] of their four elements, each [N]."""
    return torch.stack([torch.stack([a, b], dim=1), torch.stack([c, d], dim=1)], dim=1)
