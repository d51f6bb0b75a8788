"""Checks of the exercises: a function beside the right one, and an answer by its properties."""

from __future__ import annotations

import pytest
import torch
from capsnet_book.answers import check_answer, check_function
from torch import nn


def test_a_function_is_compared_with_another():
    v = torch.randn(3, 3, generator=torch.Generator().manual_seed(0))
    assert check_function(lambda v: v.norm(dim=-1), lambda v: v.square().sum(-1).sqrt(), (v,), (2 * v,)).passed
    assert "output[1] furthest off: expected" in str(
        check_function(lambda v: v.sum(-1), lambda v: v.norm(dim=-1), (v,))
    )
    assert "expected [3]" in str(check_function(lambda v: v, lambda v: v.norm(dim=-1), (v,)))
    assert not check_function(lambda v: ..., lambda v: v.norm(dim=-1), (v,)).written
    assert check_function(lambda: 3.0, lambda: 3.0, ()).passed
    assert not check_function(lambda v: v + 5j, lambda v: v, (v,)).passed
    assert "for 2, 0.5: expected 1, came 2.5" in str(check_function(lambda a, b: a + b, lambda a, b: a * b, (2, 0.5)))
    assert not check_function(lambda n: float("nan"), lambda n: n, (1,)).passed
    assert "their places are not" in str(check_function(lambda v: v, lambda v: v.mT, (v,)))
    with pytest.raises(ValueError, match="expected at least one example"):
        check_function(len, len)


class Halves(nn.Module):
    def __init__(self, returned):
        super().__init__()
        self.returned = returned

    def forward(self, x):
        return x / 2 if self.returned == "half" else self.returned


@pytest.mark.parametrize(
    ("answer", "test", "sentence"),
    [
        (3, lambda x: x == 3, "✓ answer"),
        (3, lambda x: None, "✓ answer"),
        (3, lambda x: x == 4, "3 is not it."),
        (3, lambda x: x == 2 or "Too large.", "Too large."),
        (..., lambda x: True, "not written yet"),
        (len, lambda f: ..., "not written yet"),
        ("a", lambda x: x + 1, "It is str 'a', and the test can do nothing"),
        (lambda x: None, lambda f: f(1).shape, "It returns None. Is its `return` missing"),
        (lambda x: [1, 2], lambda f: f(1).shape, "It returns a list of 2, and the test can do nothing with that"),
        (lambda x: x.nonsense, lambda f: f(1), "It raises AttributeError"),
        (Halves, lambda Made: Made("half")(torch.ones(3)).shape == (3,), "✓ Halves"),
        (Halves, lambda Made: Made(None)(torch.ones(3)).shape == (3,), "None. Is its `return` missing"),
    ],
)
def test_an_answer_is_tested(answer, test, sentence):
    report = check_answer(answer, test)
    assert sentence in str(report)
    assert report.passed == sentence.startswith("✓")


def test_nothing_that_a_test_says_becomes_html():
    assert "<b>" not in check_answer(lambda: 1, lambda _: "<b>no</b>")._repr_html_()
