"""Pull the votes: its numbers against PyTorch in every rule, its scenes, its sentences."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.routings.self_attention import attention_couplings, route_by_attention
from capsnet_book.widgets import PullVotes
from capsnet_book.widgets.pull_votes import ROUNDS, RULES, SCENES, STRENGTHS
from torch import Tensor

from capsnet_tutorial import digits, load_pretrained, prediction_vectors, route, squash

Evaluate = Callable[..., Any]
SMALL = str(files("capsnet_tutorial.assets") / "weights" / "small.safetensors")
ROUTING = "votes/routing.js"
LEAST_VARIANCE = 0.01


def gaussian_round(votes: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return means [J, 2], variances [J, 2] and log-likelihoods [I, J] of votes [I, J, 2]."""
    weights = c / c.sum(dim=0)
    mean = torch.einsum("ij,ijd->jd", weights, votes)
    variance = torch.einsum("ij,ijd->jd", weights, (votes - mean) ** 2) + LEAST_VARIANCE
    normal = torch.distributions.Normal(mean, variance.sqrt())
    return mean, variance, normal.log_prob(votes).sum(dim=2)


def rounds_by_pytorch(votes: Tensor, rule: str, strength: float) -> list[tuple[Tensor, Tensor]]:
    """Return the shares [I, J] and what the wholes make of the votes [J, 2], for every round."""
    logits = torch.zeros(votes.shape[:2], dtype=votes.dtype)
    rounds = []
    for _ in range(ROUNDS):
        c = logits.softmax(dim=0 if rule == "wrong" else 1)
        if rule == "nearness":
            v, _, likelihood = gaussian_round(votes, c)
            logits = strength * likelihood
        elif rule == "attention":
            v = squash(torch.einsum("ij,ijd->jd", c, votes))
            pairs = torch.einsum("ijd,kjd->ikj", votes, votes) / 2**0.5
            logits = strength * pairs.sum(dim=1)
        else:
            v = squash(torch.einsum("ij,ijd->jd", c, votes))
            measured = votes / votes.norm(dim=2, keepdim=True) if rule == "direction" else votes
            logits = logits + strength * torch.einsum("ijd,jd->ij", measured, v)
        rounds.append((c, v))
    return rounds


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_pytorchs_in_every_round(evaluate: Evaluate, rule: str) -> None:
    generator = torch.Generator().manual_seed(0)
    sizes = [(9, 2), (9, 3), (12, 2)]
    cases = [torch.randn(*size, 2, generator=generator, dtype=torch.float64) for size in sizes]
    data = {"cases": [votes.tolist() for votes in cases], "rule": rule, "strengths": STRENGTHS}
    body = """
        return data.cases.map((votes) =>
          data.strengths.map((strength) => m.routed(votes, data.rule, strength)));"""
    for votes, by_strength in zip(cases, evaluate(body, data, m=ROUTING), strict=True):
        for strength, rounds in zip(STRENGTHS, by_strength, strict=True):
            expected = rounds_by_pytorch(votes, rule, strength)
            for (c, v), shown in zip(expected, rounds, strict=True):
                np.testing.assert_allclose(shown["c"], c, atol=1e-6)
                np.testing.assert_allclose(shown["v"], v, atol=1e-6)
                has = c.mean(dim=0) if rule == "nearness" else v.norm(dim=1)
                np.testing.assert_allclose(shown["lengths"], has, atol=1e-6)


def test_the_scalar_product_is_the_modules_route(evaluate: Evaluate) -> None:
    votes = torch.randn(1, 9, 3, 2, generator=torch.Generator().manual_seed(1)).double()
    _, trace = route(votes, ROUNDS, return_trace=True)
    body = 'return m.routed(data, "product", 1).map(({ c, v }) => ({ c, v }));'
    for r, shown in enumerate(evaluate(body, votes[0].tolist(), m=ROUTING)):
        np.testing.assert_allclose(shown["c"], trace.c[r, 0], atol=1e-6)
        np.testing.assert_allclose(shown["v"], trace.v[r, 0], atol=1e-6)


