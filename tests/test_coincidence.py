"""coincidence.py: votes by true relations coincide, scores follow their formulas at every turn."""

from __future__ import annotations

import json
import math

import pytest
import torch
from capsnet_book.experiments import arms, coincidence, records, viewpoints
from capsnet_book.experiments.coincidence import ARMS, EM, KNOWN, Coincidence, KnownRelations
from capsnet_book.experiments.viewpoints import error, make_scenes, make_wholes, turned
from networks import generator

WHOLES = make_wholes(generator())
SCENES = make_scenes(WHOLES, 6, torch.arange(6) % 3, generator(1))
INVARIANT = [name for name in ARMS if not name.startswith("none")]


def votes_of(network: torch.nn.Module) -> torch.Tensor:
    """The two upper rows of every vote, [N, I, 10, 6], in double precision."""
    return network.capsules.votes(SCENES)[..., :6].double()


def test_by_the_true_relations_all_parts_of_a_whole_say_the_same_and_only_of_it():
    votes = votes_of(KnownRelations(WHOLES))[:, :5]  # of the whole's own parts
    spread = (votes - votes.mean(dim=1, keepdim=True)).norm(dim=3).amax(dim=1)  # [N, 10]
    assert spread.argmin(dim=1).equal(SCENES.labels)
    assert spread.amin(dim=1).max() < 1e-5
    scores = KnownRelations(WHOLES)(SCENES, 1)
    assert (scores.amax(dim=1) >= 10).all()  # pairs of five parts


@pytest.mark.parametrize("name", INVARIANT)
def test_a_turn_of_the_scene_changes_no_score(name):
    torch.manual_seed(0)
    network = ARMS[name].build()
    for parameter in network.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape)  # a gate begins with zeros
    seen = turned(SCENES, torch.linspace(0.5, 6, 6))
    torch.testing.assert_close(network(seen, 3), network(SCENES, 3), atol=1e-4, rtol=1e-3)


def test_coincidence_counts_close_pairs_softly():
    torch.manual_seed(0)
    network = Coincidence()
    network.log_gain.data, network.log_width.data = torch.tensor(0.7), torch.tensor(-0.2)
    votes, scores = votes_of(network).detach(), network(SCENES, 1)
    for n, types in enumerate(SCENES.types):
        parts = types.sum(dim=1).nonzero().flatten().tolist()
        for j in range(10):
            total = 0.0
            for i in parts:
                for k in parts:
                    if i < k:
                        squared = float((votes[n, i, j] - votes[n, k, j]).square().sum())
                        total += math.exp(-squared / (2 * math.exp(-0.2) ** 2))
            assert scores[n, j].item() == pytest.approx(math.exp(0.7) * total, rel=1e-3)


def test_em_is_one_of_its_steps_after_another():
    torch.manual_seed(0)
    network = EM()
    network.background.data = torch.tensor(-0.4)
    votes, scores = votes_of(network), network(SCENES, 2)
    for n, types in enumerate(SCENES.types):
        parts = types.sum(dim=1).nonzero().flatten()
        own = votes[n, parts]  # [I, 10, 6]
        r = torch.full((len(parts), 10), 0.1).double()
        for _ in range(2):
            centre = torch.einsum("ij,ijd->jd", r, own) / r.sum(dim=0)[:, None]
            logits = -(own - centre).square().sum(dim=2) / 2
            whole = logits.exp()
            r = whole / (whole.sum(dim=1, keepdim=True) + math.exp(-0.4))
        expected = (r * whole).sum(dim=0)
        torch.testing.assert_close(scores[n].double(), expected, atol=1e-4, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["count", "em-margin", "gate", "none-all-margin"])
def test_an_arm_of_each_kind_learns(name):
    network = viewpoints.train(ARMS[name], WHOLES, seed=0, steps=200)
    scenes = make_scenes(WHOLES, 200, 0, generator(1))
    assert error(network, scenes, ARMS[name].rounds) < 0.6  # by chance: 0.9


def test_the_command_does_what_lacks(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(viewpoints, "TESTED", 20)
    monkeypatch.setattr(coincidence.run, "__defaults__", (2,))
    few = {name: coincidence.ALL_ARMS[name] for name in ("em", KNOWN)}
    monkeypatch.setattr(coincidence, "ALL_ARMS", few)
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    monkeypatch.setattr(arms, "SEEDS", [10])
    coincidence.main()
    coincidence.main()
    assert capsys.readouterr().out.count("seed") == 2
    runs = json.loads((tmp_path / "coincidence.json").read_text())["runs"]
    assert [run["arm"] for run in runs] == ["em", KNOWN]
    assert runs[0]["learned"].keys() == {"log_gain", "log_width", "background"}
    errors = runs[1]["errors"]
    assert errors["new"]["0"] == errors["familiar"]["0"] == [0.0] * 3
    table = coincidence.error_table({"runs": runs}).splitlines()
    assert table[0] == "| wrong, % | 0 others | 6 others | 12 others | seeds |"
    assert table[3].startswith("| pairs that coincide, by the true relations | 0.0 |")
    last = f"{100 * runs[0]['errors']['new']['12'][2]:.1f}"
    assert table[2].endswith(f"| {last} | 1 |")
