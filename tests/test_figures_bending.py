"""The figure of the chapter on bent digits."""

import numpy as np
import torch
from capsnet_book import figures
from capsnet_book.experiments.affine import SWEEPS
from matplotlib.offsetbox import AnnotationBbox

from capsnet_tutorial import digits
from capsnet_tutorial.augment import transform


def test_every_panel_has_each_networks_share_its_error_and_the_digit_bent():
    draw = torch.Generator().manual_seed(0)
    right = {
        name: {sweep.name: torch.rand(len(sweep.amounts), 200, generator=draw) < share for sweep in SWEEPS}
        for name, share in (("one", 0.9), ("other", 0.5))
    }
    image = digits("test", source="sample").images[13]
    figure = figures.bend_curves(right, image)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [sweep.name for sweep in SWEEPS]
    for axes, sweep in zip(figure.axes, SWEEPS, strict=True):
        for name, line, band in zip(right, axes.lines, axes.collections, strict=True):
            share = right[name][sweep.name].double().mean(dim=1).numpy()
            np.testing.assert_allclose(line.get_ydata(), share)
            error = np.sqrt(share * (1 - share) / 200)
            edges = band.get_paths()[0].vertices[:, 1]
            np.testing.assert_allclose(
                [edges.min(), edges.max()], [(share - 2 * error).min(), min((share + 2 * error).max(), 1)]
            )
        boxes = [artist for artist in axes.get_children() if isinstance(artist, AnnotationBbox)]
        assert [box.xy[0] for box in boxes] == list(sweep.amounts)
        bent = transform(image[None], sweep.pose(sweep.amounts[0]))[0, 0]
        np.testing.assert_allclose(boxes[0].offsetbox.get_data(), bent)


def test_every_training_is_a_line_of_differences_to_the_first_kinds_mean():
    wrong = {"a-0": [10, 30], "a-1": [20, 50], "b-long-0": [5, 90]}
    sweep = SWEEPS[0]._replace(amounts=[0, 15])
    measured = {"digits": 1000, "wrong": {run: {sweep.name: counts} for run, counts in wrong.items()}}
    (axes,) = [each for each in figures.bend_trainings(measured, {"A": "a", "B": "b-long"}, [sweep]).axes if each.lines]
    assert [list(line.get_ydata()) for line in axes.lines] == [[-0.5, -1.0], [0.5, 1.0], [-1.0, 5.0]]
    assert [line.get_label() for line in axes.lines][::2] == ["A", "B"]
