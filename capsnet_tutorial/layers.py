"""The three parts of a CapsNet that a stock library does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from capsnet_tutorial.errors import expect, expect_count, expect_shape
from capsnet_tutorial.fast import route_capsules
from capsnet_tutorial.functional import RoutingTrace, prediction_vectors, route, squash


def group_into_capsules(features: Tensor, dim: int) -> Tensor:
    """Cut feature maps into capsules: one capsule is ``dim`` channels at **one** place. Section 4.

    Args:
        features: [B, types·dim, H, W]; the channels of a type stand next to each other.
        dim: numbers a capsule.

    Returns:
        [B, types·H·W, dim], types first, then rows, then columns. Not squashed.
    """
    expect_shape("features", features, "[B, types*dim, H, W]")
    batch, channels, height, width = features.shape
    expect(dim >= 1 and channels % dim == 0, f"a number of channels that {dim} divides", f"{channels} channels")
    types = channels // dim
    grouped = features.view(batch, types, dim, height, width)
    return grouped.permute(0, 1, 3, 4, 2).reshape(batch, types * height * width, dim)


def draw_truncated(weight: Tensor, std: float) -> None:
    """Draw weights from a normal distribution that is cut off at two standard deviations, in place."""
    nn.init.trunc_normal_(weight, std=std, a=-2 * std, b=2 * std)


class PrimaryCapsules(nn.Module):
    """A convolution whose channels are read as capsules, squashed. Section 4.

    [B, in_channels, H, W] -> u [B, types·H'·W', dim].
    """

    def __init__(self, in_channels: int, types: int, dim: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.dim = dim
        self.conv = nn.Conv2d(in_channels, types * dim, kernel, stride)

    def forward(self, features: Tensor) -> Tensor:
        return squash(group_into_capsules(self.conv(features), self.dim))


class RoutedCapsules(nn.Module):
    """Capsules that find their inputs by agreement. Equation 2 and Procedure 1, without biases.

    u [B, I, D_in] -> v [B, J, D_out].

    Args:
        in_capsules: I.
        in_dim: D_in.
        out_capsules: J.
        out_dim: D_out.
        iterations: routing rounds, at least 1.
        gradient: "all" rounds of routing, or only the "last": see `route_capsules`. Can be changed at any time.
        init_std: standard deviation of the truncated normal that W is drawn from. 0.1, as in the
            authors' code. Drawn with 1, s is so long that squash is flat and learning stalls.
    """

    def __init__(
        self,
        in_capsules: int,
        in_dim: int,
        out_capsules: int,
        out_dim: int,
        iterations: int = 3,
        gradient: Literal["all", "last"] = "all",
        init_std: float = 0.1,
    ) -> None:
        super().__init__()
        expect_count("iterations", iterations)
        self.iterations = iterations
        self.gradient: Literal["all", "last"] = gradient
        self.weight = nn.Parameter(torch.empty(in_capsules, out_capsules, in_dim, out_dim))
        draw_truncated(self.weight, init_std)

    @property
    def matrices(self) -> Tensor:
        """W, [I, J, D_in, D_out], as routing uses it."""
        return self.weight

    def forward(self, u: Tensor) -> Tensor:
        return route_capsules(u, self.matrices, self.iterations, gradient=self.gradient)

    def trace(self, u: Tensor) -> tuple[Tensor, RoutingTrace]:
        """The output and everything each round computed."""
        return route(prediction_vectors(u, self.matrices), self.iterations, return_trace=True)

    def extra_repr(self) -> str:
        in_capsules, out_capsules, in_dim, out_dim = self.weight.shape
        return f"{in_capsules}×{in_dim} -> {out_capsules}×{out_dim}, iterations={self.iterations}"


class Decoder(nn.Sequential):
    """Draws an image from masked capsules: fully connected, ReLU between, sigmoid at the end. Section 4.1.

    [B, inputs] -> [B, pixels], each in (0, 1).
    """

    def __init__(self, inputs: int, hidden: Sequence[int], pixels: int) -> None:
        layers: list[nn.Module] = []
        for width in hidden:
            layers += [nn.Linear(inputs, width), nn.ReLU()]
            inputs = width
        super().__init__(*layers, nn.Linear(inputs, pixels), nn.Sigmoid())
