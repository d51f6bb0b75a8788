"""experiments.py and the runs that it lists: the smallest of each kind, for a few steps, and what becomes of them."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from capsnet_book.experiments.__main__ import main
from capsnet_book.experiments.plan import Experiments, missing_jobs, run_jobs
from capsnet_book.experiments.records import RunRecord
from capsnet_book.networks import load_network

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = Experiments.read(ROOT / "results")

TINY = """
seeds = [0, 1]
common = "--epochs 1"
order = [["one", "two"], ["three"]]
[runs]
a = { arguments = "--preset small" }
b = { arguments = "--network cnn --learning-rate 0.003" }
c = { arguments = "--iterations 1" }
huge = { arguments = "--preset paper", large = true }
[tables]
one = { title = "One", columns = ["error"], rows = [{ label = "A", run = "a" }, { label = "H", run = "huge" }] }
two = { title = "Two", columns = ["error"], rows = [{ label = "A", run = "a" }, { label = "B", run = "b" }] }
three = { title = "Three", columns = ["error"], rows = [{ label = "C", run = "c" }] }
[[claims]]
text = "A beats B"
smaller = "a"
larger = "b"
column = "error"
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Experiments:
    (tmp_path / "experiments.toml").write_text(TINY, encoding="utf-8")
    return Experiments.read(tmp_path)


# --- the project's own


SAMPLE = ["--source", "sample", "--batch-size", "5000"]


@pytest.mark.parametrize("name", EXPERIMENTS.runs)
def test_every_run_that_is_listed_can_be_run(name, tmp_path, capsys):
    """Refused for its lack of digits, and for nothing else: the options are understood, the network is built."""
    job = EXPERIMENTS.jobs([f"{name}-0"])[0]
    preset = ["--preset", "small"]  # instead of the paper's, which takes a second to build
    assert main(["train", *job.arguments, *SAMPLE, *preset, "--output", str(tmp_path / "run")]) == 2
    said = capsys.readouterr()
    digits = 4500 if "--everything" in job.arguments else 4000
    assert f"expected at least one batch of 5000 digits; got {digits}" in said.err


def test_every_run_is_in_a_table():
    assert {row.run for table in EXPERIMENTS.tables.values() for row in table.rows} == EXPERIMENTS.runs.keys()


def test_every_table_is_done_at_some_time_unless_all_of_it_is_large():
    large = {run for run, about in EXPERIMENTS.runs.items() if about.get("large")}
    done = {name for name, table in EXPERIMENTS.tables.items() if not {row.run for row in table.rows} <= large}
    assert {name for stage in EXPERIMENTS.order for name in stage} == done


def test_every_table_that_is_named_has_jobs():
    for name, table in EXPERIMENTS.tables.items():
        assert {job.name for job in EXPERIMENTS.jobs([name])} == {
            f"{row.run}-{seed}" for row in table.rows for seed in EXPERIMENTS.seeds_of(row.run)
        }


