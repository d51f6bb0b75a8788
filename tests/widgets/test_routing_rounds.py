"""RoutingRounds: what is sent to the page, what is refused, and its numbers against PyTorch."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
import torch
from capsnet_book.widgets import RoutingRounds
from capsnet_book.widgets._network import shared_network

from capsnet_tutorial.data import digits
from capsnet_tutorial.functional import prediction_vectors, route
from capsnet_tutorial.weights import load_pretrained

WEIGHTS = files("capsnet_tutorial.assets") / "weights" / "small.safetensors"
MODULES = ("routing_rounds.js",)
TWO = np.stack([np.eye(28, dtype=np.uint8) * 255, np.zeros((28, 28), np.uint8)])
CHOSEN = 7


def test_the_numbers_are_those_of_pytorchs_trace(run_node, tmp_path):
    images = digits("test", source="sample").images[:30]
    images.numpy().tofile(tmp_path / "images")
    arguments = (WEIGHTS, tmp_path / "images", CHOSEN, tmp_path / "out")
    report = run_node("routing_rounds.mjs", *arguments, modules=MODULES)
    sizes = [72 * 10 * 16, 10 * 72, 16, 16]
    came = np.fromfile(tmp_path / "out", np.float32).reshape(len(images), -1)
    u_hat, entropies, right, up = np.split(came, np.cumsum(sizes)[:-1], axis=1)

    model = load_pretrained("small")
    with torch.no_grad():
        votes = prediction_vectors(model.primary_capsules(images), model.routed.weight)
        _, trace = route(votes, 10, return_trace=True)
    bits = torch.special.entr(trace.c.double()).sum(-1).transpose(0, 1) / np.log(2)  # [N, R, I]
    np.testing.assert_allclose(u_hat.reshape(votes.shape), votes, atol=1e-5)
    np.testing.assert_allclose(entropies.reshape(bits.shape), bits, atol=2e-4)
    np.testing.assert_allclose(report["means"], bits.mean(-1), atol=2e-5)

    v = trace.v[2, :, CHOSEN]
    np.testing.assert_allclose(right, v / v.norm(dim=1, keepdim=True), atol=1e-4)
    own = votes[:, :, CHOSEN].double()  # [N, I, D]
    axis = torch.from_numpy(right).double()
    beside = own - (own @ axis.unsqueeze(2)) * axis.unsqueeze(1)
    along = torch.einsum("nid,nd->ni", beside, torch.from_numpy(up).double()).norm(dim=1)
    most = torch.linalg.matrix_norm(beside, ord=2)  # along the first principal axis
    assert (along <= most + 1e-4).all()
    assert (along >= 0.999 * most).all(), along / most
    np.testing.assert_allclose(np.einsum("nd,nd->n", right, up), 0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(up, axis=1), 1, atol=1e-5)


def test_where_nothing_votes_the_plane_exists_and_certainty_has_no_entropy(run_node, tmp_path):
    np.zeros(784, np.float32).tofile(tmp_path / "images")
    arguments = (WEIGHTS, tmp_path / "images", 0, tmp_path / "out")
    report = run_node("routing_rounds.mjs", *arguments, modules=MODULES)
    axes = np.array(report["blank"])
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-9)
    assert report["certain"] == [0, 1]


def test_what_it_starts_with():
    widget = RoutingRounds()
    assert widget.labels == list(range(10))
    assert len(widget.images) == 10 * 784
    assert (widget.index, widget.chosen, widget.round) == (7, 7, 1)
    assert widget.network is shared_network()
    assert repr(widget) == "RoutingRounds(10 digits)"
    own = RoutingRounds(TWO, [4, 0])
    assert (own.index, own.chosen) == (1, 0)
    assert RoutingRounds(TWO, [4, 0], index=0).chosen == 4
    assert repr(RoutingRounds(TWO[:1], [4])) == "RoutingRounds(1 digit)"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [1]}, "labels alone"),
        ({"images": TWO}, "a label for each digit"),
        ({"images": TWO, "labels": [0]}, "2 whole numbers"),
        ({"images": np.zeros((41, 28, 28)), "labels": [0] * 41}, "at most 40 digits; got 41"),
        ({"index": 10}, "an index from 0 to 9; got 10"),
        ({"index": -1}, "an index from 0 to 9; got -1"),
        ({"index": 1.0}, "an index from 0 to 9; got 1.0"),
    ],
)
def test_what_is_wrong_is_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        RoutingRounds(**arguments)


@pytest.mark.parametrize(
    ("name", "value"), [("index", 10), ("round", 0), ("round", 11), ("chosen", 10), ("chosen", -1)]
)
def test_state_out_of_range_is_refused(name, value):
    widget = RoutingRounds()
    before = getattr(widget, name)
    with pytest.raises(ValueError, match="expected"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_state_reaches_python():
    widget = RoutingRounds()
    widget.set_state({"index": 3, "chosen": 5, "round": 10})
    assert (widget.index, widget.chosen, widget.round) == (3, 5, 10)
