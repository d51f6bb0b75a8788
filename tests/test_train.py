"""train.py: that it learns, repeats itself exactly, and survives being killed at any moment."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import random
import re
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import networks
import oracle
import pytest
import torch
from networks import few
from torch import Tensor, nn

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.files import read_tensors, write_tensors
from capsnet_tutorial.model import CapsNetOutput
from capsnet_tutorial.train import Diverged, Recipe, evaluate, fit, machine
from capsnet_tutorial.weights import save_weights

pytestmark = pytest.mark.slow

RECIPE = Recipe(
    epochs=6,
    batch_size=16,
    average=0.8,
    augmentation=Augmentation(shift=1, rotation=5, elastic=0.3),
    seed=3,
)
"""Four steps an epoch, of a few milliseconds each."""

ONE_EPOCH = replace(RECIPE, epochs=1)


def assert_same_tensors(tensors: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    """Bit by bit."""
    assert tensors.keys() == expected.keys()
    differ = [name for name, tensor in expected.items() if not tensors[name].equal(tensor)]
    assert not differ


def without_times(curve: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{key: value for key, value in point.items() if key != "seconds"} for point in curve]


class Stop(Exception):
    """Somebody pressed a key."""


def stop_after(step: int) -> Any:
    def stop(_: Any, history: Any) -> None:
        if history.step == step:
            raise Stop

    return stop


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


def test_the_loss_is_margin_loss_plus_0_0005_times_the_reconstruction_loss():
    data, model = few(), networks.learner()
    with torch.no_grad():
        output = model(data.images, data.labels)
    margin = oracle.margin_loss(output.lengths, oracle.multi_hot(data.labels, 10))
    expected = margin + 0.0005 * oracle.reconstruction_loss(output.reconstruction, data.images)
    still = Recipe(epochs=1, batch_size=64, augmentation=Augmentation(shift=0))
    _, history = fit(model, data, still, progress=False)
    assert history.curve[0]["loss"] == pytest.approx(expected, rel=1e-5)


def test_a_run_of_seconds_takes_so_many_seconds():
    recipe = replace(RECIPE, seconds=0.6, epochs=1000)
    _, history = fit(networks.learner(), few(), recipe, validation=few(), progress=False)
    assert 0.6 <= history.seconds < 3
    assert history.step > 1
    assert ["validation_error" in point for point in history.curve] == [False] * (
        len(history.curve) - 1
    ) + [True]


def test_a_run_stops_after_the_first_epoch_that_is_accurate_enough():
    errors = iter([0.5, 0.3, 0.201, 0.2, 0.1, 0.0])
    recipe = replace(RECIPE, stop_at_accuracy=80)
    _, history = fit(
        networks.learner(), few(), recipe, validation=lambda _: next(errors), progress=False
    )
    assert [point["validation_error"] for point in history.curve] == [0.5, 0.3, 0.201, 0.2]
    with pytest.raises(
        ValueError, match="something to validate on, for stop_at_accuracy; got nothing"
    ):
        fit(networks.learner(), few(), recipe, progress=False)


def test_the_average_of_the_weights_is_returned_and_validated():
    model, raw, held_out = networks.learner(), [], digits("validation", source="sample")
    recipe = replace(RECIPE, batch_size=64, epochs=4)  # one step an epoch
    note = {"on_epoch": lambda *_: raw.append(model.conv.weight.detach().clone())}
    result, history = fit(model, few(), recipe, validation=held_out, progress=False, **note)
    expected = raw[0]
    for weight in raw[1:]:
        expected = 0.8 * expected + 0.2 * weight
    torch.testing.assert_close(result.conv.weight, expected)
    assert not raw[-1].allclose(expected)
    assert history.curve[-1]["validation_error"] == evaluate(result, held_out).error


def test_the_bar_shows_the_time_left_and_the_errors(capsys):
    fit(networks.learner(), few(), RECIPE, validation=few())
    last = capsys.readouterr().err.rstrip().splitlines()[-1]
    assert re.search(
        r"100% \|.*\| \d\d:\d\d<00:00, loss=0\.\d{4}, validation_error=0\.\d{4}$", last
    )


# --- data and threads


def test_the_number_of_threads_is_set_restored_and_checkpointed(tmp_path, monkeypatch):
    usual, thread_counts = torch.get_num_threads(), []
    note = {"on_epoch": lambda *_: thread_counts.append(torch.get_num_threads())}
    rest = {"progress": False, "checkpoint": tmp_path / "c"}
    try:
        torch.set_num_threads(2)
        monkeypatch.setattr(machine, "faster_threads", lambda step: 1)
        with pytest.raises(Stop):
            fit(
                networks.learner(), few(), replace(RECIPE, epochs=2), on_epoch=stop_after(4), **rest
            )
        monkeypatch.setattr(
            machine, "faster_threads", lambda step: 2
        )  # another time, another answer
        _, history = fit(
            networks.learner(), few(), replace(RECIPE, epochs=2), resume=True, **rest, **note
        )
        assert (history.threads, thread_counts) == (1, [1])
        assert torch.get_num_threads() == 2
        _, history = fit(networks.learner(), few(), ONE_EPOCH, threads=2, progress=False)
        assert history.threads == 2
    finally:
        torch.set_num_threads(usual)


def test_training_and_evaluating_need_no_float64_on_the_device():
    with networks.NoFloat64():
        result, _ = fit(
            networks.learner(),
            few(),
            replace(ONE_EPOCH, augmentation=Augmentation(2)),
            progress=False,
        )
    with networks.device_without_float64() as device:
        evaluate(result, few())
    assert device.moved


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
            images.new_zeros(len(images), 10, 16),
            images[:, 0, 0, :10],
            images.new_full((1, 784), 0.5),
        )


def test_an_evaluation_agrees_with_a_count_by_hand():
    images = torch.rand(11, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    labels = images[:, 0, 0, :10].argmax(dim=1)
    labels[:3] = (labels[:3] + 1) % 10  # three are wrong
    model = HandMade()
    with pytest.raises(ValueError, match="at least one image; got none"):
        evaluate(model, Digits(images[:0], labels[:0], "sample"))
    for batch_size in (500, 4):
        result = evaluate(model, Digits(images, labels, "sample"), batch_size)
        assert result.error == pytest.approx(3 / 11)
        expected = oracle.margin_loss(images[:, 0, 0, :10], oracle.multi_hot(labels, 10))
        assert result.margin_loss == pytest.approx(expected, rel=1e-5)
        assert result.reconstruction_mse == pytest.approx(
            (images - 0.5).square().mean().item(), rel=1e-5
        )


# --- the same again


def test_the_same_seed_gives_the_same_network_bit_by_bit():
    first, its_history = fit(networks.learner(), few(), RECIPE, progress=False)
    torch.rand(3)  # chance that is drawn elsewhere makes no difference
    second, history = fit(networks.learner(), few(), RECIPE, progress=False)
    assert_same_tensors(second.state_dict(), first.state_dict())
    assert without_times(history.curve) == without_times(its_history.curve)
    other, _ = fit(networks.learner(), few(), replace(RECIPE, seed=4), progress=False)
    assert not other.conv.weight.equal(first.conv.weight)


@pytest.mark.parametrize("average", [0.8, 0.0])
def test_a_resumed_run_ends_as_one_that_was_not_interrupted(average, tmp_path):
    recipe = replace(RECIPE, average=average)
    expected, its_history = fit(networks.learner(), few(), recipe, validation=few(), progress=False)
    rest = {
        "validation": few(),
        "checkpoint": tmp_path / "new" / "c",
        "progress": False,
        "resume": True,
    }
    with pytest.raises(Stop):
        fit(networks.learner(), few(), recipe, on_epoch=stop_after(12), **rest)
    model = networks.learner()
    model.conv.weight.data += 1  # where a resumed run starts from does not matter
    result, history = fit(model, few(), recipe, **rest)
    assert_same_tensors(result.state_dict(), expected.state_dict())
    assert history.step == its_history.step
    assert without_times(history.curve) == without_times(its_history.curve)
    again, history = fit(networks.learner(), few(), recipe, **rest)
    assert_same_tensors(
        again.state_dict(), expected.state_dict()
    )  # a finished run has nothing left to do
    assert history.step == 24


def test_a_run_of_the_rate_0_01_is_gone_on_with_by_a_recipe_that_names_none(tmp_path):
    # Checkpoints written before a recipe could leave the rate open hold this number.
    named = replace(RECIPE, learning_rate=0.01)
    assert RECIPE.learning_rate is None
    expected, _ = fit(networks.learner(), few(), named, progress=False)
    rest = {"checkpoint": tmp_path / "c", "progress": False}
    with pytest.raises(Stop):
        fit(networks.learner(), few(), named, on_epoch=stop_after(12), **rest)
    assert read_tensors(tmp_path / "c")[1]["checkpoint"]["recipe"]["learning_rate"] == 0.01
    result, history = fit(networks.learner(), few(), RECIPE, resume=True, **rest)
    assert history.step == 24
    assert_same_tensors(result.state_dict(), expected.state_dict())


# --- kill -9


KILLED = replace(RECIPE, epochs=20)


def train_until_killed(folder: Path, dies_in_write: int, epochs_done: Connection) -> None:
    """Train for 80 steps in a process to be killed, and resume from its checkpoint if there is one.

    With `dies_in_write` = n the process kills itself in the n-th checkpoint, at the worst moment:
    written, not yet in place.
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
    rest = {"checkpoint": folder / "checkpoint", "resume": True, "progress": False}
    tell = {"on_epoch": lambda _, history: epochs_done.send(history.step)}
    model, history = fit(networks.learner(), few(), KILLED, **rest, **tell)
    save_weights(model, folder / "weights", torch.float32)
    (folder / "curve").write_text(json.dumps(without_times(history.curve)))


