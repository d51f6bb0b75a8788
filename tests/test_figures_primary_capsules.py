"""The figures of the chapter on primary capsules show what they are given."""

import numpy as np
import torch
from capsnet_book import figures


def test_cuts_colour_the_capsules_that_hold_a_number_of_the_place():
    right = torch.arange(2 * 3).view(2, 1, 3).expand(2, 2, 3).reshape(4, 3)  # two types of two channels, three places
    view = torch.arange(12).view(4, 3) // 2
    figure = figures.capsule_cuts({"right": right, "view": view}, place=1)
    grounds = []
    for axes, cut in zip(figure.axes, (right, view), strict=True):
        (image,) = axes.get_images()
        colours = image.get_array()
        held = torch.isin(cut, cut[:, 1]).numpy()
        ground = np.unique(colours[~held], axis=0)
        assert len(ground) <= 1
        assert not any((colours[held] == each).all(-1).any() for each in ground)
        grounds.append(held.sum())
        assert axes.get_title().endswith(f"{len(cut[:, 1].unique())} capsules")
    assert grounds == [4, 8]


def test_patches_are_averaged_in_the_order_of_the_arrow():
    """Arrows on a line, and patches as bright as the arrow is far along it."""
    along = torch.linspace(0, 1, 18)[torch.randperm(18, generator=torch.Generator().manual_seed(0))]
    arrows = torch.stack([torch.stack([along, -0.5 * along], dim=-1), torch.stack([-along, 0 * along], dim=-1)], dim=1)
    patches = along.view(-1, 1, 1).expand(-1, 17, 17)
    figure = figures.patches_by_direction(arrows, patches, columns=6)
    shown = np.array([axes.get_images()[0].get_array().mean() for axes in figure.axes]).reshape(2, 6)
    expected = torch.linspace(0, 1, 18).view(6, 3).mean(1)
    np.testing.assert_allclose(shown[0], expected, atol=1e-6)
    np.testing.assert_allclose(shown[1], expected.flip(0), atol=1e-6)
