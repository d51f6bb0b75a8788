"""training.py: that it learns, repeats itself exactly, and survives being killed at any moment."""

from __future__ import annotations

import importlib
import json
import math
import multiprocessing
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import networks
import oracle
import pytest
import torch
from capsnet_book.experiments.pairs import OnPairs, Pairs, classes_of
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.model import CapsNet, CapsNetOutput
from capsnet_tutorial.training import Diverged, OutOfTime, Recipe, evaluate, fit, one_cycle
from capsnet_tutorial.weights import read_tensors, save_weights, write_tensors

RECIPE = Recipe(
    epochs=6,
    batch_size=16,
    average=0.8,
    augmentation=Augmentation(shift=1, rotation=5, elastic=0.3),
    seed=3,
)
"""Four steps an epoch, of a few milliseconds each."""

ONE_EPOCH = replace(RECIPE, epochs=1)


def few(count: int = 64) -> Digits:
    sample = digits("train", source="sample")
    return Digits(sample.images[:count], sample.labels[:count], sample.source)


def assert_same_tensors(came: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    """Bit by bit."""
    assert came.keys() == expected.keys()
    differ = [name for name, tensor in expected.items() if not came[name].equal(tensor)]
    assert not differ


def without_times(curve: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{key: value for key, value in point.items() if key != "seconds"} for point in curve]


# --- learning


def test_the_loss_falls_and_the_digits_are_learnt():
    data = few(200)
    recipe = Recipe(epochs=10, batch_size=20, average=0.8, augmentation=Augmentation(shift=0))
    model, history = fit(networks.learner(), data, recipe, progress=False)
    losses = [point["loss"] for point in history.curve]
    assert history.step == 100
    assert len(losses) == 10
    assert losses[-1] < 0.6 * losses[0]
    assert evaluate(model, data).error < 0.5  # chance: 0.9
    assert not model.training


def test_what_is_minimised_is_margin_loss_and_0_0005_times_the_reconstructions():
    data, model = few(), networks.learner()
    with torch.no_grad():
        output = model(data.images, data.labels)
    margin = oracle.margin_loss(output.lengths, oracle.multi_hot(data.labels, 10))
    expected = margin + 0.0005 * oracle.reconstruction_loss(output.reconstruction, data.images)
    still = Recipe(epochs=1, batch_size=64, augmentation=Augmentation(shift=0))
    _, history = fit(model, data, still, progress=False)
    assert history.curve[0]["loss"] == pytest.approx(expected, rel=1e-5)


def test_any_network_data_objective_and_validation_will_do():
    """A linear network on made-up numbers, by least squares: the loop knows nothing of capsules."""
    drawn = torch.Generator().manual_seed(0)
    images = torch.randn(40, 3, generator=drawn)
    wanted = torch.tensor([[1.0, -2.0, 0.5]])
    seen = []

    class Numbers:
        count = 40

        def batch(
            self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator
        ) -> tuple[Tensor, Tensor]:
            seen.extend(chosen.tolist())
            return images[chosen], images[chosen] @ wanted.T

    class Line(nn.Linear):
        def forward(self, images: Tensor, targets: Tensor) -> Tensor:
            return super().forward(images)

    def squares(output: Tensor, images: Tensor, targets: Tensor) -> Tensor:
        return (output - targets).square().mean()

    def distance(line: Line) -> float:
        return (line.weight - wanted).abs().max().item()

    recipe = Recipe(epochs=100, batch_size=10, average=0.5, learning_rate=0.1)
    line, history = fit(Line(3, 1), Numbers(), recipe, objective=squares, validation=distance, progress=False)
    assert distance(line) < 1e-3
    assert history.curve[-1]["validation_error"] == distance(line)
    assert sorted(seen[:40]) == list(range(40))


def test_without_weight_the_reconstruction_is_not_learnt():
    model, before = networks.learner(), networks.learner()
    result, _ = fit(model, few(), replace(ONE_EPOCH, reconstruction_weight=0.0), progress=False)
    assert_same_tensors(result.decoder.state_dict(), before.decoder.state_dict())
    assert not result.conv.weight.equal(before.conv.weight)


def test_bf16_learns_too():
    recipe = replace(RECIPE, precision="bf16", epochs=8)
    model, history = fit(networks.learner(), few(), recipe, progress=False)
    assert history.curve[-1]["loss"] < history.curve[0]["loss"]
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_part_of_an_epoch_is_enough():
    _, history = fit(networks.learner(), few(), replace(RECIPE, epochs=1.5), progress=False)
    assert history.step == 6
    assert [point["epoch"] for point in history.curve] == [1, 1.5]


def test_a_run_on_time_ends_in_time():
    recipe = replace(RECIPE, seconds=0.6, epochs=1000)
    started = time.perf_counter()
    _, history = fit(networks.learner(), few(), recipe, validation=few(), progress=False)
    assert 0.6 <= history.seconds < 1.5
    assert time.perf_counter() - started < 10
    assert history.step > 1
    assert ["validation_error" in point for point in history.curve] == [False] * (len(history.curve) - 1) + [True]


def test_a_run_stops_after_the_first_epoch_that_is_accurate_enough():
    errors = iter([0.5, 0.3, 0.201, 0.2, 0.1, 0.0])
    recipe = replace(RECIPE, stop_at_accuracy=80)
    _, history = fit(networks.learner(), few(), recipe, validation=lambda _: next(errors), progress=False)
    assert [point["validation_error"] for point in history.curve] == [0.5, 0.3, 0.201, 0.2]
    assert history.step == 16


def test_stopping_at_an_accuracy_needs_something_to_measure_it_on():
    recipe = replace(RECIPE, stop_at_accuracy=80)
    with pytest.raises(ValueError, match="something to validate on, for stop_at_accuracy; got nothing"):
        fit(networks.learner(), few(), recipe, progress=False)


# --- the average


def test_what_is_returned_is_the_running_average_of_the_weights():
    model, raw = networks.learner(), []
    recipe = replace(RECIPE, batch_size=64)  # one step an epoch
    result, _ = fit(
        model, few(), recipe, progress=False, on_epoch=lambda *_: raw.append(model.conv.weight.detach().clone())
    )
    expected = raw[0]
    for weight in raw[1:]:
        expected = 0.8 * expected + 0.2 * weight
    torch.testing.assert_close(result.conv.weight, expected)
    assert not raw[-1].allclose(expected)


def test_what_is_validated_is_what_is_returned():
    data, held_out = few(), digits("validation", source="sample")
    result, history = fit(networks.learner(), data, RECIPE, validation=held_out, progress=False)
    assert len(history.curve) == 6
    assert history.curve[-1]["validation_error"] == evaluate(result, held_out).error


def test_without_an_average_the_network_itself_is_returned():
    model = networks.learner()
    result, _ = fit(model, few(), replace(RECIPE, average=0, epochs=1), progress=False)
    assert result.conv.weight.equal(model.conv.weight)


def test_the_learning_rate_rises_to_its_peak_and_falls_to_zero():
    assert one_cycle(0, 0.3) == pytest.approx(1 / 25)
    assert one_cycle(0.3, 0.3) == pytest.approx(1)
    assert one_cycle(1, 0.3) == pytest.approx(0, abs=1e-12)
    shares = [k / 100 for k in range(101)]
    rates = [one_cycle(share, 0.3) for share in shares]
    assert rates[:31] == sorted(rates[:31])
    assert rates[30:] == sorted(rates[30:], reverse=True)
    assert one_cycle(0.15, 0.3) == pytest.approx((1 + 1 / 25) / 2)
    assert one_cycle(0.65, 0.3) == pytest.approx(1 / 2)


# --- patience


def scripted(errors: list[float]) -> Any:
    """A validation whose outcomes are known beforehand; where it is resumed, it goes on where it was."""
    remaining = list(errors)
    return lambda _: remaining.pop(0)


def test_patience_ends_a_run_and_keeps_the_best_weights():
    kept = []
    result, history = fit(
        networks.learner(),
        few(),
        replace(RECIPE, epochs=20, patience=2),
        validation=scripted([0.5, 0.3, 0.4, 0.3, 0.2, 0.2]),
        progress=False,
        on_epoch=lambda network, _: kept.append(network.conv.weight.clone()),
    )
    assert history.validation_errors == [0.5, 0.3, 0.4, 0.3]  # as good is not better
    assert result.conv.weight.equal(kept[1])
    assert not result.conv.weight.equal(kept[3])
    assert not result.training


def test_a_patient_run_that_comes_to_its_end_gives_the_best_too():
    kept = []
    result, history = fit(
        networks.learner(),
        few(),
        replace(RECIPE, epochs=3, patience=5),
        validation=scripted([0.5, 0.3, 0.4]),
        progress=False,
        on_epoch=lambda network, _: kept.append(network.conv.weight.clone()),
    )
    assert history.step == 12
    assert result.conv.weight.equal(kept[1])


def test_a_patient_run_that_was_interrupted_still_knows_its_best(tmp_path):
    recipe, errors = replace(RECIPE, epochs=20, patience=3), [0.5, 0.3, 0.4, 0.3, 0.4, 0.2]
    expected, _ = fit(networks.learner(), few(), recipe, validation=scripted(errors), progress=False)

    def stop(_: Any, history: Any) -> None:
        if len(history.curve) == 3:
            raise Stop

    rest = {"checkpoint": tmp_path / "c", "progress": False}
    with pytest.raises(Stop):
        fit(networks.learner(), few(), recipe, validation=scripted(errors), on_epoch=stop, **rest)
    result, history = fit(networks.learner(), few(), recipe, validation=scripted(errors[3:]), resume=True, **rest)
    assert history.validation_errors == errors[:5]
    assert_same_tensors(result.state_dict(), expected.state_dict())
    again, history = fit(networks.learner(), few(), recipe, validation=scripted([]), resume=True, **rest)
    assert_same_tensors(again.state_dict(), expected.state_dict())  # it is over


def test_patience_without_anything_to_validate_on_is_refused():
    with pytest.raises(ValueError, match="something to validate on, for patience; got nothing"):
        fit(networks.learner(), few(), replace(RECIPE, patience=1), progress=False)
    with pytest.raises(ValueError, match="patience in a run of epochs; got a run of seconds"):
        Recipe(seconds=10, patience=1)


def test_a_validation_that_gives_no_number_is_refused():
    with pytest.raises(ValueError, match="a finite validation error; got nan"):
        fit(networks.learner(), few(), RECIPE, validation=lambda _: math.nan, progress=False)


# --- evaluation


class HandMade(nn.Module):
    """Answers with what is written in an image's first row, and draws grey."""

    def __init__(self) -> None:
        super().__init__()
        self.parameter = nn.Parameter(torch.zeros(1))

    def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
        assert labels is None, "an evaluation tells the network the answers"
        assert not self.training
        return CapsNetOutput(
            images.new_zeros(len(images), 10, 16), images[:, 0, 0, :10], images.new_full((1, 784), 0.5)
        )


def test_an_evaluation_is_what_one_would_count_by_hand():
    images = torch.rand(11, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    labels = images[:, 0, 0, :10].argmax(dim=1)
    labels[:3] = (labels[:3] + 1) % 10  # three are wrong
    model = HandMade()
    for batch_size in (500, 4):
        result = evaluate(model, Digits(images, labels, "sample"), batch_size)
        assert result.error == pytest.approx(3 / 11)
        expected = oracle.margin_loss(images[:, 0, 0, :10], oracle.multi_hot(labels, 10))
        assert result.margin_loss == pytest.approx(expected, rel=1e-5)
        assert result.reconstruction_mse == pytest.approx((images - 0.5).square().mean().item(), rel=1e-5)
    assert model.training, "the mode that the network was in was not restored"


def test_an_evaluation_leaves_every_part_in_the_mode_that_it_was_in():
    model = networks.learner().train()
    model.conv.eval()  # frozen, as for fine-tuning
    evaluate(model, few(4))
    assert model.training
    assert model.decoder.training
    assert not model.conv.training


def test_no_digits_cannot_be_evaluated():
    with pytest.raises(ValueError, match="at least one image; got none"):
        evaluate(networks.learner(), Digits(torch.zeros(0, 1, 28, 28), torch.zeros(0, dtype=torch.long), "sample"))


# --- the same again


def test_the_same_seed_gives_the_same_network_bit_by_bit():
    first, its_history = fit(networks.learner(), few(), RECIPE, progress=False)
    torch.rand(3)  # chance that is drawn elsewhere makes no difference
    second, history = fit(networks.learner(), few(), RECIPE, progress=False)
    assert_same_tensors(second.state_dict(), first.state_dict())
    assert without_times(history.curve) == without_times(its_history.curve)
    other, _ = fit(networks.learner(), few(), replace(RECIPE, seed=4), progress=False)
    assert not other.conv.weight.equal(first.conv.weight)


class Stop(Exception):
    """Somebody pressed a key."""


@pytest.mark.parametrize("average", [0.8, 0.0])
def test_a_resumed_run_ends_as_one_that_was_not_interrupted(average, tmp_path):
    recipe = replace(RECIPE, average=average)
    expected, its_history = fit(networks.learner(), few(), recipe, validation=few(), progress=False)

    def stop(_: Any, history: Any) -> None:
        if history.step == 12:
            raise Stop

    interrupted = networks.learner()
    with pytest.raises(Stop):
        fit(interrupted, few(), recipe, validation=few(), checkpoint=tmp_path / "c", progress=False, on_epoch=stop)
    model = networks.learner()
    model.conv.weight.data += 1  # where a resumed run starts from does not matter
    result, history = fit(
        model, few(), recipe, validation=few(), checkpoint=tmp_path / "c", resume=True, progress=False
    )
    assert_same_tensors(result.state_dict(), expected.state_dict())
    assert history.step == its_history.step
    assert without_times(history.curve) == without_times(its_history.curve)
    again, history = fit(networks.learner(), few(), recipe, checkpoint=tmp_path / "c", resume=True, progress=False)
    assert_same_tensors(again.state_dict(), expected.state_dict())  # a finished run has nothing left to do
    assert history.step == 24


def test_resume_without_a_checkpoint_starts_from_the_beginning(tmp_path):
    expected, _ = fit(networks.learner(), few(), RECIPE, progress=False)
    result, _ = fit(networks.learner(), few(), RECIPE, checkpoint=tmp_path / "c", resume=True, progress=False)
    assert_same_tensors(result.state_dict(), expected.state_dict())


def test_a_run_that_is_killed_within_an_epoch_goes_on_within_it(tmp_path):
    """With a checkpoint after every step: what is resumed is neither the epoch's beginning nor another curve."""
    expected, its_history = fit(networks.learner(), few(), RECIPE, progress=False)
    images = few()

    class Killed(Digits):
        def batch(self, *arguments: Any) -> tuple[Tensor, Tensor]:
            if (tmp_path / "c").exists() and read_tensors(tmp_path / "c")[1]["checkpoint"]["history"]["step"] == 6:
                raise Stop
            return super().batch(*arguments)

    rest = {"checkpoint": tmp_path / "c", "checkpoint_minutes": 0, "progress": False}
    with pytest.raises(Stop):
        fit(networks.learner(), Killed(*images), RECIPE, **rest)
    result, history = fit(networks.learner(), images, RECIPE, resume=True, **rest)
    assert_same_tensors(result.state_dict(), expected.state_dict())
    assert without_times(history.curve) == without_times(its_history.curve)


def test_dropout_too_is_the_same_again_and_leaves_chance_elsewhere_alone(tmp_path):
    class Forgetful(CapsNet):
        def primary_capsules(self, images: Tensor) -> Tensor:
            return nn.functional.dropout(super().primary_capsules(images), 0.5, self.training)

    def start() -> CapsNet:
        torch.manual_seed(0)
        network = Forgetful(networks.learner().config)
        torch.seed()
        return network

    def stop(_: Any, history: Any) -> None:
        if history.step == 12:
            raise Stop

    network, chance = start(), torch.get_rng_state()
    expected, _ = fit(network, few(), RECIPE, progress=False)
    assert torch.get_rng_state().equal(chance)
    with pytest.raises(Stop):
        fit(start(), few(), RECIPE, checkpoint=tmp_path / "c", progress=False, on_epoch=stop)
    result, _ = fit(start(), few(), RECIPE, checkpoint=tmp_path / "c", resume=True, progress=False)
    assert_same_tensors(result.state_dict(), expected.state_dict())
    plain, _ = fit(networks.learner(), few(), RECIPE, progress=False)
    assert not plain.conv.weight.equal(expected.conv.weight)


def test_within_an_epoch_checkpoints_are_minutes_apart(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        "capsnet_tutorial.training.checkpoint.write_tensors", lambda path, tensors, about: written.append(about)
    )
    fit(networks.learner(), few(), replace(RECIPE, epochs=2), checkpoint=tmp_path / "c", progress=False)
    assert [about["checkpoint"]["history"]["step"] for about in written] == [0, 4, 8]


# --- a limit on time


def test_a_run_that_is_out_of_time_stops_and_goes_on_as_if_it_had_not(tmp_path):
    expected, its_history = fit(networks.learner(), few(), RECIPE, progress=False)
    stops: dict[int, str] = {}
    while True:
        try:
            result, history = fit(
                networks.learner(),
                few(),
                RECIPE,
                checkpoint=tmp_path / "c",
                resume=True,
                limit_minutes=0.005 / 60,  # a step or two
                progress=False,
            )
            break
        except OutOfTime as stop:
            stops[read_tensors(tmp_path / "c")[1]["checkpoint"]["history"]["step"]] = f"{stop}"
    assert len(stops) > 2
    assert list(stops) == sorted(stops)
    for step, said in stops.items():
        assert said == f"8.33333e-05 minutes are over after {step} steps ({step / 24:.0%})"
    assert_same_tensors(result.state_dict(), expected.state_dict())
    assert without_times(history.curve) == without_times(its_history.curve)


def test_a_run_that_ends_in_time_is_not_stopped(tmp_path):
    _, history = fit(networks.learner(), few(), ONE_EPOCH, checkpoint=tmp_path / "c", limit_minutes=10, progress=False)
    assert history.step == 4


def test_a_limit_needs_a_checkpoint_and_some_time(tmp_path):
    with pytest.raises(ValueError, match="a checkpoint, for a run that may be stopped; got none"):
        fit(networks.learner(), few(), RECIPE, limit_minutes=1, progress=False)
    for minutes in (0, -1, math.nan):
        with pytest.raises(ValueError, match="limit_minutes above 0; got"):
            fit(networks.learner(), few(), RECIPE, limit_minutes=minutes, checkpoint=tmp_path / "c", progress=False)


# --- what one sees of a run


def test_tensorboard_finds_the_loss_of_every_step_the_accuracies_and_histograms(tmp_path):
    data = few()
    log = tmp_path / "log"
    result, history = fit(networks.learner(), data, RECIPE, validation=data, log=log, progress=False)
    found = EventAccumulator(str(log)).Reload()
    curves = {"loss", "learning_rate", "accuracy/training", "accuracy/validation"}
    assert set(found.Tags()["scalars"]) == curves
    losses = found.Scalars("loss")
    assert sorted(event.step for event in losses) == list(range(1, 25))
    for epoch, point in enumerate(history.curve):
        mean = sum(event.value for event in losses if 4 * epoch < event.step <= 4 * epoch + 4) / 4
        assert point["loss"] == pytest.approx(mean, rel=1e-5)
    validation, training = (found.Scalars(f"accuracy/{split}") for split in ("validation", "training"))
    assert [event.step for event in validation] == list(range(4, 25, 4))
    assert [1 - event.value for event in validation] == pytest.approx(history.validation_errors)
    assert training[-1].value == pytest.approx(1 - evaluate(result, data).error)
    names = [name for name, _ in result.named_parameters()]
    histograms = {f"{kind}/{name}" for kind in ("weights", "gradients") for name in names}
    assert set(found.Tags()["histograms"]) == histograms | {"lengths/present", "lengths/absent"}
    last = found.Histograms("lengths/present")[-1]
    lengths = result(data.images).lengths[torch.arange(64), data.labels]
    assert (last.step, last.histogram_value.num) == (24, 64)
    assert last.histogram_value.sum == pytest.approx(lengths.sum().item(), rel=1e-4)


def test_a_log_of_pairs_counts_a_picture_as_right_if_both_digits_are(tmp_path):
    torch.manual_seed(0)
    network = OnPairs(CapsNet(replace(networks.learner().config, image_size=36)))
    recipe = replace(ONE_EPOCH, average=0, augmentation=Augmentation(shift=4))
    fit(network, Pairs(few()), recipe, log=tmp_path / "log", progress=False)
    layers, present = Pairs(few()).batch(torch.arange(64), Augmentation(shift=0), torch.Generator().manual_seed(0))
    best = network(layers, present).lengths.topk(2, dim=1).indices.sort(dim=1).values
    expected = (best == classes_of(present)).all(dim=1).float().mean().item()
    (came,) = EventAccumulator(str(tmp_path / "log")).Reload().Scalars("accuracy/training")
    assert came.value == pytest.approx(expected)


def device_reads(work: Callable[[], Any]) -> int:
    """How often the processor asks a device for a number: `Tensor.item` and its kin, `bool(tensor)` among them.

    Adam's on a CPU are not counted: there its steps lie in memory, elsewhere it does not read them.
    """

    def is_adams(event: Any) -> bool:
        return event is not None and (event.name == "aten::_fused_adam_" or is_adams(event.cpu_parent))

    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        work()
    reads = [event for event in profiler.events() if event.name == "aten::_local_scalar_dense"]
    return sum(not is_adams(event) for event in reads)


@pytest.mark.parametrize("kind", ["capsnet", "pairs"])
def test_a_step_within_an_epoch_reads_nothing_from_the_device(kind):
    """However many steps an epoch has, the reads are those of its beginning and its end."""
    reads = []
    for batch_size in (32, 8):
        network, data = networks.learner(), few()
        if kind == "pairs":
            network, data = OnPairs(CapsNet(replace(network.config, image_size=36))), Pairs(data)
        recipe = Recipe(epochs=1, batch_size=batch_size, patience=1)
        work = partial(fit, network, data, recipe, validation=lambda _: 0.5, progress=False)
        reads.append(device_reads(work))
    assert reads[0] == reads[1] > 0


def test_without_tensorboard_a_log_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("capsnet_tutorial.training.tensorboard.find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"expected tensorboard to be installed \(pip install tensorboard\)"):
        fit(networks.learner(), few(), RECIPE, log=tmp_path / "log", progress=False)


def test_the_bar_shows_the_time_left_the_speed_and_the_errors(capsys):
    fit(networks.learner(), few(), RECIPE, validation=few())
    last = capsys.readouterr().err.rstrip().splitlines()[-1]
    assert re.search(r"100% \|.*\| \d\d:\d\d<00:00, [\d,]+ images/s, loss=0\.\d{4}, validation_error=0\.\d{4}$", last)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_run_on_a_gpu_can_be_resumed(tmp_path):
    def stop(*_: Any) -> None:
        raise Stop

    with pytest.raises(Stop):
        fit(networks.learner(), few(), RECIPE, checkpoint=tmp_path / "c", progress=False, on_epoch=stop)
    model, history = fit(networks.learner(), few(), RECIPE, checkpoint=tmp_path / "c", resume=True, progress=False)
    assert history.step == 24
    assert next(model.parameters()).is_cuda


# --- kill -9


KILLED = replace(RECIPE, epochs=20)


def train_until_killed(folder: Path, dies_in_write: int, epochs_done: Connection) -> None:
    """What the processes run that are killed: a run of 80 steps that resumes if there is something to resume.

    With `dies_in_write` = n it kills itself in the n-th checkpoint, at the worst moment: written, not yet in place.
    """
    torch.set_num_threads(1)
    replace_file, writes = os.replace, 0

    def deadly_replace(*paths: Any) -> None:
        nonlocal writes
        writes += 1
        if writes == dies_in_write:
            os.kill(os.getpid(), signal.SIGKILL)
        replace_file(*paths)

    os.replace = deadly_replace
    model, history = fit(
        networks.learner(),
        few(),
        KILLED,
        checkpoint=folder / "checkpoint",
        resume=True,
        progress=False,
        on_epoch=lambda _, history: epochs_done.send(history.step),
    )
    save_weights(model, folder / "weights", torch.float32)
    (folder / "curve").write_text(json.dumps(without_times(history.curve)))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")
def test_a_run_that_is_killed_at_any_moment_can_be_resumed_and_ends_bit_equal(tmp_path):
    context = multiprocessing.get_context("forkserver")  # imports torch once, not once a process
    context.set_forkserver_preload(["torch", "torchvision", "accelerate", "capsnet_tutorial.training"])

    def start(folder: Path, dies_in_write: int = 0) -> tuple[Any, Connection]:
        listening, sending = context.Pipe(duplex=False)
        process = context.Process(target=train_until_killed, args=(folder, dies_in_write, sending))
        process.start()
        sending.close()  # so that the pipe ends with the process
        return process, listening

    def wait(process: Any) -> int:
        process.join(120)
        assert process.exitcode is not None, "the run hangs"
        return process.exitcode

    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    undisturbed.mkdir()
    killed.mkdir()
    process, epochs_done = start(undisturbed)
    ends = []
    with suppress(EOFError):
        while epochs_done.poll(60):
            epochs_done.recv()
            ends.append(time.perf_counter())
    assert wait(process) == 0
    an_epoch = (ends[-1] - ends[0]) / (len(ends) - 1)

    for dies_in_write in (1, 3):
        process, _ = start(killed, dies_in_write)
        assert wait(process) == -signal.SIGKILL
        assert (killed / "checkpoint").exists() == (dies_in_write > 1)
    chance = random.Random(0)
    steps = [read_tensors(killed / "checkpoint")[1]["checkpoint"]["history"]["step"]]
    for _ in range(5):
        process, epochs_done = start(killed)
        for _ in range(chance.randint(1, 2)):
            assert epochs_done.poll(60)
            epochs_done.recv()
        time.sleep(chance.uniform(0, an_epoch))
        process.kill()
        assert wait(process) in (-signal.SIGKILL, 0)  # 0: it was faster than we
        steps.append(read_tensors(killed / "checkpoint")[1]["checkpoint"]["history"]["step"])  # whole and readable
    assert steps == sorted(steps)
    assert 0 < steps[0] < steps[-1]

    process, _ = start(killed)
    assert wait(process) == 0
    for name in ("checkpoint", "weights"):
        assert_same_tensors(read_tensors(killed / name)[0], read_tensors(undisturbed / name)[0])
    assert (killed / "curve").read_text() == (undisturbed / "curve").read_text()


# --- what can go wrong


@pytest.mark.parametrize("batch_size", [16, 64], ids=["four steps an epoch", "one step an epoch"])
def test_a_run_that_diverges_says_so_and_keeps_a_sound_checkpoint(batch_size, tmp_path):
    recipe = replace(RECIPE, learning_rate=1e37, batch_size=batch_size)
    with pytest.raises(Diverged, match="the loss is (nan|inf) after .* steps; try a lower learning rate"):
        fit(networks.learner(), few(), recipe, checkpoint=tmp_path / "c", progress=False)
    tensors, metadata = read_tensors(tmp_path / "c")
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    assert all(math.isfinite(point["loss"]) for point in metadata["checkpoint"]["history"]["curve"])


@pytest.mark.parametrize("step", [1, 3, 4], ids=["first step", "third step", "last of the epoch"])
def test_weights_that_are_no_longer_numbers_are_neither_kept_nor_returned(step, tmp_path):
    model, calls = networks.learner(), []

    def poison(grad: Tensor) -> Tensor:
        calls.append(grad)
        return grad * torch.nan if len(calls) == step else grad

    model.conv.weight.register_hook(poison)
    with pytest.raises(Diverged):
        fit(model, few(), ONE_EPOCH, checkpoint=tmp_path / "c", progress=False)
    assert all(tensor.isfinite().all() for tensor in read_tensors(tmp_path / "c")[0].values())


def test_divergence_is_seen_within_an_epoch_before_it_is_written(tmp_path):
    model, calls = networks.learner(), []

    def poison(grad: Tensor) -> Tensor:
        calls.append(grad)
        return grad * torch.nan if len(calls) == 2 else grad

    model.conv.weight.register_hook(poison)
    with pytest.raises(Diverged, match="the weights are not finite after 2 steps"):
        fit(model, few(), ONE_EPOCH, checkpoint=tmp_path / "c", checkpoint_minutes=0, progress=False)
    tensors, metadata = read_tensors(tmp_path / "c")
    assert metadata["checkpoint"]["history"]["step"] == 1
    assert all(tensor.isfinite().all() for tensor in tensors.values())


def test_a_resumed_run_that_diverges_brings_all_its_history(tmp_path):
    def stop(_: Any, history: Any) -> None:
        if history.step == 12:
            raise Stop

    rest = {"checkpoint": tmp_path / "c", "progress": False}
    with pytest.raises(Stop):
        fit(networks.learner(), few(), RECIPE, on_epoch=stop, **rest)
    before = read_tensors(tmp_path / "c")[1]["checkpoint"]["history"]
    model = networks.learner()
    model.conv.weight.register_hook(lambda grad: grad * torch.nan)
    with pytest.raises(Diverged) as end:
        fit(model, few(), RECIPE, resume=True, **rest)
    history = end.value.history
    assert history.step == 16
    assert history.seconds > before["seconds"]
    assert history.curve == before["curve"]
    assert len(history.curve) == 3


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one_whole(fails, tmp_path, monkeypatch):
    def fill_the_disk(_: Any, history: Any) -> None:
        if history.step == 8:
            monkeypatch.setattr(os, fails, full)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    expected, _ = fit(networks.learner(), few(), RECIPE, progress=False)
    with pytest.raises(OSError, match="got: No space left on device .the last one, of step 8, is whole.") as end:
        fit(networks.learner(), few(), RECIPE, checkpoint=tmp_path / "c", progress=False, on_epoch=fill_the_disk)
    assert f"{end.value}".startswith(f"expected to write a checkpoint to {tmp_path / 'c'};")
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    result, _ = fit(networks.learner(), few(), RECIPE, checkpoint=tmp_path / "c", resume=True, progress=False)
    assert_same_tensors(result.state_dict(), expected.state_dict())


def test_a_first_checkpoint_that_cannot_be_written_ends_the_run_at_once(tmp_path):
    with pytest.raises(OSError, match="No such file or directory .there is none yet."):
        fit(networks.learner(), few(), RECIPE, checkpoint=tmp_path / "nowhere" / "c", progress=False)


def train_on_a_full_disk(folder: Path) -> None:
    """As on a full disk, a write fails half-way: the kernel allows only half of what a checkpoint needs."""
    resource = importlib.import_module("resource")  # there is none on Windows
    torch.set_num_threads(1)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(*_: Any) -> None:
        limit = (folder / "c").stat().st_size // 2
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))

    try:
        fit(networks.learner(), few(), RECIPE, checkpoint=folder / "c", progress=False, on_epoch=fill)
    except OSError as problem:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        (folder / "said").write_text(f"{problem}")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on Windows")
def test_a_write_that_the_kernel_cuts_short_leaves_the_last_checkpoint_whole(tmp_path):
    process = multiprocessing.get_context("forkserver").Process(target=train_on_a_full_disk, args=(tmp_path,))
    process.start()
    process.join(120)
    assert "File too large (the last one, of step 4, is whole)" in (tmp_path / "said").read_text()
    assert read_tensors(tmp_path / "c")[1]["checkpoint"]["history"]["step"] == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "said"]


