"""equivariance.py: R² is 1 where a turn moves all by one map, and 0 where it scatters them."""

from __future__ import annotations

import math

import pytest
import torch
from capsnet_book.experiments import decoders
from capsnet_book.experiments.equivariance import ANGLES, WIDTH, Turned, equivariance, fitted
from networks import noise

LABELS = torch.arange(400) % 2


def turned_by(angle: float, vectors: torch.Tensor) -> torch.Tensor:
    """Vectors [N, 16] with their first two numbers turned: a representation of turns."""
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    matrix = torch.eye(vectors.shape[1], dtype=vectors.dtype)
    matrix[:2, :2] = torch.tensor([[cos, -sin], [sin, cos]])
    return vectors @ matrix


def test_a_map_that_is_the_same_for_all_explains_everything_and_composes():
    upright = noise(400, WIDTH)
    vectors = {angle: turned_by(angle, upright) + 0.01 * angle for angle in (0, *ANGLES)}
    measured = equivariance(Turned(vectors, LABELS))
    assert list(measured["r2"].values()) == pytest.approx([1.0] * len(ANGLES), abs=1e-6)
    assert measured["composed"] == pytest.approx(1.0, abs=1e-3)  # the offsets add up exactly


def test_vectors_that_are_scattered_are_not_explained():
    vectors = {angle: noise(400, WIDTH, seed=angle) for angle in (0, *ANGLES)}
    measured = equivariance(Turned(vectors, LABELS))
    assert max(measured["r2"].values()) < 0.05 and measured["composed"] < 0.05


def test_half_of_the_variance_unexplained_is_half_of_r2():
    upright = noise(4000, 4)
    vectors = {angle: upright + noise(4000, 4, seed=angle) for angle in ANGLES} | {0: upright}
    measured = equivariance(Turned(vectors, torch.zeros(4000, dtype=torch.int64)))
    assert measured["r2"]["10"] == pytest.approx(0.5, abs=0.05)


def test_a_wider_representation_is_read_on_its_principal_axes():
    narrow = noise(400, 3)
    wide = narrow @ noise(3, 50, seed=1)  # 50 numbers, but only three axes
    vectors = {angle: wide * (1 + angle / 100) for angle in (0, *ANGLES)}
    measured = equivariance(Turned(vectors, LABELS))
    assert min(measured["r2"].values()) > 0.999


def test_the_map_is_that_of_least_squares():
    inputs = noise(50, 3)
    outputs = inputs @ noise(3, 3, seed=1) + noise(1, 3, seed=2)
    found = fitted(inputs, outputs)
    torch.testing.assert_close(found(inputs), outputs)
    torch.testing.assert_close(found.offset, noise(1, 3, seed=2)[0])


def test_a_drawing_cnn_learns_from_its_drawings_only_if_they_have_weight():
    torch.manual_seed(0)
    images, labels = noise(6, 1, 28, 28).float().sigmoid(), torch.arange(6)
    for weight in (0.0, 0.5):
        network = decoders.DrawingCNN()
        scores, drawings = network(images)
        assert scores.shape == (6, 10) and drawings.shape == (6, 784)
        decoders.scores_and_drawings(weight)((scores, drawings), images, labels).backward()
        slopes = [parameter.grad.abs().sum() for parameter in network.decoder.parameters()]
        assert (sum(slopes) > 0) == (weight > 0)


def test_a_row_is_the_mean_over_the_seeds():
    runs = [
        {"arm": "cnn", "seed": seed, "error": error, "r2": {"10": r2}, "composed": 0.5}
        for seed, error, r2 in ((10, 0.01, 0.6), (11, 0.03, 0.8))
    ]
    (row,) = decoders.table_rows({"runs": runs})
    assert row == [decoders.ARMS["cnn"].summary, "0.70", "0.50", "2.0", "2"]