def test_self_attention_is_the_books_routing_from_the_second_round_on(evaluate: Evaluate) -> None:
    votes = torch.randn(9, 3, 2, generator=torch.Generator().manual_seed(1)).double()
    _, *rounds = evaluate('return m.routed(data, "attention", 1);', votes.tolist(), m=ROUTING)
    for shown in rounds:
        np.testing.assert_allclose(shown["c"], attention_couplings(votes[None])[0], atol=1e-6)
        np.testing.assert_allclose(shown["v"], route_by_attention(votes[None])[0], atol=1e-6)


@torch.no_grad()
def test_the_votes_of_a_digit_are_the_networks(evaluate: Evaluate, tmp_path: Path) -> None:
    images = digits("test", source="sample").images[:4]
    images.numpy().astype(np.float32).tofile(tmp_path / "images")
    body = """
        const network = core.makeNetwork(bytes(data.weights));
        const pixels = floats(data.images);
        return [0, 1, 2, 3].map((n) =>
          m.votesOfDigit(network, pixels.subarray(n * 784, (n + 1) * 784)));"""
    data = {"weights": SMALL, "images": str(tmp_path / "images")}
    model = load_pretrained("small")
    u_hat = prediction_vectors(model.primary_capsules(images), model.routed.weight)
    lengths = route(u_hat, 3).norm(dim=2)
    shown_digits = evaluate(body, data, m="votes/digit.js", core="shared/core.js")
    for votes, length, shown in zip(u_hat, lengths, shown_digits, strict=True):
        classes = length.topk(3).indices.tolist()
        assert shown["classes"] == classes
        loudness = votes[:, classes].norm(dim=2).amax(dim=1)
        parts = loudness.topk(9).indices.tolist()
        assert shown["parts"] == parts
        for k, j in enumerate(classes):
            first = votes[:, j].sum(dim=0)
            first = first / first.norm()
            along = votes[:, j] @ first
            rest = votes[:, j] - along[:, None] * first
            second = torch.linalg.svd(rest)[2][0]
            across = rest @ second
            across = across * across[rest.norm(dim=1).argmax()].sign()
            expected = torch.stack([along, across], dim=1)[parts]
            np.testing.assert_allclose(np.array(shown["votes"])[:, k], expected, atol=2e-3)


# --- what each scene is there to show


@pytest.fixture
def scene(evaluate: Evaluate) -> Callable[..., dict[str, Any]]:
    """Return a function that routes a scene, and returns a round with its sentence."""

    def look(name: str, rule: str = "product", at: int = 3, **more: Any) -> dict[str, Any]:
        body = """
            const ground = state.groundOf(data.name, { given: [], names: [], digit: undefined });
            const rounds = state.roundsOf(ground.votes, data.rule, 1);
            const numbers = state.numbersAt(rounds, data.at);
            const view = { ...ground, ...numbers, rounds, scene: data.name, rule: data.rule,
              round: data.at, pulled: false, focus: null, ...data.more };
            return { ...numbers, sentence: words.sentenceOf(view) };"""
        data = {"name": name, "rule": rule, "at": at, "more": more}
        return evaluate(body, data, state="votes/state.js", words="votes/words.js")

    return look


def test_two_camps_are_found(scene: Callable[..., dict[str, Any]]) -> None:
    shares = np.array(scene("camps")["c"])
    assert shares[:6, 0].min() > 0.7
    assert shares[6:, 1].min() > 0.7
    house = f"House takes {shares[:6, 0].mean():.0%}".replace("%", " %")
    assert house in scene("camps")["sentence"]


def test_loudness_decides_by_the_scalar_product_and_nearness_by_place(
    scene: Callable[..., dict[str, Any]],
) -> None:
    by_product = np.array(scene("tight")["c"])[:, 0]
    by_attention = np.array(scene("tight", "attention")["c"])[:, 0]
    by_nearness = np.array(scene("tight", "nearness")["c"])[:, 0]
    assert by_product.max() < 0.5 < by_nearness.min()
    assert by_attention.max() < 0.5


