"""The graph of couplings: every edge, as thick as its coupling; every coupling counted."""

import numpy as np
import pytest
import torch
from capsnet_book import figures

I, J = 18, 4


@pytest.fixture
def couplings():
    logits = torch.randn(10, I, J, generator=torch.Generator().manual_seed(0)) * torch.arange(10).view(10, 1, 1)
    return logits.softmax(2)


def test_every_edge_is_there_and_the_thickest_is_the_largest_coupling(couplings):
    figure = figures.coupling_graphs(couplings, torch.rand(10, J), types=2)
    assert [axes.get_title() for axes in figure.axes[:3]] == ["round 1", "round 3", "round 10"]
    for axes, r in zip(figure.axes[:3], (1, 3, 10), strict=True):
        (edges,) = axes.collections
        widths = np.array(edges.get_linewidths())
        assert len(widths) == len(edges.get_segments()) == I * J
        assert (np.diff(widths) >= 0).all(), "thick edges lie on top"
        np.testing.assert_allclose(np.sort(couplings[r - 1].flatten()), (widths - 0.15) / 4, atol=1e-6)
        thickest = edges.get_segments()[-1]
        i, j = divmod(int(couplings[r - 1].argmax()), J)
        if r > 1:
            nodes = axes.lines[0].get_xydata()
            np.testing.assert_allclose(thickest[0], nodes[i])
            assert thickest[-1][0] == pytest.approx((j + 0.5) / J)


def test_the_histogram_counts_every_coupling_and_tells_the_entropy(couplings):
    figure = figures.coupling_graphs(couplings, torch.rand(10, J), types=2, rounds=(1, 5))
    for axes, r in zip(figure.axes[2:], (1, 5), strict=True):
        heights = [bar.get_height() for bar in axes.patches]
        assert sum(heights) == I * J
        c = couplings[r - 1].double()
        assert f"{float(-(c * c.log2()).sum(1).mean()):.2f} bits" in axes.texts[0].get_text()
    assert [bar.get_height() for bar in figure.axes[2].patches][5] == I * J  # all at 1/4 in the first round


def test_a_coupling_of_zero_has_no_entropy():
    figure = figures.coupling_graphs(torch.eye(J)[None], torch.rand(1, J), types=1, rounds=(1,))
    assert "0.00 bits" in figure.axes[1].texts[0].get_text().replace("-", "")