KINDS = {
    "capsnet": ["--preset", "small"],
    "one round, no reconstruction": ["--iterations", "1", "--reconstruction-weight", "0"],
    "cnn": ["--network", "cnn"],
    "a cnn without what a decoder has": ["--network", "cnn-recognising"],
    "a learned gain": ["--iterations", "1", "--change", "learned-gain"],
    "changes": ["--change", "softmax-axis", "--change", "loss-released"],
    "pairs": ["--task", "pairs"],
    "pairs with a cnn": ["--task", "pairs", "--network", "cnn"],
    "affine": ["--task", "affine", "--stop-at-accuracy", "1"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_of_each_kind_runs_and_leaves_a_result_of_the_schema(kind, tmp_path):
    everything = [] if kind == "cnn" else ["--everything"]
    arguments = ["--source", "sample", *everything, "--epochs", "0.06", *KINDS[kind]]
    assert main(["train", *arguments, "--output", str(tmp_path / "run")]) == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    RunRecord.from_dict(result)
    assert result["steps"] == 2 + bool(everything)
    assert result["data"]["training_digits"] == (4500 if everything else 4000)
    assert result["command"] == shlex.join(["capsnet", "train", *arguments, "--output", str(tmp_path / "run")])
    shift = {"pairs": 4, "affine": 6}.get(result["task"], 2)
    assert result["recipe"]["augmentation"]["shift"] == shift
    network = load_network(tmp_path / "run" / "weights.safetensors")
    assert network.config.image_size == {"pairs": 36, "affine": 40}.get(result["task"], 28)
    assert ("validation_error" in result["curve"][-1]) == (not everything or "--stop-at-accuracy" in arguments)


def test_every_stored_run_is_of_the_schema_and_of_its_name():
    jobs = {job.name: job for job in EXPERIMENTS.jobs([*EXPERIMENTS.tables, *EXPERIMENTS.runs])}
    for path in sorted((ROOT / "results" / "runs").glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        RunRecord.from_dict(result)
        repeats = shlex.join(["capsnet", "train", *jobs[path.stem].arguments, "--output"])
        assert result["command"].startswith(repeats), f"{path.stem} was run by another command than it would be today"


def test_a_run_that_lacks_something_is_not_of_the_schema(tmp_path):
    assert main(["train", "--source", "sample", "--epochs", "0.04", "--output", str(tmp_path / "run")]) == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    RunRecord.from_dict(result)
    # A routing need not offer couplings, and most records are older than ``saturated``.
    for key in result.keys() - {"entropy", "saturated"}:
        with pytest.raises(ValueError, match="expected"):
            RunRecord.from_dict({name: value for name, value in result.items() if name != key})
    for wrong in ({"steps": "3"}, {"extra": 1}, {"test": result["test"] | {"error": 2}}, {"rounds": []}):
        with pytest.raises(ValueError, match="expected"):
            RunRecord.from_dict(result | wrong)


# --- which jobs, in which order


def names(experiments: Experiments, *wanted: str) -> list[str]:
    return [job.name for job in experiments.jobs(wanted)]


def test_jobs_come_stage_by_stage_seed_by_seed_each_once(tiny):
    assert names(tiny) == ["a-0", "b-0", "a-1", "b-1", "c-0", "c-1"]


def test_a_table_a_run_or_a_seed_can_be_asked_for(tiny):
    assert names(tiny, "three") == ["c-0", "c-1"]
    assert names(tiny, "b") == ["b-0", "b-1"]
    assert names(tiny, "b-1", "three") == ["c-0", "c-1", "b-1"]


def test_what_is_large_runs_only_if_it_or_its_table_is_named(tiny):
    assert not [name for name in names(tiny) if name.startswith("huge")]
    assert names(tiny, "one") == ["a-0", "huge-0", "a-1", "huge-1"]
    assert names(tiny, "huge") == ["huge-0", "huge-1"]
    assert names(tiny, "huge-1") == ["huge-1"]


def test_a_job_is_the_common_arguments_its_own_and_its_seed(tiny):
    assert tiny.jobs(["c-1"])[0].arguments == ["--epochs", "1", "--iterations", "1", "--seed", "1"]


def test_a_run_may_have_seeds_and_common_arguments_of_its_own(tmp_path):
    several = TINY.replace('--iterations 1"', '--iterations 1", seeds = 3, common = "--epochs 5"', 1)
    listed = several.replace('--preset small"', '--preset small", seeds = [4]', 1)
    (tmp_path / "experiments.toml").write_text(listed, encoding="utf-8")
    experiments = Experiments.read(tmp_path)
    assert names(experiments) == ["b-0", "b-1", "a-4", "c-0", "c-1", "c-2"]
    assert names(experiments, "a-4", "c") == ["a-4", "c-0", "c-1", "c-2"]
    assert experiments.jobs(["c-2"])[0].arguments == ["--epochs", "5", "--iterations", "1", "--seed", "2"]
    with pytest.raises(ValueError, match="a table or a run, .*; got 'a-0'"):
        experiments.jobs(["a-0"])


@pytest.mark.parametrize("seeds", ["0", "true", "[]", "[1, 1]", "[-1]", '"many"', "1.5"])
def test_seeds_that_make_no_sense_are_refused(seeds, tmp_path):
    (tmp_path / "experiments.toml").write_text(TINY.replace('--preset small"', f'--preset small", seeds = {seeds}', 1))
    with pytest.raises(ValueError, match="seeds of a in .*, a number above 0 or a list of different integers"):
        Experiments.read(tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('run = "c"', 'run = "d"', "a run in .*experiments.toml, one of a, b, c, huge; got 'd'"),
        ('smaller = "a"', 'smaller = "z"', "a run in .*; got 'z'"),
        ('["three"]', '["four"]', "a table in .*; got 'four'"),
        ("seeds = ", "seeds : ", "expected experiments in .*; got"),
        ("seeds = ", "saat = ", "expected experiments in .*; got"),
        ('title = "One", ', "", "expected experiments in .*; got"),
    ],
)
def test_a_file_with_a_mistake_is_refused(before, after, message, tmp_path):
    assert before in TINY
    (tmp_path / "experiments.toml").write_text(TINY.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Experiments.read(tmp_path)


def test_no_experiments_and_unknown_names_are_said(tiny, tmp_path):
    with pytest.raises(FileNotFoundError, match="expected the experiments in .*none.experiments.toml"):
        Experiments.read(tmp_path / "none")
    with pytest.raises(ValueError, match="a table or a run, one of one, two, three, a, b, c, huge; got 'nothing'"):
        tiny.jobs(["nothing"])


# --- working them off


class Trainer:
    """Stands for `capsnet`: writes a result, or ends with a status."""

    def __init__(self, **statuses: int) -> None:
        self.statuses = statuses
        self.calls: list[Sequence[str]] = []

    def __call__(self, arguments: Sequence[str]) -> int:
        self.calls.append(arguments)
        output = Path(arguments[arguments.index("--output") + 1])
        status = self.statuses.pop(output.name.replace("-", ""), 0)
        if status in (0, 1):
            output.mkdir(parents=True, exist_ok=True)
            (output / "result.json").write_text(json.dumps({"of": output.name, "status": status}))
        return status

    @property
    def done(self) -> list[str]:
        return [Path(each[each.index("--output") + 1]).name for each in self.calls]


def run(tiny: Experiments, trainer: Trainer, **options: float) -> int:
    return run_jobs(tiny, tiny.jobs(), trainer, work=tiny.folder / "work", say=lambda _: None, **options)


def test_what_is_missing_is_done_and_kept(tiny):
    trainer = Trainer()
    tiny.result("b-0").parent.mkdir()
    tiny.result("b-0").write_text("{}")
    assert run(tiny, trainer) == 0
    assert trainer.done == ["a-0", "a-1", "b-1", "c-0", "c-1"]
    assert trainer.calls[0][:3] == ["train", "--epochs", "1"]
    assert "--resume" in trainer.calls[0]
    assert json.loads(tiny.result("a-1").read_text()) == {"of": "a-1", "status": 0}
    assert tiny.result("b-0").read_text() == "{}"
    assert list(missing_jobs(tiny, tiny.jobs())) == []
    assert sorted(path.name for path in tiny.result("a-0").parent.iterdir())[:2] == ["a-0.json", "a-1.json"]


def test_a_result_that_cannot_be_kept_leaves_nothing_behind(tiny, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device: '.*a-0.json'"):
        run(tiny, Trainer())
    assert list(tiny.result("a-0").parent.iterdir()) == []


@pytest.mark.parametrize("status", [2, 3, 130])
def test_a_run_that_is_stopped_stops_the_work_and_is_taken_up_again(tiny, status):
    trainer = Trainer(a1=status)
    assert run(tiny, trainer) == status
    assert trainer.done == ["a-0", "b-0", "a-1"]
    assert not tiny.result("a-1").exists()
    assert run(tiny, trainer) == 0
    assert trainer.done[3:] == ["a-1", "b-1", "c-0", "c-1"]


def test_that_a_run_diverged_is_its_result(tiny):
    assert run(tiny, Trainer(b0=1)) == 0
    assert json.loads(tiny.result("b-0").read_text())["status"] == 1


def test_no_run_is_begun_after_the_time_limit(tiny):
    assert run(tiny, Trainer(), limit_minutes=5) == 0
    late = Trainer()
    assert run(replace(tiny, folder=tiny.folder / "new"), late, limit_minutes=0) == 3
    assert late.calls == []


def test_from_the_command_line_what_lacks_is_done_and_told(tmp_path, capsys):
    tables = '[tables]\nt = { title = "T", columns = ["error"], rows = [{ label = "A", run = "a" }] }\n'
    runs = 'seeds = [0]\ncommon = "--source sample --epochs 0.2"\norder = [["t"]]\nclaims = []\n[runs]\n'
    (tmp_path / "experiments.toml").write_text(f'{runs}a = {{ arguments = "--network cnn" }}\n{tables}')
    command = ["run", "--results", str(tmp_path), "--work", str(tmp_path / "work")]
    assert main([*command, "--dry-run"]) == 0
    assert " train --source sample --epochs 0.2 --network cnn --seed 0" in capsys.readouterr().out
    assert main(command) == 0
    result = json.loads((tmp_path / "runs" / "a-0.json").read_text())
    RunRecord.from_dict(result)
    assert "--resume" not in result["command"]
    capsys.readouterr()
    assert main(["tables", "--results", str(tmp_path)]) == 0
    assert f"{100 * result['test']['error']:.2f}" in capsys.readouterr().out


def test_a_run_that_diverges_leaves_that_as_its_result(tmp_path):
    arguments = ["--source", "sample", "--epochs", "2", "--learning-rate", "1e37", "--network", "cnn"]
    assert main(["train", *arguments, "--output", str(tmp_path)]) == 1
    result = json.loads((tmp_path / "result.json").read_text())
    RunRecord.from_dict(result)
    assert "try a lower learning rate" in result["diverged"]
