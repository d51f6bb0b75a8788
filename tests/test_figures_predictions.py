"""The figure of the chapter on prediction vectors: the gap of each ring is the sum of its votes."""

import torch
from capsnet_book import figures


def test_the_gap_of_a_ring_is_as_long_as_the_sum():
    u_hat = torch.randn(20, 10, 16, generator=torch.Generator().manual_seed(0))
    figure = figures.vote_rings(u_hat, torch.rand(1, 28, 28), 3)
    picture, *rings = figure.axes
    assert picture.get_images()[0].get_array().shape == (28, 28)
    assert len(rings) == 10
    for j, axes in enumerate(rings):
        x, y = axes.lines[0].get_data()
        assert len(x) == 21  # all 20 votes
        total = float(u_hat[:, j].sum(dim=0).norm())
        assert abs(x[-1] - x[0]) < 1e-4
        assert abs(y[-1] - y[0] - total) < 1e-4
        assert f"{total:.1f}" in [text.get_text() for text in axes.texts]
        assert str(j) in axes.get_title()


def test_votes_that_cancel_close_the_ring():
    votes = torch.randn(10, 3, 8, generator=torch.Generator().manual_seed(1))
    u_hat = torch.cat([votes, -votes[:9], -votes[9:] + 0.01])
    for axes in figures.vote_rings(u_hat, torch.rand(28, 28), 0).axes[1:]:
        x, y = axes.lines[0].get_data()
        assert ((x[-1] - x[0]) ** 2 + (y[-1] - y[0]) ** 2) ** 0.5 < 0.03


def test_the_longest_vote_is_marked():
    u_hat = torch.randn(12, 2, 4, generator=torch.Generator().manual_seed(2))
    u_hat[7, 1] = torch.tensor([30.0, 0, 0, 0])
    marked = figures.vote_rings(u_hat, torch.rand(28, 28), 0).axes[2].lines[2].get_xydata()
    assert abs(float(torch.tensor(marked[1] - marked[0]).norm()) - 30) < 1
