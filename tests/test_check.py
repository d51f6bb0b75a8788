"""The checkers: every planted bug is named, no right function is accused, and trouble is told in a sentence."""

from __future__ import annotations

import re
import warnings

import pytest
import torch
from capsnet_book import bugs
from capsnet_book.bugs import pieces
from checked_functions import RIGHT, WRONG
from torch import nn

from capsnet_tutorial import functional
from capsnet_tutorial.check import (
    CHECKERS,
    Report,
    check_answer,
    check_function,
    check_margin_loss,
    check_mask,
    check_model,
    check_primary_capsules,
    check_routing,
    check_squash,
    worker,
)
from capsnet_tutorial.check.calls import accepts
from capsnet_tutorial.data import digits
from capsnet_tutorial.layers import group_into_capsules
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.weights import load_pretrained

OURS = {
    "squash": functional.squash,
    "primary_capsules": group_into_capsules,
    "routing": functional.route,
    "margin_loss": functional.margin_loss,
    "mask": functional.mask_capsules,
    "reconstruction_loss": lambda r, x: functional.RECONSTRUCTION_WEIGHT * functional.reconstruction_loss(r, x),
}


def judge(piece: str, function: object) -> Report:
    with warnings.catch_warnings():  # people's code warns: of implicit axes, of tensors made scalars
        warnings.simplefilter("ignore")
        return CHECKERS[piece](function)


# ------------------------------------------------------------------------------- what they are there for


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.piece}: {wrong.name}")
def test_the_bug_is_named(wrong):
    report = judge(wrong.piece, wrong.make())
    assert not report.passed
    assert set(report.bugs) == wrong.bugs, report


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: f"{right.piece}: {right.name}")
def test_no_right_function_is_accused(right):
    report = judge(right.piece, right.make())
    assert report.passed, report
    assert report.bugs == ()


def test_the_counts(capsys):
    """Printed, so that a run says how much was tried: `pytest -s tests/test_check.py -k counts`."""
    named = sum(set(judge(wrong.piece, wrong.make()).bugs) == wrong.bugs for wrong in WRONG)
    alarms = sum(not judge(right.piece, right.make()).passed for right in RIGHT)
    ids = {bug for wrong in WRONG for bug in wrong.bugs}
    several = sum(len(wrong.bugs) > 1 for wrong in WRONG)
    with capsys.disabled():
        print(
            f"\n{named} of {len(WRONG)} wrong functions named ({several} with several bugs, {len(ids)} ids); "
            f"{alarms} false alarms among {len(RIGHT)} right ones"
        )
    assert len(WRONG) >= 40
    assert len(RIGHT) >= 25
    assert several >= 10
    assert ids == set(bugs.BUGS)


def test_code_that_never_returns_is_ended(tmp_path):
    file = tmp_path / "forever.py"
    file.write_text("def squash(s):\n    while True:\n        pass\n", encoding="utf-8")
    assert worker.in_a_process([f"{file}:squash"], 1.0) == 2


# ------------------------------------------------------------------------------------------ the catalogue


@pytest.mark.parametrize(
    ("piece", "bug"),
    [
        (piece, bug)
        for piece in bugs.PIECES
        for bug in dict.fromkeys(each.bug for each in bugs.PIECES[piece].deviations)
    ],
)
def test_every_bug_runs_by_its_id_and_is_found(piece, bug):
    if bug is not None:
        assert CHECKERS[piece](bugs.variant(piece, bug)).bugs == (bug,)


@pytest.mark.parametrize("piece", bugs.PIECES)
def test_a_variant_without_bugs_is_right(piece):
    assert CHECKERS[piece](bugs.variant(piece)).passed


def test_variants_do_not_share_what_they_keep():
    first, second = bugs.variant("routing", "stale-logits"), bugs.variant("routing", "stale-logits")
    u_hat = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(first(u_hat, 3), second(u_hat, 3))
    assert not torch.equal(first(u_hat, 3), second(u_hat[:1], 3))


def test_a_variant_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="expected a piece, one of squash, .*; got 'root'"):
        bugs.variant("root")
    with pytest.raises(ValueError, match="expected a bug that mask can have, one of mask-prediction; got 'squash-nan'"):
        bugs.variant("mask", "squash-nan")


