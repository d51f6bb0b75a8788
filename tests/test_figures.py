"""Figures: each can be drawn, shows what it was given, and leaves nothing open."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, figures
from capsnet_tutorial.palette import DARK, LIGHT, css_variables


def luminance(colour):
    channels = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(first, second):
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def pictures(figure):
    return [image.get_array() for axes in figure.axes for image in axes.get_images()]


def test_a_grid_shows_every_image_in_its_place():
    rows = {"a": torch.rand(3, 28, 28), "b": torch.rand(3, 1, 28, 28)}
    shown = pictures(figures.digit_grid(rows))
    for k in range(3):
        np.testing.assert_array_equal(shown[k], rows["a"][k])
        np.testing.assert_array_equal(shown[3 + k], rows["b"][k, 0])


def test_a_traversal_has_a_row_a_dimension_and_a_column_an_offset():
    drawings = torch.rand(4, 3, 28, 28)
    shown = pictures(figures.traversal_grid(drawings, torch.tensor([-0.25, 0.0, 0.25])))
    assert len(shown) == 12
    np.testing.assert_array_equal(shown[5], drawings[1, 2])


def test_the_squash_curve_is_equation_1():
    (axes,) = figures.squash_curve().axes
    lengths, squashed = max(
        (line.get_data() for line in axes.lines if len(line.get_xdata()) > 2), key=lambda d: -d[1][-1]
    )
    np.testing.assert_allclose(squashed, lengths**2 / (1 + lengths**2))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.squash_curve(),
        lambda: figures.network_diagram("mask"),
        lambda: figures.digit_row(torch.rand(2, 28, 28), ["x", "y"]),
        lambda: figures.pose_bars(torch.linspace(-1, 1, 16)),
        lambda: figures.follow_map(torch.linspace(-1, 1, 32).view(2, 16), ["p", "q"]),
        lambda: figures.alone_and_together(torch.rand(10, 2), torch.rand(10, 2), ["p", "q"]),
    ],
)
def test_every_figure_is_as_wide_as_the_page_and_is_closed(draw):
    figure = draw()
    assert figure.get_figwidth() == figures.WIDTH
    figure.canvas.draw()
    assert not plt.get_fignums(), "an open figure would be shown twice in a notebook"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("role", ["ink", "muted", "accent", "contrast", "agree", "soft"])
def test_text_in_every_colour_can_be_read(role, theme):
    assert contrast(theme[role], theme["surface"]) >= 4.5
    assert contrast(theme[role], theme["raised"]) >= 4.5


def test_the_widgets_get_every_colour_of_both_themes():
    assert LIGHT.keys() == DARK.keys()
    text = css_variables()
    for theme in (LIGHT, DARK):
        for role, colour in theme.items():
            assert text.count(f"--caps-{role}: {colour};") == 2


def test_the_network_lights_one_part_and_knows_its_shapes():
    texts = {text.get_text(): text for text in figures.network_diagram("predictions").axes[0].texts}
    assert texts["primary\ncapsules"].get_alpha() == texts["prediction\nvectors"].get_alpha() == 1
    assert texts["decoder"].get_alpha() < 1
    assert all(text.get_alpha() == 1 for text in figures.network_diagram().axes[0].texts if text.get_text())
    with pytest.raises(ValueError, match="a part, one of conv, primary"):
        figures.network_diagram("everything")


def test_the_networks_shapes_are_the_small_networks():
    config = CapsNetConfig.small()
    network = CapsNet(config)
    u = network.primary_capsules(torch.zeros(1, 1, 28, 28))
    texts = [text.get_text() for text in figures.network_diagram().axes[0].texts]
    for shape in (
        (config.conv_channels, config.conv_side, config.conv_side),
        tuple(u.shape[1:]),
        (u.shape[1], config.classes, config.class_dim),
        (config.classes, config.class_dim),
    ):
        assert " × ".join(map(str, shape)) in texts
