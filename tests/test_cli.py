"""cli.py: the command from end to end, what it writes, and what it says when it cannot."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import networks
import pytest
from _ext.pages.results import substitutions

import capsnet_tutorial
from capsnet_tutorial import cli
from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.cli import main
from capsnet_tutorial.data import digits
from capsnet_tutorial.train import Recipe, evaluate, train_and_save
from capsnet_tutorial.weights import load_weights, save_weights

pytestmark = pytest.mark.slow

ROOT = Path(capsnet_tutorial.__file__).parent.parent
SHORT = [
    "--source",
    "sample",
    "--epochs",
    "0.1",
    "--shift",
    "1",
    "--rotation",
    "5",
    "--threads",
    "1",
]


def capsnet(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "capsnet_tutorial.cli", *map(str, arguments)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=os.environ | {"PYTHONPATH": path}
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A short run of the small preset: its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("runs") / "new" / "small"
    done = capsnet("train", "--preset", "small", *SHORT, "--output", folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


# --- train


def test_training_writes_its_files_and_a_record_of_the_run(run):
    folder, output = run
    files = {".lock", "checkpoint.safetensors", "result.json", "weights.safetensors"}
    assert {path.name for path in folder.iterdir()} == files
    assert "4,000 digits to train on (sample), 500 to validate" in output
    assert "test: " in output
    assert "4 steps in" in output
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert result["command"] == f"capsnet train --preset small {' '.join(SHORT)} --output {folder}"
    assert result["config"]["conv_channels"] == 64
    assert result["recipe"]["epochs"] == 0.1 and result["recipe"]["augmentation"]["rotation"] == 5
    assert result["data"] == {"source": "sample", "training_digits": 4000}
    assert result["parameters"] == 454_992
    assert result["steps"] == 4
    assert result["training_seconds"] > 0
    assert result["hardware"]["threads"] == 1
    assert [set(point) for point in result["curve"]] == [
        {"epoch", "seconds", "loss", "validation_error"}
    ]
    model = load_weights(folder / "weights.safetensors")
    for split in ("validation", "test"):  # measured is what is in the file
        measured = evaluate(model, digits(split, source="sample"))
        assert result[split] == pytest.approx(measured._asdict(), rel=1e-4, abs=1e-6)


def test_a_fresh_result_has_the_numbers_that_the_books_pages_name(run, tmp_path):
    folder, _ = run
    (tmp_path / "small.json").write_bytes((folder / "result.json").read_bytes())
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert substitutions(tmp_path) == {
        "small_accuracy": f"{100 * (1 - result['test']['error']):.2f} %",
        "small_mse": f"{result['test']['reconstruction_mse']:.4f}",
        "small_minutes": f"{result['training_seconds'] / 60:.0f}",
        "small_threads": "one core",
        "small_parameters": "454,992",
    }


@pytest.mark.parametrize("name", ["weights.safetensors", "result.json"])
@pytest.mark.parametrize("resume", [[], ["--resume"]], ids=["anew", "resume"])
def test_results_whose_checkpoint_is_gone_are_not_replaced(name, resume, tmp_path, capsys):
    (tmp_path / name).write_bytes(b"hours of work")
    assert main(["train", *SHORT, *resume, "--output", str(tmp_path)]) == 2
    assert f"got {name} in {tmp_path}, without their checkpoint" in capsys.readouterr().err
    assert (tmp_path / name).read_bytes() == b"hours of work"


def test_a_run_is_not_begun_over_another(tmp_path, capsys):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"hours of work")
    assert main(["train", *SHORT, "--output", str(tmp_path)]) == 2
    assert "(--resume) to go on with it; got" in capsys.readouterr().err
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == b"hours of work"


def test_a_run_that_diverges_ends_with_status_1_and_one_line(tmp_path, capfd):
    assert main(["train", *SHORT, "--learning-rate", "1e30", "--output", str(tmp_path)]) == 1
    lines = [
        line for line in capfd.readouterr().err.splitlines() if "|" not in line
    ]  # less the progress bar
    assert len([line for line in lines if line.strip()]) == 1
    assert "try a lower learning rate" in lines[-1]
    assert not (tmp_path / "weights.safetensors").exists()


def test_all_splits_are_of_one_source_though_a_later_download_would_succeed(
    tmp_path, monkeypatch, capfd
):
    asked = []

    def fetch(root: Path) -> None:
        asked.append(root)
        if len(asked) == 1:
            raise FileNotFoundError("no network at first")

    monkeypatch.setattr("capsnet_tutorial.data._fetch", fetch)
    short = ["--epochs", "0.04", "--threads", "1", "--data", str(tmp_path)]
    assert main(["train", *short, "--output", str(tmp_path / "run")]) == 0
    assert asked == [tmp_path]
    assert capfd.readouterr().err.count("using the bundled sample") == 1
    assert (
        json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))["data"]["source"]
        == "sample"
    )


def test_the_network_in_the_file_is_measured(tmp_path):
    """Not the one in memory, whose weights have more digits than the file's."""
    stored = networks.learner()
    measured = []

    def measure(network: object, record: dict) -> dict:
        measured.append(network)
        return {"test": {"error": 0.5}}

    record = train_and_save(
        networks.learner(),
        networks.few(),
        Recipe(epochs=1, batch_size=16),
        tmp_path,
        about={"command": "train"},
        measure=measure,
        store=lambda network, path: stored,
        progress=False,
        threads=1,
    )
    assert measured == [stored]
    assert record["test"] == {"error": 0.5}
    written = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(record))