def in_a_process(work: Any, *arguments: Any) -> tuple[Any, Connection]:
    context = multiprocessing.get_context("forkserver")  # imports torch once, not once a process
    context.set_forkserver_preload(["torch", "torchvision", "capsnet_tutorial.train"])
    listening, sending = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(*arguments, sending))
    process.start()
    sending.close()  # so that the pipe ends with the process
    return process, listening


def wait(process: Any) -> int:
    process.join(120)
    assert process.exitcode is not None, "the run hangs"
    return process.exitcode


NO_KILL = pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")


@NO_KILL
def test_a_run_that_is_killed_at_any_moment_can_be_resumed_and_ends_bit_equal(tmp_path):
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    undisturbed.mkdir()
    killed.mkdir()
    process, epochs_done = in_a_process(train_until_killed, undisturbed, 0)
    ends = []
    with suppress(EOFError):
        while epochs_done.poll(60):
            epochs_done.recv()
            ends.append(time.perf_counter())
    assert wait(process) == 0
    an_epoch = (ends[-1] - ends[0]) / (len(ends) - 1)

    for dies_in_write in (1, 3):
        process, _ = in_a_process(train_until_killed, killed, dies_in_write)
        assert wait(process) == -signal.SIGKILL
        assert (killed / "checkpoint").exists() == (dies_in_write > 1)
    chance = random.Random(0)
    steps = [read_tensors(killed / "checkpoint")[1]["checkpoint"]["history"]["step"]]
    for _ in range(4):
        process, epochs_done = in_a_process(train_until_killed, killed, 0)
        for _ in range(chance.randint(1, 2)):
            assert epochs_done.poll(60)
            epochs_done.recv()
        time.sleep(chance.uniform(0, an_epoch))
        process.kill()
        assert wait(process) in (-signal.SIGKILL, 0)  # 0: it was faster than we
        steps.append(
            read_tensors(killed / "checkpoint")[1]["checkpoint"]["history"]["step"]
        )  # whole and readable
    assert steps == sorted(steps)
    assert 0 < steps[0] < steps[-1]

    process, _ = in_a_process(train_until_killed, killed, 0)
    assert wait(process) == 0
    for name in ("checkpoint", "weights"):
        assert_same_tensors(read_tensors(killed / name)[0], read_tensors(undisturbed / name)[0])
    assert (killed / "curve").read_text() == (undisturbed / "curve").read_text()
    assert {path.name for path in killed.iterdir()} == {".lock", "checkpoint", "weights", "curve"}


