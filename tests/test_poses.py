"""Poses: traversals move one number at a time, and the measures find what was put in."""

import pytest
import torch
from capsnet_book.experiments.poses import OFFSETS, draw, follow, poses, readout, thicken, traverse

from capsnet_tutorial.data import digits
from capsnet_tutorial.weights import load_pretrained

TEN = [part[:10] for part in digits("test", source="sample")[:2]]


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_a_traversal_moves_one_number_at_a_time_by_the_offsets_of_the_paper():
    model = load_pretrained("small")
    pose = poses(model, *TEN)[4]
    drawings = traverse(model, pose, 4)
    assert drawings.shape == (16, 11, 28, 28)
    assert OFFSETS.tolist() == pytest.approx([-0.25 + 0.05 * k for k in range(11)])
    for d in (0, 7, 15):
        for k in (0, 5, 10):
            moved = pose.clone()
            moved[d] += OFFSETS[k]
            torch.testing.assert_close(drawings[d, k], draw(model, moved, 4))


def test_follow_tells_who_follows_who_opposes_and_who_does_not_care():
    amounts = torch.linspace(-1, 1, 7)
    level = numbers(5)  # what differs from digit to digit must not matter
    follower = level + 2 * amounts[:, None]
    undecided = amounts[:, None] * torch.tensor([1.0, -1.0, 1.0, -1.0, 0.0])
    strength = follow(
        amounts, torch.stack([follower, -follower, undecided, level.expand(7, 5)], dim=2)
    )
    assert strength.tolist() == pytest.approx([1, -1, 0, 0], abs=1e-6)


def test_readout_finds_an_amount_that_is_spread_over_all_numbers_and_nothing_in_noise():
    amounts = numbers(12, 50)
    spread = amounts.unsqueeze(2) * numbers(16, seed=1) + 3 * numbers(50, 16, seed=2)
    assert readout(amounts, spread) == pytest.approx(1, abs=1e-6)
    assert readout(amounts, numbers(12, 50, 16, seed=3)) < 0.1


def test_a_thicker_stroke_is_the_largest_neighbour_and_a_thinner_one_the_smallest():
    images = TEN[0][:2]
    thick, thin = thicken(images, 1), thicken(images, -1)
    for row, column in ((5, 7), (14, 14), (20, 9)):
        window = images[:, 0, row - 1 : row + 2, column - 1 : column + 2].flatten(1)
        torch.testing.assert_close(thick[:, 0, row, column], window.amax(dim=1))
        torch.testing.assert_close(thin[:, 0, row, column], window.amin(dim=1))
    assert thin.sum() < images.sum() < thick.sum()
