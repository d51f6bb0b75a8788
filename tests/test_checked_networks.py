"""check_model on whole networks in the styles of public code, without an adapter: bugs named, false alarms."""

from __future__ import annotations

import warnings

import pytest
import torch
from checked_networks import NETWORKS

from capsnet_tutorial.check import check_layer, check_model
from capsnet_tutorial.data import digits

SMALL = [each for each in NETWORKS if not each.name.startswith(("five_axes", "merged"))]
LARGE = [each for each in NETWORKS if each not in SMALL]  # 1152 capsules


def judged(specimen):
    torch.manual_seed(1)
    sample = digits("test", "sample")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_model(specimen.build(), sample.images[:20], sample.labels[:20])


def test_there_are_enough_networks():
    assert len(NETWORKS) >= 40
    assert sum(not each.bugs for each in NETWORKS) >= 10


@pytest.mark.parametrize("specimens", [SMALL, LARGE], ids=["288 capsules", "1152 capsules"])
def test_bugs_are_named_and_no_right_network_is_accused(specimens, capsys):
    """Printed, so that a run says how much was tried."""
    present = named = false = 0
    wrong = []
    for specimen in specimens:
        report = judged(specimen)
        found = set(report.bugs)
        present, named = present + len(specimen.bugs), named + len(found & specimen.bugs)
        false += len(found - specimen.bugs) + (not specimen.bugs and not report.passed)
        if found != specimen.bugs:
            wrong.append(f"{specimen.name}: {sorted(found)}, expected {sorted(specimen.bugs)}")
    with capsys.disabled():
        print(
            f"\n{named} of {present} bugs in {len(specimens)} whole networks named; {false} false alarms",
            *wrong,
            sep="\n",
        )
    assert named >= 0.95 * present
    assert false == 0


def test_a_layer_alone_needs_no_adapter():
    from checked_networks import capsules_first, einsums

    right = einsums.DenseCapsule(60, 8, 10, 16)
    assert check_layer(right).passed
    assert check_layer(einsums.DenseCapsule(60, 8, 10, 16, axis=2)).bugs == ("softmax-axis",)
    options = {"softmax_dim": 2, "eps": 0.0, "std": 1.0}
    report = check_layer(capsules_first.CapsuleLayer(10, 60, 8, 16, **options))
    assert report.bugs == ("softmax-axis", "squash-nan")
    named = check_layer(right, weight="weight", axes={"weight": "J I D_out D_in"}, iterations="routings")
    assert named.passed


def test_a_layer_that_has_no_weight_is_told():
    assert "was not found" in str(check_layer(torch.nn.Linear(3, 4)))