def test_a_run_stores_and_measures_half_precision_weights(tmp_path):
    networks_measured = []
    train_and_save(
        networks.learner(),
        networks.few(),
        Recipe(epochs=1, batch_size=16),
        tmp_path,
        about={},
        measure=lambda network, record: networks_measured.append(network) or {},
        progress=False,
        threads=1,
    )
    weight = networks_measured[0].conv.weight
    assert weight.equal(weight.half().float())


def recipe_from(*arguments: str) -> Recipe:
    parser = argparse.ArgumentParser()
    cli.add_training_options(parser)
    return cli.recipe_of(parser.parse_args(arguments))


def test_a_run_of_seconds_takes_the_quick_recipe():
    assert recipe_from("--seconds", "30") == Recipe.quick(30)
    quick = recipe_from("--seconds", "30", "--average", "0.5", "--rotation", "5")
    assert quick == replace(
        Recipe.quick(30), average=0.5, augmentation=Augmentation(shift=1, rotation=5)
    )


def test_a_run_of_epochs_takes_the_usual_recipe_and_the_given_fields():
    assert recipe_from() == Recipe()
    given = recipe_from("--epochs", "3", "--shear", "0.1", "--seed", "7", "--precision", "bf16")
    assert given == Recipe(epochs=3, seed=7, precision="bf16", augmentation=Augmentation(shear=0.1))


def test_a_tilde_in_the_output_is_the_home_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    parser = argparse.ArgumentParser()
    cli.add_training_options(parser)
    assert parser.parse_args(["--output=~/run"]).output == tmp_path / "run"


# --- evaluate


@pytest.mark.parametrize("name", ["", "weights.safetensors"], ids=["folder", "weights"])
def test_evaluate_prints_one_line_of_json(name, run, capsys):
    folder, _ = run
    assert main(["evaluate", str(folder / name), "--source", "sample"]) == 0
    line = json.loads(capsys.readouterr().out)
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert line.pop("weights") == str(folder / "weights.safetensors")
    about = {"digits": 500, "source": "sample", "split": "test"}
    assert line == pytest.approx(result["test"] | about, abs=1e-6)


@pytest.mark.usefixtures("offline")
def test_the_pretrained_network_is_evaluated_by_name_even_offline(tmp_path, capfd):
    assert (
        main(["evaluate", "small", "--data", str(tmp_path / "none"), "--split", "validation"]) == 0
    )
    captured = capfd.readouterr()
    line = json.loads(captured.out)
    assert line["weights"] == "small"
    assert line["digits"] == 500
    assert line["source"] == "sample"
    assert line["split"] == "validation"
    assert line["error"] < 0.03
    last = captured.err.splitlines()[-1]
    assert last == f"small: {1 - line['error']:.1%} right"


def test_small_is_refused_where_it_may_be_a_folder_of_that_name(run, tmp_path, monkeypatch, capsys):
    folder, _ = run
    (tmp_path / "small").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    evaluated = ["--source", "sample", "--split", "validation"]
    assert main(["evaluate", "small", *evaluated]) == 2
    assert "name the folder ./small" in capsys.readouterr().err
    assert main(["evaluate", "./small", *evaluated]) == 0
    line = json.loads(capsys.readouterr().out)
    assert Path(line["weights"]) == Path("small/weights.safetensors")


# --- bad input: status 2 and one line


def assert_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert len(captured.err.splitlines()) == 1, captured.err
    assert captured.err.startswith("capsnet: ")
    assert message in captured.err
    assert captured.out == ""


def test_a_run_that_makes_no_sense_is_refused_before_anything_is_written(tmp_path, capsys):
    run = ["train", "--source", "sample", "--output", str(tmp_path / "run")]
    with pytest.raises(SystemExit, match="2"):
        main([*run, "--preset", "large"])
    assert "invalid choice: 'large'" in capsys.readouterr().err
    for option, value, message in (
        ("--batch-size", "5000", "at least one batch of 5000 images; got 4000"),
        ("--threads", "0", "threads to be a whole number, at least 1; got 0"),
        ("--threads", "1000000", "at most 1024 threads; got 1000000"),
        ("--seed", f"{10**23}", f"seed as a whole number of 64 bits; got {10**23}"),
        ("--shift", "1e20", "a shift from 0 to 28 pixels; got 100000000000000000000"),
        ("--shift", "1000", "a shift from 0 to 28 pixels; got 1000"),
    ):
        assert main([*run, option, value]) == 2
        assert capsys.readouterr().err == f"capsnet: expected {message}\n"
    assert not (tmp_path / "run").exists()


def test_weights_that_are_none_or_for_other_images_are_refused(tmp_path, capsys):
    path = tmp_path / "weights"
    evaluated = ["evaluate", str(path), "--source", "sample"]
    assert_refused(evaluated, str(path), capsys)
    save_weights(networks.tiny(), path)
    assert_refused(evaluated, "images of shape [B, 1, 9, 9]; got shape [500, 1, 28, 28]", capsys)
    path.write_bytes(path.read_bytes()[:-1])
    assert_refused(evaluated, str(path), capsys)


def test_a_bug_of_ours_is_not_hidden_behind_one_line(monkeypatch):
    """Only errors about input are told in one line: any other `ValueError` keeps its traceback."""

    def unpack(*_: object) -> None:
        _first, _second = "too", "many", "values"

    monkeypatch.setattr(cli, "digits", unpack)
    with pytest.raises(ValueError, match="too many values to unpack"):
        main(["evaluate", "small", "--source", "sample"])
