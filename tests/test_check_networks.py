"""check_model and check_layer: bugs are named in any style; what passes was examined."""

from __future__ import annotations

import re
import sys

import pytest
import torch
from capsnet_book.bugs.planted import planted_parts
from checked_styles import (
    D_IN,
    LOOPS,
    STYLES,
    UNNAMED,
    CapsulesFirst,
    Decoded,
    I,
    Layer,
    Net,
    NumbersFirst,
    loop,
    squash,
)
from torch import Tensor, nn
from torch.nn import functional as F

from capsnet_check import check_layer, check_model
from capsnet_tutorial import (
    CapsNet,
    CapsNetConfig,
    digits,
    functional,
    load_pretrained,
)
from capsnet_tutorial.layers import RoutedCapsules
from capsnet_tutorial.model import Parts

pytestmark = pytest.mark.slow

SAMPLE = digits("test", "sample")
IMAGES, LABELS = SAMPLE.images[:4], SAMPLE.labels[:4]


@pytest.mark.parametrize("bugs", LOOPS)
@pytest.mark.parametrize("style", STYLES)
def test_bugs_are_named_in_every_style(style, bugs):
    torch.manual_seed(0)
    report = check_model(STYLES[style](LOOPS[bugs]), IMAGES, LABELS)
    assert set(report.bugs) == set(bugs.split()), report
    assert report.status == (1 if bugs else 0), report
    for finding in report.findings:
        if finding.bug == "softmax-axis":
            assert re.fullmatch(r"checked_styles.py, line \d+: .*softmax.*", finding.line)
            assert finding.line in str(report) and "softmax" in report._repr_html_()


@pytest.mark.parametrize("fault", UNNAMED)
def test_what_has_no_name_is_wrong_all_the_same(fault):
    torch.manual_seed(0)
    network, layer = (
        check_model(Net(UNNAMED[fault]), IMAGES, LABELS),
        check_layer(Layer(UNNAMED[fault])),
    )
    for report in (network, layer):
        assert (report.passed, report.bugs, report.status) == (False, (), 1), report


@pytest.mark.parametrize("bugs", LOOPS)
def test_a_layer_is_judged_by_itself(bugs):
    torch.manual_seed(0)
    report = check_layer(Layer(LOOPS[bugs]))
    assert set(report.bugs) == set(bugs.split()), report
    assert report.status == (1 if bugs else 0), report


def test_a_layer_that_its_sizes_do_not_tell_takes_an_example():
    layer = STYLES["W of two axes"](loop).layer
    assert check_layer(layer, torch.randn(3, I, D_IN)).status == 0
    report = check_layer(nn.Linear(3, 4))
    assert not report.passed and report.status in (2, 3)


@pytest.mark.parametrize(
    ("network", "bugs"),
    [
        (CapsulesFirst(), ()),
        (CapsulesFirst(axis=2), ("softmax-axis",)),
        (CapsulesFirst(axis=2, floor=0.0), ("softmax-axis", "squash-nan")),
        (NumbersFirst(), ()),
        (NumbersFirst(axis=1), ("softmax-axis",)),
        (nn.DataParallel(NumbersFirst(axis=1)), ("softmax-axis",)),
    ],
)
def test_axes_may_lie_otherwise(network, bugs):
    report = check_model(network, IMAGES, LABELS)
    assert report.bugs == bugs, report
    assert report.status == (1 if bugs else 0), report


class Rounds(nn.Module):
    """As many rounds as an attribute says, or one more or less."""

    def __init__(self, more):
        super().__init__()
        self.num_iterations, self.more = 3, more
        self.W = nn.Parameter(0.1 * torch.randn(24, 5, 16, 8))

    def forward(self, u):
        return loop(
            torch.einsum("ijod,bid->bijo", self.W, u), rounds=self.num_iterations + self.more
        )


