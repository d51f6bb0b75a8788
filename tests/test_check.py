"""The checkers of functions: every bug is named, no right function is accused, and trouble becomes a sentence."""

from __future__ import annotations

import html
import re
import runpy

import pytest
import torch
from capsnet_book.answers import check_answer, check_function
from capsnet_book.bugs import BUGS, variant
from checked_functions import RIGHT, WRONG
from torch import nn

from capsnet_check import (
    CHECKERS,
    check_margin_loss,
    check_mask,
    check_reconstruction_loss,
    check_routing,
    check_squash,
)
from capsnet_tutorial import functional
from capsnet_tutorial.layers import group_into_capsules

OURS = {
    "squash": functional.squash,
    "primary_capsules": group_into_capsules,
    "routing": functional.route,
    "margin_loss": functional.margin_loss,
    "mask": functional.mask_capsules,
    "reconstruction_loss": lambda r, x: (
        functional.RECONSTRUCTION_WEIGHT * functional.reconstruction_loss(r, x)
    ),
}
pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning"
)  # people's code warns: of implicit axes


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_the_bug_is_named(wrong):
    report = CHECKERS[wrong.piece](wrong.make())
    assert not report.passed and report.status in (1, 2)
    assert set(report.bugs) == wrong.bugs, report


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_no_right_function_is_accused(right):
    report = CHECKERS[right.piece](right.make())
    assert report.passed and report.status == 0, report


@pytest.mark.parametrize("piece", CHECKERS)
def test_ours_and_the_reference_pieces_are_right(piece):
    assert CHECKERS[piece](OURS[piece]).passed
    assert CHECKERS[piece](variant(piece)).passed


def shown():
    """Return every reference function with a bug."""
    for piece in CHECKERS:
        for bug in BUGS:
            try:
                variant(piece, bug)
            except ValueError:
                continue
            yield piece, bug


@pytest.mark.parametrize(("piece", "bug"), list(shown()))
def test_every_reference_bug_is_found(piece, bug):
    assert CHECKERS[piece](variant(piece, bug)).bugs == (bug,)


# --- sentences


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (42, r"called as squash\(s\); got int 42"),
        (lambda s, dim: s, r"got <lambda>\(s, dim\)"),
        (lambda s: None, "returns None .* Is the `return` missing"),
        (lambda s: s.long(), "torch.int64; expected floating point"),
        (lambda s: s * float("nan"), "returns nan for a tensor of shape .*, ordinary numbers"),
        (lambda s: s / s.norm(dim=-1), "raises RuntimeError .* must match .* keepdim=True"),
        (lambda s: exit(), "raises SystemExit"),
        (lambda s: functional.squash(s).detach(), "carries no gradient"),
        (lambda s: functional.squash(s.detach()) + 0 * s, "Its gradient is not that of its values"),
        (lambda s: functional.squash(s) + 0.5, "For s = 0 it returns 0.5; expected 0"),
    ],
)
def test_trouble_is_a_sentence(function, sentence):
    report = check_squash(function)
    assert (report.passed, report.bugs, report.written) == (False, (), True)
    assert re.search(sentence, str(report).replace("\n", " ")), report


def test_what_only_fails_cannot_be_judged_and_shows_its_line(tmp_path):
    """Wherever it lies: a folder called torch is not PyTorch."""
    (tmp_path / "torch").mkdir()
    path = tmp_path / "torch" / "caps.py"
    path.write_text("def short(u_hat, iterations):\n    return u_hat.reshape(3, 5)")
    report = check_routing(runpy.run_path(str(path))["short"])
    assert report.status == 2
    assert "The line: return u_hat.reshape(3, 5)" in str(report)


def test_a_finding_survives_a_call_that_fails_later():
    wrong = variant("routing", "softmax-axis")
    report = check_routing(lambda u_hat, rounds: wrong(u_hat.detach(), rounds))
    assert (report.bugs, report.status) == (("softmax-axis",), 1)
    assert "no gradient" in str(report)


@pytest.mark.parametrize("piece", CHECKERS)
def test_a_blank_is_not_written_yet(piece):
    def unwritten(*arguments):
        raise NotImplementedError

    for function in (lambda *arguments: ..., unwritten, ...):
        report = CHECKERS[piece](function)
        assert (report.passed, report.written, report.status) == (False, False, 2)
        assert str(report).endswith("not written yet")
        assert "not written yet" in report._repr_html_()


