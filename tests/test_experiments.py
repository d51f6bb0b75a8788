"""plan.py and the command: the runs that are listed, the smallest of each kind, their records."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from capsnet_book.experiments.__main__ import COMMAND, command_line, main, what_to_train
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.tables import COLUMNS, cell

from capsnet_tutorial.files import read_tensors

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = Experiments.read(ROOT / "results")

TINY = """
seeds = [0, 1]
common = "--epochs 1"
questions = []
[runs]
a = { arguments = "--preset small" }
b = { arguments = "--network cnn --learning-rate 0.003", seeds = [4, 1] }
c = { arguments = "--iterations 1", common = "--epochs 5", seeds = 1 }
d = { arguments = "" }
huge = { arguments = "--preset paper", large = true }
[tables]
one = { columns = ["error"], rows = [{ label = "A", run = "a" }, { label = "H", run = "huge" }] }
[[claims]]
text = "A beats B"
group = "cnn"
smaller = "a"
larger = "b"
column = "error"
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Experiments:
    (tmp_path / "experiments.toml").write_text(TINY, encoding="utf-8")
    return Experiments.read(tmp_path)


def test_a_claim_in_an_unknown_group_is_refused(tmp_path):
    contents = TINY.replace('group = "cnn"', 'group = "other"')
    (tmp_path / "experiments.toml").write_text(contents, encoding="utf-8")
    with pytest.raises(ValueError, match="a group, one of training, .*; got 'other'"):
        Experiments.read(tmp_path)


@pytest.mark.parametrize("name", EXPERIMENTS.runs)
def test_every_run_that_is_listed_can_be_run(name):
    """Its options are understood and its network is built, a large one without its numbers."""
    job, arguments = next(iter(EXPERIMENTS.jobs([name]).items()))
    setup, recipe = what_to_train(command_line().parse_args(["train", *arguments]))
    with torch.device("meta") if setup.preset == "paper" else nullcontext():
        setup.build()
    assert f"{recipe.seed}" == job.rpartition("-")[2]


def test_every_stored_run_is_repeated_by_its_command():
    jobs = EXPERIMENTS.jobs([*EXPERIMENTS.runs])
    for path in sorted((ROOT / "results" / "runs").glob("*.json")):
        command = json.loads(path.read_text(encoding="utf-8"))["command"]
        assert command.startswith(f"{COMMAND} {shlex.join(['train', *jobs[path.stem]])}"), path.stem


KINDS = {
    "capsnet": ["--preset", "small"],
    "cnn": ["--network", "cnn"],
    "a control": [
        "--change",
        "others-agreement",
        "--change",
        "types-2",
        "--change",
        "loss-released",
    ],
    "pairs": ["--task", "pairs"],
    "affine": ["--task", "affine", "--stop-at-accuracy", "1"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_of_each_kind_runs_and_leaves_its_record(kind, tmp_path):
    everything = [] if kind == "cnn" else ["--everything"]
    arguments = [
        "--source",
        "sample",
        *everything,
        "--epochs",
        "0.06",
        *KINDS[kind],
        "--output",
        str(tmp_path / "run"),
    ]
    main(["train", *arguments])
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    assert result["command"] == f"{COMMAND} {shlex.join(['train', *arguments])}"
    assert result["data"]["training_digits"] == (4500 if everything else 4000)
    assert result["recipe"]["augmentation"]["shift"] == {"pairs": 4, "affine": 6}.get(
        result["task"], 2
    )
    about = read_tensors(tmp_path / "run" / "weights.safetensors")[1]
    assert about["config"]["image_size"] == {"pairs": 36, "affine": 40}.get(result["task"], 28)
    named = {key for key in result["curve"][-1] if key.endswith("error")}
    assert named == {"cnn": {"validation_error"}, "affine": {"test_error"}}.get(kind, set())
    assert result["test"]["error"] == len(result["wrong"]["test"]) / 500
    assert (kind == "cnn") == ("rounds" not in result)
    if kind in ("capsnet", "pairs"):
        lacks = {"validation"} | (
            {"ink", "ink_present", "ink_absent"} if kind == "capsnet" else {"bent"}
        )
        for name, column in COLUMNS.items():
            if name not in lacks and not (kind == "pairs" and name.endswith("_bent")):
                assert cell(column, [result]) not in ("", "–"), name


# --- which jobs


def test_jobs_are_those_of_all_runs_or_those_asked_for_and_what_is_large_only_then(tiny):
    assert [*tiny.jobs()] == ["a-0", "a-1", "b-4", "b-1", "c-0", "d-0", "d-1"]
    assert [*tiny.jobs(["one"])] == ["a-0", "a-1", "huge-0", "huge-1"]
    assert [*tiny.jobs(["b-4", "c"])] == ["b-4", "c-0"]
    assert [*tiny.jobs(["huge-1"])] == ["huge-1"]
    with pytest.raises(
        ValueError, match="expected a table or a run, one of one, a, b, c, d, huge; got 'e'"
    ):
        tiny.jobs(["a", "e"])


# --- working them off


def test_what_is_missing_is_done_and_kept_and_a_run_that_fails_is_taken_up_again(tiny):
    done, failing = [], ["a-1"]

    def train(arguments: Sequence[str]) -> None:
        """Stands for the command."""
        assert arguments[0] == "train" and arguments[-1] == "--resume"
        output = Path(arguments[-2])
        done.append(output.name)
        if failing == [output.name]:
            failing.clear()
            raise KeyboardInterrupt
        output.mkdir(parents=True)
        (output / "result.json").write_text(json.dumps({"of": output.name}))

    tiny.result("b-1").parent.mkdir()
    tiny.result("b-1").write_text("{}")
    with pytest.raises(KeyboardInterrupt):
        tiny.run_missing(["a", "b"], train, tiny.folder / "work")
    assert done == ["a-0", "a-1"] and not tiny.result("a-1").exists()
    for _ in range(2):
        tiny.run_missing(["a", "b"], train, tiny.folder / "work")
        assert done == ["a-0", "a-1", "a-1", "b-4"]
    assert json.loads(tiny.result("a-1").read_text()) == {"of": "a-1"}
    assert tiny.result("b-1").read_text() == "{}"
