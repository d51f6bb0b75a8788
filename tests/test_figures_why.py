"""The figures of the chapter on why capsules show what they were given."""

import numpy as np
import torch
from capsnet_book import figures


def test_length_and_direction_show_the_medians_and_every_digit():
    angles = torch.linspace(-90, 90, 7)
    lengths, directions = torch.rand(7, 11), 90 * torch.rand(7, 11)
    images = torch.rand(3, 28, 28)
    figure = figures.length_and_direction(images, angles, lengths, directions, seen=12)
    shown = [axes.get_images()[0].get_array() for axes in figure.axes if axes.get_images()]
    np.testing.assert_array_equal(np.stack(shown), images)
    for axes, values in zip(figure.axes[-2:], (lengths, directions), strict=True):
        (line,) = axes.lines
        np.testing.assert_allclose(line.get_xdata(), angles)
        np.testing.assert_allclose(line.get_ydata(), values.median(dim=1).values)


def test_every_picture_stands_over_its_own_bag():
    images, features = torch.rand(3, 1, 28, 28), torch.rand(3, 5)
    figure = figures.pictures_and_bags(images, features, ["a", "b", "c"])
    for k in range(3):
        above, below = figure.axes[k], figure.axes[3 + k]
        np.testing.assert_array_equal(above.get_images()[0].get_array(), images[k, 0])
        np.testing.assert_allclose([bar.get_height() for bar in below.patches], features[k])