def test_a_shout_turns_the_whole_by_the_scalar_product_alone(
    scene: Callable[..., dict[str, Any]],
) -> None:
    def angle(rule: str) -> float:
        x, y = scene("shout", rule)["v"][0]
        return float(np.degrees(np.arctan2(y, x)))

    assert angle("product") < 0 < 40 < angle("nearness")
    assert scene("shout", "nearness")["c"][8][0] < 0.05


def test_noise_is_decided_after_ten_rounds(scene: Callable[..., dict[str, Any]]) -> None:
    shares = np.array(scene("noise", at=10)["c"])
    assert (shares.max(axis=1) > 0.9).sum() >= 7
    assert "dice" in scene("noise", at=10)["sentence"]


def test_the_wrong_axis_gives_parts_more_or_less_than_themselves(
    scene: Callable[..., dict[str, Any]],
) -> None:
    shares = np.array(scene("shout", "wrong", at=10)["c"])
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    assert shares.sum(axis=1).max() > 1
    assert "108 % of part 9" in scene("shout", "wrong", at=10)["sentence"]


def test_a_part_says_what_it_gives(scene: Callable[..., dict[str, Any]]) -> None:
    shown = scene("camps", focus={"part": 3, "whole": 1})
    house, boat = (f"{100 * share:.0f} %" for share in shown["c"][3])
    assert f"Part 4 gives {house} to House and {boat} to Boat." in shown["sentence"]
    assert "points 9° away from the arrow of Boat" in shown["sentence"]


def test_the_address_takes_what_makes_sense_and_gives_it_back(evaluate: Evaluate) -> None:
    body = """
        const named = m.fromAddress("#scene=tight&rule=nearness&round=4&strength=4");
        const wrong = m.fromAddress("#scene=toString&rule=x&round=11&strength=3");
        return { named, wrong, address: m.toAddress((name) => named[name]) };"""
    shown = evaluate(body, m="votes/state.js")
    assert shown["named"] == {"scene": "tight", "rule": "nearness", "round": 4, "strength": 4}
    assert shown["wrong"] == {}
    assert shown["address"] == "#scene=tight&rule=nearness&round=4&strength=4"


def test_python_and_javascript_know_the_same_scenes_rules_and_rounds(evaluate: Evaluate) -> None:
    body = """
        return { scenes: Object.keys(s.SCENES), rules: r.RULES, rounds: r.ROUNDS,
          strengths: state.STRENGTHS };"""
    modules = {"s": "votes/scenes.js", "r": "votes/routing.js", "state": "votes/state.js"}
    shown = evaluate(body, **modules)
    assert (*shown["scenes"], "digit", "given") == SCENES
    assert tuple(shown["rules"]) == RULES
    assert shown["rounds"] == ROUNDS
    assert tuple(shown["strengths"]) == STRENGTHS


# --- the Python side


def test_votes_of_a_notebook_are_taken_with_names() -> None:
    votes = torch.randn(12, 2, 2, generator=torch.Generator().manual_seed(0))
    widget = PullVotes(votes, ["tight", "loud"], rule="nearness")
    np.testing.assert_allclose(widget.given, votes, atol=1e-4)
    assert repr(widget) == "PullVotes(scene='given', rule='nearness', round=3)"


@pytest.mark.parametrize(
    ("arguments", "settings", "words"),
    [
        ((np.zeros((9, 2)),), {}, r"\[I, J, 2\].*\[9, 2\]"),
        ((np.zeros((13, 2, 2)), ["a", "b"]), {}, "2 to 12 parts"),
        ((np.full((3, 2, 2), np.nan), ["a", "b"]), {}, "nan"),
        ((np.zeros((3, 2, 2)), ["a"]), {}, "2 names"),
        ((), {"scene": "chaos"}, "scene as one of camps"),
        ((), {"rule": "em"}, "rule as one of product"),
        ((), {"round": 11}, "round as one of 1"),
        ((), {"strength": 2.0}, "strength as one of 0.25"),
    ],
)
def test_what_is_wrong_is_refused_in_words(
    arguments: tuple[Any, ...], settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        PullVotes(*arguments, **settings)
