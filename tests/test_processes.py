"""processes.py: two processes on the CPU train as one does, and end together, whatever happens to one of them."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import networks
import pytest
import torch
from torch import Tensor

import capsnet_tutorial
from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.training import OutOfTime, Recipe, fit, paper_objective, processes
from capsnet_tutorial.training.processes import Processes, rank
from capsnet_tutorial.weights import read_tensors

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")

ROOT = Path(capsnet_tutorial.__file__).parent.parent
RECIPE = Recipe(epochs=2, batch_size=16, average=0.8, augmentation=Augmentation(shift=1, rotation=5), seed=3)
"""Eight steps of a few milliseconds."""


def few() -> Digits:
    sample = digits("train", source="sample")
    return Digits(sample.images[:64], sample.labels[:64], sample.source)


def one_of_two(number: int, port: int, work: Callable[..., Any], folder: Path, *arguments: Any) -> None:
    """What each process runs, as a launcher would start it; how it ended goes into a file."""
    torch.set_num_threads(1)
    os.environ |= {"ACCELERATE_USE_CPU": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    os.environ |= {"RANK": f"{number}", "LOCAL_RANK": f"{number}"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}"}
    try:
        said = work(folder, *arguments)
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
    (folder / f"{number}.json").write_text(json.dumps(said), encoding="utf-8")


def in_two(work: Callable[..., Any], folder: Path, *arguments: Any) -> list[Any]:
    """How each of two processes ended."""
    context = multiprocessing.get_context("forkserver")  # imports torch once, not once a process
    context.set_forkserver_preload(["torch", "torchvision", "accelerate", "capsnet_tutorial.training"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [
        context.Process(target=one_of_two, args=(number, port, work, folder, *arguments)) for number in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    hang = [process for process in processes if process.is_alive()]
    for process in hang:
        process.kill()
    assert not hang, "the processes do not end together"
    return [json.loads((folder / f"{number}.json").read_text(encoding="utf-8")) for number in range(2)]


# --- as one process does


def train(folder: Path, recipe: Recipe) -> dict[str, Any]:
    network, data = networks.learner(), few()
    with torch.no_grad():  # where the processes were not seeded alike, the main one's weights count
        network.conv.weight += rank()
    model, history = fit(
        network, data, recipe, validation=data, checkpoint=folder / "checkpoint", log=folder / "log", progress=False
    )
    weights = {name: tensor.tolist() for name, tensor in model.state_dict().items()}
    return {"weights": weights, "history": asdict(history)}


@pytest.mark.parametrize(
    "recipe",
    [RECIPE, replace(RECIPE, reconstruction_weight=0.0, patience=1, average=0.0)],
    ids=["plain", "patient, decoder unused"],
)
def test_two_processes_agree_with_one_on_the_same_batches(recipe, tmp_path):
    (tmp_path / "two").mkdir()
    (tmp_path / "one").mkdir()
    first, second = in_two(train, tmp_path / "two", recipe)
    alone = train(tmp_path / "one", recipe)
    assert first == second
    assert first["history"]["step"] == alone["history"]["step"]
    for name, expected in alone["weights"].items():
        difference = torch.tensor(first["weights"][name]) - torch.tensor(expected)
        assert difference.abs().max() <= 1e-6, name
    for came, expected in zip(first["history"]["curve"], alone["history"]["curve"], strict=True):
        assert came["loss"] == pytest.approx(expected["loss"], abs=1e-6)
        assert came["validation_error"] == expected["validation_error"]
    assert len(list((tmp_path / "two" / "log").iterdir())) == 1, "only the main process writes"


def test_a_run_on_time_ends_in_both_at_the_same_step(tmp_path):
    first, second = in_two(train, tmp_path, replace(RECIPE, seconds=1.0))
    assert first == second
    assert first["history"]["seconds"] >= 1


def broadcasts(folder: Path) -> list[int]:
    """How often the processes of a run wait for the main one, by the number of its steps."""
    calls = 0
    original = processes.broadcast_object_list

    def counted(outcome: list[Any]) -> list[Any]:
        nonlocal calls
        calls += 1
        return original(outcome)

    processes.broadcast_object_list = counted
    found = []
    for batch_size in (32, 4):
        calls = 0
        fit(networks.learner(), few(), replace(RECIPE, epochs=1, batch_size=batch_size), progress=False)
        found.append(calls)
    return found


def test_no_step_waits_for_a_clock_where_nothing_depends_on_it(tmp_path):
    for few_steps, many_steps in in_two(broadcasts, tmp_path):
        assert 0 < few_steps == many_steps


# --- ending together


def diverge_in_one(folder: Path) -> None:
    def objective(output: Any, images: Tensor, targets: Tensor) -> Tensor:
        loss = paper_objective()(output, images, targets)
        return loss * torch.nan if rank() == 1 else loss

    fit(networks.learner(), few(), RECIPE, objective=objective, checkpoint=folder / "checkpoint", progress=False)


def test_where_one_diverges_both_end(tmp_path):
    for end in in_two(diverge_in_one, tmp_path):
        assert end.startswith("Diverged: the loss is nan after 4 steps")
    assert read_tensors(tmp_path / "checkpoint")[1]["checkpoint"]["history"]["step"] == 0


def stop_and_go_on(folder: Path) -> list[Any]:
    said: list[Any] = []
    recipe = replace(RECIPE, epochs=40)
    go_on = {"data": few(), "recipe": recipe, "checkpoint": folder / "checkpoint", "progress": False}
    time.sleep(rank())  # their clocks do not agree
    try:
        fit(networks.learner(), limit_minutes=0.12 / 60, **go_on)
    except OutOfTime as problem:
        said.append(f"{problem}")
    stored = read_tensors(folder / "checkpoint")[1]["checkpoint"]["history"]["step"]
    _, history = fit(networks.learner(), limit_minutes=10, resume=True, **go_on)
    return [*said, stored, history.step]


def test_out_of_time_both_stop_at_the_same_step_and_go_on_from_it(tmp_path):
    first, second = in_two(stop_and_go_on, tmp_path)
    assert first == second
    said, stored, steps = first
    assert said.startswith(f"0.002 minutes are over after {stored} steps")
    assert 0 < stored < steps == 160


def write_nowhere(folder: Path) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    if rank() == 0:
        os.fsync = fail
    fit(networks.learner(), few(), RECIPE, checkpoint=folder / "checkpoint", progress=False)


def test_where_the_main_process_cannot_write_both_end(tmp_path):
    first, second = in_two(write_nowhere, tmp_path)
    assert "No space left on device" in first
    assert second.startswith("FailedElsewhere")


def share_unequally(folder: Path) -> None:
    fit(networks.learner(), few(), replace(RECIPE, batch_size=15), progress=False)


def test_a_batch_that_two_cannot_share_equally_is_refused(tmp_path):
    for end in in_two(share_unequally, tmp_path):
        assert end == "ValueError: expected a batch_size that 2 processes share equally; got 15"


# --- launched


def test_processes_that_would_not_work_together_are_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="expected 2 processes, as were launched, to train together; got 1 on its own"):
        Processes()


def test_the_command_runs_under_a_launcher(tmp_path):
    """The one that "When it does not learn" names, on a port of its own, where there may be no GPU."""
    launch = "accelerate launch --multi_gpu --num_processes 2 -m capsnet_tutorial.cli"
    chapter = json.loads((ROOT / "book" / "chapters" / "18-when-it-does-not-learn.ipynb").read_text(encoding="utf-8"))
    assert any(launch in "".join(cell["source"]) for cell in chapter["cells"])
    command = [*launch.split(" -m ")[0].split(), "--main_process_port", "0", "-m", "capsnet_tutorial.cli"]
    command[:1] = [sys.executable, "-m", "accelerate.commands.accelerate_cli"]
    command += ["train", "--source", "sample", "--epochs", "0.1", "--output", str(tmp_path / "run")]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "4,000 digits to train on (sample), 500 to validate, 2 processes"
    spoken = [line.split(":")[0] for line in said]
    assert {"validation", "test"} <= set(spoken)
    assert len(spoken) == len(set(spoken)), "only the main process prints"
    assert done.stderr.count("00:00<?") == 1, "only the main process shows a bar"
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    assert result["hardware"]["processes"] == 2
    assert result["steps"] == 4