def test_what_is_not_in_the_catalogue_differs_with_its_furthest_number():
    report = check_routing(lambda u_hat, iterations: functional.route(u_hat, iterations) * 1.01)
    assert report.bugs == ()
    assert re.search(
        r"the number furthest off is output\[\d, \d, \d+\]: expected [\d.-]+, came", str(report)
    )


def squash_in_place(s):
    length = (s * s).sum(dim=-1, keepdim=True).sqrt()
    s *= length / (1 + length**2)
    return s


@pytest.mark.parametrize(
    ("piece", "slip", "said"),
    [
        (
            "squash",
            lambda s: functional.squash(s) * s.norm(dim=-1, keepdim=True),
            "not divided by its length",
        ),
        ("squash", squash_in_place, "writes into the tensor"),
        (
            "primary_capsules",
            lambda f, dim: f.transpose(0, 1).reshape(len(f), -1, dim),
            "batch of one",
        ),
        ("routing", lambda u_hat, rounds: functional.route(u_hat, 10), "written in: 10"),
        (
            "routing",
            lambda u_hat, rounds: functional.route(u_hat, rounds + 2),
            "there are 2 rounds too many",
        ),
    ],
)
def test_a_slip_outside_the_catalogue_is_named(piece, slip, said):
    assert said in str(CHECKERS[piece](slip))


def test_only_an_exercise_refuses_a_mask_that_writes_into_the_capsules():
    def mask(v, labels):
        v *= functional.mask_capsules(
            torch.ones_like(v), v.norm(dim=-1).argmax(dim=1) if labels is None else labels
        )
        return v

    assert check_mask(mask).passed and "writes into the tensor" in str(check_mask(mask))
    assert not check_mask(mask, strict=True).passed


def test_the_readers_random_numbers_and_grad_mode_are_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    with torch.no_grad():
        assert check_squash(lambda s: functional.squash(s) + 0 * torch.rand(1)).passed
    assert torch.equal(torch.rand(3), expected)


# --- conventions


@pytest.mark.parametrize(
    ("check", "function", "convention"),
    [
        (
            check_margin_loss,
            lambda x, y: len(x) * functional.margin_loss(x, y),
            "a sum over the images",
        ),
        (
            check_reconstruction_loss,
            lambda x, y: len(x) * OURS["reconstruction_loss"](x, y),
            "a sum over the images",
        ),
        (check_routing, lambda u_hat, rounds: functional.route(u_hat, 3), "written in: 3"),
    ],
)
def test_a_convention_is_said_and_refused_only_where_it_is_asked(check, function, convention):
    report = check(function)
    assert report.passed and [each.convention for each in report.findings] == [True]
    assert re.search(convention, str(report))
    refused = check(function, strict=True)
    assert not refused.passed and refused.status == 1


@pytest.mark.parametrize("written_in", [False, True])
def test_a_batch_of_one_is_looked_at(written_in):
    def squeezed(u_hat, rounds):
        return functional.route(u_hat, 3 if written_in else rounds).squeeze()

    assert "With a batch of one image it fails" in str(check_routing(squeezed))


# --- reports


def test_a_report_is_the_same_as_text_and_as_html():
    report = check_squash(variant("squash", "squash-axis"))
    words = html.unescape(re.sub("<[^>]*>", " ", report._repr_html_())).replace("`", "").split()
    assert words == str(report).replace("`", "").split()
    assert BUGS["squash-axis"].paper in str(report)


def test_nothing_that_a_function_says_becomes_html():
    def raises(s):
        raise ValueError("<script>alert(1)</script>")

    shown = check_squash(raises)._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;" in shown


# --- answers to exercises


def test_a_function_is_compared_with_another():
    v = torch.randn(3, 3, generator=torch.Generator().manual_seed(0))
    assert check_function(
        lambda v: v.norm(dim=-1), lambda v: v.square().sum(-1).sqrt(), (v,), (2 * v,)
    ).passed
    assert "output[1] furthest off: expected" in str(
        check_function(lambda v: v.sum(-1), lambda v: v.norm(dim=-1), (v,))
    )
    assert "expected [3]" in str(check_function(lambda v: v, lambda v: v.norm(dim=-1), (v,)))
    assert not check_function(lambda v: ..., lambda v: v.norm(dim=-1), (v,)).written
    assert check_function(lambda: 3.0, lambda: 3.0, ()).passed
    assert not check_function(lambda v: v + 5j, lambda v: v, (v,)).passed
    assert "for 2, 0.5: expected 1, came 2.5" in str(
        check_function(lambda a, b: a + b, lambda a, b: a * b, (2, 0.5))
    )
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
