"""One line of a right answer changed, as students change it: the check says what was seen."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from capsnet_check import (
    CHECKERS,
    check_margin_loss,
    check_mask,
    check_primary_capsules,
    check_routing,
)
from capsnet_tutorial.functional import squash

ANSWERS = {
    "squash": """\
def squash(s):
    squared = (s * s).sum(dim=-1, keepdim=True)
    length = squared.clamp_min(1e-16).sqrt()
    return squared / (1 + squared) * s / length
""",
    "routing": """\
def route(u_hat, iterations):
    b = u_hat.new_zeros(u_hat.shape[:3])
    for _ in range(iterations):
        c = b.softmax(dim=2)
        s = torch.einsum("bij,bije->bje", c, u_hat)
        v = squash(s)
        b = b + torch.einsum("bije,bje->bij", u_hat, v)
    return v
""",
    "margin_loss": """\
def margin_loss(lengths, labels):
    T = F.one_hot(labels, lengths.shape[1])
    too_short = (0.9 - lengths).clamp_min(0) ** 2
    too_long = (lengths - 0.1).clamp_min(0) ** 2
    return (T * too_short + 0.5 * (1 - T) * too_long).sum(dim=1).mean()
""",
    "mask": """\
def mask(v, labels):
    if labels is None:
        labels = v.norm(dim=-1).argmax(dim=1)
    keep = F.one_hot(labels, v.shape[1])
    return v * keep[:, :, None]
""",
    "reconstruction_loss": """\
def loss(drawing, images):
    wrong = (drawing - images.flatten(1)) ** 2
    return 0.0005 * wrong.sum(dim=1).mean()
