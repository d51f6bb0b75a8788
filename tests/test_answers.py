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
        (lambda x: x or None, lambda f: f(1) == 1 and (f(0) == 0 or "Zero, too."), "Zero, too."),
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


def in_place(v):
    v *= 2
    return v


@pytest.mark.parametrize(
    "check",
    [
        lambda: check_function(in_place, lambda v: 2 * v, (torch.ones(3),)),
        lambda: check_answer(in_place, lambda f: torch.equal(f(torch.ones(3)), 2 * torch.ones(3))),
        lambda: check_answer(lambda v: v.append(1) or v, lambda f: f([0]) == [0, 1]),
    ],
)
def test_an_answer_that_changes_its_argument_is_told_so(check):
    report = check()
    assert not report.passed and "changes its argument" in str(report)


def test_what_a_test_hands_out_stays_as_it_is():
    given = torch.ones(3)
    check_answer(in_place, lambda f: f(given) is None)
    assert torch.equal(given, torch.ones(3))


def test_float64_is_no_mistake():
    def test(function):
        return torch.allclose(function(torch.ones(3)), 2 * torch.ones(3))

    assert check_answer(lambda v: 2 * v.double(), test).passed


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda v: [v, v], "a list of length 2; expected a tensor. `torch.stack(…)` makes one."),
        (lambda v: v.numpy(), "a NumPy array of shape [3]; expected a tensor. `torch.from_numpy"),
        (lambda v: 3.0, "float 3.0; expected a tensor"),
    ],
)
def test_what_is_no_tensor_is_told_how_to_become_one(answer, sentence):
    for report in (
        check_function(answer, lambda v: 2 * v, (torch.ones(3),)),
        check_answer(answer, lambda f: torch.equal(f(torch.ones(3)), torch.ones(3))),
    ):
        assert not report.passed and sentence in str(report)


def test_a_call_with_too_few_arguments_shows_no_line_of_the_book():
    report = check_answer(lambda a, b: a, lambda f: f(1))
    assert "missing 1 required positional argument" in str(report)
    assert "The line" not in str(report)


def test_a_factor_and_a_slip_are_said():
    v = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    report = check_function(lambda v: norm(v) / 2, norm, (v,))
    assert "Everywhere it is 0.5 times" in str(report)
    slips = {"The mean, not the sum.": lambda v: v.square().mean(-1).sqrt()}
    report = check_function(lambda v: v.square().mean(-1).sqrt(), norm, (v,), slips=slips)
    assert "The mean, not the sum." in str(report)


def test_nan_is_not_called_a_matter_of_places():
    report = check_function(lambda v: v * float("nan"), lambda v: v, (torch.ones(3),))
    assert "came nan" in str(report) and "places" not in str(report)


TABLE = torch.tensor([[3.0, -1.0], [2.0, 0.5], [4.0, -2.0]])


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (torch.square, "the square of what is expected"),
        (torch.abs, "The signs are lost"),
        (torch.relu, "as after a ReLU"),
        (torch.tanh, "a tanh of what is expected"),
        (lambda v: (v - v) / (v - v), "What gives nan is 0/0"),
        (lambda v: v.softmax(dim=-1), "a softmax of what is expected"),
        (lambda v: v.mean(0, keepdim=True).expand_as(v), "the mean of what is expected"),
        (lambda v: v[:1].expand_as(v), "the first of what is expected"),
        (lambda v: torch.stack([v[:, 0] ** 2, v[:, 1]], dim=1), "Only the numbers at [:, 0]"),
        (lambda v: torch.stack([v[:, 0] ** 2, v[:, 1]], dim=1), "the square of what is expected"),
    ],
)
def test_a_relation_to_the_right_result_is_said(function, sentence):
    assert sentence in str(check_function(function, lambda v: v, (TABLE,)))


def test_a_relation_of_single_numbers_is_seen_over_all_examples():
    examples = [(0.2,), (0.5,), (0.7,)]
    report = check_function(lambda x: 1 - x, lambda x: x, *examples)
    assert "1 minus what is expected" in str(report)
    report = check_function(lambda x: 100 * x, lambda x: x, *examples)
    assert "Everywhere it is 100 times" in str(report)
    report = check_function(lambda x: 0.2, lambda x: x, *examples)
    assert "the same for every example" in str(report)
    report = check_function(lambda x: 1 - x, lambda x: x, examples[0])
    assert "1 minus" not in str(report), "one number tells nothing"


def test_no_relation_is_seen_in_a_division_by_zero():
    zeros_and_one = torch.tensor([0.0, 0.0, 1.0])
    report = check_function(lambda v: v + 0.5, lambda v: v, (zeros_and_one,))
    assert "1 over" not in str(report)


def test_an_example_that_fails_after_a_wrong_one_does_not_hide_it():
    report = check_function(lambda x: 1 / (x - 1), lambda x: x, (3.0,), (1.0,))
    assert "for 3.0: expected 3, came 0.5" in str(report)


def test_whole_numbers_are_told_to_be_floating_point():
    def test(function):
        return torch.allclose(function(torch.ones(3)), torch.ones(3))

    report = check_answer(lambda v: v.argsort(), test)
    assert "whole numbers; expected floating point" in str(report)
