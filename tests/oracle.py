"""The paper's equations as plain loops over b, i, j and d, in float64, for tests to compare with.

Written from the paper, not from the package, and slow on purpose. Arrays are numpy's, and results
are float64. `agrees` compares a tensor of the package with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch.nn import functional as F

Array = NDArray[np.float64]

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def agrees(tensor: torch.Tensor, expected: ArrayLike) -> None:
    """Fail unless a tensor has these numbers, to what its dtype can hold."""
    numbers64, expected64 = array(tensor), array(expected)
    assert numbers64.shape == expected64.shape, (
        f"expected shape {expected64.shape}; got {numbers64.shape}"
    )
    tolerance = TOLERANCE[tensor.dtype]
    differences = np.abs(numbers64 - expected64)
    far = differences > tolerance * (1 + np.abs(expected64))
    assert not far.any() and np.isfinite(numbers64).all(), (
        f"{far.sum()} of {far.size} numbers differ by up to {differences.max():.3g}"
    )


def array(numbers: ArrayLike | torch.Tensor) -> Array:
    """A copy in float64, whatever it was."""
    if isinstance(numbers, torch.Tensor):
        numbers = numbers.detach().cpu().double().numpy()
    return np.array(numbers, dtype=np.float64)


def length(vector: ArrayLike) -> float:
    """‖x‖."""
    return math.sqrt(sum(x * x for x in array(vector)))


def squash(s: ArrayLike) -> Array:
    """Equation 1, for vectors along the last axis."""
    s = array(s)
    v = np.zeros_like(s)
    for place in np.ndindex(s.shape[:-1]):
        n = length(s[place])
        for d in range(s.shape[-1]):
            v[place][d] = n**2 / (1 + n**2) * s[place][d] / n if n > 0 else 0.0
    return v


def prediction_vectors(u: ArrayLike, weight: ArrayLike) -> Array:
    """Equation 2, right: û_j|i = W_ij u_i."""
    u, weight = array(u), array(weight)
    (B, I, D_in), (_, J, _, D_out) = u.shape, weight.shape
    u_hat = np.zeros((B, I, J, D_out))
    for b, i, j, d in np.ndindex(B, I, J, D_out):
        u_hat[b, i, j, d] = sum(u[b, i, e] * weight[i, j, e, d] for e in range(D_in))
    return u_hat


def softmax(row: ArrayLike) -> list[float]:
    """Equation 3, for the logits of one capsule below."""
    highest = max(array(row))
    powers = [math.exp(x - highest) for x in array(row)]
    return [power / sum(powers) for power in powers]


class Rounds(NamedTuple):
    """What each round of routing computed, the rounds first."""

    b: Array
    c: Array
    s: Array
    v: Array


def route(u_hat: ArrayLike, iterations: int) -> Rounds:
    """Procedure 1, image by image."""
    u_hat = array(u_hat)
    B, I, J, D = u_hat.shape
    R = iterations
    trace = Rounds(
        np.zeros((R, B, I, J)),
        np.zeros((R, B, I, J)),
        np.zeros((R, B, J, D)),
        np.zeros((R, B, J, D)),
    )
    for image in range(B):
        b = [[0.0] * J for _ in range(I)]
        for r in range(R):
            trace.b[r, image] = b
            for i in range(I):
                trace.c[r, image, i] = softmax(b[i])
            for j, d in np.ndindex(J, D):
                trace.s[r, image, j, d] = sum(
                    trace.c[r, image, i, j] * u_hat[image, i, j, d] for i in range(I)
                )
            trace.v[r, image] = squash(trace.s[r, image])
            for i, j in np.ndindex(I, J):
                b[i][j] += sum(u_hat[image, i, j, d] * trace.v[r, image, j, d] for d in range(D))
    return trace


def capsule_lengths(v: ArrayLike) -> Array:
    """‖v_j‖."""
    v = array(v)
    return np.array([[length(capsule) for capsule in image] for image in v])


def multi_hot(labels: ArrayLike, classes: int) -> Array:
    """T of equation 4, one class an image."""
    return np.array(
        [[1.0 if k == label else 0.0 for k in range(classes)] for label in np.asarray(labels)]
    )


def margin_loss(
    lengths: ArrayLike,
    present: ArrayLike,
    m_plus: float = 0.9,
    m_minus: float = 0.1,
    lambda_: float = 0.5,
) -> float:
    """Equation 4, summed over the classes, mean over the batch; ``present`` is T, [B, J]."""
    lengths, present = array(lengths), array(present)
    total = 0.0
    for image, k in np.ndindex(lengths.shape):
        if present[image, k]:
            total += max(0.0, m_plus - lengths[image, k]) ** 2
        else:
            total += lambda_ * max(0.0, lengths[image, k] - m_minus) ** 2
    return total / len(lengths)


def mask_capsules(v: ArrayLike, labels: ArrayLike | None = None) -> Array:
    """Section 4.1: one capsule of each image is kept, the labelled one or the longest."""
    v = array(v)
    masked = np.zeros_like(v)
    for image in range(len(v)):
        lengths = [length(capsule) for capsule in v[image]]
        j = lengths.index(max(lengths)) if labels is None else int(np.asarray(labels)[image])
        masked[image, j] = v[image, j]
    return masked


def reconstruction_loss(reconstruction: ArrayLike, images: ArrayLike) -> float:
    """Section 4.1: squared differences, summed over the pixels, mean over the batch."""
    reconstruction, images = array(reconstruction), array(images)
    pairs = zip(reconstruction.reshape(-1), images.reshape(-1), strict=True)
    return sum((drawn - pixel) ** 2 for drawn, pixel in pairs) / len(images)


def group_into_capsules(features: ArrayLike, dim: int) -> Array:
    """Section 4: capsule (type, row, column) is the type's ``dim`` channels at that one place."""
    features = array(features)
    B, channels, H, W = features.shape
    capsules = np.zeros((B, channels // dim * H * W, dim))
    for image, kind, row, column, d in np.ndindex(B, channels // dim, H, W, dim):
        capsules[image, (kind * H + row) * W + column, d] = features[
            image, kind * dim + d, row, column
        ]
    return capsules


def convolution(x: ArrayLike, weight: ArrayLike, bias: ArrayLike, stride: int) -> Array:
    """What every library calls a convolution, and so the library's own."""
    return array(
        F.conv2d(
            *(torch.from_numpy(array(numbers)) for numbers in (x, weight, bias)), stride=stride
        )
    )


def decoder(x: ArrayLike, layers: list[tuple[Array, Array]]) -> Array:
    """Section 4.1: fully connected layers, ReLU between them, a sigmoid at the end."""
    x = array(x)
    for number, (weight, bias) in enumerate(layers, start=1):
        x = np.array([[row @ unit for unit in weight] for row in x]) + bias
        x = np.maximum(x, 0) if number < len(layers) else 1 / (1 + np.exp(-x))
    return x


class Output(NamedTuple):
    """What a network answers."""

    primary: Array
    capsules: Array
    lengths: Array
    reconstruction: Array


def network(  # noqa: PLR0913 - independent sizes, by keyword only
    weights: Mapping[str, ArrayLike | torch.Tensor],
    images: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    strides: tuple[int, int],
    primary_dim: int,
    iterations: int,
) -> Output:
    """Figures 1 and 2, from the weights of a CapsNet."""
    named = {name: array(tensor) for name, tensor in weights.items()}
    hidden = np.maximum(
        convolution(images, named["conv.weight"], named["conv.bias"], strides[0]), 0
    )
    features = convolution(
        hidden, named["primary.conv.weight"], named["primary.conv.bias"], strides[1]
    )
    u = squash(group_into_capsules(features, primary_dim))
    v = route(prediction_vectors(u, named["routed.weight"]), iterations).v[-1]
    numbers = sorted({int(name.split(".")[1]) for name in named if name.startswith("decoder.")})
    layers = [
        (named[f"decoder.{number}.weight"], named[f"decoder.{number}.bias"]) for number in numbers
    ]
    masked = mask_capsules(v, labels)
    return Output(u, v, capsule_lengths(v), decoder(masked.reshape(len(v), -1), layers))
