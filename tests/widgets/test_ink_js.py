"""ink.js: strokes become pixels as MNIST's digits did."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin
from typing import Any

import numpy as np
import pytest
import torch

from capsnet_tutorial.weights import load_pretrained

Stroke = list[list[float]]


def arc(
    centre: tuple[float, float], radii: tuple[float, float], start: float, end: float
) -> Stroke:
    """Return 40 points of an ellipse's arc; angles in turns, clockwise from the right."""
    (x, y), (rx, ry) = centre, radii
    turns = np.linspace(start, end, 40)
    return [[x + rx * cos(2 * pi * turn), y + ry * sin(2 * pi * turn)] for turn in turns]


# The ten digits as a careful hand would draw them, and three simple things to measure.
DIGITS: list[list[Stroke]] = [
    [arc((0.5, 0.5), (0.22, 0.35), 0, 1)],
    [[[0.5, 0.15], [0.5, 0.85]]],
    [[*arc((0.5, 0.32), (0.2, 0.18), -0.5, 0.1), [0.3, 0.85], [0.75, 0.85]]],
    [arc((0.48, 0.32), (0.2, 0.18), -0.45, 0.25) + arc((0.48, 0.68), (0.22, 0.2), -0.25, 0.42)],
    [[[0.35, 0.15], [0.3, 0.5], [0.7, 0.5]], [[0.68, 0.2], [0.6, 0.9]]],
    [[[0.7, 0.15], [0.38, 0.15], [0.35, 0.45], *arc((0.48, 0.63), (0.22, 0.22), -0.33, 0.4)]],
    [[[0.6, 0.12], [0.4, 0.4], *arc((0.5, 0.67), (0.18, 0.2), -0.5, 0.5)]],
    [[[0.25, 0.2], [0.72, 0.2], [0.45, 0.88]]],
    [arc((0.5, 0.32), (0.16, 0.17), 0.25, -0.75) + arc((0.5, 0.68), (0.19, 0.19), -0.25, 0.75)],
    [[*arc((0.5, 0.35), (0.18, 0.2), 0, -1), [0.66, 0.6], [0.6, 0.9]]],
]
BAR: list[Stroke] = [[[0.5, 0.1], [0.5, 0.9]]]
RING: list[Stroke] = [arc((0.5, 0.5), (0.25, 0.35), 0, 1)]
SEVEN: list[Stroke] = [[[0.2, 0.2], [0.8, 0.2], [0.4, 0.9]]]


@pytest.fixture
def images(evaluate: Callable[..., Any]) -> Callable[[list[list[Stroke]]], np.ndarray]:
    def rasterise(drawings: list[list[Stroke]]) -> np.ndarray:
        came = evaluate("return data.map(m.toImage);", drawings, m="shared/ink.js")
        return np.array(came, dtype=np.float32).reshape(len(drawings), 28, 28)

    return rasterise


def centre_of_mass(image: np.ndarray) -> tuple[float, float]:
    middles = np.arange(28) + 0.5
    return float(image.sum(0) @ middles / image.sum()), float(image.sum(1) @ middles / image.sum())


def box(image: np.ndarray) -> tuple[int, int]:
    """Width and height of what is darker than a trace."""
    rows, columns = np.nonzero(image > 0.05)
    return int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1


def moved(drawing: list[Stroke], scale: float, dx: float, dy: float) -> list[Stroke]:
    return [[[x * scale + dx, y * scale + dy] for x, y in stroke] for stroke in drawing]


@pytest.mark.parametrize("drawing", [BAR, RING, SEVEN], ids=["bar", "ring", "seven"])
def test_centred_and_fitted(images, drawing):
    (image,) = images([drawing])
    assert image.min() == 0
    assert image.max() == pytest.approx(1)
    assert centre_of_mass(image) == pytest.approx((14.5, 14.5), abs=0.1)  # where MNIST's lies
    assert 19 <= max(box(image)) <= 21


def test_place_and_size_on_the_pad_do_not_matter(images):
    here, there, smaller = images([SEVEN, moved(SEVEN, 1, 0.15, -0.1), moved(SEVEN, 0.5, 0.1, 0.4)])
    assert np.allclose(here, there, atol=1e-4)
    assert np.allclose(here, smaller, atol=1e-4)


def test_a_dot_stays_a_dot(images):
    for image in images([[[[0.3, 0.3]]], [[[0.3, 0.3], [0.32, 0.3]]]]):
        assert 0 < max(box(image)) <= 5


def test_drawn_digits_are_read(images):
    """What a hand draws on the pad, the shipped network reads, and is sure of it."""
    out = load_pretrained("small")(torch.from_numpy(images(DIGITS)).unsqueeze(1))
    assert out.lengths.argmax(dim=1).tolist() == list(range(10))
    assert out.lengths.amax(dim=1).min() > 0.8
