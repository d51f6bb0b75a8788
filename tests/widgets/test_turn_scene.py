"""What TurnScene computes, against the networks of `viewpoints` in PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.experiments.viewpoints import PARTS, Capsules, Scenes, turned
from capsnet_book.widgets import TurnScene

shown = TurnScene()


def scenes(clutter: int) -> Scenes:
    """One of each whole, as the widget has them."""
    parts = torch.tensor(shown.scenes)[:, : 5 + clutter]
    angle, x, y, kind = parts.unbind(dim=2)
    types = torch.nn.functional.one_hot(kind.long(), PARTS).float()
    return Scenes(torch.stack([angle.cos(), angle.sin(), x, y], dim=2), types, torch.arange(10))


@pytest.mark.parametrize(("kind", "rounds", "clutter"), [("matrices", 3, 7), ("vectors", 3, 12), ("vectors", 1, 0)])
def test_a_turned_scene_is_read_as_in_pytorch(evaluate: Any, kind: str, rounds: int, clutter: int) -> None:
    network = Capsules(matrices=kind == "matrices")
    network.weight.data = torch.tensor(shown.weights[kind]).view_as(network.weight)
    expected = network(turned(scenes(clutter), math.radians(70)), rounds).detach()
    body = """return data.scenes.map((parts) =>
      m.read(data.kind, data.weight, m.turned(parts.slice(0, data.count), 70), data.rounds).lengths);"""
    given = {"scenes": shown.scenes, "weight": shown.weights[kind], "kind": kind, "count": 5 + clutter}
    lengths = evaluate(body, given | {"rounds": rounds}, m="turn_scene_model.js")
    np.testing.assert_allclose(lengths, expected, atol=1e-5)


def test_the_networks_know_every_whole_as_in_training_and_matrices_know_it_at_every_angle() -> None:
    """What the chapter says of the scenes that the reader turns."""
    for kind, angle in (("matrices", 0), ("vectors", 0), ("matrices", 170)):
        network = Capsules(matrices=kind == "matrices")
        network.weight.data = torch.tensor(shown.weights[kind]).view_as(network.weight)
        answers = network(turned(scenes(0), math.radians(angle)), 3).argmax(dim=1)
        assert answers.tolist() == list(range(10)), (kind, angle)
