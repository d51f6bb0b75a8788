"""Figures: each can be drawn, shows what it was given, and leaves nothing open."""

import json
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from capsnet_book import figures
from capsnet_book.experiments.affine import SWEEPS
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import folder, stored
from capsnet_book.experiments.tables import results_of
from capsnet_book.figures import DrawnPair
from capsnet_book.figures._phone import PHONE, SMALLEST, labels, overlapping_labels, phone_form_of
from capsnet_book.palette import DARK, LIGHT

from capsnet_tutorial import CapsNet, CapsNetConfig
from capsnet_tutorial.data import Digits
from capsnet_tutorial.train import History

CHAPTERS = Path(__file__).parent.parent / "book" / "chapters"


def luminance(colour):
    channels = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(first, second):
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def live_curve():
    digits = Digits(torch.rand(8, 1, 28, 28), torch.zeros(8, dtype=torch.long), "")
    history = History(curve=[{"epoch": 1.0, "loss": 0.5, "validation_error": 0.1}])
    return figures.LiveCurve(1, digits, show=SimpleNamespace).draw(
        CapsNet(CapsNetConfig.small()), history
    )


IMAGES, LENGTHS = torch.rand(3, 28, 28), torch.rand(3, 10)
LENGTHS[0, :2] = torch.tensor(
    [0.88, 1.0]
)  # the class and the longest are neighbours: both are written on a phone
SPEED = json.loads((folder() / "speed.json").read_text(encoding="utf-8"))
EIGHTS = torch.arange(36).view(4, 9)
CHANGES = ["rotation", "shear", "scale", "thickness", "shift x", "shift y"]
LAYER = SPEED["layer"]["rows"]
EXPERIMENTS = Experiments.read()


