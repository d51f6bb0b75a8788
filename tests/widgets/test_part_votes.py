"""PartVotes: its JavaScript beside PyTorch, its geometry, and what it refuses."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.widgets import PartVotes
from capsnet_book.widgets.part_votes import PLACES

from capsnet_tutorial.functional import prediction_vectors

MODULES = ("part_votes.js",)
SCENES = [((25, -1.5, 1.1), (-15, 1.1, -1.2)), ((0, 0, 0), (0, 0, 0)), ((170, 2.0, -0.5), (-130, -1.2, 1.7))]


def homogeneous(pose: Any) -> np.ndarray:
    """The 3×3 matrix of a pose (angle, x, y), written independently of the widget's four numbers."""
    angle, x, y = math.radians(pose[0]), pose[1], pose[2]
    return np.array([[math.cos(angle), -math.sin(angle), x], [math.sin(angle), math.cos(angle), y], [0, 0, 1]])


def in_javascript(run_node: Callable[..., Any], widget: PartVotes) -> dict[str, Any]:
    state = {"poses": widget.poses, "weight": widget.weight, "places": widget.places}
    return run_node("part_votes.mjs", json.dumps(state), modules=MODULES)


def weight_of(widget: PartVotes) -> torch.Tensor:
    return torch.tensor(widget.weight, dtype=torch.float64).view(2, 2, 4, 4)


@pytest.mark.parametrize("poses", SCENES)
def test_the_votes_are_those_of_prediction_vectors(run_node, poses):
    widget = PartVotes(poses=poses)
    for scene in in_javascript(run_node, widget).values():
        u = torch.tensor(scene["u"], dtype=torch.float64)
        expected = prediction_vectors(u[None], weight_of(widget))[0]
        np.testing.assert_allclose(scene["u_hat"], expected, atol=1e-6)
        apart = (expected[0] - expected[1]).norm(dim=-1)
        np.testing.assert_allclose(scene["apart"], apart, atol=1e-6)


def test_any_weight_is_taken_as_prediction_vectors_takes_it(run_node):
    weight = torch.randn(2, 2, 4, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    scene = in_javascript(run_node, PartVotes(weight))["now"]
    expected = prediction_vectors(torch.tensor(scene["u"])[None], weight)[0].detach()
    np.testing.assert_allclose(scene["u_hat"], expected, atol=1e-5)


def test_the_votes_are_products_of_poses():
    """û as a 3×3 matrix = pose of the part · (pose of the part in the whole)⁻¹."""
    for poses in SCENES:
        for i, part in enumerate(("triangle", "rectangle")):
            for j, whole in enumerate(("house", "boat")):
                expected = homogeneous(poses[i]) @ np.linalg.inv(homogeneous(PLACES[whole][part]))
                matrix = homogeneous(poses[i])
                u = torch.tensor([matrix[0, 0], matrix[1, 0], matrix[0, 2], matrix[1, 2]])
                came = u @ weight_of(PartVotes())[i, j]
                np.testing.assert_allclose(came, expected[[0, 1, 0, 1], [0, 0, 2, 2]], atol=1e-9)


@pytest.mark.parametrize("poses", SCENES)
def test_an_arranged_whole_is_agreed_upon_and_the_other_is_not(run_node, poses):
    came = in_javascript(run_node, PartVotes(poses=poses))
    assert came["house"]["apart"][0] < 1e-5 < 1 < came["house"]["apart"][1]
    assert came["boat"]["apart"][1] < 1e-5 < 1 < came["boat"]["apart"][0]
    assert came["house"]["poses"][1][0] == pytest.approx(poses[1][0])  # the rectangle keeps its angle
    for scene in came.values():
        assert all(math.hypot(x, y) < 2.11 for _, x, y in scene["poses"])


@pytest.mark.parametrize("poses", SCENES)
def test_turning_the_parts_turns_the_votes(run_node, poses):
    came = in_javascript(run_node, PartVotes(poses=poses))
    cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
    turn = np.kron(np.eye(2), [[cos, -sin], [sin, cos]])  # of (cos, sin) and of (x, y)
    np.testing.assert_allclose(came["turned"]["u_hat"], np.array(came["now"]["u_hat"]) @ turn.T, atol=1e-6)
    np.testing.assert_allclose(came["turned"]["apart"], came["now"]["apart"], atol=1e-6)


@pytest.mark.parametrize("poses", SCENES)
def test_parts_glide_the_short_way_round_and_stay_within_reach(run_node, poses):
    came = in_javascript(run_node, PartVotes(poses=poses))
    for (angle, *_), (halfway, *_), (arrived, *_) in zip(
        poses, came["halfway"]["poses"], came["arrived"]["poses"], strict=True
    ):
        assert math.remainder(halfway - angle, 360) == pytest.approx(85)
        assert math.remainder(arrived - angle, 360) == pytest.approx(170)
    (angle, x, y), still = came["away"]["poses"]
    assert angle == 40
    assert math.hypot(x, y) == pytest.approx(2.1, abs=1e-3) and y / x == pytest.approx(4 / 3, abs=1e-2)
    assert still == list(poses[1])


@pytest.mark.parametrize("weight", [np.zeros((2, 2, 4)), np.full((2, 2, 4, 4), np.nan), "W", [[1, 2], [3]]])
def test_a_weight_that_is_none_is_refused(weight):
    with pytest.raises(ValueError, match="expected a weight of"):
        PartVotes(weight)


@pytest.mark.parametrize("poses", [[(0, 0, 0)], [(0, 0), (0, 0)], [(0, 0, math.inf)] * 2, 3])
def test_poses_that_are_none_are_refused(poses):
    with pytest.raises(ValueError, match=r"expected (two poses|a pose)"):
        PartVotes(poses=poses)
    widget = PartVotes()
    with pytest.raises(ValueError, match="expected"):
        widget.set_state({"poses": [[0, 0, float("nan")]] * 2})


def test_it_is_small_and_says_what_it_is():
    widget = PartVotes(poses=SCENES[1])
    assert repr(widget) == "PartVotes(poses=[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])"
    state = {name: widget.get_state(name)[name] for name in ("weight", "places", "poses")}
    assert len(json.dumps(state)) < 2000
