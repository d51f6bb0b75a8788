"""Training in two processes: the same steps as in one, kept and resumed as one, failing as one."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networks
import pytest
import torch
import torch.distributed as dist
import training_oracle
from PIL import Image
from torch import Tensor

import capsnet_tutorial
from capsnet_tutorial.data import Digits
from capsnet_tutorial.files import read_tensors, write_tensors
from capsnet_tutorial.functional import margin_loss, reconstruction_loss
from capsnet_tutorial.model import CapsNetOutput
from capsnet_tutorial.train import Diverged, Processes, Recipe, fit, paper_objective

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the processes meet in a file of POSIX"),
]

RECIPE = Recipe(
    epochs=training_oracle.EPOCHS,
    batch_size=training_oracle.BATCH,
    learning_rate=training_oracle.PEAK,
    seed=training_oracle.SEED,
)
IMAGES = 70
"""Four batches of 16, and an incomplete one."""


def exact_digits(count: int = IMAGES) -> Digits:
    digits = networks.few(count)
    return digits._replace(images=digits.images.double())


def in_two_processes(work: Callable[..., None], folder: Path, *arguments: Any) -> list[int]:
    """Run ``work(folder, *arguments)`` in two processes of a group; return their exit codes."""
    folder.mkdir(exist_ok=True)
    (folder / "store").unlink(missing_ok=True)
    context = multiprocessing.get_context("forkserver")  # imports torch once, not once a process
    context.set_forkserver_preload(["torch", "torchvision", "capsnet_tutorial.train"])
    processes = [
        context.Process(target=_in_group, args=(rank, folder, work, arguments)) for rank in (0, 1)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        process.kill()
        process.join()
    return [process.exitcode for process in processes]


def _in_group(rank: int, folder: Path, work: Callable[..., None], arguments: tuple) -> None:
    torch.set_num_threads(1)
    store = f"file://{folder / 'store'}"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
    work(folder, *arguments)
    dist.destroy_process_group()


def results(folder: Path) -> list[dict[str, Tensor]]:
    """Return the networks that both processes have written."""
    return [read_tensors(folder / f"result-{rank}")[0] for rank in (0, 1)]


def train(folder: Path, recipe: Recipe, checkpoint: str | None = None) -> None:
    """Train in one of the processes; write the network that it returns, and the history."""
    network, history = fit(
        networks.learner().double(),
        exact_digits(),
        recipe,
        checkpoint=None if checkpoint is None else folder / checkpoint,
        validation=networks.few(20)._replace(images=exact_digits(20).images),
        resume=True,
        progress=False,
    )
    errors = [point["validation_error"] for point in history.curve]
    losses = [point["loss"] for point in history.curve]
    about = {"errors": errors, "losses": losses}
    write_tensors(folder / f"result-{dist.get_rank()}", network.state_dict(), about)


def loss_function(output: CapsNetOutput, images: Tensor, labels: Tensor) -> Tensor:
    drawing = reconstruction_loss(output.reconstruction, images)
    return margin_loss(output.lengths, labels) + 0.0005 * drawing


def test_two_processes_take_the_twelve_steps_of_a_training_in_plain_loops(tmp_path):
    data = exact_digits()
    network = networks.learner().double()
    expected = training_oracle.train(network, data.images, data.labels, loss_function)
    assert in_two_processes(train, tmp_path, RECIPE) == [0, 0]
    for average in results(tmp_path):
        for name, tensor in expected.average.items():
            torch.testing.assert_close(average[name], tensor, rtol=1e-8, atol=1e-10)


def test_a_decoder_without_a_loss_is_left_alone_and_losses_and_errors_are_those_of_one(tmp_path):
    recipe = replace(RECIPE, reconstruction_weight=0)
    network = networks.learner().double()
    validation = exact_digits(20)
    expected, history = fit(
        network, exact_digits(), recipe, validation=validation, progress=False, threads=1
    )
    assert in_two_processes(train, tmp_path, recipe) == [0, 0]
    for result in results(tmp_path):
        for name, tensor in expected.state_dict().items():
            torch.testing.assert_close(result[name], tensor, rtol=1e-8, atol=1e-10)
    for rank in (0, 1):
        about = read_tensors(tmp_path / f"result-{rank}")[1]
        assert about["errors"] == [point["validation_error"] for point in history.curve]
        assert about["losses"] == pytest.approx([point["loss"] for point in history.curve])


def die_in_write(folder: Path, recipe: Recipe, number: int) -> None:
    """Train, but kill the first process in a checkpoint: written, not yet in place."""
    replace_file = os.replace
    writes = []

    def deadly_replace(*paths: Any) -> None:
        writes.append(paths)
        if len(writes) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        replace_file(*paths)

    os.replace = deadly_replace
    train(folder, recipe, "checkpoint")


def test_two_processes_that_were_killed_are_resumed_and_end_bit_equal(tmp_path):
    undisturbed = tmp_path / "undisturbed"
    killed = tmp_path / "killed"
    assert in_two_processes(train, undisturbed, RECIPE, "checkpoint") == [0, 0]
    codes = in_two_processes(die_in_write, killed, RECIPE, 3)
    assert codes[0] == -signal.SIGKILL and codes[1] != 0
    assert read_tensors(killed / "checkpoint")[1]["checkpoint"]["history"]["step"] == 4
    assert in_two_processes(train, killed, RECIPE, "checkpoint") == [0, 0]
    expected = results(undisturbed)[0]
    for result in results(killed):
        for name, tensor in expected.items():
            assert result[name].equal(tensor), name
    wanted = "expected a checkpoint of a run with the processes None; got 2"
    with pytest.raises(ValueError, match=wanted):  # one process would add up in another order
        fit(
            networks.learner().double(),
            exact_digits(),
            RECIPE,
            checkpoint=killed / "checkpoint",
            resume=True,
            progress=False,
            threads=1,
        )


def diverge(folder: Path) -> None:
    """Train, with a loss that is nan in the second process alone; write the message."""

    def objective(output: CapsNetOutput, images: Tensor, targets: Tensor) -> Tensor:
        loss = paper_objective()(output, images, targets)
        return loss * math.nan if dist.get_rank() == 1 else loss

    with pytest.raises(Diverged) as problem:
        fit(networks.learner(), networks.few(), RECIPE, objective=objective, progress=False)
    (folder / f"message-{dist.get_rank()}").write_text(str(problem.value))


def test_what_diverges_in_one_process_diverges_in_both(tmp_path):
    assert in_two_processes(diverge, tmp_path) == [0, 0]
    messages = {(tmp_path / f"message-{rank}").read_text() for rank in (0, 1)}
    assert messages == {"the loss is nan after 4 steps; try a lower learning rate"}


# --- what cannot be shared out


def test_other_examples_in_another_process_are_refused(tmp_path):
    assert in_two_processes(train_on_own_number, tmp_path) == [0, 0]


def train_on_own_number(_: Path) -> None:
    count = 64 + 2 * dist.get_rank()
    wanted = f"as many examples in each process; got {count} here, 65.0 on average"
    with pytest.raises(ValueError, match=wanted):
        fit(networks.learner(), networks.few(count), RECIPE, progress=False)


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (replace(RECIPE, batch_size=15), "a batch_size that 2 processes .* equally; got 15"),
        (replace(RECIPE, seconds=5), "a run of epochs with several .*; got a run of seconds"),
    ],
)
def test_a_recipe_that_two_processes_cannot_follow_is_refused(recipe, message):
    with pytest.raises(ValueError, match=message):
        Processes(rank=0, count=2).expect_same_run(recipe, 64)


# --- the command


def torchrun(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``capsnet train`` with these arguments in two processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", "-m", "capsnet_tutorial", "train", *arguments]
    root = str(Path(capsnet_tutorial.__file__).parent.parent)
    environment = os.environ | {"PYTHONPATH": root, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)


def test_torchrun_trains_on_a_folder_of_pictures(tmp_path):
    """An eighth of the 24 pictures is 3: no batch for two processes."""
    for name, value in {"dark": 60, "light": 200}.items():
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for k in range(15):
            picture = Image.new("L", (20, 20), value + k)
            picture.save(tmp_path / "pictures" / name / f"{k}.png")
    output = tmp_path / "run"
    done = torchrun(
        "--images", str(tmp_path / "pictures"), "--size", "20", "--epochs", "1",
        "--output", str(output),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("24 pictures to train on, 6 held out") == 1
    record = json.loads((output / "result.json").read_text(encoding="utf-8"))
    assert record["hardware"]["processes"] == 2 and record["recipe"]["batch_size"] == 2
    assert record["steps"] == 12 and record["data"]["classes"] == ["dark", "light"]
    assert (output / "bent.png").exists() and (output / "weights.safetensors").exists()


def test_torchrun_starts_the_command(tmp_path):
    done = torchrun("--source", "sample", "--epochs", "0.1", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("4,000 digits to train on (sample), 500 to validate") == 1
    assert done.stdout.count("4 steps in") == 1
    record = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert record["steps"] == 4 and record["hardware"]["processes"] == 2