def test_too_few_digits_for_a_batch_are_refused():
    with pytest.raises(ValueError, match="at least one batch of 16 digits; got 15"):
        fit(networks.learner(), few(15), RECIPE, progress=False)


def test_bad_digits_are_refused():
    good = few()
    not_a_number = good.images.clone()
    not_a_number[3, 0, 5, 5] = torch.nan
    cases = {
        "finite images": good._replace(images=not_a_number),
        "images in floating point": good._replace(images=(good.images * 255).to(torch.uint8)),
        "labels from 0 to 9": good._replace(labels=good.labels + 1),
        "integer labels": good._replace(labels=good.labels.float()),
    }
    for message, data in cases.items():
        with pytest.raises(ValueError, match=message):
            fit(networks.learner(), data, replace(RECIPE, augmentation=Augmentation()), progress=False)


def stored_run(folder: Path) -> Path:
    fit(networks.learner(), few(), ONE_EPOCH, checkpoint=folder / "c", progress=False)
    return folder / "c"


def resume(path: Path, recipe: Recipe = ONE_EPOCH, model: Any = None) -> None:
    fit(model or networks.learner(), few(), recipe, checkpoint=path, resume=True, progress=False)


def test_a_checkpoint_of_another_recipe_is_refused(tmp_path):
    path = stored_run(tmp_path)
    with pytest.raises(ValueError, match="a checkpoint of a run with the recipe .*'seed': 4.*; got .*'seed': 3"):
        resume(path, replace(ONE_EPOCH, seed=4))


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    path = stored_run(tmp_path)
    other = networks.learner()
    other.config = replace(other.config, iterations=2)
    with pytest.raises(ValueError, match="a checkpoint of a run with the config .*; got"):
        resume(path, model=other)


