"""Networks of every shape: no right one is called wrong, and a mistake in one is still named."""

from __future__ import annotations

import pytest
import torch
from public_networks import PUBLIC, ChosenCapsule, SharedByPlaces
from right_networks import (
    RIGHT,
    Decoded,
    LazyLinears,
    Lengths,
    LengthsAndTheirSoftmax,
    Network,
    OneHotIfGiven,
    Routed,
    WithBias,
    equal,
    last,
    squash,
)
from torch import nn

from capsnet_check import check_layer, check_model
from capsnet_tutorial import digits

pytestmark = pytest.mark.slow

SAMPLE = digits("test", "sample")
IMAGES, LABELS = SAMPLE.images[:4], SAMPLE.labels[:4]


@pytest.mark.parametrize("right", [*RIGHT, *PUBLIC], ids=lambda right: right.name)
def test_a_right_network_is_right(right):
    torch.manual_seed(0)
    images, labels = IMAGES, LABELS
    if right.image != (1, 28, 28):
        images = torch.rand(4, *right.image)
        labels = torch.arange(4) % right.classes
    report = check_model(right.make(), images, labels)
    assert report.status == right.status, report
    assert report.bugs == ()


class SoftmaxOverI(Routed):
    """It does not say how many rounds it does."""

    def __init__(self, *sizes, times):
        super().__init__(*sizes)
        del self.rounds
        self.times = times

    def forward(self, u):
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.times):
            v = squash((b.softmax(1).unsqueeze(3) * u_hat).sum(1))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v


@pytest.mark.parametrize("rounds", [2, 5])
def test_rounds_too_faint_to_be_seen_are_not_called_missing(rounds):
    """With 4,608 capsules and a softmax over i each share is 1/4608, and v hardly any length."""
    layer = SoftmaxOverI(4608, 2, 10, 4, times=rounds)
    report = check_layer(layer, torch.randn(3, 4608, 2))
    assert report.bugs == ("softmax-axis",)
    assert f"{rounds} rounds" in str(report)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_equal_layers_in_a_row_are_right(count):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(*(Routed(16, 4, 16, 4) for _ in range(count)))
    report = check_layer(layers, torch.randn(3, 16, 4))
    assert report.status == 0 and len(report.examined) == count, report


# --- conventions


def test_a_bias_on_s_is_named_as_a_convention():
    torch.manual_seed(0)
    report = check_model(Network(WithBias(16, 4, 10, 8)), IMAGES, LABELS)
    assert [finding.convention for finding in report.findings] == [True]
    assert "a bias is added to s" in str(report) and report.passed


def test_a_softmax_beside_the_lengths_is_a_convention_and_alone_a_mistake():
    torch.manual_seed(0)
    report = check_model(LengthsAndTheirSoftmax(last()), IMAGES, LABELS)
    assert report.passed and "beside the lengths it returns numbers that sum to 1" in str(report)

    class SoftmaxAlone(Lengths):
        def forward(self, images):
            return super().forward(images).softmax(1)

    assert check_model(SoftmaxAlone(last()), IMAGES, LABELS).bugs == ("lengths-softmax",)


# --- mistakes in the same shapes


class OverI(Routed):
    def forward(self, u):
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(3):
            v = squash(self.finished((b.softmax(1).unsqueeze(3) * u_hat).sum(1)))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v


class OverIWithBias(OverI, WithBias):
    pass


class StaleAndLazy(LazyLinears):
    """b is kept from call to call."""

    def forward(self, u):
        u_hat = self.votes(u)
        b = getattr(self, "b", torch.zeros(u_hat.shape[:3]))
        for _ in range(3):
            v = squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        self.b = b.detach()
        return v


class SharedOverI(SharedByPlaces):
    """A softmax over types and places."""

    def couplings(self, b):
        return b.flatten(1, 2).softmax(1).view_as(b)


class SharedOverPlaces(SharedByPlaces):
    """A softmax over the places of a type, which the catalogue does not have."""

    def couplings(self, b):
        return b.softmax(2)


