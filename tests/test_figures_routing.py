"""The figure of the chapter on routing: it shows the couplings and lengths that it was given, each in its place."""

import numpy as np
import torch
from capsnet_book import figures

from capsnet_tutorial.functional import route


def test_each_map_holds_its_rounds_couplings_and_each_bar_its_length():
    u_hat = torch.randn(2, 6, 4, 5, generator=torch.Generator().manual_seed(0))
    _, trace = route(u_hat, 5, return_trace=True)
    lengths, images = trace.v.norm(dim=-1), torch.rand(2, 1, 28, 28)
    figure = figures.coupling_maps(images, trace.c, lengths, labels=[3, 1], rounds=[1, 4])

    rows = np.array(figure.axes).reshape(2, 5)
    for n in range(2):
        np.testing.assert_array_equal(rows[n, 0].get_images()[0].get_array(), images[n, 0])
        for k, r in enumerate((1, 4)):
            (shown,) = rows[n, 1 + 2 * k].get_images()
            np.testing.assert_allclose(4.0 ** np.asarray(shown.get_array()) / 4, trace.c[r - 1, n].T, rtol=1e-4)
            bars = [bar.get_width() for bar in rows[n, 2 + 2 * k].patches]
            np.testing.assert_allclose(bars, lengths[r - 1, n], rtol=1e-6)
    assert [axes.get_title() for axes in rows[0]] == ["", "round 1", "‖v‖", "round 4", "‖v‖"]
    assert [text.get_text() for text in rows[0, 1].get_yticklabels()] == ["3"]
