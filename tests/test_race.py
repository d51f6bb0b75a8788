"""race/: what it finds in a routing, what it trains and what it does not, and what it says of bad input."""

from __future__ import annotations

import json
import math
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import RunRecord
from capsnet_book.race import properties, race
from capsnet_book.race.contestant import contestant
from capsnet_book.race.cost import peak_bytes
from capsnet_book.race.plan import EPOCHS, Plan, fitting_epochs, recorded_runs
from capsnet_book.race.verdict import compare, verdict
from capsnet_book.routings.zoo import ZOO
from torch import Tensor, nn

from capsnet_tutorial.cli import main
from capsnet_tutorial.functional import route, squash
from capsnet_tutorial.model import CapsNetConfig


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_has_every_property(name):
    assert properties(ZOO[name].make(CapsNetConfig.small())).passed


def sums_the_batch(u_hat: Tensor, iterations: int) -> Tensor:
    return squash(u_hat.sum(dim=1) / 10 + 0.1 * u_hat.sum(dim=(0, 1)))


def prefers_the_first_below(u_hat: Tensor, iterations: int) -> Tensor:
    return squash(u_hat[:, :5].sum(dim=1) + 0.1 * u_hat.sum(dim=1))


def prefers_the_last_above(u_hat: Tensor, iterations: int) -> Tensor:
    return squash(u_hat.sum(dim=1) * torch.linspace(0.1, 1, u_hat.shape[2]).unsqueeze(1))


def divides_by_zero(u_hat: Tensor, iterations: int) -> Tensor:
    s = u_hat.sum(dim=1) / 10
    length = s.square().sum(dim=2, keepdim=True).sqrt()
    return s / length * (1 - (-length).exp())


def without_end(u_hat: Tensor, iterations: int) -> Tensor:
    return u_hat.sum(dim=1)


class Counts(nn.Module):
    calls = 0

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        self.calls += 1
        return squash(u_hat.sum(dim=1) / self.calls)


class Shares(nn.Module):
    def couplings(self, u_hat: Tensor, iterations: int) -> Tensor:
        return torch.full_like(u_hat[..., 0], 0.3)

    def forward(self, u_hat: Tensor, iterations: int) -> Tensor:
        return squash(0.3 * u_hat.sum(dim=1))


