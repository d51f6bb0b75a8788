"""cli.py: the command from end to end, what it writes, and what it says when it cannot."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from urllib.error import URLError

import networks
import pytest
import torch
from capsnet_book.experiments.records import RunRecord, code_version
from test_data import lay_out

import capsnet_tutorial
from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.check.command import main as check_command
from capsnet_tutorial.cli import _parser, _recipe, main
from capsnet_tutorial.data import Digits, Split, digits
from capsnet_tutorial.training import Recipe, evaluate, one_cycle
from capsnet_tutorial.weights import load_weights, read_tensors, save_weights

ROOT = Path(capsnet_tutorial.__file__).parent.parent
LOOP = importlib.import_module("capsnet_tutorial.training.fit")  # `training.fit` itself is the function
SHORT = ["--source", "sample", "--epochs", "0.1", "--shift", "1", "--rotation", "5"]


def capsnet(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "capsnet_tutorial.cli", *map(str, arguments)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | {"PYTHONPATH": path})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A short run of the small preset: its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("runs") / "new" / "small"
    done = capsnet("train", "--preset", "small", *SHORT, "--output", folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_training_leaves_a_checkpoint_the_weights_and_the_result_and_nothing_else(run):
    folder, said = run
    assert sorted(path.name for path in folder.iterdir()) == [
        "checkpoint.safetensors",
        "result.json",
        "weights.safetensors",
    ]
    assert "4,000 digits to train on (sample), 500 to validate" in said
    assert "test: " in said


def test_the_result_says_what_was_run_on_what_and_what_came_of_it(run):
    folder, _ = run
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert result["command"] == f"capsnet train --preset small {' '.join(SHORT)} --output {folder}"
    assert result["config"]["conv_channels"] == 64
    assert result["parameters"] == 454_992
    assert result["recipe"]["seed"] == 0
    assert result["recipe"]["epochs"] == 0.1
    assert result["recipe"]["augmentation"] == {"shift": 1, "rotation": 5, "scale": 0, "shear": 0, "elastic": 0}
    assert result["data"] == {"source": "sample", "training_digits": 4000}
    assert result["steps"] == 4
    assert result["training_seconds"] > 0
    assert [set(point) for point in result["curve"]] == [{"epoch", "seconds", "loss", "validation_error"}]
    assert result["hardware"].keys() == {"device", "processor", "cores", "threads", "processes"}
    assert result["versions"]["torch"] == metadata.version("torch")
    assert result["versions"].keys() == {"python", "torch", "torchvision", "accelerate"}
    assert (result["task"], result["network"], result["changes"]) == ("digits", "capsnet", [])
    assert result["commit"] == code_version()


def test_what_was_measured_is_what_is_in_the_file(run):
    folder, _ = run
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    model = load_weights(folder / "weights.safetensors")
    for split in ("validation", "test"):
        measured = evaluate(model, digits(split, source="sample"))
        assert result[split] == pytest.approx(measured._asdict(), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", ["", "weights.safetensors"], ids=["folder", "weights"])
def test_evaluate_prints_one_line_of_json(name, run, capsys):
    folder, _ = run
    assert main(["evaluate", str(folder / name), "--source", "sample"]) == 0
    came = json.loads(capsys.readouterr().out)
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert came == pytest.approx(result["test"] | {"digits": 500, "source": "sample", "split": "test"}, abs=1e-6)


def test_a_finished_run_can_be_resumed_and_stays_as_it_is(run, capsys):
    folder, _ = run
    before = read_tensors(folder / "weights.safetensors")[0]
    assert main(["train", "--preset", "small", *SHORT, "--output", str(folder), "--resume"]) == 0
    after = read_tensors(folder / "weights.safetensors")[0]
    assert all(after[name].equal(tensor) for name, tensor in before.items())
    assert "4 steps" in capsys.readouterr().out


def test_a_run_in_two_sittings_is_the_run_in_one(run, tmp_path, capfd):
    folder, _ = run
    train = ["train", "--preset", "small", *SHORT, "--output", str(tmp_path), "--resume"]
    assert main([*train, "--limit-minutes=0.0001"]) == 3
    last = capfd.readouterr().err.splitlines()[-1]
    assert re.search(
        r"capsnet: 0.0001 minutes are over after 1 steps \(25%\); the same command with --resume goes on from there$",
        last,
    )
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]
    assert main([*train, "--limit-minutes", "9"]) == 0
    came, expected = (read_tensors(each / "weights.safetensors")[0] for each in (tmp_path, folder))
    assert all(came[name].equal(tensor) for name, tensor in expected.items())
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["command"] == f"capsnet train --preset small {' '.join(SHORT)} --output {tmp_path}"  # repeats it all


def test_a_run_can_be_logged_for_tensorboard(tmp_path):
    assert main(["train", *SHORT, "--epochs", "0.04", "--output", str(tmp_path), "--log", "tensorboard"]) == 0
    (events,) = (tmp_path / "tensorboard").iterdir()
    assert events.name.startswith("events.out.tfevents")


@pytest.mark.parametrize("name", ["checkpoint", "weights", "result"])
def test_a_full_disk_is_named_with_status_2_and_one_line(name, tmp_path, monkeypatch, capfd):
    replace_file = os.replace

    def full(source: Path, target: Path) -> None:
        if target.stem == name:
            raise OSError(28, "No space left on device")
        replace_file(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert main(["train", *SHORT, "--epochs", "0.04", "--output", str(tmp_path)]) == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert last.startswith("capsnet: ")
    assert "No space left on device" in last
    assert str(tmp_path / name) in last


def test_the_shipped_weights_are_evaluated_by_name_even_offline(monkeypatch, tmp_path, capfd):
    def refuse(*_: object, **__: object) -> None:
        raise URLError("no network in this test")

    monkeypatch.setattr("torchvision.datasets.mnist.download_and_extract_archive", refuse)
    assert main(["evaluate", "small", "--data", str(tmp_path / "none"), "--split", "validation"]) == 0
    said = capfd.readouterr()
    came = json.loads(said.out)
    assert (came["digits"], came["source"], came["split"]) == (500, "sample", "validation")
    assert came["error"] < 0.03
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize(("name", "error"), [("small-cnn", 0.01), ("small-pairs", 0.26)])
def test_shipped_weights_are_evaluated_on_what_they_were_trained_for(name, error, capsys):
    assert main(["evaluate", name, "--source", "sample"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["error"] < error
    assert "the network may have learned them" in said.err


def test_the_command_is_called_capsnet_and_explains_itself(capsys):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"capsnet": "capsnet_tutorial.cli:main"}
    for arguments, expected in (["--help"], "evaluate"), (["train", "--help"], "--resume"):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0
        assert expected in capsys.readouterr().out


# --- bad input: status 2 and one line


def assert_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 1, said.err
    assert said.err.startswith("capsnet: ")
    assert message in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--preset", "large"], "a preset, one of paper, small; got 'large'"),
        (["--epochs", "0"], "epochs above 0; got 0.0"),
        (["--epochs", "inf"], "epochs"),
        (["--seconds", "-1"], "seconds above 0; got -1.0"),
        (["--batch-size", "0"], "batch_size to be a whole number, at least 1; got 0"),
        (["--learning-rate", "nan"], "learning_rate above 0; got nan"),
        (["--patience", "0"], "patience to be a whole number, at least 1; got 0"),
        (["--patience", "3", "--seconds", "60"], "patience in a run of epochs"),
        (["--reconstruction-weight", "-1"], "reconstruction_weight of at least 0, finite; got -1.0"),
        (["--warmup", "1"], "warmup between 0 and 1; got 1.0"),
        (["--average", "1"], "average from 0 to below 1; got 1.0"),
        (["--shift", "inf"], "shift"),
        (["--rotation", "-5"], "rotation of at least 0; got -5.0"),
        (["--scale", "1"], "scale below 1; got 1.0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_run_that_makes_no_sense_is_refused_before_anything_is_written(options, message, tmp_path, capsys):
    folder = tmp_path / "run"
    assert_refused(["train", "--source", "sample", "--output", str(folder), *options], message, capsys)
    assert not folder.exists()


def test_a_batch_larger_than_the_data_is_refused(tmp_path, capsys):
    assert main(["train", "--source", "sample", "--batch-size", "5000", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "capsnet: expected at least one batch of 5000 digits; got 4000\n"


def test_an_output_folder_below_a_file_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "run"
    assert_refused(["train", *SHORT, "--output", str(folder)], f"a folder that can be written to; got {folder}", capsys)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_folder_without_permission_is_refused(tmp_path, capsys):
    tmp_path.chmod(0o500)
    assert_refused(["train", *SHORT, "--output", str(tmp_path)], "a folder that can be written to", capsys)


@pytest.mark.parametrize("kind", ["missing", "truncated", "foreign", "folder"])
def test_weights_that_are_none_are_refused(kind, tmp_path, capsys):
    path = tmp_path / "weights"
    if kind == "truncated":
        save_weights(networks.tiny(), path)
        path.write_bytes(path.read_bytes()[:-1])
    elif kind == "foreign":
        torch.save({"x": torch.zeros(3)}, path)
    elif kind == "folder":
        path.mkdir()
    assert_refused(["evaluate", str(path), "--source", "sample"], str(path), capsys)


def test_weights_for_other_images_are_refused(tmp_path, capsys):
    save_weights(networks.tiny(), tmp_path / "weights")
    arguments = ["evaluate", str(tmp_path / "weights"), "--source", "sample"]
    assert_refused(arguments, "images of shape [B, 1, 9, 9]; got shape [500, 1, 28, 28]", capsys)


def test_a_checkpoint_of_another_run_is_refused(run, capsys):
    folder, _ = run
    before = (folder / "checkpoint.safetensors").read_bytes()
    assert main(["train", *SHORT, "--seed", "1", "--output", str(folder), "--resume"]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "a checkpoint of a run with the recipe" in said
    assert (folder / "checkpoint.safetensors").read_bytes() == before


def test_a_checkpoint_of_other_data_is_refused(tmp_path, capsys, monkeypatch):
    """As many digits, from another source."""
    lay_out(tmp_path, 9000)  # 4,000 less those held out, as the sample has
    monkeypatch.setattr("capsnet_tutorial.data._sha256", lambda tensor: "")
    monkeypatch.setattr("capsnet_tutorial.data._MNIST_SHA256", {True: ("", ""), False: ("", "")})
    train = ["train", "--network", "cnn", "--epochs", "0.04", "--output", str(tmp_path / "run")]
    assert main([*train, "--source", "sample"]) == 0
    said = read_tensors(tmp_path / "run" / "checkpoint.safetensors")[1]["checkpoint"]
    assert (said["source"], said["everything"]) == ("sample", False)
    capsys.readouterr()
    assert main([*train, "--source", "mnist", "--data", str(tmp_path), "--resume"]) == 2
    assert "a checkpoint of a run with the source mnist; got sample in" in capsys.readouterr().err


@pytest.mark.parametrize("everything", [[], ["--everything"]], ids=["", "everything"])
def test_all_splits_are_of_one_source_though_a_later_download_would_succeed(everything, tmp_path, fails_once, capfd):
    folder = tmp_path / "run"
    train = ["train", "--network", "cnn", "--epochs", "0.04", "--data", str(tmp_path), "--output", str(folder)]
    assert main([*train, *everything]) == 0
    assert fails_once == [tmp_path]
    assert capfd.readouterr().err.count("using the bundled sample") == 1
    assert json.loads((folder / "result.json").read_text(encoding="utf-8"))["data"]["source"] == "sample"


def test_splits_of_several_sources_are_refused(tmp_path, monkeypatch, capsys):
    def mixed(split: Split, *_: object) -> Digits:
        return digits(split, "sample")._replace(source="mnist" if split == "validation" else "sample")

    monkeypatch.setattr("capsnet_book.experiments.runs.digits", mixed)
    assert main(["train", *SHORT, "--output", str(tmp_path)]) == 2
    assert "expected every split from sample; got mnist, sample" in capsys.readouterr().err


def test_a_damaged_checkpoint_is_refused(tmp_path, capsys):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"half a file")
    assert main(["train", *SHORT, "--output", str(tmp_path), "--resume"]) == 2
    assert "expected a whole safetensors file" in capsys.readouterr().err


def test_damaged_digits_are_refused(tmp_path, capsys):
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        (raw / f"{name}-ubyte").write_bytes(b"not a digit")
    assert_refused(["evaluate", "small", "--data", str(tmp_path)], "damaged", capsys)


def test_a_run_that_diverges_ends_with_status_1_and_one_line(tmp_path, capfd):
    assert main(["train", *SHORT, "--learning-rate", "1e30", "--output", str(tmp_path)]) == 1
    lines = [line for line in capfd.readouterr().err.splitlines() if "|" not in line]  # less the progress bar
    assert len([line for line in lines if line.strip()]) == 1
    assert "try a lower learning rate" in lines[-1]
    assert not (tmp_path / "weights.safetensors").exists()


def test_what_a_run_went_through_before_it_diverged_is_in_its_result_in_two_sittings_too(tmp_path, monkeypatch):
    train = ["train", "--network", "cnn", "--source", "sample", "--epochs", "2", "--batch-size", "500", "--resume"]

    def stop_in_the_second_epoch(share_done: float, warmup: float) -> float:
        if share_done > 0.5:
            raise KeyboardInterrupt
        return one_cycle(share_done, warmup)

    monkeypatch.setattr(LOOP, "one_cycle", stop_in_the_second_epoch)
    assert main([*train, "--output", str(tmp_path)]) == 130
    monkeypatch.setattr(LOOP, "one_cycle", lambda *_: 1e37)
    assert main([*train, "--output", str(tmp_path)]) == 1
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    RunRecord.from_dict(result)
    assert result["steps"] == 16
    assert [point["epoch"] for point in result["curve"]] == [1]
    assert "after 16 steps" in result["diverged"]


def test_options_that_do_not_exist_are_refused_by_status_2(capsys):
    for arguments in (["train", "--rounds", "3"], ["evaluate"], ["draw"], []):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 2
        assert "Traceback" not in capsys.readouterr().err


def test_a_process_ends_with_status_2_and_no_traceback(tmp_path):
    done = capsnet("evaluate", tmp_path / "none.safetensors", "--source", "sample")
    assert done.returncode == 2
    assert done.stderr == f"capsnet: expected a weights file at {tmp_path / 'none.safetensors'}; there is none\n"
    assert done.stdout == ""


def recipe_of(*options):
    return _recipe(_parser().parse_args(["train", *options]))


def test_without_options_the_recipe_is_the_default_one():
    assert recipe_of() == Recipe()


def test_options_of_the_recipe_are_taken():
    recipe = recipe_of("--patience", "3", "--reconstruction-weight", "0", "--precision", "bf16", "--elastic", "1")
    expected = Recipe(patience=3, reconstruction_weight=0.0, precision="bf16", augmentation=Augmentation(elastic=1.0))
    assert recipe == expected


def test_a_time_budget_brings_its_own_defaults():
    assert recipe_of("--seconds", "30") == Recipe.quick(30.0)


def test_a_changed_routing_can_be_trained_on_a_budget(tmp_path):
    change = ["--change", "bias-released", "--source", "sample", "--batch-size", "16"]
    assert main(["train", "--seconds", "0.01", *change, "--output", str(tmp_path)]) == 0


def test_what_is_given_counts_with_a_budget_too():
    recipe = recipe_of("--seconds", "30", "--shift", "2", "--average", "0.9", "--rotation", "5")
    quick = Recipe.quick(30.0)
    assert recipe == replace(quick, average=0.9, augmentation=replace(quick.augmentation, shift=2.0, rotation=5.0))


def test_a_run_is_not_begun_over_another(tmp_path, capsys):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"hours of work")
    assert main(["train", "--source", "sample", "--output", str(tmp_path)]) == 2
    assert "holds a run already: --resume goes on with it" in capsys.readouterr().err
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == b"hours of work"


CHECKED = """
import torch
from torch import nn
from beside import POWER

