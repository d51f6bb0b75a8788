"""RoutingSteps: its numbers against PyTorch's, what moves and what rests, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.widgets import RoutingSteps, _parts
from capsnet_book.widgets._network import shared_network

from capsnet_tutorial import capsule_lengths, load_pretrained, prediction_vectors, route

WEIGHTS = files("capsnet_tutorial.assets") / "weights" / "small.safetensors"
U_HAT = torch.tensor([[[2.0, 1.0], [1.5, -1.2]], [[1.8, 1.2], [-1.6, 0.8]], [[-0.5, -1.5], [0.6, 1.2]]])
OTHERS = torch.tensor([[[0.0, 0.4], [-3.0, 0.1]], [[0.9, -0.2], [-2.5, 0.3]], [[1.1, 1.3], [0.0, 0.0]]])
WHOLES = (7, 1)


@pytest.fixture
def report(run_node: Callable[..., Any], tmp_path: Path) -> Callable[[torch.Tensor], dict]:
    def of(u_hat: torch.Tensor) -> dict:
        image, out = tmp_path / "image", tmp_path / "out"
        _parts.one_of_each()[0][7].tofile(image)
        votes = json.dumps(u_hat.flatten().tolist())
        run_node("routing_steps.mjs", WEIGHTS, image, votes, out, modules=("routing_steps.js",))
        return json.loads(out.read_text(encoding="utf-8"))

    return of


@pytest.mark.parametrize("u_hat", [U_HAT, OTHERS])
def test_the_numbers_of_three_rounds_are_pytorchs(report, u_hat):
    came = report(u_hat)["trace"]
    _, trace = route(u_hat[None], 3, return_trace=True)
    for name in "bcv":
        expected = getattr(trace, name)[:, 0].flatten(1)
        np.testing.assert_allclose(came[name], expected[: len(came[name])], atol=1e-6)
    c, v = trace.c[:, 0], trace.v[:, 0]
    np.testing.assert_allclose(came["s"], torch.einsum("rij,ijd->rjd", c, u_hat).flatten(1), atol=1e-6)
    np.testing.assert_allclose(came["a"], torch.einsum("rjd,ijd->rij", v, u_hat).flatten(1), atol=1e-6)


def test_a_step_that_is_done_shows_its_round(report):
    """And the next one starts from it: shares and logits are those of the trace at every step's end."""
    came = report(U_HAT)
    _, trace = route(U_HAT[None], 3, return_trace=True)
    lengths = capsule_lengths(trace.v[:, 0])
    for (kind, rounds), moment in zip(came["kinds"], came["moments"], strict=True):
        if kind in ("parts", "votes", "dissolve", "real"):
            continue
        r = rounds - 1
        np.testing.assert_allclose(moment["c"], trace.c[r, 0].flatten(), atol=1e-6)
        after = kind == "agreement"
        np.testing.assert_allclose(moment["b"], trace.b[r + after, 0].flatten(), atol=1e-6)
        if kind in ("squash", "agreement"):
            np.testing.assert_allclose(moment["v"], trace.v[r, 0].flatten(), atol=1e-6)
            np.testing.assert_allclose(moment["lengths"], lengths[r], atol=1e-6)


def test_arrows_end_in_the_sum_and_come_back(report):
    """Laid end to end the shares of the votes reach s; measured, the votes are whole again."""
    came = report(U_HAT)
    s = np.array(came["trace"]["s"]).reshape(3, 2, 2)
    for k, (kind, rounds) in enumerate(came["kinds"]):
        arrows = np.array(came["arrows"][k * 100])  # [I · J, 2 ends, 2]
        if kind == "sum":
            np.testing.assert_allclose(arrows[-2:, 1], s[rounds - 1], atol=1e-5)
            np.testing.assert_allclose(arrows[2:, 0], arrows[:-2, 1], atol=1e-5)
        elif kind in ("votes", "shares", "agreement"):
            np.testing.assert_allclose(arrows[:, 1], U_HAT.flatten(0, 1), atol=1e-6)
            np.testing.assert_allclose(arrows[:, 0], 0, atol=1e-6)