# --------------------------------------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (42, r"called as squash\(s\); got int 42"),
        ("squash", "got str 'squash'"),
        (None, "got NoneType None"),
        (lambda s, dim: s, r"got <lambda>\(s, dim\)"),
        (lambda: 1, r"got <lambda>\(\)"),
        (nn.Identity, r"got the class Identity itself: give an instance, Identity\(\)"),
        (lambda s: None, "returns None .* Is the `return` missing"),
        (lambda s: s.sum(), r"returns a tensor of shape \[\] .* expected a tensor of shape \[3, 10, 16\]"),
        (lambda s: (s, s), "returns a tuple of 2"),
        (lambda s: s.long(), "torch.int64; expected floating point"),
        (lambda s: s * float("nan"), "returns nan for a tensor of shape .*, ordinary numbers"),
        (lambda s: s / s.norm(dim=-1), "raises RuntimeError .* must match .* keepdim=True"),
        (lambda s: 1 / 0, "raises ZeroDivisionError"),
        (lambda s: exit(), "raises SystemExit"),
        (lambda s: functional.squash(s).detach(), "carries no gradient"),
        (lambda s: functional.squash(s.detach()) + 0 * s, "its gradient is not"),
        (lambda s: functional.squash(s) + 0.5, "For s = 0 it returns 0.5; expected 0"),
    ],
)
def test_trouble_is_a_sentence(function, sentence):
    report = check_squash(function)
    assert not report.passed
    assert report.bugs == ()
    assert report.written
    assert re.search(sentence, str(report).replace("\n", " ")), report
    assert "Traceback" not in str(report)


def test_the_line_that_raised_is_shown():
    def short(u_hat, iterations):
        return u_hat.reshape(3, 5)

    assert "The line: return u_hat.reshape(3, 5)" in str(check_routing(short))


@pytest.mark.parametrize("piece", CHECKERS)
def test_a_blank_is_not_written_yet(piece):
    def blank(*arguments):
        return ...

    def unwritten(*arguments):
        raise NotImplementedError

    for function in (blank, unwritten, ...):
        report = CHECKERS[piece](function)
        assert not report.passed
        assert not report.written
        assert str(report).endswith("not written yet")
        assert "not written yet" in report._repr_html_()


def test_what_is_not_in_the_catalogue_differs_with_its_first_number():
    report = check_routing(lambda u_hat, iterations: functional.route(u_hat, iterations) * 1.01)
    assert report.bugs == ()
    assert re.search(r"the first number that differs is output\[\d, \d, \d+\]: expected [\d.-]+, came", str(report))


def test_a_slip_without_an_id_that_is_recognised_is_described():
    mean = check_margin_loss(bugs.deviating(pieces.margin_loss, [_deviation("margin_loss", "over_classes")]))
    assert (mean.passed, mean.bugs) == (False, ())
    assert "the mean over the classes instead of their sum" in str(mean)


def _deviation(piece, option):
    return next(each for each in bugs.PIECES[piece].deviations if each.option == option)


def test_an_argument_is_the_readers_to_write_into():
    def in_place(v, labels):
        for n in range(len(v)):
            keep = int(v[n].norm(dim=-1).argmax()) if labels is None else int(labels[n])
            v[n, :keep] = 0
            v[n, keep + 1 :] = 0
        return v

    assert check_mask(in_place).passed


def test_the_readers_random_numbers_are_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    check_routing(lambda u_hat, iterations: functional.route(u_hat, iterations) + torch.rand(1))
    assert torch.equal(torch.rand(3), expected)


def test_it_works_under_no_grad():
    with torch.no_grad():
        assert check_squash(functional.squash).passed


# ----------------------------------------------------------------------------------------------- reports


def test_a_report_shows_number_picture_and_the_papers_line():
    report = check_routing(bugs.variant("routing", "softmax-axis", "no-update-rounds"))
    assert report.bugs == ("softmax-axis", "no-update-rounds")
    assert not report
    text, html = str(report), report._repr_html_()
    assert repr(report) == text
    for bug in report.bugs:
        for shown in (text, html):
            assert bug in shown
        assert bugs.BUGS[bug].paper in text
    assert "expected" in text
    assert html.count("v, expected") == 2
    assert "http" not in html


