"""CouplingGraph: what it is sent, what it refuses, and its numbers against PyTorch."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
import torch
from capsnet_book.widgets import CouplingGraph
from capsnet_book.widgets._network import shared_network

from capsnet_tutorial import digits, load_pretrained, prediction_vectors, route

SHIPPED = str(files("capsnet_tutorial.assets") / "weights" / "small.safetensors")
TWO = np.stack([np.eye(28, dtype=np.uint8) * 255, np.zeros((28, 28), np.uint8)])


@torch.no_grad()
def test_its_numbers_are_those_of_pytorch(run_node, tmp_path):
    images = digits("test", source="sample").images[:20]
    images.numpy().tofile(tmp_path / "images")
    modules = ("coupling_graph.js",)
    report = run_node("couplings.mjs", SHIPPED, tmp_path / "images", modules=modules)
    model = load_pretrained("small")
    u_hat = prediction_vectors(model.primary_capsules(images), model.routed.weight)
    _, trace = route(u_hat, 10, return_trace=True)

    c = trace.c.double()
    entropy = -torch.special.xlogy(c, c).sum(3).mean(2) / np.log(2)  # [R, B]
    came = np.array([answer["entropy"] for answer in report["answers"]])
    np.testing.assert_allclose(came, entropy.T, atol=1e-5)

    for image, answer in enumerate(report["answers"]):
        for r in range(10):
            counts = answer["counts"][r]
            assert sum(counts) == 720
            expected = np.bincount(np.rint(c[r, image].numpy() * 20).astype(int).ravel(), minlength=21)
            assert np.abs(counts - expected).sum() <= 2, "at most one coupling lies on the border of two bars"

    for t, r in enumerate((0, 2, 9)):
        direction = torch.nn.functional.normalize(trace.v[r], dim=2)
        parts = torch.einsum("bij,bijd,bjd->bji", trace.c[r], u_hat, direction)
        shares = parts / parts.sum(2, keepdim=True)
        came = np.array([answer["shares"][t] for answer in report["answers"]])
        clear = trace.v[r].norm(dim=2).numpy() > 0.1  # the sum that is divided by is not near zero
        np.testing.assert_allclose(came[clear], shares.numpy()[clear], atol=1e-3)
        np.testing.assert_allclose(came.sum(2), 1, atol=1e-6)

    entropy_of_two, counts = report["edges"]
    assert entropy_of_two == 0.5  # 0 log 0 is 0; one capsule decided, one torn between two
    assert [counts[k] for k in (0, 1, 2, 20)] == [2, 1, 1, 1]


def test_without_digits_one_of_each_class():
    widget = CouplingGraph()
    assert widget.labels == list(range(10))
    assert len(widget.images) == 10 * 784
    assert (widget.index, widget.round) == (0, 3)
    assert widget.network is shared_network()
    assert repr(widget) == "CouplingGraph(10 digits)"


def test_it_shows_what_it_is_given():
    widget = CouplingGraph(TWO, [0, 1], index=1, round=10)
    assert widget.images == TWO.tobytes()
    assert (widget.labels, widget.index, widget.round) == ([0, 1], 1, 10)
    assert repr(CouplingGraph(TWO[:1], [0])) == "CouplingGraph(1 digit)"
    widget.set_state({"index": 0, "round": 2})
    assert (widget.index, widget.round) == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"images": np.zeros((2, 27, 28)), "labels": [0, 1]}, r"\[2, 27, 28\]"),
        ({"images": TWO}, "expected a label for each digit; got none"),
        ({"labels": [1]}, "expected digits beside the labels"),
        ({"images": TWO, "labels": [0, 10]}, "0 to 9"),
        ({"index": 10}, "index from 0 to 9; got 10"),
        ({"index": -1}, "index from 0 to 9; got -1"),
        ({"index": 1.0}, "index as a whole number; got 1.0"),
        ({"round": 0}, "round from 1 to 10; got 0"),
        ({"round": 11}, "round from 1 to 10; got 11"),
        ({"round": True}, "round as a whole number; got True"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        CouplingGraph(**arguments)


def test_state_that_is_out_of_range_is_refused():
    widget = CouplingGraph(TWO, [0, 1])
    for name, value in (("index", 2), ("round", 11)):
        with pytest.raises(ValueError, match="expected"):
            setattr(widget, name, value)
    assert (widget.index, widget.round) == (0, 3)
