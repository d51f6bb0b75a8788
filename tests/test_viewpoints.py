"""viewpoints.py: scenes are what they say; pose matrices see a turned one as the same."""

from __future__ import annotations

import json
import math

import pytest
import torch
from capsnet_book.experiments import arms, records, viewpoints
from capsnet_book.experiments.viewpoints import (
    ARMS,
    Scenes,
    error,
    main,
    make_scenes,
    make_wholes,
    turned,
)
from networks import generator

from capsnet_tutorial.functional import capsule_lengths, route

WHOLES = make_wholes(generator())


def matrices(scenes: Scenes) -> torch.Tensor:
    """M of every part, [N, I, 3, 3]."""
    cos, sin, x, y = scenes.poses.double().unbind(dim=2)
    rows = [torch.stack([cos, -sin, x], dim=2), torch.stack([sin, cos, y], dim=2)]
    return torch.stack([*rows, torch.tensor([0.0, 0, 1], dtype=x.dtype).expand_as(rows[0])], dim=2)


def test_parts_of_a_whole_stand_to_each_other_as_in_every_scene_of_it():
    scenes = make_scenes(WHOLES, 50, 0, generator(), turn=math.pi)
    angles, places = (numbers.double()[scenes.labels] for numbers in WHOLES)
    flat = torch.cat([angles.cos().unsqueeze(2), angles.sin().unsqueeze(2), places], dim=2)
    first, then = matrices(Scenes(flat, scenes.types, scenes.labels)), matrices(scenes)
    moved = then @ first.inverse()  # one and the same for all parts of a scene
    torch.testing.assert_close(moved, moved[:, :1].expand_as(moved), atol=1e-5, rtol=0)
    assert moved[:, 0, :2, 2].norm(dim=1).max() <= 1 + 1e-5  # inside the disk
    assert len({tuple(one_hot) for one_hot in scenes.types[0].tolist()}) == 5  # each type once


def test_a_familiar_whole_is_turned_by_up_to_45_degrees_and_clutter_by_anything():
    scenes = make_scenes(WHOLES, 500, torch.arange(500) % 9, generator())
    assert scenes.types.sum(dim=(1, 2)).tolist() == [5 + n % 9 for n in range(500)]
    assert not scenes.poses[scenes.types.sum(dim=2) == 0].any()
    turn = torch.atan2(scenes.poses[:, :5, 1], scenes.poses[:, :5, 0]) - WHOLES[0][scenes.labels]
    turn = torch.remainder(turn + math.pi, 2 * math.pi) - math.pi
    assert turn.abs().max() <= math.pi / 4 + 1e-5 and turn.abs().max() > 0.75
    assert scenes.poses[:, 5:, 0].min() < -0.99 and scenes.poses[:, 5:, 0].max() > 0.99


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("arm", ["matrices-r3", "matrices-beta-4"])
def test_matrices_say_the_same_of_a_turned_scene_and_vectors_do_not(arm, rounds):
    torch.manual_seed(0)
    scenes = make_scenes(WHOLES, 20, 3, generator())
    seen = turned(scenes, torch.linspace(0.5, 6, 20))
    network, vectors = ARMS[arm].build(), ARMS["vectors-r3"].build()
    torch.testing.assert_close(network(seen, rounds), network(scenes, rounds), atol=1e-5, rtol=1e-4)
    assert (vectors(seen, rounds) - vectors(scenes, rounds)).abs().max() > 0.01


def test_votes_are_routed_as_in_the_paper_and_a_vote_is_m_times_w():
    torch.manual_seed(0)
    scenes = make_scenes(WHOLES, 4, 2, generator())
    network = ARMS["matrices-r3"].build()
    votes = network.votes(scenes)
    weight = (
        network.weight.unflatten(0, (5, 3)).unflatten(2, (10, 3)).double()
    )  # [type, 3, whole, 3]
    kinds = scenes.types.argmax(dim=2)
    expected = torch.einsum("nirk,nikjd->nijrd", matrices(scenes), weight[kinds]).flatten(3)
    torch.testing.assert_close(votes.double(), expected, atol=1e-5, rtol=1e-4)
    for rounds in (1, 2, 3):
        torch.testing.assert_close(network(scenes, rounds), capsule_lengths(route(votes, rounds)))
    gate = ARMS["matrices-gate"].build()
    gate.load_state_dict({"weight": network.weight}, strict=False)
    torch.testing.assert_close(
        gate(scenes, 3), network(scenes, 1)
    )  # before it has learned anything
    gate.gate.data = torch.randn(gate.gate.shape)
    assert not torch.allclose(gate(scenes, 3), network(scenes, 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "arm",
    ["none", "vectors-r3", "vectors-gate", "matrices-r1", "matrices-length", "matrices-others"],
)
def test_an_arm_of_each_kind_learns(arm):
    network = viewpoints.train(ARMS[arm], WHOLES, seed=0, steps=200)
    scenes = make_scenes(WHOLES, 200, 0, generator(1))
    assert error(network, scenes, ARMS[arm].rounds) < 0.6  # by chance: 0.9


def test_the_command_does_what_lacks(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(viewpoints, "STEPS", 2)
    monkeypatch.setattr(viewpoints, "TESTED", 20)
    monkeypatch.setattr(viewpoints.run, "__defaults__", (2,))
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    for names, seeds in ((["none"], [10]), (["none", "matrices-r3"], [10, 11])):
        monkeypatch.setattr(viewpoints, "ARMS", {name: ARMS[name] for name in names})
        monkeypatch.setattr(arms, "SEEDS", seeds)
        main()
    assert capsys.readouterr().out.count("seed") == 4
    runs = json.loads((tmp_path / "viewpoints.json").read_text())["runs"]
    assert [(run["arm"], run["seed"]) for run in runs] == [
        ("none", 10), ("matrices-r3", 10), ("none", 11), ("matrices-r3", 11)
    ]  # fmt: skip
    errors = runs[1]["errors"]
    assert errors["new"] == errors["familiar"]
    assert [len(errors["new"][str(n)]) for n in viewpoints.CLUTTER] == [3] * 6
    assert len(runs[1]["by_angle"]["6"]) == len(viewpoints.ANGLES)