DRAWN = {  # a figure of every kind
    "LiveCurve": live_curve,
    "alone_and_together": lambda: figures.alone_and_together(
        torch.rand(10, 6), torch.rand(10, 6), CHANGES
    ),
    "bars": lambda: figures.bars({"a": {"x": 1.0, "y": 2.0}}),
    "in_proportion": lambda: figures.in_proportion(torch.rand(20, 3) + 0.1, torch.rand(20, 3)),
    "lines": lambda: figures.lines({"a": {"x": [1.0, 2.0]}}, [0, 1], "t"),
    "one_round": lambda: figures.one_round(),
    "themes": lambda: figures.themes(
        {
            f"{year} EM routing": theme
            for year, theme in enumerate(["agreement", "one class a capsule"] * 4, 2018)
        }
    ),
    "bend_curves": lambda: figures.bend_curves(
        {"one": {sweep.name: torch.rand(len(sweep.amounts), 20) < 0.8 for sweep in SWEEPS}},
        IMAGES[:1],
    ),
    "errors_by_angle": lambda: figures.errors_by_angle(
        stored("viewpoints"), {"matrices": "matrices-r3"}
    ),
    "errors_by_clutter": lambda: figures.errors_by_clutter(
        stored("viewpoints"), {"one round": ("vectors-r1", 1)}
    ),
    "errors_by_concentration": lambda: figures.errors_by_concentration(
        {"a": [(1.2, 5.0), (1.3, 9.0)], "b": [(8.0, -2.0)]}
    ),
    "relations": lambda: figures.relations(),
    "broadcast_grid": lambda: figures.broadcast_grid(),
    "bug_curves": lambda: figures.bug_curves(),
    "capsule_cuts": lambda: figures.capsule_cuts(
        {"eight channels, one place": EIGHTS, "view": EIGHTS.flip(1)}, 1
    ),
    "entropy_by_round": lambda: figures.entropy_by_round(3 * torch.rand(10, 4, 8), lit=7),
    "coupling_graphs": lambda: figures.coupling_graphs(
        torch.full((10, 12, 4), 0.25), torch.rand(10, 4), types=2
    ),
    "digit_grid": lambda: figures.digit_grid({"a": IMAGES, "b": IMAGES}),
    "digit_row": lambda: figures.digit_row(IMAGES[[0] * 10], 10 * ["8→3"]),
    "drawn_pairs": lambda: figures.drawn_pairs(
        {
            "right": 2
            * [DrawnPair(torch.rand(1, 36, 36), torch.rand(2, 1296), (3, 8), (0.9, 0.2), (3, 8))]
        }
    ),
    "dots": lambda: figures.dots({"a": {"x": [1.0, 1.1], "y": [2.0, 1.8]}}, highlight=["x"]),
    "film_ends": lambda: figures.film_ends({"4": torch.rand(3, 28, 28)}, "−0.25", "+0.25"),
    "follow_rows": lambda: figures.follow_rows(torch.linspace(-1, 1, 96).view(6, 16), CHANGES),
    "growth_lines": lambda: figures.growth_lines(SPEED["growth"], "ms"),
    "intervals_around_zero": lambda: figures.intervals_around_zero([(-2, 1), (0.1, 2), (-1, -0.1)]),
    "layer_bars": lambda: figures.layer_bars(LAYER),
    "length_and_direction": lambda: figures.length_and_direction(
        IMAGES,
        torch.linspace(-90, 90, 7),
        torch.rand(7, 11),
        90 * torch.rand(7, 11),
        largest_turn=12,
    ),
    "lengths_below": lambda: figures.lengths_below(
        IMAGES[[0] * 5], LENGTHS[[0] * 5], [[4], [5], [6], [], [8]]
    ),
    "maps_of_a_digit": lambda: figures.maps_of_a_digit(
        IMAGES[0], torch.rand(5, 10, 10), [0, 2, 4, 5, 7]
    ),
    "margin_curves": lambda: figures.margin_curves(),
    "pictures_and_bags": lambda: figures.pictures_and_bags(
        IMAGES[[0, 1, 2, 0], None],
        torch.rand(4, 5),
        ["a four", "shuffled", "shuffled again", "and again"],
    ),
    "pose_bars": lambda: figures.pose_bars(torch.linspace(-1, 1, 16)),
    "roofline": lambda: figures.roofline(SPEED["machine"], LAYER),
    "rounds_read": lambda: figures.rounds_read(
        EXPERIMENTS, {"one": "fresh-r1", "three": "fresh-r3"}
    ),
    "roof_and_house": lambda: figures.roof_and_house(20, 50),
    "share_bars": lambda: figures.share_bars(
        torch.rand(3, 2, 1).repeat(1, 1, 2), ["a", "b"], ["x", "y"]
    ),
    "shares_by_round": lambda: figures.shares_by_round(
        IMAGES[:2], torch.rand(10, 2, 6), torch.rand(10, 2), [1, 2, 3, 10], lit=5
    ),
    "seed_points": lambda: figures.seed_points(EXPERIMENTS, EXPERIMENTS.tables["mnist"]),
    "squash_curve": lambda: figures.squash_curve(),
    "two_floors": lambda: figures.two_floors(),
    "ten_drawings": lambda: figures.ten_drawings(
        IMAGES[:, None], torch.rand(3, 10, 28, 28), LENGTHS, [0, 1, 2]
    ),
    "traversal_grid": lambda: figures.traversal_grid(
        torch.rand(4, 3, 28, 28), torch.tensor([-0.25, 0.0, 0.25])
    ),
    "reliability": lambda: figures.reliability(
        {"r = 3": results_of(EXPERIMENTS, "small-r3")}, {"clean": "test"}
    ),
    "bend_trainings": lambda: figures.bend_trainings(
        stored("bent"), {"r = 3": "small-r3", "r = 1": "small-r1"}
    ),
    "epoch_histograms": lambda: figures.epoch_histograms({"lengths": [[0.2, 0.5], [0.5, 0.9]]}),
    "vote_rings": lambda: figures.vote_rings(torch.randn(12, 10, 4), IMAGES[0], 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DRAWN)
def test_a_figure_fits_the_page_and_is_closed_and_its_labels_stand_apart(kind):
    figure = DRAWN[kind]()
    assert figure.get_figwidth() == figures.WIDTH
    assert not overlapping_labels(figure), "on a desk"
    assert not plt.get_fignums(), "an open figure would be shown twice in a notebook"
    phone = phone_form_of(figure)
    assert not overlapping_labels(phone), "on a phone"
    edge = 0.2  # inches, with which a figure is saved
    shrunk = min(1, PHONE / (phone.get_tightbbox().width + edge))
    least = min((text.get_fontsize() * shrunk for text in labels(phone)), default=SMALLEST)
    assert least > 7.5, "10.5 of a phone's pixels"


def test_an_interval_has_a_cross_if_it_misses_zero():
    axes = figures.intervals_around_zero([(-2, 1), (0.1, 2), (-1, -0.1), (0, 1)]).axes[0]
    assert [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "X"] == [2, 3]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("role", ["ink", "muted", "accent", "contrast", "agree", "soft"])
def test_text_in_every_colour_can_be_read(role, theme):
    assert contrast(theme[role], theme["surface"]) >= 4.5
    assert contrast(theme[role], theme["raised"]) >= 4.5
