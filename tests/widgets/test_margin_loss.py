"""MarginLoss: its JavaScript against the module and autograd, and what the Python side refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from capsnet_book.widgets import MarginLoss

from capsnet_tutorial.functional import margin_loss

MODULES = ("margin_loss.js",)


@pytest.fixture(scope="module")
def cases():
    """Lengths at random and on the margins; no, one, some and all classes present; other margins."""
    generator = np.random.default_rng(0)
    made = [
        {
            "lengths": generator.random(10).tolist(),
            "present": sorted(generator.choice(10, size=size, replace=False).tolist()),
            "setting": {"mPlus": m_plus, "mMinus": m_minus, "lambda": weight},
        }
        for size in (0, 1, 2, 5, 10)
        for m_plus, m_minus, weight in ((0.9, 0.1, 0.5), (0.7, 0.3, 1.0), (1.0, 0.0, 0.0))
    ]
    edges = [0.0, 0.1, 0.9, 0.95, 0.05, 0.5, 0.999, 0.1, 0.9, 0.0]
    return [*made, {"lengths": edges, "present": [2, 3, 7], "setting": {"mPlus": 0.9, "mMinus": 0.1, "lambda": 0.5}}]


def test_both_losses_and_their_gradients_are_pytorchs(run_node, cases, tmp_path):
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases))
    for case, came in zip(cases, run_node("margin_loss.mjs", file, modules=MODULES), strict=True):
        lengths = torch.tensor([case["lengths"]], dtype=torch.float64, requires_grad=True)
        present = torch.zeros(1, 10, dtype=torch.float64)
        present[0, case["present"]] = 1
        setting = case["setting"]
        loss = margin_loss(lengths, present, setting["mPlus"], setting["mMinus"], setting["lambda"])
        (gradient,) = torch.autograd.grad(loss, lengths)
        assert came["margin"]["total"] == pytest.approx(loss.item(), abs=1e-9)
        assert sum(came["margin"]["losses"]) == pytest.approx(loss.item(), abs=1e-9)
        np.testing.assert_allclose(came["margin"]["gradients"], gradient[0], atol=1e-9)

        np.testing.assert_allclose(came["entropy"]["shares"], lengths.detach()[0].softmax(0), atol=1e-9)
        if not case["present"]:
            assert came["entropy"]["loss"] is None
            assert not any(came["entropy"]["gradients"])
            continue
        entropy = F.cross_entropy(lengths, present / present.sum())
        (gradient,) = torch.autograd.grad(entropy, lengths)
        assert came["entropy"]["loss"] == pytest.approx(entropy.item(), abs=1e-9)
        np.testing.assert_allclose(came["entropy"]["gradients"], gradient[0], atol=1e-9)


def test_it_starts_with_a_three_that_could_be_an_eight():
    widget = MarginLoss()
    assert (widget.present, widget.selected) == ([3], 3)
    assert widget.lengths.index(max(widget.lengths)) == 3
    assert sorted(widget.lengths)[-2] == widget.lengths[8]
    assert (widget.m_plus, widget.m_minus, widget.lambda_) == (0.9, 0.1, 0.5)
    assert repr(widget) == "MarginLoss(present=[3])"


def test_any_number_of_classes_may_be_present():
    assert MarginLoss(present=[8, 3, 3]).present == [3, 8]
    assert MarginLoss(present=[8, 3]).selected == 3
    assert MarginLoss(present=()).present == []
    assert MarginLoss(present=(digit for digit in (5, 3))).present == [3, 5]
    assert MarginLoss(present=range(10)).present == list(range(10))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lengths": [0.5] * 9}, "lengths to be 10"),
        ({"lengths": [0.5] * 9 + [1.1]}, "0 to 1; got 0.5 to 1.1"),
        ({"lengths": [-0.1] * 10}, "0 to 1"),
        ({"lengths": [float("nan")] * 10}, "finite"),
        ({"present": [10]}, "0 to 9"),
        ({"present": [-1]}, "0 to 9"),
        ({"present": [1.5]}, "whole"),
        ({"present": 3}, "classes"),
        ({"m_plus": 0.4}, "m_plus from 0.5 to 1; got 0.4"),
        ({"m_minus": 0.6}, "m_minus from 0 to 0.5; got 0.6"),
        ({"lambda_": -1.0}, "lambda_ from 0 to 2; got -1"),
        ({"lambda_": float("nan")}, "lambda_"),
    ],
)
def test_other_settings_are_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        MarginLoss(**arguments)


def test_state_reaches_python_and_nonsense_does_not():
    widget = MarginLoss()
    widget.set_state({"lengths": [0.0] * 10, "present": [], "selected": 7, "lambda_": 1})
    assert (widget.lengths, widget.present, widget.selected, widget.lambda_) == ([0.0] * 10, [], 7, 1)
    with pytest.raises(ValueError, match="0 to 9"):
        widget.selected = 10