def test_a_report_is_legible_where_drawings_are_taken_out():
    """JupyterLab takes them out of a notebook that is not trusted yet, and leaves the words in them."""
    squash = check_squash(bugs.variant("squash", "squash-axis"))
    for report in (squash, check_primary_capsules(bugs.variant("primary_capsules", "capsule-view"))):
        html = report._repr_html_()
        (finding,) = report.findings
        rows = [re.findall("<td[^>]*>([^<]+)</td>", row) for row in re.findall("<tr.*?</tr>", html)]
        shown = torch.tensor([[float(number) for number in row] for row in rows])
        both = torch.cat([finding.example.expected, finding.example.came]).reshape(shown.shape)
        torch.testing.assert_close(shown, both.to(shown), atol=6e-4, rtol=0)
        assert not any(re.sub("<[^>]*>", "", drawing) for drawing in re.findall("<svg.*?</svg>", html))
    assert "<svg" in squash._repr_html_()


def test_nothing_that_a_function_says_becomes_html():
    def raises(s):
        raise ValueError("<script>alert(1)</script>")

    raises.__name__ = "<b>"
    html = check_squash(raises)._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "<b>" not in check_answer(lambda: 1, lambda _: "<b>no</b>")._repr_html_()


def test_a_report_can_be_made_as_the_design_says():
    assert Report(True, ()).passed
    assert Report(False, ("squash-nan",)).bugs == ("squash-nan",)


# ------------------------------------------------------------------------------------- functions and answers


def test_a_function_is_compared_with_another():
    v = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    assert check_function(lambda v: v.norm(dim=-1), functional.capsule_lengths, (v,), (2 * v,)).passed
    wrong = check_function(lambda v: v.sum(-1), functional.capsule_lengths, (v,))
    assert not wrong.passed
    assert "output[0, 0]: expected" in str(wrong)
    assert "expected [2, 3]" in str(check_function(lambda v: v, functional.capsule_lengths, (v,)))
    assert not check_function(lambda v: ..., functional.capsule_lengths, (v,)).written
    assert check_function(lambda n: n + 1, lambda n: n + 1, (1,)).passed
    assert check_function(lambda: 3.0, lambda: 3.0, ()).passed
    assert not check_function(lambda v: v + 5j, lambda v: v, (v,)).passed
    assert not check_function(lambda n: float("nan"), lambda n: n, (1,)).passed
    with pytest.raises(ValueError, match="expected at least one example"):
        check_function(len, len)


def test_an_answer_is_tested():
    assert check_answer(3, lambda x: x == 3).passed
    assert check_answer(torch.tensor(3.0), lambda x: x == 3).passed
    assert check_answer(3, lambda x: None).passed
    assert "3 is not it." in str(check_answer(3, lambda x: x == 4))
    assert "Too large." in str(check_answer(3, lambda x: x == 2 or "Too large."))
    assert not check_answer(..., lambda x: True).written
    assert not check_answer(len, lambda f: ...).written
    assert "It is str 'a', and the test can do nothing" in str(check_answer("a", lambda x: x + 1))


class Halves(nn.Module):
    def __init__(self, returned):
        super().__init__()
        self.returned = returned

    def forward(self, x):
        return x / 2 if self.returned == "half" else self.returned


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda x: None, "It returns None. Is its `return` missing"),
        (lambda x: [1, 2], "It returns a list of 2, and the test can do nothing with that .*no attribute 'shape'"),
        (lambda x: x.nonsense, "It raises AttributeError .*: 'Tensor' object has no attribute 'nonsense'"),
    ],
)
def test_an_answer_that_breaks_the_test_is_told_what_it_returned(answer, sentence):
    assert re.search(sentence, str(check_answer(answer, lambda f: f(torch.ones(3)).shape == (3,))))


@pytest.mark.parametrize(("returned", "sentence"), [("half", "✓ Halves"), (None, "None. Is its `return` missing")])
def test_a_module_that_returns_none_is_told(returned, sentence):
    assert sentence in str(check_answer(Halves, lambda Made: Made(returned)(torch.ones(3)).shape == (3,)))


