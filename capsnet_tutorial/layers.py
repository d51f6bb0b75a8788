"""Layers of a CapsNet: PrimaryCapsules, RoutedCapsules, Decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.errors import (
    FLOATING,
    expect,
    expect_count,
    expect_floating,
    expect_shape,
    expect_tensor,
    is_transformed,
)
from capsnet_tutorial.fast import route_capsules
from capsnet_tutorial.functional import (
    RoutingTrace,
    at_least_float32,
    in_full_precision,
    prediction_vectors,
    route,
    route_last,
    squash,
)

Primary = Callable[[Tensor, int], Tensor]
"""(features [B, types·dim, H, W], dim) -> u [B, I, dim]."""
Routing = Callable[[Tensor, int], Tensor]
"""(u_hat [B, I, J, D_out], iterations) -> v [B, J, D_out]."""


def part_name(part: Callable[..., Tensor]) -> str:
    """Return the name of a part of a network: a function's own, or that of a module's class."""
    return getattr(part, "__name__", type(part).__name__)


def expect_result(
    name: str, part: Callable[..., Tensor], result: Any, shape: Sequence[int]
) -> None:
    """Raise `InputError` unless a custom part returned a floating-point tensor of this shape."""
    wanted = f"{list(shape)} floating-point numbers from the part {name}, {part_name(part)}"
    expect(isinstance(result, Tensor), wanted, type(result).__name__)
    fits = result.dtype in FLOATING and result.shape == shape
    expect(fits, wanted, f"{result.dtype} {list(result.shape)}")


def group_into_capsules(features: Tensor, dim: int) -> Tensor:
    """Group features into capsules: one capsule is ``dim`` channels at **one** place. Section 4.

    Args:
        features: [B, types·dim, H, W]; the channels of a type stand next to each other.
        dim: numbers a capsule.

    Returns:
        [B, types·H·W, dim], types first, then rows, then columns. Not squashed.
    """
    expect_tensor("features", features)  # of any type: nothing is computed, numbers only move
    expect_shape("features", features, "[B, types*dim, H, W]")
    expect_count("dim", dim)
    batch, channels, height, width = features.shape
    expect(channels % dim == 0, f"a number of channels that {dim} divides", f"{channels} channels")
    types = channels // dim
    grouped = features.view(batch, types, dim, height, width)
    return grouped.permute(0, 1, 3, 4, 2).reshape(batch, types * height * width, dim)


def group_and_squash(features: Tensor, dim: int) -> Tensor:
    """Group feature maps into capsules and squash each.

    Args:
        features: [B, types·dim, H, W].
        dim: numbers a capsule.

    Returns:
        u, [B, types·H·W, dim].
    """
    return squash(group_into_capsules(features, dim))


def draw_truncated(weight: Tensor, std: float) -> None:
    """Draw a weight in place from a normal distribution cut off at two standard deviations."""
    nn.init.trunc_normal_(weight, std=std, a=-2 * std, b=2 * std)


class PrimaryCapsules(nn.Module):
    """A convolution whose channels are read as capsules. Section 4.

    [B, in_channels, H, W] -> u [B, types·H'·W', dim].

    Args:
        in_channels: channels of the feature maps.
        types: kinds of capsules; each has one capsule at every place.
        dim: numbers a capsule.
        kernel: side of the convolution's kernel.
        stride: of the convolution.
        group: how features become capsules: (features [B, types·dim, H', W'], dim) -> u.
    """

    def __init__(  # noqa: PLR0913 - independent sizes, by keyword only
        self,
        *,
        in_channels: int,
        types: int,
        dim: int,
        kernel: int,
        stride: int,
        group: Primary = group_and_squash,
    ) -> None:
        super().__init__()
        sizes = {
            "in_channels": in_channels,
            "types": types,
            "dim": dim,
            "kernel": kernel,
            "stride": stride,
        }
        for name, size in sizes.items():
            expect_count(name, size)
        self.dim = dim
        self.conv = nn.Conv2d(in_channels, types * dim, kernel, stride)
        self.group = group

    def forward(self, features: Tensor) -> Tensor:
        features = self.conv(features)  # [B, types·dim, H', W']
        u = self.group(features, self.dim)  # [B, I, dim]
        capsule_count = features.shape[1:].numel() // self.dim  # I
        expect_result("primary", self.group, u, (features.shape[0], capsule_count, self.dim))
        return u


class RoutedCapsules(nn.Module):
    """Class capsules, routed by agreement from the capsules below. Equation 2 and Procedure 1.

    u [B, I, D_in] -> v [B, J, D_out]. There are no biases. W is drawn from a truncated normal of
    standard deviation 0.1, as in the authors' code; with a standard deviation of 1, s is so long
    that squash is flat and learning stalls.

    Args:
        in_capsules: I.
        in_dim: D_in.
        out_capsules: J.
        out_dim: D_out.
        iterations: routing rounds, at least 1.
        routing: (u_hat [B, I, J, D_out], iterations) -> v, a function or an `nn.Module`; called in
            float32 at least.
    """

    without_u_hat: bool | None = None
    """Whether `route` and `route_last` are computed by `route_capsules`, without û.

    True: always; the output can be differentiated once. False: never; û is computed, and the output
    can be differentiated any number of times. None: on the CPU, where that is faster, but not in
    exported or traced code, nor in the transforms of `torch.func`.
    """

    def __init__(  # noqa: PLR0913 - independent sizes, by keyword only
        self,
        *,
        in_capsules: int,
        in_dim: int,
        out_capsules: int,
        out_dim: int,
        iterations: int = 3,
        routing: Routing = route,
    ) -> None:
        super().__init__()
        sizes = {
            "in_capsules": in_capsules,
            "in_dim": in_dim,
            "out_capsules": out_capsules,
            "out_dim": out_dim,
            "iterations": iterations,
        }
        for name, size in sizes.items():
            expect_count(name, size)
        self.iterations = iterations
        self.routing = routing
        self.weight = nn.Parameter(torch.empty(in_capsules, out_capsules, in_dim, out_dim))
        draw_truncated(self.weight, 0.1)

    def forward(self, u: Tensor) -> Tensor:
        expect_floating("u", u)
        capsules = at_least_float32(u)  # [B, I, D_in]
        weight = at_least_float32(self.weight)  # [I, J, D_in, D_out]
        if self._goes_without_u_hat(u):
            gradient = "all" if self.routing is route else "last"
            v = route_capsules(capsules, weight, self.iterations, gradient=gradient)
            return v.to(u.dtype)
        with in_full_precision(u.device):
            u_hat = prediction_vectors(capsules, weight)  # [B, I, J, D_out]
            v = self.routing(u_hat, self.iterations)  # [B, J, D_out]
        expect_result("routing", self.routing, v, (u.shape[0], *u_hat.shape[2:]))
        return v.to(u.dtype)

    def _goes_without_u_hat(self, u: Tensor) -> bool:
        """Return whether to call `route_capsules` on u instead of the routing."""
        if not self.routes_as_paper:
            return False
        if self.without_u_hat is not None:
            return self.without_u_hat
        return u.device.type == "cpu" and not is_transformed(u, self.weight)

    @property
    def routes_as_paper(self) -> bool:
        """Whether it routes by Procedure 1: by `route` or `route_last`."""
        return self.routing is route or self.routing is route_last

    def trace(self, u: Tensor) -> tuple[Tensor, RoutingTrace]:
        """Return the output and every round's quantities of the paper's routing.

        Args:
            u: [B, I, D_in].

        Raises:
            ValueError: the layer has another routing.
        """
        expect(self.routes_as_paper, "the paper's routing to trace", part_name(self.routing))
        return route(prediction_vectors(u, self.weight), self.iterations, return_trace=True)

    def extra_repr(self) -> str:
        in_capsules, out_capsules, in_dim, out_dim = self.weight.shape
        sizes = f"{in_capsules}×{in_dim} -> {out_capsules}×{out_dim}, iterations={self.iterations}"
        if self.routing is route:
            return sizes
        return f"{sizes}, routing={part_name(self.routing)}"


class Decoder(nn.Sequential):
    """Fully connected layers that draw an image from masked capsules. Section 4.1.

    [B, inputs] -> [B, pixels], each in (0, 1): ReLU between the layers, a sigmoid at the end.

    Args:
        inputs: numbers of all masked capsules of an image.
        hidden: widths of the hidden layers.
        pixels: numbers of an image, its channels included.
    """

    def __init__(self, *, inputs: int, hidden: Sequence[int], pixels: int) -> None:
        expect_count("inputs", inputs)
        expect_count("pixels", pixels)
        layers: list[nn.Module] = []
        width_below = inputs
        for width in hidden:
            layers += [nn.Linear(width_below, width), nn.ReLU()]
            width_below = width
        super().__init__(*layers, nn.Linear(width_below, pixels), nn.Sigmoid())