def hold(folder: Path, epochs_done: Connection) -> None:
    def sleep(_: Any, history: Any) -> None:
        epochs_done.send(history.step)
        time.sleep(60)

    fit(
        networks.learner(),
        few(),
        RECIPE,
        checkpoint=folder / "c",
        progress=False,
        threads=1,
        on_epoch=sleep,
    )


@NO_KILL
def test_a_second_run_in_the_same_folder_is_refused_until_the_first_is_gone(tmp_path):
    process, epochs_done = in_a_process(hold, tmp_path)
    try:
        assert epochs_done.poll(60)
        before = (tmp_path / "c").read_bytes()
        with pytest.raises(
            ValueError,
            match=f"a folder that no other run writes to; got {tmp_path}, where one is at",
        ):
            fit(
                networks.learner(),
                few(),
                RECIPE,
                checkpoint=tmp_path / "c",
                resume=True,
                progress=False,
            )
        assert (tmp_path / "c").read_bytes() == before
    finally:
        process.kill()
        process.join(60)
    _, history = fit(
        networks.learner(), few(), RECIPE, checkpoint=tmp_path / "c", resume=True, progress=False
    )
    assert history.step == 24


# --- what can go wrong


def test_a_run_that_diverges_says_so_and_keeps_a_sound_checkpoint(tmp_path):
    recipe = replace(RECIPE, learning_rate=1e37)
    with pytest.raises(
        Diverged, match="the loss is (nan|inf) after .* steps; try a lower learning rate"
    ):
        fit(networks.learner(), few(), recipe, checkpoint=tmp_path / "c", progress=False)
    tensors, metadata = read_tensors(tmp_path / "c")
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    assert all(math.isfinite(point["loss"]) for point in metadata["checkpoint"]["history"]["curve"])


