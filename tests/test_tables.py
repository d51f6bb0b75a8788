"""tables.py: means and spreads are what the runs' numbers say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from capsnet_book.experiments.__main__ import main
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.tables import COLUMNS, cell, numbers, results_of
from capsnet_book.experiments.verdicts import report
from test_experiments import ROOT

EXPERIMENTS = """
seeds = [0, 1, 2]
common = ""
order = [["t"]]
[runs]
good = { arguments = "" }
bad = { arguments = "" }
never = { arguments = "", not_run = "too dear" }
[tables.t]
title = "A table"
note = "A note."
columns = ["error", "drawn", "entropy"]
rows = [
    { label = "Good", run = "good", paper = "0.25" },
    { label = "Bad", run = "bad" },
    { label = "Never", run = "never" },
]
[[claims]]
text = "Never was run"
smaller = "good"
larger = "never"
column = "error"
[[claims]]
text = "Good has the smaller error"
smaller = "good"
larger = "bad"
column = "error"
[[claims]]
text = "Bad has the smaller error"
smaller = "bad"
larger = "good"
column = "error"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    (tmp_path / "experiments.toml").write_text(EXPERIMENTS, encoding="utf-8")
    return tmp_path


def store(folder: Path, name: str, *errors: float, **more: Any) -> None:
    """A run's results, seed by seed, in percent."""
    for seed, error in enumerate(errors):
        result = {
            "test": {"error": error / 100, "reconstruction_mse": 0.0123},
            "recipe": {"reconstruction_weight": 0.0005},
            "curve": [],
        }
        (folder / "runs" / f"{name}-{seed}.json").write_text(json.dumps(result | more))


def line(text: str, start: str) -> list[str]:
    """The cells of a table's row."""
    (found,) = [each for each in text.splitlines() if each.startswith(f"| {start} ")]
    return [each.strip() for each in found.strip("|").split("|")]


def test_a_cell_is_the_mean_and_the_standard_deviation_over_the_seeds(folder):
    store(folder, "good", 0.30, 0.40, 0.50)
    store(folder, "bad", 0.62)
    text = report(Experiments.read(folder), ["t"])
    assert line(text, "Good") == ["Good", "0.40 ± 0.100", "0.25", "0.0123", "3"]
    assert line(text, "Bad") == ["Bad", "0.62", "", "0.0123", "1 of 3"]
    assert "## A table" in text and "A note." in text


def test_what_was_not_run_is_in_no_table_but_in_one_list(folder):
    store(folder, "good", 0.30)
    text = report(Experiments.read(folder))
    assert "entropy" not in text  # a column without a number
    assert "| Never" not in text
    assert text.endswith("## Not run\n\n- Planned, not done yet: Bad (`bad`).\n- Too dear: Never (`never`).\n")
    (folder / "runs" / "good-0.json").unlink()
    assert "A table" not in report(Experiments.read(folder))


def test_rounds_are_shown_one_by_one_each_a_mean(folder):
    rounds = [{"entropy": 1.0, "error": 0.5}, {"entropy": 0.5, "error": 0.25}]
    store(folder, "good", 1.0, rounds=rounds)
    assert line(report(Experiments.read(folder), ["t"]), "Good")[4] == "1.00 → 0.50"


def test_a_decoder_that_was_not_trained_has_no_number(folder):
    store(folder, "good", 1.0, recipe={"reconstruction_weight": 0})
    assert line(report(Experiments.read(folder), ["t"]), "Good") == ["Good", "1.00", "0.25", "1 of 3"]


def test_what_recognises_is_counted_where_an_old_record_does_not():
    counted = json.loads((ROOT / "results" / "runs" / "small-r3-0.json").read_text(encoding="utf-8"))
    old = {name: value for name, value in counted.items() if name != "recognising_parameters"}
    assert COLUMNS["recognising"].value(old) == counted["recognising_parameters"]


@pytest.mark.parametrize("network", ["cnn", "cnn-recognising"])
def test_every_parameter_of_a_cnn_recognises(network):
    result = {"network": network, "parameters": 60, "config": {"channels": [24, 48, 48]}}
    assert COLUMNS["recognising"].value(result) == 60


def test_runs_that_diverged_are_counted_and_not_averaged(folder):
    store(folder, "good", 0.30, 0.40)
    diverged = {"diverged": "the loss is nan", "curve": [], "recipe": {"reconstruction_weight": 1}}
    (folder / "runs" / "good-2.json").write_text(json.dumps(diverged))
    assert line(report(Experiments.read(folder), ["t"]), "Good")[1::3] == ["0.35 ± 0.071", "3, 1 diverged"]
    runs = [{"parameters": 60}, diverged | {"parameters": 600}]
    assert numbers(COLUMNS["parameters"], runs).values == [60]


def test_a_damaged_result_is_named(folder):
    (folder / "runs" / "good-0.json").write_text("{")
    with pytest.raises(ValueError, match="expected a run's result in .*good-0.json; got"):
        report(Experiments.read(folder))


def test_an_unknown_table_or_column_is_refused(folder):
    with pytest.raises(ValueError, match="a table, one of t; got 'u'"):
        report(Experiments.read(folder), ["u"])
    (folder / "experiments.toml").write_text(EXPERIMENTS.replace('"entropy"', '"colour"'))
    with pytest.raises(ValueError, match="a column, one of error, .*; got 'colour'"):
        report(Experiments.read(folder))


def test_a_claim_about_an_unknown_column_is_refused(folder, capsys):
    (folder / "experiments.toml").write_text(EXPERIMENTS.replace('column = "error"', 'column = "colour"'))
    assert main(["tables", "--results", str(folder)]) == 2
    assert capsys.readouterr().err.startswith("capsnet: expected a column, one of error, ")


def test_the_projects_tables_are_printed_and_use_every_column(capsys):
    assert main(["tables", "--results", str(ROOT / "results")]) == 0
    said = capsys.readouterr().out
    experiments = Experiments.read(ROOT / "results")
    assert said.startswith("## What came out")
    for table in experiments.tables.values():
        assert (f"## {table.title}\n" in said) == any(results_of(experiments, row.run) for row in table.rows)
    assert {column for table in experiments.tables.values() for column in table.columns} == COLUMNS.keys()
    assert {claim.column for claim in experiments.claims} <= COLUMNS.keys()


def test_every_column_finds_its_number_in_a_real_run(tmp_path):
    common = ["--source", "sample", "--epochs", "0.04"]
    results = {}
    for task in ("digits", "pairs"):
        assert main(["train", *common, "--task", task, "--output", str(tmp_path / task)]) == 0
        results[task] = json.loads((tmp_path / task / "result.json").read_text())
    for name, column in COLUMNS.items():
        result = results["pairs" if name.startswith("ink") else "digits"]
        assert cell(column, [result]) not in ("", "–"), name