class StaleParameter(Routed):
    """Its logits are a parameter, and each call adds to them."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.b = nn.Parameter(torch.zeros(3, sizes[0], sizes[2]))

    def forward(self, u):
        u_hat = self.votes(u)
        for _ in range(3):
            v = squash((self.b.softmax(2).unsqueeze(3) * u_hat).sum(1))
            self.b.data = self.b.data + (u_hat * v.unsqueeze(1)).sum(3).data
        return v


class IgnoringTheName(ChosenCapsule):
    """Takes labels by name and draws the longest capsule."""

    def forward(self, images, *, labels=None):
        return self.answered(images, None)


class Ignoring(Decoded):
    """Takes one-hot labels and masks by its prediction."""

    def forward(self, images, target=None):
        v = self.capsules(images)
        return v.norm(dim=2), self.decoded(v, self.longest(v))


@pytest.mark.parametrize(
    ("make", "bugs"),
    [
        (lambda: Network(OverI(16, 4, 16, 4), *equal(2)), {"softmax-axis"}),
        (lambda: Network(*equal(2), OverI(16, 4, 16, 4)), {"softmax-axis"}),
        (lambda: Network(OverI(16, 4, 2, 4)), {"softmax-axis"}),
        (lambda: Network(OverI(16, 4, 43, 4)), {"softmax-axis"}),
        (lambda: Network(OverIWithBias(16, 4, 10, 8)), {"softmax-axis"}),
        (lambda: Network(StaleAndLazy(10, 8)), {"stale-logits"}),
        (lambda: Network(SharedOverI(in_two_steps=False)), {"softmax-axis"}),
        (lambda: Network(SharedOverI(in_two_steps=True)), {"softmax-axis"}),
        (lambda: Network(StaleParameter(16, 4, 10, 8)), {"stale-logits"}),
        (lambda: IgnoringTheName(Routed(16, 4, 10, 8)), {"mask-prediction"}),
        (lambda: Ignoring(last(2), classes=2), {"mask-prediction"}),
        (lambda: Ignoring(last(7), classes=7), {"mask-prediction"}),
        (lambda: OneHotIfGiven(OverI(16, 4, 5, 4), classes=5), {"softmax-axis"}),
    ],
)
def test_a_mistake_is_named_in_every_shape(make, bugs):
    torch.manual_seed(0)
    report = check_model(make(), IMAGES, LABELS)
    assert set(report.bugs) == bugs, report
    assert report.status == 1


# --- what cannot be called or read


def test_what_nothing_explains_may_be_a_wrong_reading_of_five_axes():
    torch.manual_seed(0)
    report = check_model(Network(SharedOverPlaces(in_two_steps=False)), IMAGES, LABELS)
    assert (report.bugs, report.status) == ((), 3)
    assert "it is not known which axes of û are capsules" in str(report)


def test_a_second_argument_that_takes_no_labels_is_no_mistake():
    class Scaled(Decoded):
        def forward(self, images, scale=1.0):
            assert isinstance(scale, float), "expected a number"
            v = scale * self.capsules(images)
            return v.norm(dim=2), self.decoded(v, self.longest(v))

    torch.manual_seed(0)
    report = check_model(Scaled(last(), classes=10), IMAGES, LABELS)
    assert (report.bugs, report.status) == ((), 3)
    assert report.unexamined == ("mask (its labels could not be given)",)


def test_the_way_that_came_farthest_is_told():
    """One-hot labels reach the decoder, whose size is wrong; class numbers fail before."""

    class Fails(Decoded):
        def forward(self, images, target):
            assert target.dim() == 2, "expected one-hot labels"
            v = self.capsules(images)
            return self.decoder((v * target.unsqueeze(2)).flatten(1)[:, 1:])

    report = check_model(Fails(last(), classes=10), IMAGES, LABELS)
    assert report.status == 2 and "The line: return self.decoder" in str(report)


def test_a_layer_with_an_attribute_of_minus_1_whose_input_is_not_found():
    class NoLayer(nn.Module):
        def __init__(self):
            super().__init__()
            self.gpu_id = -1
            self.W = nn.Parameter(torch.ones(3, 4))

        def forward(self, u):
            raise RuntimeError("not these capsules")

    report = check_layer(NoLayer())
    assert report.status == 2 and "not these capsules" in str(report)
    assert str(report).startswith("? layer: cannot be judged")


@pytest.mark.parametrize("zeros", ["new_zeros", "zeros_like"])
def test_zeros_of_the_shape_of_the_votes_are_no_learned_log_priors(zeros):
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(0.1 * torch.randn(6, 3, 4, 5))

        def forward(self, u):
            u_hat = torch.einsum("bid,ijde->bije", u, self.weight)
            first = u_hat[..., 0]
            b = first.new_zeros(first.shape) if zeros == "new_zeros" else torch.zeros_like(first)
            for _ in range(3):
                v = squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))
                b = b + (u_hat * v.unsqueeze(1)).sum(3)
            return v

    report = check_layer(Layer())
    assert report.status == 0 and "log priors" not in str(report)
