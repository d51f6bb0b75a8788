"""augment.py: whole shifts against loops, directions, identity, whose chance it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from networks import generator, noise

from capsnet_tutorial.augment import Augmentation, Pose, random_shift, smooth_field, transform
from capsnet_tutorial.data import digits

EVERYTHING = Augmentation(shift=2, rotation=15, scale=0.1, shear=0.2, elastic=0.5)


def some_digits(count: int = 8) -> torch.Tensor:
    return digits("test", source="sample").images[:count]


def blob(x: float, y: float, size: int = 21) -> torch.Tensor:
    """A round spot, x to the right and y downwards of the middle."""
    places = torch.arange(size) - (size - 1) / 2
    return torch.exp(-((places[:, None] - y) ** 2 + (places[None, :] - x) ** 2) / 2).view(
        1, 1, size, size
    )


def middle_of_mass(image: torch.Tensor) -> tuple[float, float]:
    """(x, y), to the right and downwards of the middle."""
    image = image[0, 0] / image.sum()
    places = torch.arange(len(image)) - (len(image) - 1) / 2
    return float(image.sum(dim=0) @ places), float(image.sum(dim=1) @ places)


def moved(x: float, y: float, **pose: float) -> tuple[float, float]:
    return middle_of_mass(transform(blob(x, y), Pose(**pose)))


# --- whole shifts


def shifted(image: np.ndarray, right: int, down: int) -> np.ndarray:
    """One image [H, W], moved over paper."""
    result = np.zeros_like(image)
    height, width = image.shape
    for row in range(height):
        for column in range(width):
            if 0 <= row - down < height and 0 <= column - right < width:
                result[row, column] = image[row - down, column - right]
    return result


@pytest.mark.parametrize("pixels", [0, 1, 2])
def test_a_random_shift_moves_whole_pixels_and_takes_every_shift_there_is(pixels):
    images = noise(1, 1, 5, 7, dtype=torch.float32).abs().expand(400, 1, 5, 7)
    reach = range(-pixels, pixels + 1)
    expected = {
        (right, down): shifted(images[0, 0].numpy(), right, down)
        for right in reach
        for down in reach
    }
    shifts = []
    for result in random_shift(images, pixels, generator()):
        matching = [
            shift for shift, image in expected.items() if np.array_equal(result[0].numpy(), image)
        ]
        assert len(matching) == 1, "no shift that was asked for"
        shifts += matching
    assert set(shifts) == set(expected)
    assert (
        max(map(shifts.count, expected)) < 3 * 400 / len(expected) + 1
    )  # none much more often than the others


# --- transforms


def test_the_identity_changes_nothing():
    images = some_digits()
    for batch in (images, images.double()):
        torch.testing.assert_close(transform(batch, Pose()), batch, atol=1e-5, rtol=0)
    nothing = torch.zeros(len(images), 28, 28, 2)
    torch.testing.assert_close(transform(images, Pose(), nothing), images, atol=1e-5, rtol=0)


def test_whole_shifts_are_exact_and_go_right_and_down():
    images = some_digits(2)
    expected = np.stack([shifted(image[0].numpy(), 3, -2)[None] for image in images])
    result = transform(images, Pose(shift_x=3, shift_y=-2))
    torch.testing.assert_close(result, torch.from_numpy(expected), atol=1e-5, rtol=0)


def test_scale_comes_first_then_shear_then_rotation_anticlockwise_then_shift():
    # (3, 0) is stretched to (6, 0), turned anticlockwise to (0, -6), shifted to (1, -4)
    assert moved(3, 0, scale_x=2, shear=0.5, rotation=90, shift_x=1, shift_y=2) == pytest.approx(
        (1, -4), abs=0.05
    )
    # (0, 3) is sheared to (-1.5, 3), turned to (3, 1.5)
    assert moved(0, 3, shear=0.5, rotation=90) == pytest.approx((3, 1.5), abs=0.05)


def test_an_image_that_is_not_square_turns_as_it_does_on_a_square_canvas():
    images = noise(2, 3, 9, 15, dtype=torch.float32).abs()
    pose = Pose(rotation=30, scale_x=1.1, shear=0.2, shift_x=2, shift_y=-1)
    bend = smooth_field(2, (15, 15), 0.5, generator())
    canvas = torch.nn.functional.pad(images, (0, 0, 3, 3))  # [2, 3, 15, 15]
    expected = transform(canvas, pose, bend)[:, :, 3:-3]
    torch.testing.assert_close(transform(images, pose, bend[:, 3:-3]), expected)


def test_colours_move_together():
    images = noise(4, 1, 9, 15, dtype=torch.float32).abs().expand(-1, 3, -1, -1)
    for augmentation in (Augmentation(shift=2), EVERYTHING):
        red, green, blue = augmentation(images, generator()).unbind(dim=1)
        assert red.equal(green) and red.equal(blue)


def test_a_smooth_field_is_smooth_and_as_strong_as_asked():
    field = smooth_field(200, (28, 28), 0.5, generator())
    assert list(field.shape) == [200, 28, 28, 2]
    assert field.mean().abs() < 0.02
    assert 0.25 < field.std() < 0.6
    for axis in (1, 2):  # neighbours move alike
        assert field.diff(dim=axis).std() < 0.4 * field.std()
    torch.testing.assert_close(smooth_field(200, (28, 28), 1.0, generator()), 2 * field)


@pytest.mark.parametrize("field", ["rotation", "shear", "shift_x", "shift_y", "scale_x", "scale_y"])
def test_every_amount_of_a_random_transformation_is_drawn_evenly_within_its_reach(
    field, monkeypatch
):
    poses = []
    monkeypatch.setattr("capsnet_tutorial.augment.transform", lambda _, pose: poses.append(pose))
    Augmentation(shift=2.5, rotation=15, scale=0.1, shear=0.2)(
        torch.zeros(2000, 1, 5, 5), generator()
    )
    reach = {"rotation": 15, "shear": 0.2, "scale_x": 0.1, "scale_y": 0.1}.get(field, 2.5)
    middle = 1 if field.startswith("scale") else 0
    amounts = getattr(poses[0], field) - middle
    assert amounts.abs().max() <= reach
    assert amounts.abs().max() > 0.98 * reach
    assert amounts.mean().abs() < 0.05 * reach
    assert abs(float(amounts.std()) - reach / math.sqrt(3)) < 0.05 * reach


def test_all_amounts_are_drawn_independently(monkeypatch):
    poses = []
    monkeypatch.setattr("capsnet_tutorial.augment.transform", lambda _, pose: poses.append(pose))
    Augmentation(shift=2.5, rotation=15, scale=0.1, shear=0.2)(
        torch.zeros(2000, 1, 5, 5), generator()
    )
    amounts = torch.stack(list(vars(poses[0]).values()))  # [6, 2000]
    correlation = torch.corrcoef(amounts) - torch.eye(6)
    assert correlation.abs().max() < 0.1


def test_an_elastic_field_is_as_strong_as_the_augmentation_says(monkeypatch):
    bends = []
    monkeypatch.setattr(
        "capsnet_tutorial.augment.transform", lambda _, pose, bend: bends.append(bend)
    )
    Augmentation(shift=0, elastic=0.5)(torch.zeros(500, 1, 21, 21), generator())
    at_the_knots = bends[0][:, ::5, ::5]  # [500, 5, 5, 2]
    assert float(at_the_knots.std()) == pytest.approx(0.5, rel=0.02)


# --- wherever the images are


@pytest.mark.parametrize("augmentation", [Augmentation(), EVERYTHING], ids=["shift", "everything"])
def test_images_stay_on_their_device_and_the_chance_on_the_cpu(augmentation):
    its, on_cpu = generator(), generator()
    result = augmentation(some_digits().to("meta"), its)
    assert result.is_meta
    assert result.shape == augmentation(some_digits(), on_cpu).shape
    assert its.get_state().equal(on_cpu.get_state())
    assert transform(result, Pose(rotation=torch.ones(8)), torch.zeros(8, 28, 28, 2)).is_meta


# --- bad input


@pytest.mark.parametrize("field", ["shift", "rotation", "scale", "shear", "elastic"])
def test_amounts_below_0_or_without_bound_are_refused(field):
    for value in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=f"expected {field}.*; got {value!r}"):
            Augmentation(**{field: value})
    with pytest.raises(ValueError, match=r"scale below 1; got 1\.0"):
        Augmentation(scale=1.0)
