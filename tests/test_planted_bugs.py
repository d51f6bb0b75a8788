"""A test of the tests: each bug of the catalogue, planted in the core, turns some of them red."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import networks
import pytest
import test_functional
import test_layers
import test_model
import test_properties
import torch
from capsnet_book.bugs import BUGS, variant
from networks import noise
from torch import Tensor

from capsnet_tutorial import fast, functional, layers, model

predictions = functional.prediction_vectors  # before anything is planted


def routing(bug: str) -> dict[str, Callable[..., Any]]:
    """Both forms of routing with a bug."""
    wrong = variant("routing", bug)
    return {
        "route": lambda u_hat, iterations=3, **_: wrong(u_hat, iterations),
        "route_capsules": lambda u, weight, iterations=3, **_: wrong(
            predictions(u, weight), iterations
        ),
    }


def mean_over_pixels(drawn: Tensor, images: Tensor) -> Tensor:
    return (drawn - images.flatten(1)).square().mean()


WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    **{
        bug: routing(bug)
        for bug in ("softmax-axis", "batch-agreement", "stale-logits", "no-update-rounds")
    },
    **{
        bug: {"margin_loss": variant("margin_loss", bug)}
        for bug in ("margin-not-squared", "lengths-softmax")
    },
    **{
        bug: {"squash": lambda s, *_, bug=bug, **__: variant("squash", bug)(s)}
        for bug in ("squash-nan", "squash-axis")
    },
    "recon-mean": {"reconstruction_loss": mean_over_pixels},
    "mask-prediction": {"mask_capsules": variant("mask", "mask-prediction")},
    "capsule-view": {
        "group_into_capsules": lambda features, dim: features.reshape(len(features), -1, dim)
    },
}
"""By bug, the functions of the core that have it."""

EXACTLY = torch.float64
TESTS: tuple[Callable[[], None], ...] = (
    partial(test_model.test_the_network_is_the_papers, dtype=EXACTLY),
    test_model.test_the_label_decides_which_capsule_is_decoded,
    partial(test_functional.test_routing_without_u_hat_is_the_same, dtype=EXACTLY, rounds=3),
    partial(
        test_properties.test_two_calls_with_the_same_input_agree.hypothesis.inner_test,
        u_hat=noise(3, 6, 4, 5),
        iterations=3,
    ),
    partial(
        test_functional.test_margin_loss_is_equation_4_for_labels_and_for_several_classes_at_once,
        dtype=EXACTLY,
    ),
    partial(
        test_functional.test_reconstruction_loss_sums_over_pixels_and_averages_over_images,
        dtype=EXACTLY,
    ),
    partial(test_functional.test_squash_of_zero_is_zero_with_a_finite_gradient, dtype=EXACTLY),
    test_layers.test_a_primary_capsule_is_its_channels_at_one_place,
)


def is_red(test: Callable[[], None]) -> bool:
    try:
        test()
    except Exception:
        return True
    return False


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_turns_the_suite_red(bug, monkeypatch):
    assert not any(map(is_red, TESTS))
    for name, wrong in WRONG[bug].items():
        for module in (functional, fast, layers, model):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, wrong)
        if field := {"route": "routing", "mask_capsules": "mask"}.get(name):
            monkeypatch.setattr(networks, "PARTS", model.Parts(**{field: wrong}))
    assert any(map(is_red, TESTS))
