"""The figure of two digits at once shows what it is given, each drawing in its own colour."""

import numpy as np
import torch
from capsnet_book import figures
from capsnet_book.figures import DrawnPair
from capsnet_book.figures.pairs import TINTS, tinted
from matplotlib.colors import to_hex, to_rgb


def pair(asked=(3, 8), present=(3, 8)):
    return DrawnPair(torch.rand(1, 36, 36), torch.rand(2, 1296), asked, (0.91, 0.234), present)


def test_two_printings_on_white_paper():
    drawings = torch.tensor([[[0.0, 1.0, 0.0, 1.0, 0.5]], [[0.0, 0.0, 1.0, 1.0, 0.0]]])
    white, first, second, both, half = tinted(drawings)[0]
    one, other = (np.array(to_rgb(tint)) for tint in TINTS)
    np.testing.assert_allclose([white, first, second], [np.ones(3), one, other], atol=1e-6)
    np.testing.assert_allclose(both, one * other, atol=1e-6)
    np.testing.assert_allclose(half, (1 + one) / 2, atol=1e-6)


def test_a_column_a_pair_with_its_names_and_a_star_for_what_is_not_there():
    groups = {"right": [pair(), pair()], "not there": [pair(asked=(3, 5))]}
    figure = figures.drawn_pairs(groups)
    grid = np.array(figure.axes).reshape(4, 4)  # three pairs and a gap
    assert [text.get_text() for text in figure.texts] == ["right", "not there"]
    for column, each in ((0, groups["right"][0]), (1, groups["right"][1]), (3, groups["not there"][0])):
        shown = [axis.get_images()[0].get_array() for axis in grid[:, column]]
        drawings = each.drawings.view(2, 36, 36)
        np.testing.assert_array_equal(shown[0], each.image[0])
        np.testing.assert_allclose(shown[1], tinted(drawings))
        for which in (0, 1):
            np.testing.assert_allclose(shown[2 + which], tinted(drawings[which : which + 1], [TINTS[which]]))
            assert to_hex(grid[2 + which, column].title.get_color()) == TINTS[which]
    titles = [axis.get_title() for axis in grid[:, 3]]
    assert titles == ["3, 8", "", "3: 0.91", "5*: 0.23"]
    assert not grid[0, 2].get_images()