@pytest.mark.parametrize(
    ("routing", "lacking"),
    [
        (sums_the_batch, "an image alone is as in a batch"),
        (prefers_the_first_below, "the order of i does not matter"),
        (prefers_the_last_above, "the order of j does not matter"),
        (divides_by_zero, "gradients are finite"),
        (without_end, "lengths are from 0 to 1"),
        (Counts(), "remembers nothing"),
        (Shares(), "couplings share out"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_what_is_lacking_is_named_and_nothing_else(routing, lacking):
    found = properties(routing)
    assert lacking in found.lacking
    assert set(found.lacking) <= {lacking, "an image alone is as in a batch"} or isinstance(routing, Counts)


@pytest.mark.parametrize(
    "routing", [lambda u_hat: u_hat, lambda u_hat, r: None, lambda u_hat, r: u_hat, lambda u, r: 1 / 0]
)
def test_what_cannot_be_called_gets_a_sentence(routing):
    found = properties(routing)
    assert found.lacking == ["can be called"]
    assert len(found.found) == 1


def test_the_longest_race_that_fits_is_chosen_and_the_papers_records_are_not_trained_again():
    steps = {"own": 60.0, "paper": 30.0}
    fit = [fitting_epochs(minutes, 3, 469, steps, recorded=True) for minutes in (5, 10, 17.5)]
    assert fit == [1, 4, 12]  # 17.5 minutes: own alone, 3 · (12 · 469 + 200) · 60 ms; 8 epochs of both take longer
    assert fitting_epochs(17.5, 3, 469, steps, recorded=False) == 6
    assert fitting_epochs(1e6, 3, 469, steps, recorded=False) == EPOCHS[-1]
    with pytest.raises(ValueError, match=r"at least 3.\d minutes for 3 seeds of 1 epoch each.*; got 1"):
        fitting_epochs(1, 3, 469, steps, recorded=True)


def test_a_race_of_twelve_epochs_meets_the_projects_records():
    found = recorded_runs(Plan("digits", "mnist", 12, [0, 1, 2]), 60_000)
    assert {"paper", "even", "self-attention"} <= set(found)
    assert [each.recipe.seed for each in found["paper"]] == [0, 1, 2]
    assert recorded_runs(Plan("digits", "mnist", 6, [0, 1, 2]), 60_000) == {}
    assert recorded_runs(Plan("digits", "sample", 12, [0, 1, 2]), 4500) == {}
    assert "paper" in recorded_runs(Plan("affine", "mnist", 12, [0]), 60_000)


def records(run: str) -> list[RunRecord]:
    return [
        RunRecord.from_dict(json.loads(Experiments.read().result(f"{run}-{seed}").read_text(encoding="utf-8")))
        for seed in range(3)
    ]


def test_differences_are_paired_by_seed_and_the_verdict_follows_their_interval():
    paper = records("small-r3")
    assert paper[0].test is not None

    def worse_by(*points: float) -> list[RunRecord]:
        return [
            replace(each, test={**each.test, "error": each.test["error"] + more / 100})
            for each, more in zip(paper, points, strict=True)
        ]

    (error,) = [each for each in compare(worse_by(1, 1.2, 0.8), paper[::-1]) if each.measure == "error"]
    assert error.mean == pytest.approx(1)
    assert error.difference is not None
    half = 4.302653 * 0.2 / math.sqrt(3)  # Student's t of 2 degrees of freedom, 97.5 %
    assert (error.difference.low, error.difference.high) == pytest.approx((1 - half, 1 + half))
    for points, word in (((1, 1.2, 0.8), "Worse"), ((-0.1, -0.12, -0.09), "Better"), ((1, -0.1, 0.3), "No difference")):
        assert verdict("own", {"own": worse_by(*points), "paper": paper}, {}, 12)[0].startswith(word)
    few = verdict("own", {"own": worse_by(-0.1, -0.101, -0.1)[:2], "paper": paper}, {}, 12)
    assert few[0] == "Against the paper's routing: error -0.10 points."  # an interval of two would not hold 0
    assert "2 seeds cannot tell" in few[-1]
    assert compare(worse_by(1, 1.2, 0.8)[:2], paper)[0].difference is None
    lost = replace(paper[0], diverged="the loss is nan")
    assert "1 of 3 seeds diverged" in verdict("own", {"own": [lost, *paper[1:]], "paper": paper}, {}, 12)[0]


def test_memory_is_counted_at_its_peak():
    def run() -> None:
        for _ in range(3):
            torch.ones(2**20).add(1)  # 4 MiB, and 4 MiB more

    assert peak_bytes(run) == pytest.approx(8 * 2**20, rel=0.01)


MINE = """
import torch
from torch import nn
from capsnet_tutorial.functional import squash

class Mine(nn.Module):
    def __init__(self, gain=2.0):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(gain))
    def couplings(self, u_hat, iterations):
        return torch.full_like(u_hat[..., 0], 1 / u_hat.shape[2])
    def forward(self, u_hat, iterations):
        return squash(self.gain * u_hat.mean(dim=1))

def raises_late(u_hat, iterations):
    if len(u_hat) == 128 and u_hat.requires_grad and torch.rand(()) < 0.3:
        raise RuntimeError("no more")
    return squash(u_hat.sum(dim=1))

def never(u_hat, iterations):
    while True:
        pass

def nothing(u_hat, iterations):
    return u_hat[:, 0] * float("nan")
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    return path


SHORT = ["--epochs", "0.1", "--seeds", "2", "--source", "sample"]


def test_a_race_from_the_command_to_the_record_and_again(mine, tmp_path, capfd):
    command = ["race", f"{mine}:Mine(3.0)", *SHORT, "--output", str(tmp_path / "out")]
    assert main(command) == 0
    said = capfd.readouterr().out
    assert "4 of 4: paper, seed 1" in said
    assert "Against" in said or "difference" in said or "than the paper's" in said
    (path,) = tmp_path.glob("out/mine*/race.json")
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["runs"].keys() == {"mine.py:Mine(3.0)", "paper"}
    record = RunRecord.from_dict(found["runs"]["mine.py:Mine(3.0)"][1])
    assert (record.recipe.seed, record.changes, record.parameters) == (1, ["mine.py:Mine(3.0)"], 454_993)
    assert record.entropy == pytest.approx(1)
    assert all(cost["milliseconds"] > 0 for cost in found["costs"].values())
    assert main(command) == 0  # nothing is left to train
    assert "seed 1;" not in capfd.readouterr().out


@pytest.mark.parametrize("task", ["pairs", "affine"])
def test_the_other_tasks_are_raced_too(tmp_path, task):
    found = race(
        "even", task=task, epochs=0.05, seeds=1, source="sample", folder=tmp_path, say=lambda line: None, progress=False
    )
    size = {"pairs": 36, "affine": 40}[task]
    for records in found.arms.values():
        (record,) = records
        assert (record.task, record.config["image_size"]) == (task, size)
        assert record.test is not None and 0 < record.test["error"] <= 1
        assert (record.test_bent is not None) == (task == "affine")
    assert found.arms["even"][0].config["iterations"] == 1
    assert {"paper", "even"} <= set(found.records)
    assert "For comparison, the project's records" in str(found)
    assert "One seed cannot tell" in found.verdict[-3]


@pytest.mark.parametrize(
    ("name", "options", "status", "words"),
    [
        ("nowhere", SHORT, 2, "something named nowhere"),
        ("never", [*SHORT, "--time-limit", "4"], 2, "did not return within 4 s"),
        ("nothing", SHORT, 2, "NO  can be called"),
        ("raises_late", SHORT, 2, "raised RuntimeError: no more"),
        ("Mine", ["--minutes", "0.001", "--source", "sample"], 2, "at least "),
    ],
)
def test_bad_input_gets_a_sentence(mine, tmp_path, capfd, name, options, status, words):
    assert main(["race", f"{mine}:{name}", *options, "--output", str(tmp_path)]) == status
    captured = capfd.readouterr()
    assert words in captured.out + captured.err
    assert "Traceback" not in captured.err


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["in the foreground", "in the background"])
def handler(request):
    """What an interrupt does: a shell starts in the background with interrupts ignored."""
    before = signal.signal(signal.SIGINT, request.param)
    yield request.param
    signal.signal(signal.SIGINT, before)


def test_a_call_that_never_returns_ends_the_training_and_keeps_what_was_trained(handler, tmp_path):
    steps = 0

    def gets_stuck(u_hat: Tensor, iterations: int) -> Tensor:
        nonlocal steps
        steps += len(u_hat) == 128
        while steps > 9:
            pass
        return squash(u_hat.sum(dim=1))

    with pytest.raises(ValueError, match=r"gets_stuck to train.*within 5 s: is there a loop.*was trained is kept"):
        race(gets_stuck, epochs=0.2, seeds=1, source="sample", folder=tmp_path, call_seconds=5, progress=False)
    assert list(tmp_path.glob("gets-stuck-*/digits-sample-0.2/0/checkpoint.safetensors"))
    assert signal.getsignal(signal.SIGINT) == handler


def test_no_such_file_and_no_such_name(tmp_path, capfd):
    assert main(["race", str(tmp_path / "none.py:route")]) == 2
    assert "no file" in capfd.readouterr().err
    assert main(["race", "nonsense"]) == 2
    assert "a name of the zoo, paper, even" in capfd.readouterr().err


def test_a_function_and_a_module_of_a_notebook_take_part():
    module = Shares()
    assert contestant(module).make(CapsNetConfig.small()) is not module  # a fresh one for every seed
    assert contestant(sums_the_batch).make(CapsNetConfig.small()) is sums_the_batch
    assert contestant(Shares).name == "Shares"
    with pytest.raises(ValueError, match="a routing other than the paper's"):
        race("paper")
    with pytest.raises(ValueError, match="these properties; got none with: an image alone"):
        race(sums_the_batch, say=lambda line: None)
    assert route is ZOO["paper"].make(CapsNetConfig.small())
