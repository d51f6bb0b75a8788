"""The checkers of functions: every bug is named, no right function is accused, and trouble becomes
a sentence."""

from __future__ import annotations

import re
import runpy

import pytest
import torch
from capsnet_book.bugs import BUGS, variant
from checked_functions import RIGHT, WRONG
from torch import relu
from torch.nn.functional import one_hot

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
# People's code warns of implicit axes.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


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


def references_with_bugs():
    """Return every reference function with a bug."""
    for piece in CHECKERS:
        for bug in BUGS:
            try:
                variant(piece, bug)
            except ValueError:
                continue
            yield piece, bug


@pytest.mark.parametrize(("piece", "bug"), list(references_with_bugs()))
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
        ("squash", squash_in_place, "changes its argument"),
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

    assert check_mask(mask).passed and "changes its argument" in str(check_mask(mask))
    assert not check_mask(mask, strict=True).passed


def test_the_readers_random_numbers_and_grad_mode_are_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    with torch.no_grad():
        assert check_squash(lambda s: functional.squash(s) + 0 * torch.rand(1)).passed
    assert torch.equal(torch.rand(3), expected)


def weighed_margins(weights):
    """Return a margin loss whose halves are weighed by this function of T."""

    def loss(lengths, labels):
        T = one_hot(labels, lengths.shape[1])
        short, long = weights(T)
        terms = short * relu(0.9 - lengths) ** 2 + long * relu(lengths - 0.1) ** 2
        return terms.sum(dim=1).mean()

    return loss


def gathering(gather):
    """Return a routing whose s is gathered from the weighed votes [B, I, J, D] by this."""

    def route(u_hat, iterations):
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(iterations):
            v = functional.squash(gather(b.softmax(dim=2).unsqueeze(3) * u_hat))
            b = b + (u_hat * v.unsqueeze(1)).sum(dim=3)
        return v

    return route


def length(s):
    return s.norm(dim=-1, keepdim=True)


def cut_in_place(features, dim):
    capsules = group_into_capsules(features, dim).clone()
    features.zero_()
    return capsules


def cut_after_a_relu(features, dim):
    return group_into_capsules(features.relu(), dim)


@pytest.mark.parametrize(
    ("piece", "slip", "said"),
    [
        ("squash", lambda s: s / (1 + length(s)), "neither length of the fraction is squared"),
        ("squash", lambda s: s / (1 + length(s) ** 2), "a square is missing"),
        ("squash", lambda s: s / length(s), "the 1 + is missing"),
        ("squash", lambda s: 2 * functional.squash(s), "Everywhere it is 2 times"),
        ("primary_capsules", cut_in_place, "changes its argument"),
        ("primary_capsules", cut_after_a_relu, "a ReLU after the convolution"),
        ("routing", gathering(lambda votes: votes.mean(dim=1)), "the mean over the parts"),
        ("margin_loss", weighed_margins(lambda T: (T, 0.5)), "(1 − T) is forgotten"),
        ("margin_loss", weighed_margins(lambda T: (0.5 * T, 1 - T)), "not the others"),
        ("margin_loss", weighed_margins(lambda T: (0.5 * T, 0.5 * (1 - T))), "both halves"),
        ("margin_loss", weighed_margins(lambda T: (1 - T, 0.5 * T)), "are swapped"),
        ("margin_loss", lambda x, y: functional.margin_loss(x, y) / 10, "mean over the classes"),
        ("margin_loss", lambda x, y: 3 * functional.margin_loss(x, y), "Everywhere it is 3 times"),
        ("mask", lambda v, y: v - functional.mask_capsules(v, y), "upside down"),
        ("reconstruction_loss", lambda r, x: 2 * OURS["reconstruction_loss"](r, x), "is 2 times"),
    ],
)
def test_an_everyday_slip_has_its_name(piece, slip, said):
    report = CHECKERS[piece](slip)
    assert not report.passed and said in str(report)


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
    assert report.passed and [finding.convention for finding in report.findings] == [True]
    assert re.search(convention, str(report))
    refused = check(function, strict=True)
    assert not refused.passed and refused.status == 1


@pytest.mark.parametrize("written_in", [False, True])
def test_a_batch_of_one_is_looked_at(written_in):
    def squeezed(u_hat, rounds):
        return functional.route(u_hat, 3 if written_in else rounds).squeeze()

    assert "With a batch of one image it fails" in str(check_routing(squeezed))


# --- other forms of a margin loss


def of_one_hot(lengths, labels):
    """Takes one-hot labels, as most public losses do."""
    present = labels * relu(0.9 - lengths) ** 2
    absent = 0.5 * (1 - labels) * relu(lengths - 0.1) ** 2
    return (present + absent).sum(dim=1).mean()


def not_squared_of_one_hot(lengths, labels):
    present = labels * relu(0.9 - lengths)
    absent = 0.5 * (1 - labels) * relu(lengths - 0.1)
    return (present + absent).sum(dim=1).mean()


def of_labels_first(y_true, y_pred):
    """In Keras' order."""
    return of_one_hot(y_pred, y_true)


def of_numbers_first(targets, lengths):
    return functional.margin_loss(lengths, targets)


def not_squared_of_labels_first(labels, capsules):
    return not_squared_of_capsules(capsules, labels)


def of_capsules(capsules, labels):
    return functional.margin_loss(capsules.norm(dim=2), labels)


def of_capsules_and_one_hot(capsules, labels):
    return of_one_hot(capsules.square().sum(dim=2).sqrt(), labels)


def not_squared_of_capsules(capsules, labels):
    return not_squared_of_one_hot(capsules.norm(dim=2), labels)


@pytest.mark.parametrize(
    ("loss", "bugs", "form"),
    [
        (of_one_hot, (), "of lengths and one-hot labels"),
        (of_labels_first, (), "of lengths and one-hot labels"),
        (of_numbers_first, (), ""),
        (not_squared_of_labels_first, ("margin-not-squared",), "of capsules and one-hot labels"),
        (of_capsules, (), "of capsules and class numbers"),
        (of_capsules_and_one_hot, (), "of capsules and one-hot labels"),
        (not_squared_of_one_hot, ("margin-not-squared",), "of lengths and one-hot labels"),
        (not_squared_of_capsules, ("margin-not-squared",), "of capsules and one-hot labels"),
    ],
)
def test_a_margin_loss_is_judged_in_the_form_that_it_takes(loss, bugs, form):
    report = check_margin_loss(loss)
    assert (report.bugs, report.status) == (bugs, 1 if bugs else 0), report
    assert report.examined == (f"margin loss ({form})" if form else "margin loss",)


def test_an_exercise_asks_for_lengths_and_class_numbers():
    report = check_margin_loss(of_one_hot, strict=True)
    assert (report.passed, report.status) == (False, 2)


def test_a_loss_that_takes_no_form_is_told_by_the_usual_one():
    report = check_margin_loss(lambda lengths, labels: lengths.view(3, 7, 7) + labels)
    assert report.status == 2 and "for a tensor of shape [3, 10], a tensor of shape [3]" in str(
        report
    )