def test_right_numbers_in_other_places_are_said_to_be_so():
    square = torch.randn(3, 3, generator=torch.Generator().manual_seed(0))
    assert "their places are not" in str(check_function(lambda v: v, lambda v: v.mT, (square,)))
    assert "their places" not in str(check_function(lambda v: v + 1, lambda v: v.mT, (square,)))


def test_arguments_are_counted():
    assert accepts(functional.squash, 1)
    assert not accepts(lambda a: a, 2)
    assert accepts(max, 2)
    assert not accepts(nn.Linear(2, 2), 2)


# --------------------------------------------------------------------------------------- whole networks


@pytest.fixture(scope="module")
def sample():
    return digits("test", source="sample")


@pytest.fixture
def network():
    return load_pretrained("small")


class Spoilt(nn.Module):
    """A network around another, with something done to what it returns."""

    def __init__(self, inner, spoil):
        super().__init__()
        self.inner, self.spoil, self.calls = inner, spoil, 0

    def forward(self, images, labels=None):
        self.calls += 1
        return self.spoil(self, images, self.inner(images, labels))


SPOILT = {
    "squash-axis": lambda self, images, out: 1.5 * out.capsules,
    "lengths-softmax": lambda self, images, out: out.lengths.softmax(dim=1),
    "batch-agreement": lambda self, images, out: out.lengths - 0.1 * out.lengths.mean(dim=0),
    "stale-logits": lambda self, images, out: out.capsules / (1 + 0.01 * self.calls),
    "mask-prediction": lambda self, images, out: (out.capsules, self.inner(images).reconstruction),
}


def test_a_right_network_passes(network, sample):
    network.train()
    parts = {"network": network, **OURS}
    report = check_model(parts, sample.images[:5], sample.labels[:5])
    assert report.passed, report
    assert network.training, "the network is left in its mode"
    assert check_model(CapsNet(CapsNetConfig.small()), sample.images[:2], sample.labels[:2]).passed


@pytest.mark.parametrize("bug", SPOILT)
def test_a_networks_bug_is_named(network, sample, bug):
    report = check_model(Spoilt(network, SPOILT[bug]), sample.images[:5], sample.labels[:5])
    assert report.bugs == (bug,), report
    assert "network" in str(report)


def test_an_empty_image_finds_nan(sample):
    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(784, 160, generator=torch.Generator().manual_seed(0)) / 28)

        def forward(self, images):
            s = (images.flatten(1) @ self.weight).reshape(-1, 10, 16)
            return pieces.squash(s, safe=False)

    report = check_model(Bare(), sample.images[:3], sample.labels[:3])
    assert report.bugs == ("squash-nan",), report


def test_bugs_of_several_parts_are_collected(network, sample):
    parts = {"network": network, "squash": bugs.variant("squash", "squash-axis"), "mask": ...}
    report = check_model(parts, sample.images[:3], sample.labels[:3])
    assert report.bugs == ("squash-axis",)
    assert "squash-axis (against the paper) · squash:" in str(report)
    assert "mask: Not written yet." in str(report)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"root": len}, torch.zeros(2, 1, 28, 28), torch.zeros(2).long()), "expected parts named network, .*'root'"),
        (({}, torch.zeros(2, 1, 28, 28), torch.zeros(2).long()), "expected at least one part"),
        ((len, torch.zeros(1, 1, 28, 28), torch.zeros(1).long()), r"at least two images .* got shape \[1, 1, 28, 28\]"),
        ((len, "images", torch.zeros(1).long()), "got str"),
        ((len, torch.zeros(2, 1, 28, 28), torch.zeros(2)), r"expected 2 whole numbers as labels; got torch.float32"),
    ],
)
def test_a_model_that_cannot_be_checked_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        check_model(*arguments)


def test_a_network_that_fails_is_told(sample):
    def fails(images):
        raise KeyError("conv1")

    for network, sentence in (
        (fails, "raises KeyError"),
        (lambda images: None, "returns nothing"),
        (lambda images: images[:, 0, 0, 0], "got neither"),
        (42, "got int"),
        (lambda: 1, r"network\(images\)"),
    ):
        report = check_model({"network": network}, sample.images[:2], sample.labels[:2])
        assert not report.passed
        assert re.search(sentence, str(report)), report
