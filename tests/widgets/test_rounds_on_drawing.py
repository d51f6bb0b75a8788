"""RoundsOnDrawing: what it refuses, what it is sent, and its numbers against PyTorch's."""

from __future__ import annotations

import math
from importlib.resources import files

import numpy as np
import pytest
import torch
from capsnet_book.widgets import RoundsOnDrawing

from capsnet_tutorial import load_pretrained, prediction_vectors, route

SHIPPED = str(files("capsnet_tutorial.assets") / "weights" / "small.safetensors")
MODULES = ("rounds_on_drawing.js",)


@pytest.fixture(scope="module")
def widget():
    return RoundsOnDrawing()


@pytest.fixture(scope="module")
def expected(widget):
    """Of each sample: lengths [5, N, 10], capsules [5, N, 10, 16], entropy [5, N]."""
    images = torch.frombuffer(bytearray(widget.samples), dtype=torch.uint8).view(-1, 1, 28, 28) / 255
    model = load_pretrained("small")
    with torch.no_grad():
        u_hat = prediction_vectors(model.primary_capsules(images), model.routed.weight)
        _, trace = route(u_hat, 5, return_trace=True)
    entropy = -(trace.c * trace.c.log()).sum(dim=3).mean(dim=2) / math.log(10)
    return trace.v.norm(dim=3), trace.v, entropy


@pytest.fixture
def report(run_node, tmp_path, widget):
    images = np.frombuffer(widget.samples, np.uint8).astype(np.float32) / 255
    images.tofile(tmp_path / "images")
    return run_node("rounds_on_drawing.mjs", SHIPPED, tmp_path / "images", modules=MODULES)


def test_after_each_round_its_numbers_are_pytorchs(report, expected):
    for key, right in zip(("lengths", "capsules", "entropy"), expected, strict=True):
        came = np.array([[each[key] for each in digit] for digit in report["read"]])
        np.testing.assert_allclose(came.reshape(right.transpose(0, 1).shape), right.transpose(0, 1), atol=1e-4)
    predictions = np.array([[each["prediction"] for each in digit] for digit in report["read"]])
    np.testing.assert_array_equal(predictions, expected[0].argmax(dim=2).T)


def test_the_rounds_disagree_on_the_disputed_digits_and_on_no_other(widget, expected):
    answers = expected[0].argmax(dim=2).T.tolist()  # [N, 5]
    assert [n for n, said in enumerate(answers) if len(set(said)) > 1] == widget.disputed
    right = [[said == label for said in answers[n]] for n, label in enumerate(widget.labels)]
    mended = [not right[n][0] and right[n][-1] for n in widget.disputed]
    broken = [right[n][0] and not right[n][-1] for n in widget.disputed]
    assert mended == [True, True, False] and broken == [False, False, True]


def test_its_helpers(report):
    assert report["certain"] == 0
    assert report["spread"] == [[10, 50, 23], [5, 15, 25], []]
    assert report["words"] == [
        "Every number of rounds says 7.",
        "Every number of rounds says 7.",
        "The rounds disagree: 9 after 1, 2, 3; 2 after 4, 5. It was written as a 2.",
        "Every number of rounds says 3. It was written as an 8.",
    ]


def test_state_that_makes_no_sense_is_refused(widget):
    for rounds in (0, 6):
        with pytest.raises(ValueError, match=f"rounds from 1 to 5; got {rounds}"):
            RoundsOnDrawing(rounds=rounds)
    for rounds in (True, 2.0, "3"):
        with pytest.raises(ValueError, match="rounds as a whole number"):
            RoundsOnDrawing(rounds=rounds)
    with pytest.raises(ValueError, match="784 bytes; got 783"):
        widget.image = bytes(783)
    assert repr(RoundsOnDrawing(rounds=2)) == "RoundsOnDrawing(rounds=2)"


def test_what_the_page_sends_back_arrives():
    widget = RoundsOnDrawing()
    widget.set_state({"rounds": 5, "image": memoryview(bytes(784))})
    assert (widget.rounds, widget.image) == (5, bytes(784))
