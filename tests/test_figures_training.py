"""The figures of the chapter on training."""

import numpy as np
import pytest
import torch
from capsnet_book import figures
from capsnet_book.experiments.recordings import recorded_run

from capsnet_tutorial import CapsNet, CapsNetConfig, Digits
from capsnet_tutorial.training import History


def pictures(figure):
    return [image.get_array() for axes in figure.axes for image in axes.get_images()]


def test_the_film_strip_shows_each_drawing_in_its_place_under_its_error():
    run = recorded_run()
    figure = figures.film_strip(run, epochs=(0, 4, 60))
    shown = pictures(figure)
    assert len(shown) == 5 * 4
    for n in range(5):
        np.testing.assert_array_equal(shown[4 * n], run.images[n].reshape(28, 28))
        for column, moment in enumerate((0, run.epochs.index(4), -1), start=1):
            np.testing.assert_array_equal(shown[4 * n + column], run.reconstructions[moment, n].reshape(28, 28))
    curve = figure.axes[-1]
    positions, errors = curve.lines[0].get_data()
    np.testing.assert_array_equal(errors, [point["validation_error"] for point in run.curve])
    assert (np.diff(positions) > 0).all() and positions[3] == 2 and positions[-1] == 3  # epochs 4 and 60
    said = {text.get_text() for text in curve.texts}
    assert {
        f"{100 * run.curve[3]['validation_error']:.1f} %",
        f"{100 * run.curve[-1]['validation_error']:.2f} %",
    } <= said


def test_an_untrained_network_is_given_no_answer():
    axes = figures.film_strip(recorded_run(), epochs=(0, 60)).axes
    assert [text.get_text() for text in axes[1].texts] == []
    assert [text.get_text() for text in axes[2].texts] == ["7"]


class Handle:
    def __init__(self, figure):
        self.figures = [figure]

    def update(self, figure):
        self.figures.append(figure)


def test_the_live_curve_is_shown_once_and_then_updated():
    torch.manual_seed(0)
    model = CapsNet(CapsNetConfig.small()).train()
    data = Digits(torch.rand(10, 1, 28, 28), torch.zeros(10, dtype=torch.long), "sample")
    live = figures.LiveCurve(3, data, show=Handle)
    history = History()
    for epoch in (1.0, 2.0):
        history.curve.append({"epoch": epoch, "loss": 0.5 / epoch, "validation_error": 0.2 / epoch})
        live(model, history)
    first, second = live.handle.figures
    assert model.training, "as it was before"
    shown = pictures(second)
    np.testing.assert_array_equal(shown[0], data.images[0, 0])
    with torch.no_grad():
        expected = model(data.images[:8]).reconstruction
    np.testing.assert_allclose(shown[4], expected[0].view(28, 28), atol=1e-6)
    assert [line.get_xydata().tolist() for line in second.axes[0].lines] == [
        [[1, 0.5], [2, 0.25]],
        [[1, 0.2], [2, 0.1]],
    ]
    assert first is not second


@pytest.mark.parametrize("count", [1, 5, 8])
def test_every_digit_is_drawn(count):
    live = figures.LiveCurve(2, Digits(torch.rand(count, 1, 28, 28), torch.zeros(count).long(), ""), show=Handle)
    figure = live.draw(CapsNet(CapsNetConfig.small()), History(curve=[{"epoch": 1.0, "loss": 0.5}]))
    assert sum(len(axes.images) for axes in figure.axes) == 2 * count


def test_without_validation_there_is_one_curve():
    live = figures.LiveCurve(2, Digits(torch.rand(2, 1, 28, 28), torch.zeros(2, dtype=torch.long), ""), show=Handle)
    figure = live.draw(CapsNet(CapsNetConfig.small()), History(curve=[{"epoch": 1.0, "loss": 0.5}]))
    assert len(figure.axes[0].lines) == 1


def test_histograms_of_epochs_are_rebinned_and_stand_above_each_other():
    class Recorded:  # as TensorBoard's: right edges of buckets that differ in width, and what lies in them
        def __init__(self, low, high, limits, counts):
            self.histogram_value = type(
                "Value", (), {"min": low, "max": high, "bucket_limit": limits, "bucket": counts}
            )

    epochs = [Recorded(0.0, 1.0, [0.25, 0.5, 1.0], [1, 1, 2]), Recorded(2.0, 4.0, [2.0, 3.0, 8.0], [0, 6, 2])]
    (axes,) = figures.epoch_histograms({"lengths": epochs}, bins=4).axes
    drawn = [patch.get_data() for patch in axes.patches[1::2]]  # the lines; the other patches fill
    for data, row, counts in zip(drawn, (0, 1), ([4, 0, 0, 0], [0, 0, 6, 2]), strict=True):
        np.testing.assert_allclose(data.edges, [0, 1, 2, 3, 4])
        np.testing.assert_allclose(data.values, row + 1.6 * np.array(counts) / max(counts))
        assert data.baseline == row
    assert axes.get_title() == "lengths"