@pytest.mark.parametrize("differs", ["task", "examples"])
def test_a_checkpoint_of_another_run_is_refused(differs, tmp_path):
    rest = {"checkpoint": tmp_path / "c", "progress": False}
    fit(networks.learner(), few(), ONE_EPOCH, identity={"task": "digits"}, **rest)
    task, count = ("pairs", 64) if differs == "task" else ("digits", 65)
    with pytest.raises(ValueError, match=f"a checkpoint of a run with the {differs} (pairs|65); got (digits|64) in"):
        fit(networks.learner(), few(count), ONE_EPOCH, identity={"task": task}, resume=True, **rest)


def test_a_truncated_checkpoint_is_refused(tmp_path):
    path = stored_run(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="expected a whole safetensors file"):
        resume(path)


def test_weights_are_no_checkpoint(tmp_path):
    save_weights(networks.learner(), tmp_path / "c")
    with pytest.raises(ValueError, match="expected a checkpoint of a training run in .*; got another safetensors file"):
        resume(tmp_path / "c")


@pytest.mark.parametrize("content", [5, None, [1], "text"], ids=repr)
def test_what_a_foreign_file_calls_a_checkpoint_is_refused(content, tmp_path):
    path = stored_run(tmp_path)
    write_tensors(path, read_tensors(path)[0], {"checkpoint": content})
    with pytest.raises(ValueError, match="expected a checkpoint of a training run in"):
        resume(path)


