"""Checks of exercises: a function beside the right one, and an answer by its properties."""

from __future__ import annotations

import pytest
import torch
from capsnet_book.answers import check_answer, check_function
from torch import nn


def norm(v):
    return v.norm(dim=-1)


def test_a_function_that_agrees_is_right():
    v = torch.randn(3, 3, generator=torch.Generator().manual_seed(0))
    assert check_function(lambda v: v.square().sum(-1).sqrt(), norm, (v,), (2 * v,)).passed
    assert check_function(lambda: 3.0, lambda: 3.0, ()).passed


@pytest.mark.parametrize(
    ("function", "reference", "arguments", "sentence"),
    [
        (lambda v: v.sum(-1), norm, (torch.eye(3) - 1,), "furthest off: expected"),
        (lambda v: v, norm, (torch.eye(3),), "expected [3]"),
        (lambda v: v + 5j, lambda v: v, (torch.eye(3),), "expected a tensor"),
        (lambda a, b: a + b, lambda a, b: a * b, (2, 0.5), "for 2, 0.5: expected 1, came 2.5"),
        (lambda n: float("nan"), lambda n: n, (1,), "came nan"),
        (lambda v: v, lambda v: v.mT, (torch.eye(3).roll(1, 0),), "their places are not"),
    ],
)
def test_a_function_that_differs_is_told_where(function, reference, arguments, sentence):
    report = check_function(function, reference, arguments)
    assert not report.passed and sentence in str(report)


def test_a_function_with_its_blank_is_not_written():
    assert not check_function(lambda v: ..., norm, (torch.eye(3),)).written


def test_a_comparison_needs_an_example():
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
        (3, lambda x: x == 3, "✓ mine"),
        (3, lambda x: x == 4, "3 is not it."),
        (3, lambda x: x == 2 or "Too large.", "Too large."),
        (..., lambda x: True, "not written yet"),
        ("a", lambda x: x + 1, "It is str 'a', and the test can do nothing"),
        (lambda x: None, lambda f: f(1).shape, "It returns None. Is its `return` missing"),
        (lambda x: x.nonsense, lambda f: f(1), "It raises AttributeError"),
        (Halves, lambda Made: Made("half")(torch.ones(3)).shape == (3,), "✓ Halves"),
        (
            Halves,
            lambda Made: Made(None)(torch.ones(3)).shape == (3,),
            "None. Is its `return` missing",
        ),
    ],
)
def test_an_answer_is_tested(answer, test, sentence):
    report = check_answer(answer, test, "mine")
    assert sentence in str(report)
    assert report.passed == sentence.startswith("✓")


def test_nothing_that_a_test_says_becomes_html():
    assert "<b>" not in check_answer(lambda: 1, lambda _: "<b>no</b>")._repr_html_()