@pytest.mark.parametrize(("scale", "dtype"), [(1, torch.uint8), (0.3, torch.float32)])
def test_digits_are_bytes_on_the_device_where_nothing_is_lost(monkeypatch, scale, dtype):
    dtypes, batch = [], Digits.batch
    monkeypatch.setattr(
        Digits, "batch", lambda data, *rest: dtypes.append(data.images.dtype) or batch(data, *rest)
    )
    fit(networks.learner(), few()._replace(images=scale * few().images), ONE_EPOCH, progress=False)
    assert set(dtypes) == {dtype}


def test_bad_digits_are_refused():
    good = few()
    cases = {
        "at least one batch of 16 images; got 15": few(15),
        "images in floating point": good._replace(images=(good.images * 255).to(torch.uint8)),
        "labels from 0 to 9": good._replace(labels=good.labels + 1),
    }
    for message, data in cases.items():
        with pytest.raises(ValueError, match=message):
            fit(
                networks.learner(),
                data,
                replace(ONE_EPOCH, augmentation=Augmentation()),
                progress=False,
            )
    with pytest.raises(ValueError, match="a finite validation error; got nan"):
        fit(networks.learner(), good, ONE_EPOCH, validation=lambda _: math.nan, progress=False)


def stored_run(folder: Path) -> Path:
    fit(
        networks.learner(),
        few(),
        ONE_EPOCH,
        checkpoint=folder / "c",
        identity={"task": "digits"},
        progress=False,
    )
    return folder / "c"


def resume(path: Path, recipe: Recipe = ONE_EPOCH, model: Any = None, task: str = "digits") -> None:
    model = model or networks.learner()
    fit(model, few(), recipe, checkpoint=path, identity={"task": task}, resume=True, progress=False)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = stored_run(tmp_path)
    with pytest.raises(
        ValueError, match="a checkpoint of a run with the recipe {'seed': 4}; got {'seed': 3} in"
    ):
        resume(path, replace(ONE_EPOCH, seed=4))
    with pytest.raises(
        ValueError, match="a checkpoint of a run with the task pairs; got digits in"
    ):
        resume(path, task="pairs")
    other = networks.learner()
    other.config = replace(other.config, iterations=2)
    with pytest.raises(ValueError, match="a checkpoint of a run with the config .*; got"):
        resume(path, model=other)


DAMAGE = {
    "no history": lambda tensors, about: about.pop("history"),
    "a history of text": lambda tensors, about: about["history"].update(step="4"),
    "no moments": lambda tensors, about: tensors.pop("adam.exp_avg.routed.weight"),
    "another shape": lambda tensors, about: tensors.update({"model.conv.bias": torch.zeros(3)}),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_checkpoint_is_refused(damage, tmp_path):
    path = stored_run(tmp_path)
    tensors, metadata = read_tensors(path)
    damage(tensors, metadata["checkpoint"])
    write_tensors(path, tensors, metadata)
    with pytest.raises(ValueError, match="expected .*; got"):
        resume(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (name, math.nan)
            for name in ("epochs", "seconds", "learning_rate", "reconstruction_weight", "warmup")
        ),
        *(("batch_size", 1.5), ("average", 1), ("stop_at_accuracy", 101), ("precision", "fp16")),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(field, value):
    with pytest.raises(ValueError, match=f"expected {field}.*; got {value!r}"):
        replace(RECIPE, **{field: value})
