"""What the checkers were once found to misjudge in public code, each with the code that showed it."""

from __future__ import annotations

import re

import pytest
import torch
from capsnet_book.bugs import variant
from capsnet_book.bugs.planted import planted_parts
from checked_networks import returned
from torch import nn

from capsnet_tutorial.check import (
    check_layer,
    check_margin_loss,
    check_mask,
    check_model,
    check_primary_capsules,
    check_reconstruction_loss,
    check_routing,
    check_squash,
)
from capsnet_tutorial.data import digits
from capsnet_tutorial.functional import margin_loss, mask_capsules, prediction_vectors, route, squash
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts


@pytest.fixture(scope="module")
def images_and_labels():
    sample = digits("test", "sample")
    return sample.images[:4], sample.labels[:4]


def lengths_of(v):
    return v.norm(dim=-1)


# --- masks


def test_a_mask_by_the_prediction_may_have_its_ten_classes_written_in():
    ten = torch.eye(10)
    assert check_mask(lambda v, labels: v * ten[lengths_of(v).argmax(1)].unsqueeze(-1)).bugs == ("mask-prediction",)


def test_a_mask_by_a_softmax_over_the_batch_is_told():
    """With one image that softmax is all ones, so the first capsule is "longest"."""

    def mask(v, labels):
        shares = lengths_of(v).softmax(dim=0)
        keep = shares.argmax(1) if labels is None else labels
        return v * torch.eye(10)[keep].unsqueeze(-1)

    assert "over the batch?" in str(check_mask(mask))


def test_a_mask_by_the_prediction_that_fails_without_labels_is_named_all_the_same():
    def mask(v, labels):
        assert len(labels) == len(v)
        return mask_capsules(v, None)

    assert check_mask(mask).bugs == ("mask-prediction",)


def test_a_mask_that_needs_labels_is_told_so():
    report = check_mask(lambda v, labels: v * torch.eye(10)[labels.long()].unsqueeze(-1))
    assert (report.passed, report.bugs, report.failed_call) == (False, (), True)
    assert "It needs labels" in str(report)


@pytest.mark.parametrize("bug", [(), ("mask-prediction",)])
@pytest.mark.parametrize(
    "style",
    [
        lambda mask: lambda v, labels: mask(v, labels).flatten(1),
        lambda mask: lambda v, labels: mask(v, labels).sum(1),
        lambda mask: lambda v, labels: mask(v, None if labels is None else labels.argmax(1)),
        lambda mask: lambda v, labels: mask(v.squeeze(3), labels) if v.dim() == 4 else v[:, :, :, 0],
    ],
    ids=["[B, J·D]", "[B, D]", "one-hot", "[B, J, D, 1]"],
)
def test_conventions_of_masks_are_accepted_and_said(style, bug):
    report = check_mask(style(variant("mask", *bug)))
    assert (report.passed, report.bugs) == (not bug, bug)
    assert any(finding.convention for finding in report.findings)
    assert not check_mask(style(variant("mask", *bug)), strict=True).passed


# --- routing


def test_a_finding_survives_a_call_that_fails_later():
    wrong = variant("routing", "softmax-axis")
    report = check_routing(lambda u_hat, rounds: wrong(u_hat.detach(), rounds))
    assert report.bugs == ("softmax-axis",)
    assert "no gradient" in str(report)


def test_three_bugs_at_1152_capsules_are_named():
    bugs = ("softmax-axis", "squash-axis", "batch-agreement")
    wrong = variant("routing", *bugs)

    def of_1152(u_hat, rounds):
        assert u_hat.shape[1] == 1152
        return wrong(u_hat, rounds)

    assert set(check_routing(of_1152).bugs) == set(bugs)


def compared_with_s(u_hat, iterations):
    b = u_hat.new_zeros(u_hat.shape[:3])
    for _ in range(iterations):
        s = torch.einsum("bij,bije->bje", b.softmax(dim=2), u_hat)
        b = b + torch.einsum("bije,bje->bij", u_hat, s)
    return squash(s)


@pytest.mark.parametrize("rounds", [None, 3])
def test_an_agreement_with_s_is_named(rounds):
    report = check_routing(lambda u_hat, asked: compared_with_s(u_hat, rounds or asked))
    assert not report.passed
    assert "compared with s" in str(report)