""",
}
UPDATE = 'b + torch.einsum("bije,bje->bij", u_hat, v)'


def answer(piece, line="", slip=""):
    """Return the right answer of a piece as a function, one line of it changed."""
    source = ANSWERS[piece]
    assert line in source
    functions = {}
    exec(source.replace(line, slip), {"torch": torch, "F": F, "squash": squash}, functions)
    (function,) = functions.values()
    return function


@pytest.mark.parametrize("piece", ANSWERS)
def test_the_answer_without_a_slip_is_right(piece):
    assert CHECKERS[piece](answer(piece)).passed


SLIPS = [
    ("squash", "squared / (1 + squared)", "squared", "not divided by 1 + ‖s‖²"),
    ("squash", "(1 + squared)", "(1 - squared)", "1 − ‖s‖² below the line"),
    ("squash", "squared / (1 + squared)", "squared / 1 + squared", "brackets around 1 + ‖s‖²"),
    ("squash", "(s * s).sum(dim=-1, keepdim=True)", "s.sum(dim=-1, keepdim=True) ** 2", "sum of"),
    ("squash", "squared / (1 + squared)", "length.tanh()", "tanh of the length"),
    ("squash", "squared / (1 + squared) * s / length", "s.tanh()", "tanh of each number"),
    ("squash", "s / length", "s.relu() / length", "ReLU"),
    ("squash", "squared / (1 + squared) * s / length", "s.softmax(dim=-1)", "softmax of the num"),
    ("squash", "(1 + squared)", "(0.5 + squared)", "0.5 + ‖s‖² below the line"),
    ("squash", "squared / (1 + squared)", "1 / (1 + squared)", "1 above the line"),
    ("squash", "squared / (1 + squared)", "length.clamp_max(1)", "cut at 1, not squashed"),
    ("squash", "squared / (1 + squared)", "length.sigmoid()", "sigmoid of the length"),
    ("squash", "* s / length", "* s * length", "multiplied by its length"),
    ("squash", "(s * s)", "s.abs()", "the sum of the absolute numbers"),
    ("squash", ".sum(dim=-1", ".amax(dim=-1", "the largest square"),
    ("squash", "1e-16", "0.01", "the floor under the root is 0.01"),
    ("squash", "* s / length", "* s.abs() / length", "The signs are lost"),
    ("routing", "b.softmax(dim=2)", "b.exp()", "not divided by their sum"),
    ("routing", "b.softmax(dim=2)", "b.softmax(dim=2).softmax(dim=2)", "two softmaxes"),
    ("routing", "b.softmax(dim=2)", "F.one_hot(b.argmax(dim=2), 10).to(b)", "an argmax in place"),
    ("routing", UPDATE, f"b + F.relu({UPDATE[4:]})", "a ReLU on the agreement"),
    ("routing", UPDATE, f"({UPDATE}).relu()", "a ReLU on"),
    ("routing", UPDATE, f"b + {UPDATE[4:]}.abs()", "lost its sign"),
    ("routing", UPDATE, f"b + {UPDATE[4:]}.softmax(dim=2)", "a softmax of the agreement"),
    ("routing", UPDATE, f"b + 0.1 * {UPDATE[4:]}", "a tenth of the agreement"),
    ("routing", UPDATE, f"b + {UPDATE[4:]} / 4", "√D of attention"),
    ("routing", UPDATE, UPDATE.replace("u_hat, v", "F.normalize(u_hat, dim=3), v"), "made 1 long"),
    ("routing", UPDATE, "b + (u_hat - v[:, None]).norm(dim=3)", "the farther, the more"),
    ("routing", "v = squash(s)", "v = s.relu()", "a ReLU, not a squash"),
    ("routing", "v = squash(s)", "v = squash(squash(s))", "squash is applied twice"),
    ("routing", "b.softmax(dim=2)", "b.log_softmax(dim=2)", "logarithm of the softmax"),
    ("routing", UPDATE, "b - (u_hat - v[:, None]).square().sum(dim=3)", "squared distance"),
    ("routing", UPDATE, UPDATE.replace("b +", "b + 2 *"), "twice the agreement"),
    ("routing", UPDATE, UPDATE.replace("b +", "c +"), "added to c"),
    ("routing", UPDATE, f"({UPDATE}).softmax(dim=2)", "b itself goes through the softmax"),
    ("routing", UPDATE, "b + v.norm(dim=2)[:, None]", "the length of v"),
    ("routing", UPDATE, UPDATE.replace("b +", "b + c *"), "multiplied by the coupling"),
    ("routing", "return v", "return squash(v)", "squashed twice"),
    ("routing", "v = squash(s)", "v = s.tanh()", "tanh of each number"),
    ("margin_loss", ".sum(dim=1).mean()", ".amax(dim=1).mean()", "the largest over the classes"),
    ("margin_loss", ".sum(dim=1).mean()", ".sum(dim=1).mean().sqrt()", "the root of the loss"),
    ("margin_loss", "+ 0.5 *", "* 0.5 *", "multiplied by each other"),
    ("margin_loss", "+ 0.5 * (1 - T)", "+ 0.5 * T", "T weighs both halves"),
    ("margin_loss", "0.5 *", "0.1 *", "λ is 0.1, not 0.5"),
    ("margin_loss", "0.9 - lengths", "1 - lengths", "m⁺ is 1, not 0.9"),
    ("margin_loss", "lengths - 0.1", "lengths", "m⁻ is 0, not 0.1"),
    ("margin_loss", "0.9 - lengths", "lengths - 0.9", "the present class's difference"),
    ("margin_loss", "lengths - 0.1", "0.1 - lengths", "the absent classes' difference"),
    ("margin_loss", "one_hot(labels", "one_hot(lengths.argmax(dim=1)", "not from the label"),
    ("margin_loss", "one_hot(labels", "one_hot((labels - 1) % 10", "one too large"),
    ("margin_loss", ".mean()", ".max()", "the largest over the images"),
    ("mask", "v.norm(dim=-1)", "v.abs().sum(dim=-1)", "without their signs"),
    ("mask", "v.norm(dim=-1)", "v[:, :, 0]", "first number is the largest"),
    ("mask", "keep[:, :, None]", "keep[:, :, None] * 0.9 + 0.1 * v", "others are not 0"),
    ("mask", "return v * keep", "return 3 + v * keep", "not by a mistake of the catalogue"),
    ("mask", "return v * keep", "return v.sin() * keep", "the kept capsule is changed"),
    ("reconstruction_loss", "drawing - images", "drawing + images", "added, not subtracted"),
    ("reconstruction_loss", "drawing - ", "drawing.sigmoid() - ", "a sigmoid of the drawing"),
    ("reconstruction_loss", "images.flatten(1)", "images.flatten(1) / 255", "by 255 once more"),
    ("reconstruction_loss", "- images.flatten(1)", "- 1 + images.flatten(1)", "inverted"),
    ("mask", "return v * keep", "return v * keep.amax(dim=0, keepdim=True)", "all images' labels"),
    ("mask", "v.norm(dim=-1)", "v.sum(dim=-1)", "largest sum"),
    ("mask", "v.norm(dim=-1)", "v.amax(dim=-1)", "with the largest number"),
    ("reconstruction_loss", "wrong.sum(dim=1).mean()", "wrong.sum().sqrt()", "the root of"),
]


@pytest.mark.parametrize(("piece", "line", "slip", "said"), SLIPS)
def test_the_slip_has_its_name(piece, line, slip, said):
    report = CHECKERS[piece](answer(piece, line, slip))
    assert not report.passed and said in str(report), report


def test_the_cross_entropy_is_no_margin_loss():
    assert "the cross-entropy" in str(check_margin_loss(F.cross_entropy))


def test_the_binary_cross_entropy_is_no_squared_difference():
    def loss(drawing, images):
        each = F.binary_cross_entropy(drawing, images.flatten(1), reduction="none")
        return 0.0005 * each.sum(dim=1).mean()

    assert "the cross-entropy" in str(CHECKERS["reconstruction_loss"](loss))


def test_a_detached_group_cannot_learn():
    def group(features, dim):
        capsules = features.permute(0, 2, 3, 1).reshape(len(features), -1, dim)
        return capsules.detach()

    report = check_primary_capsules(group)
    assert not report.passed and "no gradient back" in str(report)


def test_an_agreement_of_the_batch_is_named_beside_what_has_no_name():
    code = f"b + ({UPDATE[4:]}).mean(dim=0, keepdim=True)"
    route = answer("routing", UPDATE, code)
    report = check_routing(lambda u_hat, iterations: 1.01 * route(u_hat, iterations))
    assert report.bugs == ("batch-agreement",)


def test_a_loss_that_is_wrong_is_not_told_of_its_lambda():
    def loss(lengths, labels, lambda_=0.5):
        return lambda_ * F.cross_entropy(lengths, labels)

    assert "lambda_" not in str(check_margin_loss(loss, strict=True))


def test_a_mask_is_told_once_what_is_wrong():
    report = check_mask(answer("mask", "v * keep", "v * (1 - keep)"), strict=True)
    assert "upside down" in str(report) and "not by a mistake" not in str(report)


def test_capsules_that_are_multiplied_are_told_by_how_much():
    def group(features, dim):
        return 2 * features.permute(0, 2, 3, 1).reshape(len(features), -1, dim)

    assert "Everywhere it is 2 times" in str(check_primary_capsules(group))


CUT = "features.permute(0, 2, 3, 1).reshape(len(features), -1, dim)"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (CUT.replace("dim)", "8)"), "is a size written in?"),
        (f"{CUT}[:, :72]", "is a size written in?"),
        (f"{CUT}.abs()", "The signs are lost"),
        (f"{CUT}.square()", "the square of what is expected"),
    ],
)
def test_capsules_that_are_cut_with_a_slip_are_told_it(changed, said):
    functions = {}
    exec(f"def group(features, dim):\n    return {changed}", functions)
    report = check_primary_capsules(functions["group"], strict=True)
    assert not report.passed and said in str(report), report


def test_a_loss_for_ten_classes_alone_is_refused_by_an_exercise():
    loss = answer("margin_loss", "lengths.shape[1]", "10")
    assert check_margin_loss(loss).passed
    assert "take the number of classes from the lengths" in str(
        check_margin_loss(loss, strict=True)
    )
