"""Who tests the tests: each bug that public implementations have, planted, must turn them red.

The ids are those of the bug catalogue. A variant replaces a function of the package wherever it is
known by name; then the tests named beside it run, and each of them has to fail.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import networks
import pytest
import test_functional
import test_layers
import test_model
import test_properties
import test_train
import torch
from capsnet_book.bugs import BUGS, variant
from networks import noise
from torch import Tensor

from capsnet_tutorial import fast, functional, layers, model

REAL = {
    name: getattr(functional, name)
    for name in ("squash", "margin_loss", "mask_capsules", "capsule_lengths", "prediction_vectors")
}


# --- the wrong variants


def routing(
    softmax_axis: int = 2,
    agree: Callable[[Tensor], Tensor] = lambda a: a,
    rounds: Callable[[int], int] = lambda rounds: rounds,
    kept: dict[Any, Tensor] | None = None,
) -> dict[str, Callable[..., Any]]:
    """Both forms of routing, with one thing wrong."""

    def route(u_hat: Tensor, iterations: int = 3, *, return_trace: bool = False) -> Any:
        b = torch.zeros_like(u_hat[..., 0])
        if kept is not None:
            b = kept.get(b.shape, b)
        trace = []
        for _ in range(rounds(iterations)):
            c = b.softmax(dim=softmax_axis)
            v = REAL["squash"](torch.einsum("bij,bijd->bjd", c, u_hat))
            trace.append((b, c, v))
            b = b + agree(torch.einsum("bijd,bjd->bij", u_hat, v))
        if kept is not None:
            kept[b.shape] = b.detach()
        if not return_trace:
            return v
        return v, functional.RoutingTrace(*(torch.stack(each) for each in zip(*trace, strict=True)))

    def route_capsules(u: Tensor, weight: Tensor, iterations: int = 3, *, gradient: str = "all") -> Tensor:
        return route(REAL["prediction_vectors"](u, weight), iterations)

    return {"route": route, "route_capsules": route_capsules}


def margin_loss(bug: str) -> Callable[..., Tensor]:
    """For labels or several classes, with other margins."""
    power = 1 if bug == "margin-not-squared" else 2

    def wrong(lengths: Tensor, targets: Tensor, m_plus=0.9, m_minus=0.1, lambda_=0.5) -> Tensor:
        lengths = lengths.softmax(dim=1) if bug == "lengths-softmax" else lengths
        present = targets if targets.dim() == 2 else torch.nn.functional.one_hot(targets, lengths.shape[1])
        short, long = (m_plus - lengths).relu() ** power, (lengths - m_minus).relu() ** power
        return (present * short + lambda_ * (1 - present.to(lengths)) * long).sum(dim=1).mean()

    return wrong


def squash_along_the_capsules(s: Tensor, dim: int = -1, eps: float = 1e-8) -> Tensor:
    square = (s * s).sum(dim - 1, keepdim=True)
    return square / (1 + square) * s / square.clamp_min(1e-16).sqrt()


def softmax_of_lengths(v: Tensor) -> Tensor:
    return REAL["capsule_lengths"](v).softmax(dim=1)


# --- the tests that have to notice


def once(property_: Callable[..., None], **given: Any) -> Callable[[], None]:
    """A property, for one example instead of hypothesis's."""
    return partial(property_.hypothesis.inner_test, **given)


U_HAT = noise(3, 6, 4, 5)
EXACTLY = torch.float64
routing_is_procedure_1 = partial(test_functional.test_routing_is_procedure_1_in_every_round, dtype=EXACTLY, rounds=3)
routing_without_u_hat = partial(test_functional.test_routing_without_u_hat_is_the_same, dtype=EXACTLY, rounds=3)
primary_layer = partial(
    test_layers.test_primary_capsules_are_a_convolution_cut_into_capsules_and_squashed, dtype=EXACTLY
)
whole_network = test_model.test_the_network_is_the_papers_in_float64
every_routing = (routing_is_procedure_1, routing_without_u_hat, whole_network)
alone = once(test_properties.test_an_image_is_routed_as_if_it_were_alone, u_hat=U_HAT, iterations=3)
shares = once(
    test_properties.test_each_capsule_below_shares_itself_out_completely_in_every_round, u_hat=U_HAT, iterations=3
)
couplings_move = once(test_properties.test_couplings_move_from_round_to_round, u_hat=U_HAT)
twice = once(test_properties.test_a_second_call_gives_what_the_first_gave, u_hat=U_HAT, iterations=3)
margins = partial(test_functional.test_margin_loss_is_equation_4_for_labels, dtype=EXACTLY)
several_classes = partial(test_functional.test_margin_loss_is_equation_4_for_several_classes_at_once, dtype=EXACTLY)
training_loss = test_train.test_what_is_minimised_is_margin_loss_and_0_0005_times_the_reconstructions


