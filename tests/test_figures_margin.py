"""The figures of the chapter on the margin loss show what the loss does."""

import numpy as np
import torch
from capsnet_book import figures

from capsnet_tutorial.functional import margin_loss


def curves(axes):
    return [np.stack(line.get_data()) for line in axes.lines if len(line.get_xdata()) > 100]


def test_the_left_curves_are_equation_4():
    present, absent, down_weighted = curves(figures.margin_curves().axes[0])
    for (lengths, cost), there, weight in ((present, 1, 0.5), (absent, 0, 1.0), (down_weighted, 0, 0.5)):
        for length, value in zip(lengths[::40], cost[::40], strict=True):
            target = torch.tensor([[float(there)]], dtype=torch.float64)
            loss = margin_loss(torch.tensor([[length]], dtype=torch.float64), target, lambda_=weight)
            np.testing.assert_allclose(value, loss.item(), atol=1e-9)


def test_the_right_curves_are_the_cheapest_lengths():
    grid = np.linspace(0, 1, 2001)
    short, long = np.maximum(0, 0.9 - grid), np.maximum(0, grid - 0.1)
    for (p, best), weight in zip(curves(figures.margin_curves().axes[1]), (1.0, 0.5), strict=True):
        for at in range(20, 400, 40):
            cost = p[at] * short**2 + weight * (1 - p[at]) * long**2
            assert abs(grid[cost.argmin()] - best[at]) < 1e-3


def test_lengths_stand_below_their_image_with_the_present_ones_in_colour():
    images, lengths = torch.rand(3, 1, 28, 28), torch.rand(3, 10)
    figure = figures.lengths_below(images, lengths, [[1, 2], [3], []])
    for k, bottom in enumerate(figure.axes[1::1][-3:]):
        np.testing.assert_allclose([bar.get_height() for bar in bottom.patches], lengths[k], atol=1e-6)
    shown = [axes.get_images()[0].get_array() for axes in figure.axes if axes.get_images()]
    np.testing.assert_array_equal(shown[1], images[1, 0])
    coloured = [len({bar.get_facecolor() for bar in axes.patches}) for axes in figure.axes if axes.patches]
    assert coloured == [2, 2, 1]
