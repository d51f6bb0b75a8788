"""TwoDigits: what its JavaScript reads and draws against the module, and what the Python side refuses."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from capsnet_book.experiments.pairs import classes_of, drawings, overlay
from capsnet_book.networks import trained_network
from capsnet_book.widgets import TwoDigits
from capsnet_book.widgets.two_digits import NOBODY

from capsnet_tutorial.data import digits

MODULES = ("two_digits.js",)
WEIGHTS = files("capsnet_book.assets") / "weights" / "small-pairs.safetensors"
TWO = np.stack([np.eye(28, dtype=np.uint8) * 255, np.zeros((28, 28), np.uint8)])


@pytest.fixture(scope="module")
def cases():
    """Thirty overlays of the sample's digits, at every kind of place; some ask for a class."""
    draw = torch.Generator().manual_seed(0)
    labels = digits("test", source="sample").labels
    made = []
    for n in range(30):
        first, second = 2 * n, 2 * n + 1
        at = torch.randint(-4, 5, (2, 2), generator=draw).tolist()
        both = [labels[first].item(), labels[second].item()]
        made.append({"digits": [first, second], "labels": both, "at": at, "asked": n % 11 - 1})
    return made


@pytest.fixture(scope="module")
def layers(cases):
    """The same in PyTorch, [30, 2, 36, 36]."""
    images = digits("test", source="sample").images
    pads = [[(4 + x, 4 - x, 4 + y, 4 - y) for x, y in case["at"]] for case in cases]
    return torch.stack(
        [
            torch.cat([F.pad(images[n], pad) for n, pad in zip(case["digits"], both, strict=True)])
            for case, both in zip(cases, pads, strict=True)
        ]
    )


@pytest.fixture
def answer(run_node, tmp_path, cases):
    digits("test", source="sample").images[:60].numpy().tofile(tmp_path / "digits")
    (tmp_path / "cases").write_text(json.dumps(cases))
    return run_node("two_digits.mjs", WEIGHTS, tmp_path / "digits", tmp_path / "cases", modules=MODULES)


@torch.no_grad()
def test_it_sees_and_draws_what_the_module_does(answer, cases, layers):
    model, images = trained_network("small-pairs"), overlay(layers)
    output = model(images)
    for n, (came, case) in enumerate(zip(answer["shown"], cases, strict=True)):
        np.testing.assert_allclose(came["image"], images[n].flatten(), atol=1e-6)
        np.testing.assert_allclose(came["lengths"], output.lengths[n], atol=1e-4)
        order = output.lengths[n].argsort(descending=True).tolist()
        assert sorted(came["classes"]) == classes_of(output.lengths[n : n + 1])[0].tolist()
        assert came["third"] == (order[2] if case["asked"] == NOBODY else case["asked"])
        asked = torch.tensor([[*came["classes"], came["third"]]])
        drawn = drawings(model, output.capsules[n : n + 1], asked)[0]
        np.testing.assert_allclose(came["drawings"], drawn, atol=1e-4)
        rest = (images[n].flatten() - drawn[0] - drawn[1]).clamp(min=0)
        np.testing.assert_allclose(came["remains"], rest, atol=2e-4)


def test_it_follows_the_hand(answer):
    assert min(came["ms"] for came in answer["shown"]) < 40


def test_a_digit_that_is_found_keeps_its_place_and_its_colour(answer):
    assert answer["matched"] == [[3, 8], [3, 8], [3, 5], [5, 8], [3, 5], [1, 2], [3, 1]]


def test_the_sentence_says_what_is_right_and_what_is_not(answer, cases):
    said = set()
    for came, case in zip(answer["shown"], cases, strict=True):
        truth, seen = set(case["labels"]), set(came["classes"])
        if len(truth) == 1:
            opening = "Two of the same class"
        else:
            opening = {0: "Both wrong", 1: "One right, one wrong", 2: "Both right"}[len(truth & seen)]
        assert came["words"].startswith(opening)
        said.add(opening)
    assert said >= {"One right, one wrong", "Both right"}


def test_it_starts_with_three_digits_of_each_class():
    widget = TwoDigits()
    assert widget.labels == [label for label in range(10) for _ in range(3)]
    assert len(widget.images) == 30 * 784
    assert (widget.first, widget.second, widget.asked, widget.cases) == (0, 3, NOBODY, [])
    assert repr(widget) == "TwoDigits(30 digits)"


def test_it_has_the_weights_of_the_network_of_pairs():
    widget = TwoDigits(TWO, [0, 1])
    assert widget.network.weights == WEIGHTS.read_bytes()
    assert widget.get_state("network") == {"network": f"anywidget:{widget.network.model_id}"}
    assert TwoDigits(TWO[:1], [0]).second == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [0]}, "digits"),
        ({"images": TWO, "labels": [0]}, "2 whole numbers"),
        ({"images": TWO, "labels": [0, 1], "first": 2}, "a digit from 0 to 1; got 2"),
        ({"images": TWO, "labels": [0, 1], "second": -1}, "a digit from 0 to 1; got -1"),
        ({"at": (0, 0, 0)}, "four whole numbers from -4 to 4"),
        ({"at": (0, 0, 0, 5)}, "four whole numbers from -4 to 4"),
        ({"cases": {"far": (0, 30, (0, 0, 0, 0))}}, "a digit from 0 to 29; got 30"),
        ({"cases": {"far": (0, 3, (0, -9, 0, 0))}}, "four whole numbers"),
    ],
)
def test_other_arguments_are_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        TwoDigits(**arguments)


def test_the_second_digit_is_of_another_class_than_the_first():
    widget = TwoDigits(first=3)
    assert widget.labels[widget.second] != widget.labels[widget.first]
    alike = TwoDigits(TWO, [7, 7], first=1)
    assert (alike.first, alike.second) == (1, 1)


def test_state_reaches_python_and_nonsense_does_not():
    widget = TwoDigits()
    widget.set_state({"first": 4, "second": 29, "at": [4, -4, 0, 1], "asked": 7})
    assert (widget.first, widget.second, widget.at, widget.asked) == (4, 29, [4, -4, 0, 1], 7)
    for name, value in {"first": 30, "second": -1, "at": [0, 0, 0, -5], "asked": 10}.items():
        with pytest.raises(ValueError, match="expected"):
            setattr(widget, name, value)
