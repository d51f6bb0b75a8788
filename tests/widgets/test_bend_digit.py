"""BendDigit: what it refuses and is sent; its bending and its CNN against PyTorch."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
import torch
from capsnet_book.experiments.cnn import class_scores
from capsnet_book.networks import trained_network
from capsnet_book.widgets import BendDigit
from capsnet_book.widgets._network import shared_network
from capsnet_book.widgets.bend_digit import BOUNDS

from capsnet_tutorial import digits
from capsnet_tutorial.augment import Pose, transform

CNN, CAPSNET = (
    str(files("capsnet_book.assets") / "weights" / f"{name}.safetensors") for name in ("small-cnn", "small-shifted")
)
MODULES = ("bend_digit.js",)
ONE_BY_ONE = [
    {},
    {"turn": 20.0},
    {"turn": -75.0},
    {"shear": 0.4},
    {"size": 1.5},
    {"size": 0.6},
    {"right": 3.0},
    {"down": -2.5},
]


def all_at_once(count: int) -> list[dict[str, float]]:
    draw = np.random.default_rng(0)
    return [{name: float(draw.uniform(*bounds)) for name, bounds in BOUNDS.items()} for _ in range(count)]


def bent_in_torch(image: torch.Tensor, bend: dict[str, float]) -> torch.Tensor:
    size = bend.get("size", 1.0)
    pose = Pose(
        bend.get("turn", 0.0), size, size, bend.get("shear", 0.0), bend.get("right", 0.0), bend.get("down", 0.0)
    )
    return transform(image[None], pose)


@torch.no_grad()
def test_bending_and_both_networks_agree_with_pytorch(run_node, tmp_path):
    bends = [*ONE_BY_ONE, *all_at_once(24)]
    images = digits("test", source="sample").images[: len(bends)]
    images.numpy().tofile(tmp_path / "images")
    report = run_node("bend_digit.mjs", CNN, CAPSNET, tmp_path / "images", json.dumps(bends), modules=MODULES)
    cnn, capsnet = trained_network("small-cnn"), trained_network("small-shifted")
    for image, bend, came in zip(images, bends, report["answers"], strict=True):
        bent = bent_in_torch(image, bend)
        torch.testing.assert_close(
            torch.tensor(came["bent"]).view(1, 1, 28, 28), bent, atol=2e-5, rtol=0, msg=str(bend)
        )
        scores = class_scores(cnn, bent)[0]
        torch.testing.assert_close(torch.tensor(came["scores"]), scores, atol=2e-3, rtol=1e-4)
        torch.testing.assert_close(torch.tensor(came["probabilities"]), scores.softmax(dim=0), atol=5e-4, rtol=0)
        assert came["prediction"] == int(torch.tensor(came["scores"]).argmax())
        torch.testing.assert_close(torch.tensor(came["lengths"]), class_scores(capsnet, bent)[0], atol=5e-4, rtol=0)
    assert [came["prediction"] for came in report["answers"]] == [
        int(cnn.predict(bent_in_torch(image, bend))) for image, bend in zip(images, bends, strict=True)
    ]
    assert report["runs"] == [
        {"answer": 7, "from": 0, "to": 1},
        {"answer": 1, "from": 2, "to": 2},
        {"answer": 7, "from": 3, "to": 3},
    ]
    assert report["amounts"] == [-1, -0.5, 0, 0.5, 1]
    assert report["reach"] == [[-2, 1], [-1, 0], None]
    assert "expected those of a CNN, got a CapsNet's" in report["problems"][0]
    assert report["problems"][1] == "forward: expected 784 pixels, got 783"


def test_it_is_sent_both_networks_and_ten_digits():
    widget = BendDigit(index=4, turn=30)
    assert widget.network is shared_network("small-shifted")
    assert widget.cnn is shared_network("small-cnn")
    assert (widget.labels, widget.index, widget.turn, widget.size) == (list(range(10)), 4, 30.0, 1.0)
    assert repr(widget) == "BendDigit(10 digits)"
    data = digits("test", source="sample")
    assert BendDigit(data.images[:3], data.labels[:3]).labels == data.labels[:3].tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"index": 10}, "index from 0 to 9; got 10"),
        ({"turn": 91}, "turn from -90 to 90; got 91"),
        ({"size": 0}, "size from 0.5 to 2; got 0"),
        ({"lean": 1}, "expected turn, shear, size, right, down; got lean"),
        ({"labels": [1]}, "got labels alone"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        BendDigit(**arguments)