def test_rounds_may_be_written_in():
    report = check_routing(lambda u_hat, rounds: route(u_hat, 3))
    assert report.passed, report
    assert "written in: 3" in str(report)
    assert "1 to 4 rounds" not in str(report)
    refused = check_routing(lambda u_hat, rounds: route(u_hat, 3), strict=True)
    assert not refused.passed
    assert refused.findings == report.findings
    assert check_routing(lambda u_hat, rounds: route(u_hat, 1)).bugs == ("no-update-rounds",)


@pytest.mark.parametrize("bugs", [(), ("softmax-axis",)])
@pytest.mark.parametrize("written_in", [False, True])
def test_a_batch_of_one_is_looked_at_whatever_else_is_wrong(bugs, written_in):
    inner = variant("routing", *bugs)

    def squeezed(u_hat, rounds):
        return inner(u_hat, 3 if written_in else rounds).squeeze()

    text = str(check_routing(squeezed))
    assert "With a batch of one image: " in text
    assert "With 3 rounds" not in text


# --- losses


def test_a_sum_over_the_images_is_a_convention_and_said():
    for check, piece in ((check_margin_loss, "margin_loss"), (check_reconstruction_loss, "reconstruction_loss")):
        function = variant(piece)
        report = check(lambda x, y, function=function: len(x) * function(x, y))
        assert report.passed, report
        assert [finding.severity for finding in report.findings] == ["convention"]
        assert "sum over the images" in str(report)
        assert "averaged" not in str(report)
        assert not check(lambda x, y, function=function: len(x) * function(x, y), strict=True).passed
        assert check(function, strict=True).passed


@pytest.mark.parametrize(
    ("present", "absent", "said"),
    [(True, False, "absent classes' margins do not"), (False, True, "present class's"), (False, False, "no margin")],
)
def test_margins_that_do_not_stop_at_zero_are_said(present, absent, said):
    def loss(lengths, labels):
        there = torch.eye(10)[labels]
        short, long = 0.9 - lengths, lengths - 0.1
        short, long = short.clamp_min(0) if present else short, long.clamp_min(0) if absent else long
        return (there * short**2 + 0.5 * (1 - there) * long**2).sum(1).mean()

    report = check_margin_loss(loss)
    assert not report.passed
    assert re.search(f"{said} .*at 0", str(report))


def test_squared_lengths_inside_the_margins_are_said():
    def square_inside(lengths, labels):
        present = torch.eye(10)[labels]
        short, long = (0.9 - lengths**2).relu(), (lengths**2 - 0.1).relu()
        return (present * short + 0.5 * (1 - present) * long).sum(1).mean()

    report = check_margin_loss(square_inside)
    assert report.bugs == ("margin-not-squared",)
    assert "‖v‖² in place of ‖v‖" in str(report)


def test_no_hint_about_an_axis_where_labels_were_refused():
    def for_one_hot_of_four_classes(lengths, labels):
        return (lengths[:, :4] * labels[:, :5].float()).sum()

    report = check_margin_loss(for_one_hot_of_four_classes)
    assert not report.passed
    assert "keepdim" not in str(report)


def test_conventions_of_margin_losses_are_accepted():
    assert check_margin_loss(lambda lengths, hot: margin_loss(lengths, hot)).passed
    assert check_margin_loss(lambda v, labels: margin_loss(v.norm(dim=2), labels)).passed
    assert check_margin_loss(lambda v, hot: margin_loss(v.norm(dim=2), hot.argmax(1))).passed


# --- squash


@pytest.mark.parametrize("default", [1, None])
def test_a_squash_with_an_axis_of_its_own_is_asked_for_the_last(default):
    def with_default(s, dim=default):
        n2 = s.square().sum(dim, keepdim=True)
        return n2 / (1 + n2) * s / (n2 + 1e-12).sqrt()

    assert check_squash(with_default).passed


def test_a_module_shows_its_own_arguments():
    class Two(nn.Module):
        def forward(self, s, lengths):
            return s

    assert "Two(s, lengths)" in str(check_squash(Two()))


# --- whole networks


def network_with(**parts):
    torch.manual_seed(0)
    return CapsNet(CapsNetConfig.small(), Parts(**parts))


class Around(nn.Module):
    """A network that gives back something else of what another does."""

    def __init__(self, inner, shown):
        super().__init__()
        self.inner, self.shown = inner, shown

    def forward(self, images):
        return self.shown(self.inner(images))


def test_the_routing_of_a_network_that_fails_later_is_judged_all_the_same(images_and_labels):
    class Fails(Around):
        def forward(self, images):
            raise IndexError(str(self.inner(images).lengths.shape))

    report = check_model(Fails(network_with(routing=variant("routing", "softmax-axis")), None), *images_and_labels)
    assert report.bugs == ("softmax-axis",)
    assert "raises IndexError" in str(report)