def my_squash(s):
    n = s.norm(dim=1, keepdim=True) + 1e-9
    return n**POWER / (1 + n**2) * s / n

class Masking(nn.Module):
    def forward(self, v, labels):
        keep = v.norm(dim=-1).argmax(1) if labels is None else labels
        return v * nn.functional.one_hot(keep, v.shape[1])[..., None]

def thing(s):
    return s
"""


@pytest.fixture
def checked(tmp_path):
    (tmp_path / "beside.py").write_text("POWER = 2\n", encoding="utf-8")
    path = tmp_path / "net.py"
    path.write_text(CHECKED, encoding="utf-8")
    return path


def test_check_names_the_bug_of_a_file(checked):
    done = capsnet("check", f"{checked}:my_squash")
    assert done.returncode == 1, done.stderr
    assert "squash-axis (against the paper) · Squash measures the length along the wrong axis." in done.stdout
    assert "The paper: Equation 1" in done.stdout


def test_check_makes_a_class_and_passes_what_is_right(checked, capsys):
    assert check_command([f"{checked}:Masking"]) == 0
    assert "✓ mask: right" in capsys.readouterr().out


def test_check_asks_which_piece_it_is(checked, capsys):
    assert check_command([f"{checked}:thing"]) == 2
    assert "--as with one of squash, primary_capsules" in capsys.readouterr().err
    assert check_command([f"{checked}:thing", "--as", "squash"]) == 1
    assert "first number that differs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("{file}:", "expected path/to/file.py:function; got"),
        ("nowhere.py:f", "no file nowhere.py"),
        ("{file}:absent", "expected something named absent in .*net.py; got only my_squash, Masking, thing"),
        ("{broken}:f", "broken.py cannot be used: SyntaxError"),
        ("{raises}:f", "raises.py cannot be used: KeyError"),
        ("{exits}:squash", "exits.py cannot be used: SystemExit"),
    ],
)
def test_check_says_what_it_cannot_find(checked, capsys, place, message):
    broken, raises, exits = (checked.with_name(f"{name}.py") for name in ("broken", "raises", "exits"))
    broken.write_text("def f(:\n", encoding="utf-8")
    raises.write_text("{}['key']\n", encoding="utf-8")
    exits.write_text("def squash(s):\n    return s\n\n\nraise SystemExit(0)\n", encoding="utf-8")
    assert check_command([place.format(file=checked, broken=broken, raises=raises, exits=exits)]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_experiments_outside_a_checkout_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(["experiments", "--dry-run"], "Call this in a checkout of the project", capsys)