@pytest.mark.parametrize(("more", "bugs"), [(0, ()), (-1, ("no-update-rounds",)), (1, ())])
def test_rounds_are_those_that_are_declared(more, bugs):
    torch.manual_seed(0)
    report = check_layer(Rounds(more))
    assert report.bugs == bugs
    assert report.passed == (more == 0)


def test_each_of_two_routings_has_rounds_of_its_own():
    first = RoutedCapsules(in_capsules=72, in_dim=8, out_capsules=12, out_dim=8, iterations=1)
    second = RoutedCapsules(in_capsules=12, in_dim=8, out_capsules=10, out_dim=16, iterations=3)
    report = check_layer(nn.Sequential(first, second), torch.randn(3, 72, 8))
    assert report.status == 0


@pytest.mark.parametrize(
    "look",
    [Tensor.detach, lambda v: v.data.clone(), lambda v: v.detach().cpu().numpy()],
    ids=["detach", "data", "numpy"],
)
def test_whoever_looks_at_a_copy_of_v_is_right(look):
    class Looks(Layer):
        def forward(self, u):
            v = super().forward(u)
            self.last = look(v)
            return v

    assert check_layer(Looks(loop)).passed
    assert not check_layer(Layer(lambda u_hat: loop(u_hat).detach())).passed


def test_rounds_that_are_not_passed_on_are_missed():
    torch.manual_seed(0)
    network = Net(lambda u_hat, num_iterations=1: loop(u_hat, rounds=num_iterations))
    network.num_iterations = 3
    assert check_model(network, IMAGES, LABELS).bugs == ("no-update-rounds",)


def test_without_a_routing_nothing_is_right():
    linear = nn.Linear(784, 160)
    report = check_model(lambda x: squash(linear(x.flatten(1)).view(-1, 10, 16)), IMAGES, LABELS)
    assert (report.passed, report.bugs, report.status) == (False, (), 3)
    assert "routing" in "".join(report.unexamined) and "Not examined: routing" in str(report)
    assert str(report).startswith("?") and "Not examined" in report._repr_html_()


def test_what_cannot_be_watched_is_not_right():
    report = check_model(torch.jit.trace(Net(loop).eval(), IMAGES[:3]), IMAGES, LABELS)
    assert not report.passed and report.status in (2, 3)


def test_a_network_that_takes_too_long_is_given_up():
    report = check_model(Net(loop), IMAGES, LABELS, seconds=0)
    assert (report.passed, report.status) == (False, 2) and "It took too long" in str(report)


@pytest.mark.parametrize("bug", ["", "capsule-view", "squash-axis"])
def test_primary_capsules_are_found(bug):
    class Cut(Net):
        def capsules(self, x):
            maps = self.conv2(self.conv1(x).relu())
            by_view = maps.view(len(x), -1, D_IN)
            apart = maps.view(len(x), D_IN, -1)
            if bug == "capsule-view":
                return squash(by_view)
            return squash(apart, dim=2 if bug else 1).transpose(1, 2)

    report = check_model(Cut(loop), IMAGES, LABELS)
    assert report.bugs == ((bug,) if bug else ())
    assert "primary capsules" in report.examined
    alone = Cut(loop)
    alone.forward = alone.capsules
    report = check_model(alone, IMAGES, LABELS)
    assert (report.bugs, report.status) == ((bug,) if bug else (), 1 if bug else 3), report
    assert report.examined[0] == "primary capsules"


@pytest.mark.parametrize(
    ("options", "bugs"),
    [
        ({}, ""),
        ({"takes": "one-hot"}, ""),
        ({"takes": "attribute"}, ""),
        ({"takes": "labels in training"}, ""),
        ({"takes": "prediction"}, "mask-prediction"),
        ({"takes": "ignored"}, "mask-prediction"),
        ({"lengths": lambda v: v.norm(dim=-1).softmax(1)}, "lengths-softmax"),
        ({"lengths": lambda v: 2 * F.normalize(v.norm(dim=-1), dim=1)}, "squash-axis"),
        ({"keep": True}, "stale-logits"),
        ({"batch": 4}, ""),
    ],
)
def test_what_a_network_shows(options, bugs):
    torch.manual_seed(0)
    report = check_model(Decoded(**options), IMAGES, LABELS)
    assert set(report.bugs) == set(bugs.split()), report
    assert {"primary capsules", "second call", "mask"} <= {*report.examined}