@pytest.mark.parametrize("differs", [{"step": "4"}, {"step": None}, {"seconds": [1.0]}, {"curve": 3}], ids=str)
def test_a_history_of_other_kinds_is_refused(differs, tmp_path):
    path = stored_run(tmp_path)
    tensors, metadata = read_tensors(path)
    metadata["checkpoint"]["history"] |= differs
    write_tensors(path, tensors, metadata)
    with pytest.raises(ValueError, match="expected a history in .*; got"):
        resume(path)


@pytest.mark.parametrize("lacks", ["a tensor", "the optimiser", "a shape", "its history", "its recipe"])
def test_a_checkpoint_that_lacks_a_part_is_refused(lacks, tmp_path):
    path = stored_run(tmp_path)
    tensors, metadata = read_tensors(path)
    if lacks == "a tensor":
        del tensors["model.routed.weight"]
    elif lacks == "the optimiser":
        del tensors["optimizer.exp_avg.routed.weight"]
    elif lacks == "a shape":
        tensors["average.conv.bias"] = torch.zeros(3)
    else:
        del metadata["checkpoint"][lacks.removeprefix("its ")]
    write_tensors(path, tensors, metadata)
    with pytest.raises(ValueError, match="expected"):
        resume(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("epochs", value) for value in (0, -1.0, math.nan, math.inf)),
        *(("seconds", value) for value in (0, -1.0, math.nan)),
        *(("batch_size", value) for value in (0, -1, 1.5)),
        *(("learning_rate", value) for value in (0, -1.0, math.nan, math.inf)),
        *(("patience", value) for value in (0, -1, 1.5)),
        *(("reconstruction_weight", value) for value in (-1.0, math.nan, math.inf)),
        *(("warmup", value) for value in (0, 1, -0.1, math.nan)),
        *(("average", value) for value in (1, 1.5, -0.1, math.nan)),
        *(("stop_at_accuracy", value) for value in (0, -1.0, 101, math.nan)),
        ("precision", "fp16"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(field, value):
    with pytest.raises(ValueError, match="expected .*; got") as refusal:
        replace(RECIPE, **{field: value})
    assert repr(value) in str(refusal.value)
