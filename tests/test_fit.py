"""What a training promises beside its steps: chance, precision, threads, dtypes, refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import networks
import pytest
import torch
from networks import few
from torch import Tensor, nn

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.files import only_writer
from capsnet_tutorial.layers import RoutedCapsules
from capsnet_tutorial.model import CapsNet, CapsNetConfig, CapsNetOutput
from capsnet_tutorial.train import Diverged, Recipe, fit, paper_objective
from capsnet_tutorial.train.checkpoint import TrainingState
from capsnet_tutorial.train.machine import faster_threads
from capsnet_tutorial.train.recipe import Schedule

RECIPE = Recipe(epochs=1, batch_size=16, augmentation=Augmentation(shift=1), seed=3)
QUIET: dict[str, Any] = {"progress": False, "threads": 1}


def test_the_callers_random_numbers_go_on_as_if_nothing_had_been_trained():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    network = networks.learner()
    torch.manual_seed(0)
    fit(network, few(), RECIPE, **QUIET)
    assert torch.rand(3).equal(expected)


def test_the_loss_is_computed_in_float32_of_a_network_in_bfloat16():
    dtypes = []

    def objective(output: CapsNetOutput, images: Tensor, targets: Tensor) -> Tensor:
        dtypes.append((output.lengths.dtype, output.reconstruction.dtype, images.dtype))
        return paper_objective()(output, images, targets)

    fit(networks.learner(), few(), replace(RECIPE, precision="bf16"), objective=objective, **QUIET)
    assert set(dtypes) == {(torch.float32, torch.float32, torch.float32)}


def test_bf16_computes_the_network_in_bfloat16():
    dtypes = []

    class Watched(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = networks.learner()

        def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
            output = self.network(images, labels)
            dtypes.append(output.reconstruction.dtype)
            return output

    fit(Watched(), few(), replace(RECIPE, precision="bf16"), **QUIET)
    assert set(dtypes) == {torch.bfloat16}


def test_weights_that_are_not_finite_end_a_run_though_its_loss_is_finite():
    class Unused(nn.Module):
        """Has a weight whose gradient is infinite, and an output that ignores it."""

        def __init__(self) -> None:
            super().__init__()
            self.network = networks.learner()
            self.weight = nn.Parameter(torch.zeros(()))

        def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
            output = self.network(images, labels)
            infinite = (self.weight * math.inf).nan_to_num(0, 0, 0)
            return output._replace(lengths=output.lengths + 0 * infinite)

    with pytest.raises(Diverged, match="the weights are not finite after 4 steps"):
        fit(Unused(), few(), RECIPE, **QUIET)


def test_float64_images_train_a_float64_network():
    digits = few()
    data = digits._replace(images=digits.images.double())
    network, _ = fit(networks.learner().double(), data, RECIPE, **QUIET)
    assert {parameter.dtype for parameter in network.parameters()} == {torch.float64}


@pytest.mark.parametrize(
    ("below", "above", "rate"),
    [(72, 10, 0.01), (1152, 10, 0.01), (3200, 10, 0.01), (1600, 2, 0.004), (3200, 2, 0.002)],
)
def test_the_usual_rate_falls_where_very_many_capsules_vote_for_a_class(below, above, rate):
    layer = RoutedCapsules(in_capsules=below, in_dim=1, out_capsules=above, out_dim=1)
    assert Recipe().for_network(layer).learning_rate == pytest.approx(rate)
    assert Recipe(learning_rate=0.03).for_network(layer).learning_rate == 0.03


def test_a_training_takes_the_usual_rate_of_its_network():
    config = CapsNetConfig.small(
        conv_channels=4, primary_types=100, primary_dim=1, classes=2, decoder_hidden=None
    )
    network = CapsNet(config)  # 900 primary capsules, 450 for each class
    before = network.routed.weight.detach().clone()
    data = few(16)
    fit(network, data._replace(labels=data.labels % 2), RECIPE, **QUIET)  # one step
    largest = (network.routed.weight - before).abs().max().item()
    assert largest == pytest.approx(0.01 * 320 / 450 / 25, rel=0.01)  # the rise begins at 1/25


@pytest.mark.slow
def test_compiled_steps_learn_as_eager_ones_do(monkeypatch):
    torch.compiler.reset()
    data = few(70)  # four batches, and an incomplete one
    expected, its_history = fit(networks.learner(), data, RECIPE, **QUIET)
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    network, history = fit(networks.learner(), data, RECIPE, compiled=True, **QUIET)
    assert history.step == its_history.step == 4
    assert history.curve[0]["loss"] == pytest.approx(its_history.curve[0]["loss"], rel=1e-5)
    for name, tensor in expected.state_dict().items():
        torch.testing.assert_close(network.state_dict()[name], tensor, rtol=1e-3, atol=1e-5)


def test_a_compiled_run_is_not_gone_on_with_uncompiled(tmp_path, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda network: network)
    rest = {"checkpoint": tmp_path / "c", "resume": True, **QUIET}
    fit(networks.learner(), few(), RECIPE, compiled=True, **rest)
    with pytest.raises(ValueError, match="a run with the compiled None; got True"):
        fit(networks.learner(), few(), RECIPE, **rest)


# --- time


class Clock:
    """A clock on which every look takes a second."""

    def __init__(self) -> None:
        self.seconds: Iterator[int] = count()

    def perf_counter(self) -> float:
        return next(self.seconds)


def test_in_a_run_of_seconds_the_learning_rate_follows_the_clock_from_step_to_step(monkeypatch):
    rates = []
    step = TrainingState.step

    def noted(state: Any, loss: Tensor, learning_rate: float, decay: float) -> None:
        rates.append(learning_rate)
        step(state, loss, learning_rate, decay)

    monkeypatch.setattr("capsnet_tutorial.train.loop.time", Clock())
    monkeypatch.setattr(TrainingState, "step", noted)
    recipe = replace(RECIPE, seconds=4, warmup=0.5, learning_rate=0.01)
    fit(networks.learner(), few(), recipe, **QUIET)
    # After 0, 1, 2 and 3 of the 4 seconds: 1/25, half way up, the peak, half way down.
    assert rates == pytest.approx([0.0004, 0.0052, 0.01, 0.005])


@pytest.mark.parametrize(
    ("seconds", "threads"),
    [({4: 1.0, 1: 1.6}, 4), ({4: 1.0, 1: 1.4}, 1), ({4: 2.0, 1: 1.0}, 1)],
    ids=["1.6 times as fast", "1.4 times as fast", "slower"],
)
def test_all_threads_are_taken_only_if_a_step_is_half_as_fast_again(seconds, threads, monkeypatch):
    now = [0.0]
    current = [4]

    class StepClock:
        @staticmethod
        def perf_counter() -> float:
            return now[0]

    def step() -> None:
        now[0] += seconds[current[0]]

    monkeypatch.setattr("capsnet_tutorial.train.machine.time", StepClock)
    monkeypatch.setattr(torch, "get_num_threads", lambda: current[0])
    monkeypatch.setattr(torch, "set_num_threads", lambda number: current.__setitem__(0, number))
    assert faster_threads(step) == threads


@pytest.mark.parametrize(
    ("recipe", "decay"),
    [
        (Recipe(epochs=1, average=0.998, batch_size=10), 0.92),
        (Recipe(epochs=0.1, average=0.998, batch_size=10), 0.9),
        (Recipe(epochs=1, average=0.5, batch_size=10), 0.5),
        (Recipe(seconds=9, average=0.998, batch_size=10), 0.998),
    ],
    ids=["an eighth of the run", "ten steps", "the recipe's", "a run of seconds"],
)
def test_the_average_remembers_an_eighth_of_a_short_run_or_ten_steps(recipe, decay):
    schedule = Schedule(recipe, examples=1000)
    assert schedule.decay(0) == 0
    assert schedule.decay(5) == pytest.approx(decay)


# --- resuming


def test_a_run_on_other_examples_is_not_gone_on_with(tmp_path):
    checkpoint = tmp_path / "checkpoint"
    fit(networks.learner(), few(64), RECIPE, checkpoint=checkpoint, **QUIET)
    with pytest.raises(ValueError, match="a run with the examples 48; got 64 in"):
        fit(networks.learner(), few(48), RECIPE, checkpoint=checkpoint, resume=True, **QUIET)


def test_a_checkpoints_path_may_be_a_string(tmp_path):
    path = str(tmp_path / "checkpoint")
    fit(networks.learner(), few(), RECIPE, checkpoint=path, **QUIET)
    _, history = fit(networks.learner(), few(), RECIPE, checkpoint=path, resume=True, **QUIET)
    assert history.step == 4


def test_a_run_that_another_one_has_begun_meanwhile_is_not_gone_on_with(tmp_path, monkeypatch):
    """The other run ends between the start of this one and its lock."""
    checkpoint = tmp_path / "checkpoint"
    lock = "capsnet_tutorial.train.checkpoint.only_writer"

    def late(path: Any) -> Any:
        monkeypatch.setattr(lock, only_writer)
        fit(networks.learner(), few(), RECIPE, checkpoint=checkpoint, **QUIET)
        return only_writer(path)

    monkeypatch.setattr(lock, late)
    with pytest.raises(ValueError, match="a folder without a run, or resume=True"):
        fit(networks.learner(), few(), RECIPE, checkpoint=checkpoint, **QUIET)