@pytest.mark.parametrize("takes", ["labels in training", "ignored"])
def test_other_operations_in_training_are_no_excuse(takes):
    torch.manual_seed(0)
    network = Decoded(takes=takes)
    network.conv1 = nn.Sequential(network.conv1, nn.BatchNorm2d(16), nn.Dropout(0.5))
    assert check_model(network, IMAGES, LABELS).bugs == (
        ("mask-prediction",) if takes == "ignored" else ()
    )


def test_an_image_alone_keeps_its_axis():
    report = check_model(Decoded(lengths=lambda v: v.norm(dim=-1).squeeze()), IMAGES, LABELS)
    assert report.status == 1 and "a tensor of shape [10]" in str(report)
    fails = check_model(
        Decoded(lengths=lambda v: v.norm(dim=-1) / (len(v) > 1 or "none")), IMAGES, LABELS
    )
    assert "It raises TypeError for images of shape [1, 1, 28, 28]" in str(fails)


def test_ours_is_right_and_left_as_it_was():
    network = load_pretrained("small").train()
    report = check_model(network, IMAGES, LABELS)
    assert report.status == 0, report
    assert network.training
    assert check_model(CapsNet(CapsNetConfig.small()), IMAGES, LABELS).status == 0


@pytest.mark.parametrize("scale", [1e-3, 1.0])
@pytest.mark.parametrize(
    "bug",
    [
        *("softmax-axis", "batch-agreement", "no-update-rounds", "stale-logits", "mask-prediction"),
        *("capsule-view", "squash-axis"),
    ],
)
def test_a_fresh_networks_bug_is_named_however_short_its_capsules(bug, scale):
    torch.manual_seed(0)
    network = CapsNet(CapsNetConfig.small(), planted_parts(bug))
    with torch.no_grad():
        network.routed.weight.mul_(scale)
    assert check_model(network, IMAGES, LABELS).bugs == (bug,)


def test_unsquashed_primary_capsules_and_nan_are_found():
    torch.manual_seed(0)
    report = check_model(CapsNet(CapsNetConfig.small(), Parts(primary=_cut)), IMAGES, LABELS)
    assert "never squashed" in str(report) and not report.passed
    report = check_model(
        CapsNet(CapsNetConfig.small(), planted_parts("squash-nan")), IMAGES, LABELS
    )
    assert report.bugs == ("squash-nan",)


def _cut(features, dim):
    return features.unflatten(1, (-1, dim)).permute(0, 1, 3, 4, 2).flatten(1, 3)


def test_before_torch_2_6_it_works_beside_compiled_code(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch._dynamo", sys)
    monkeypatch.delattr(torch.compiler, "set_stance")
    assert check_layer(Layer(loop)).passed


def test_code_that_asks_for_a_gpu_is_examined_without_one():
    class Asks(Layer):
        def forward(self, u):
            return functional.route(self.votes(u.cuda()).to("cuda") + torch.zeros(1, device="cuda"))

    before = torch.Tensor.cuda, torch.Tensor.to
    assert check_layer(Asks(loop)).passed
    assert (torch.Tensor.cuda, torch.Tensor.to) == before


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        (lambda images: {}["conv1"], "raises KeyError"),
        (lambda images: None, "returns nothing"),
        (42, "got int"),
        (lambda: 1, r"network\(images\)"),
    ],
)
def test_a_network_that_fails_is_told(network, sentence):
    report = check_model(network, IMAGES, LABELS)
    assert (report.passed, report.status) == (False, 2)
    assert re.search(sentence, str(report)), report
    assert not check_model(..., IMAGES, LABELS).written
