"""evidence.py: what a record holds beside the error, against the same by hand."""

from __future__ import annotations

import pytest
import torch
from capsnet_book.experiments.cnn import read_wrongly, scores_of
from capsnet_book.experiments.evidence import (
    calibrate,
    evidence,
    measure_inside,
    measure_rounds,
    noisy,
    unpack_wrong,
)
from capsnet_book.experiments.tasks import TASKS, TrainingSetup, plain
from capsnet_book.routings.entropy import coupling_entropy
from networks import device_without_float64, few

from capsnet_tutorial.data import Digits
from capsnet_tutorial.functional import prediction_vectors
from capsnet_tutorial.weights import load_pretrained

FEW = few(40, "test")


def test_after_each_round_it_is_a_network_with_so_many_rounds_that_reads():
    network, data = load_pretrained(), Digits(noisy(FEW.images), FEW.labels, "sample")
    rounds, wrong_after = measure_rounds(network, {"test": data, "test_bent": data}, batch_size=7)
    for r, (point, packed) in enumerate(zip(rounds, wrong_after["test"], strict=True), start=1):
        network.routed.iterations = r
        wrong = read_wrongly(scores_of(network, data.images), data.labels)
        assert unpack_wrong(packed, 40).nonzero()[0].tolist() == wrong.tolist()
        assert point["error"] == point["bent"] == len(wrong) / 40
        entropy = measure_inside(network, data)["entropy"]
        assert point["entropy"] == pytest.approx(entropy, abs=1e-5)
    assert rounds[0]["entropy"] == pytest.approx(1) and rounds[4]["entropy"] < 1
    assert len({point["error"] for point in rounds}) > 1


def test_lengths_are_counted_in_ten_bins():
    lengths = torch.tensor([[0.95, 0.1], [0.91, 0.2], [0.3, 0.32], [1.0, 0.0]])
    bins = calibrate(lengths, torch.tensor([0, 1, 1, 0]))
    assert bins["count"] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 3]
    assert bins["right"] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 2]
    assert bins["mean_length"] == [None] * 3 + [0.32] + [None] * 5 + [pytest.approx(0.95333)]


def test_a_device_without_float64_measures_the_same():
    network, images = load_pretrained(), few(8, "test")
    expected = evidence(network, {"test": images})
    with device_without_float64() as device:
        inside = measure_inside(network, images)
    assert device.moved
    with device_without_float64():
        rounds, _ = measure_rounds(network, {"test": images})
    assert inside.items() <= expected.items()
    assert [point["error"] for point in rounds] == [p["error"] for p in expected["rounds"]]


@pytest.mark.parametrize("task", ["digits", "pairs"])
@pytest.mark.parametrize("iterations", [1, 3])
def test_vote_shares_are_those_of_the_true_class(iterations, task):
    torch.manual_seed(0)
    network = plain(TrainingSetup(task=task, iterations=iterations).build())
    network.routed.weight.data *= 20
    data = TASKS[task].to_measure_on(few(7, "test"))
    vote_shares = measure_inside(network, data, batch_size=3)["vote_shares"]
    u = network.primary_capsules(data.images)
    lengths = prediction_vectors(u, network.routed.weight).norm(dim=3)
    coupled = lengths * network.routed.trace(u)[1].c[-1]
    for when, vote_lengths in (("before", lengths), ("after", coupled)):
        votes = torch.stack(
            [vote_lengths[n, :, j] for n in range(7) for j in data.labels[n].view(-1).tolist()]
        )  # an image and a class, I
        share = votes / votes.sum(dim=1, keepdim=True)
        effective = (1 / share.square().sum(dim=1)).mean().item()
        assert vote_shares[when]["effective_capsules"] == pytest.approx(effective, rel=1e-4)
    same = vote_shares["before"]["effective_capsules"] == pytest.approx(
        vote_shares["after"]["effective_capsules"], abs=1e-4
    )
    assert same == (iterations == 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_entropy_of_couplings_counts_bits_and_averages_over_the_capsules_below(dtype):
    even = torch.full((2, 6, 8), 1 / 8, dtype=dtype)
    certain = torch.eye(8, dtype=dtype)[:5].expand(2, 5, 8)
    for c, bits in (
        (even, 3.0),
        (certain, 0.0),
        (torch.cat([certain[:, :3], even[:, :3]], dim=1), 1.5),
    ):
        torch.testing.assert_close(coupling_entropy(c), torch.full((2,), bits, dtype=dtype))
    with pytest.raises(ValueError, match=r"\[..., I, J\]; got shape \[4\]"):
        coupling_entropy(torch.ones(4) / 4)