def test_nothing_jumps(report):
    """Between two hundredths of a step no number moves far: scrolling moves things, it does not switch them."""
    came = report(U_HAT)
    for name in ("b", "c", "gathered", "shared", "laid", "measured", "real", "realRound"):
        course = np.array([np.atleast_1d(moment[name]) for moment in came["fine"]], dtype=float)
        assert np.abs(np.diff(course, axis=0)).max() < 0.1, name
    arrows = np.array(came["arrows"])
    assert np.abs(np.diff(arrows, axis=0)).max() < 0.3
    strength = np.array([[moment["seen"]["s"], moment["seen"]["v"]] for moment in came["fine"]])
    assert np.abs(np.diff(strength, axis=0)).max() < 0.3


def test_the_real_votes_are_the_networks(report):
    came = report(U_HAT)["real"]
    image = torch.from_numpy(_parts.one_of_each()[0][7:8]).unsqueeze(1).float() / 255
    model = load_pretrained("small")
    with torch.no_grad():
        u_hat = prediction_vectors(model.primary_capsules(image), model.routed.weight)
        _, trace = route(u_hat, 3, return_trace=True)
    for whole, shown in zip(WHOLES, came["wholes"], strict=True):
        assert shown["convinced"] == int((trace.c[2, 0, :, whole] > 0.2).sum())
        for r, at in enumerate(shown["rounds"]):
            np.testing.assert_allclose(at["c"], trace.c[r, 0, :, whole], atol=1e-5)
            np.testing.assert_allclose(at["length"], trace.v[r, 0, whole].norm(), atol=1e-5)
        v = trace.v[2, 0, whole]
        along = u_hat[0, :, whole] @ (v / v.norm())
        np.testing.assert_allclose(np.array(shown["places"])[:, 0], along, atol=1e-4)


def test_between_two_rounds_is_between_them(report):
    came = report(U_HAT)
    second, third = came["real"]["wholes"][0]["rounds"][1:]
    np.testing.assert_allclose(came["between"]["length"], (second["length"] + third["length"]) / 2, atol=1e-6)
    np.testing.assert_allclose(came["between"]["c"], np.add(second["c"], third["c"]) / 2, atol=1e-6)


def test_the_words_have_the_numbers_of_their_step(report):
    """Each word's figure comes from PyTorch's trace, so that no sentence can tell of another round."""
    came = report(U_HAT)
    _, trace = route(U_HAT[None], 3, return_trace=True)
    c, v = trace.c[:, 0], trace.v[:, 0]
    told = {
        "shares": lambda r: c[r, :, 0].tolist() if r else [],
        "sum": lambda r: torch.einsum("ij,ijd->jd", c[r], U_HAT).norm(dim=1).tolist(),
        "squash": lambda r: v[r].norm(dim=1).tolist(),
        "agreement": lambda r: (U_HAT[:, 0] @ v[r, 0]).tolist(),
    }
    for (kind, rounds), words in zip(came["kinds"], came["words"], strict=True):
        for number in told.get(kind, lambda r: [])(rounds - 1):
            assert f"{abs(number):.2f}" in words["text"], words


def test_scrolling_rests_at_each_step(report):
    low, start, resting, first, between, nearly, second, last, beyond = report(U_HAT)["times"]
    assert (low, start, resting, first, second) == (0, 0, 0, 1, 2)
    assert 1 < between < 2
    assert nearly == 2
    assert last == beyond == 14


def test_what_it_sends():
    widget = RoutingSteps(U_HAT)
    assert widget.u_hat == U_HAT.flatten().tolist()
    assert RoutingSteps(U_HAT[None]).u_hat == RoutingSteps(U_HAT.tolist()).u_hat == widget.u_hat
    assert len(widget.image) == 784
    assert widget.network is shared_network()


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        (U_HAT[:2], r"shape \[3, 2, 2\]; got \[2, 2, 2\]"),
        (U_HAT.repeat(2, 1, 1, 1), r"got \[2, 3, 2, 2\]"),
        (U_HAT * float("nan"), "finite"),
        ("votes", "expected votes"),
    ],
)
def test_what_are_no_votes_is_refused(votes, words):
    with pytest.raises(ValueError, match=words):
        RoutingSteps(votes)
