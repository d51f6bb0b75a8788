"""The figures of the chapter on masking show what they are given."""

import numpy as np
import pytest
import torch
from capsnet_book import figures
from capsnet_book.palette import LIGHT
from matplotlib.colors import to_hex


def test_ten_drawings_stand_beside_their_image_with_the_longest_framed():
    images, drawings = torch.rand(3, 1, 28, 28), torch.rand(3, 10, 28, 28)
    lengths = torch.rand(3, 10)
    labels = [4, int(lengths[1].argmax()), 0]
    figure = figures.ten_drawings(images, drawings, lengths, labels)
    grid = np.array(figure.axes).reshape(3, 11)
    for row in range(3):
        np.testing.assert_array_equal(grid[row, 0].get_images()[0].get_array(), images[row, 0])
        framed = [axis.spines["left"].get_visible() for axis in grid[row]]
        assert framed.index(True) == int(lengths[row].argmax()) + 1
        assert sum(framed) == 1
        for j in range(10):
            axis = grid[row, j + 1]
            np.testing.assert_array_equal(axis.get_images()[0].get_array(), drawings[row, j])
            assert axis.get_xlabel() == f"{float(lengths[row, j]):.2f}"
            assert (to_hex(axis.xaxis.label.get_color()) == LIGHT["agree"]) == (j == labels[row])


def test_two_losses_share_a_bar():
    figure = figures.two_losses({"a": (1.0, 3.0), "b": (0.5, 0.0)})
    (axes,) = figure.axes
    widths = [bar.get_width() for bar in axes.patches if bar.get_height()]
    assert widths[:4] == pytest.approx([25, 100, 75, 0])
    assert {text.get_text() for text in axes.texts} == {"25 %", "75 %", "100 %"}