class _OnePlace:
    """Stands in for hypothesis's `data`: always the first place."""

    def draw(self, _: object) -> int:
        return 0


class Planted(NamedTuple):
    bug: str
    variant: dict[str, Callable[..., Any]]
    red: tuple[Callable[[], None], ...]


PLANTED = {
    "softmax over i": Planted("softmax-axis", routing(softmax_axis=1), (*every_routing, shares)),
    "margins not squared": Planted(
        "margin-not-squared",
        {"margin_loss": margin_loss("margin-not-squared")},
        (margins, several_classes, training_loss),
    ),
    "mean over pixels": Planted(
        "recon-mean",
        {"reconstruction_loss": lambda r, x: (r - x.flatten(1)).square().mean()},
        (
            partial(test_functional.test_reconstruction_loss_sums_over_pixels_and_averages_over_images, dtype=EXACTLY),
            training_loss,
        ),
    ),
    "masked by the prediction": Planted(
        "mask-prediction",
        {"mask_capsules": variant("mask", "mask-prediction")},
        (
            partial(test_functional.test_the_mask_keeps_the_labelled_capsule, dtype=EXACTLY),
            test_model.test_with_a_label_the_decoder_teaches_only_the_true_capsule,
            test_model.test_the_label_decides_which_capsule_is_decoded,
        ),
    ),
    "capsules by view": Planted(
        "capsule-view",
        {"group_into_capsules": lambda features, dim: features.reshape(len(features), -1, dim)},
        (
            test_layers.test_a_primary_capsule_is_its_channels_at_one_place,
            primary_layer,
            whole_network,
            once(
                test_properties.test_one_place_of_the_features_moves_only_the_capsules_of_that_place,
                types=2,
                dim=3,
                height=3,
                width=4,
                data=_OnePlace(),
            ),
        ),
    ),
    "no epsilon": Planted(
        "squash-nan",
        {"squash": lambda s, dim=-1, eps=0.0: variant("squash", "squash-nan")(s)},
        (
            test_functional.test_squash_of_zero_is_zero_and_so_is_its_gradient,
            partial(test_properties.test_squash_has_finite_gradients_at_the_extremes, value=0.0, dtype=torch.float32),
        ),
    ),
    "squash along the capsules": Planted(
        "squash-axis",
        {"squash": squash_along_the_capsules},
        (
            partial(test_functional.test_squash_is_equation_1, dtype=EXACTLY, scale=1.0),
            once(test_properties.test_no_vector_is_longer_than_1_after_squash, s=100 * noise(2, 6).float()),
            primary_layer,
            *every_routing,
        ),
    ),
    "agreement summed over the batch": Planted(
        "batch-agreement", routing(agree=lambda a: a.sum(0, keepdim=True).expand_as(a)), (*every_routing, alone)
    ),
    "agreement averaged over the batch": Planted(
        "batch-agreement", routing(agree=lambda a: a.mean(0, keepdim=True).expand_as(a)), (*every_routing, alone)
    ),
    "logits kept from call to call": Planted(
        "stale-logits", routing(kept={}), (twice, test_model.test_a_second_call_gives_what_the_first_gave)
    ),
    "margins of a softmax": Planted(
        "lengths-softmax", {"margin_loss": margin_loss("lengths-softmax")}, (margins, several_classes, training_loss)
    ),
    "lengths that are a softmax": Planted(
        "lengths-softmax",
        {"capsule_lengths": softmax_of_lengths},
        (
            partial(test_functional.test_capsule_lengths_are_lengths, dtype=EXACTLY),
            whole_network,
        ),
    ),
    "logits never updated": Planted(
        "no-update-rounds", routing(agree=torch.zeros_like), (*every_routing, couplings_move)
    ),
    "one round too few": Planted(
        "no-update-rounds", routing(rounds=lambda rounds: max(rounds - 1, 1)), (routing_is_procedure_1, *every_routing)
    ),
}


def plant(wrong_ones: dict[str, Callable[..., Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the wrong functions into the core, and into the tests' networks as parts."""
    for name, wrong in wrong_ones.items():
        for module in (functional, fast, layers, model):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, wrong)
        if field := {"route": "routing", "mask_capsules": "mask"}.get(name):
            monkeypatch.setattr(networks, "PARTS", model.Parts(**{field: wrong}))


def test_every_bug_of_the_catalogue_is_planted():
    assert {planted.bug for planted in PLANTED.values()} == set(BUGS)


CASES = [
    pytest.param(planted.variant, test, id=f"{planted.bug}: {name}: {number}")
    for name, planted in PLANTED.items()
    for number, test in enumerate(planted.red)
]


@pytest.mark.parametrize(("wrong_ones", "test"), CASES)
def test_a_planted_bug_turns_the_suite_red(wrong_ones, test, monkeypatch):
    test()  # green without the bug
    plant(wrong_ones, monkeypatch)
    with pytest.raises(AssertionError):
        test()