def test_lengths_that_are_squeezed_do_not_crash(images_and_labels):
    network = Around(network_with(), lambda out: out.lengths.softmax(1).squeeze())
    assert check_model(network, *images_and_labels).bugs == ("lengths-softmax",)


def test_a_one_hot_prediction_beside_the_capsules_is_no_softmax(images_and_labels):
    report = check_model(returned.Net("one-hot", primary=1), *images_and_labels)
    assert report.bugs == ("squash-axis",), report


@pytest.mark.parametrize("scale", [1e-5, 1.0])
def test_a_fresh_network_masks_by_labels_however_short_its_capsules(images_and_labels, scale):
    network = network_with()
    with torch.no_grad():
        network.routed.weight.mul_(scale)
    assert check_model(network, *images_and_labels).passed


@pytest.mark.parametrize("bug", ["softmax-axis", "batch-agreement", "squash-axis", "no-update-rounds"])
def test_a_fresh_networks_bug_is_named_however_short_its_capsules(images_and_labels, bug):
    torch.manual_seed(0)
    network = CapsNet(CapsNetConfig.small(), planted_parts(bug))
    with torch.no_grad():
        network.routed.weight.mul_(1e-3)
    assert check_model(network, *images_and_labels).bugs == (bug,)


def test_a_network_that_redraws_and_takes_no_labels_masks_by_its_prediction(images_and_labels):
    network = Around(network_with(), lambda out: (out.lengths, out.reconstruction))
    assert check_model(network, *images_and_labels).bugs == ("mask-prediction",)


def test_primary_capsules_that_are_never_squashed_are_told(images_and_labels):
    report = check_model(network_with(primary=_unsquashed), *images_and_labels)
    assert not report.passed
    assert report.bugs == ()
    assert "never squashed" in str(report)
    assert check_primary_capsules(_unsquashed).passed  # by themselves: some squash in the next line


def _unsquashed(features, dim):
    return variant("primary_capsules").func(features, dim, over=None)


def test_the_axes_of_w_can_be_named(images_and_labels):
    network = network_with()
    assert check_model(network, *images_and_labels, axes={"weight": "I J D_in D_out"}).passed
    report = check_model(network, *images_and_labels, axes={"weight": "D_out D_in J I"})
    assert not report.passed
    assert "No layer of capsules has the weight and the axes" in str(report)


def test_code_that_asks_for_a_gpu_is_examined_without_one():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.W = nn.Parameter(0.1 * torch.randn(60, 10, 8, 16))

        def forward(self, u):
            u_hat = torch.einsum("bid,ijde->bije", u.cuda(), self.W)
            b = torch.zeros(u_hat.shape[:3], device="cuda").to("cuda")
            for _ in range(3):
                v = squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))
                b = b + (u_hat * v.unsqueeze(1)).sum(3)
            return v

    before = torch.Tensor.cuda, torch.Tensor.to, nn.Module.cuda
    assert check_layer(Layer()).passed
    assert (torch.Tensor.cuda, torch.Tensor.to, nn.Module.cuda) == before


def test_of_two_readings_of_the_axes_the_one_with_fewer_mistakes_is_told():
    class Layer(nn.Module):  # as many classes as images in the check's batch; a single round, written in
        def __init__(self):
            super().__init__()
            self.W = nn.Parameter(0.1 * torch.randn(6, 3, 4, 5))

        def forward(self, u):
            return route(prediction_vectors(u, self.W), 1)

    assert check_layer(Layer()).bugs == ("no-update-rounds",)


class TextbookLayer(nn.Module):
    """W [1, I, J, D_out, D_in] times u [B, I, 1, D_in, 1]; notes of how many capsules a call has made votes."""

    def __init__(self, capsules: int, noted: set[int]) -> None:
        super().__init__()
        self.W = nn.Parameter(0.1 * torch.randn(1, capsules, 10, 16, 8))
        self.note = noted.add  # a copy of the layer has it, too

    def forward(self, u):
        u_hat = (self.W @ u[:, :, None, :, None]).squeeze(-1)
        self.note(u_hat.numel() // len(u) // 160)
        return route(u_hat)


def test_a_layer_is_found_without_votes_of_all_capsules_for_all_capsules():
    """Of the wrong layouts of u, one broadcasts: at 1152 capsules that took 22 GB."""
    noted: set[int] = set()
    assert check_layer(TextbookLayer(72, noted))
    assert max(noted) == 72
