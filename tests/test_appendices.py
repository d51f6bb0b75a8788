"""What the appendices say of the module, the shipped run and the citation is what those say of themselves."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml
from measured import substitutions
from torch import nn

from capsnet_tutorial import CapsNet, CapsNetConfig
from capsnet_tutorial.train import Recipe

ROOT = Path(__file__).parent.parent


def page(name: str) -> str:
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def row(text: str, first: str) -> list[str]:
    """The cells of the row of a table that begins with `first`."""
    (line,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", text, re.MULTILINE)
    return [cell.strip() for cell in line.split("|")]


def test_the_network_has_the_sizes_that_the_page_says() -> None:
    text = page("paper-and-code")
    paper, small = (CapsNet(config) for config in (CapsNetConfig.paper(), CapsNetConfig.small()))
    whole, bare = ([count(model), count(model) - count(model.decoder)] for model in (paper, small))
    assert row(text, "parameters")[1] == f"{whole[0]:,}"
    assert row(text, "… without the decoder")[1:] == [f"{whole[1]:,}", f"{bare[1]:,}"]
    assert [model.config.primary_capsules for model in (paper, small)] == [1152, 72]


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_training_is_the_one_that_the_page_says() -> None:
    text, run = page("paper-and-code"), json.loads((ROOT / "results/small.json").read_text())
    default, shipped = Recipe(), run["recipe"]
    assert row(text, "how long")[2:] == [
        f"{default.epochs:g} epochs",
        f"{shipped['epochs']:.0f} epochs, {run['steps']:,} steps",
    ]
    assert row(text, "batch")[2:] == [str(default.batch_size), str(shipped["batch_size"])]
    assert f"β {default.betas[0]}, {default.betas[1]}" in row(text, "optimiser")[2]
    assert list(default.betas) == shipped["betas"]
    assert row(text, "averaged weights")[2:] == [
        f"running average, decay {default.average}",
        f"decay {shipped['average']}",
    ]
    rate = row(text, "learning rate")
    assert f"rises to {default.learning_rate} in the first {100 * default.warmup:.0f} %" in rate[2]
    assert rate[3] == f"rises to {shipped['learning_rate']}" and shipped["warmup"] == default.warmup
    moved = shipped["augmentation"]
    for said in (
        f"{moved['rotation']:.0f}° of",
        f"{100 * moved['scale']:.0f} % of",
        f"{moved['shear']} of",
        f"{moved['elastic']} pix",
    ):
        assert said in row(text, "augmentation")[3]
    assert default.augmentation.shift == moved["shift"] == 2
    assert row(text, "digits")[3] == f"{run['data']['training_digits']:,}"
    assert shipped["routing_gradient"] == "all"


def test_the_page_cites_what_the_citation_file_cites() -> None:
    text = page("cite")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    plain = re.sub(r"\s+", " ", text.replace("{PyTorch}", "PyTorch"))
    for key in {"title", "version", "repository-code"} & set(citation):  # no address yet, no line
        assert f"{{{citation[key]}}}" in plain
    assert f"{{{{{citation['authors'][0]['name']}}}}}" in text
    bibliography = (ROOT / "book/references.bib").read_text(encoding="utf-8")
    (paper,) = re.findall(r"^@inproceedings\{sabour2017dynamic,.*?^\}", bibliography, re.MULTILINE | re.DOTALL)
    assert paper in text


def test_the_table_of_training_times_says_what_results_say() -> None:
    notebook = json.loads((ROOT / "book/results.ipynb").read_text(encoding="utf-8"))
    (text,) = [text for cell in notebook["cells"] if "| half a minute |" in (text := "".join(cell["source"]))]
    measured = substitutions(ROOT / "results")
    rows = {"half a minute": 30, "one minute": 60, "two minutes": 120}
    assert {name: row(text, name)[1] for name in rows} == {
        name: measured[f"accuracy_after_{seconds}_s"] for name, seconds in rows.items()
    }
    shipped = f"{measured['small_minutes']} minutes: the shipped weights"
    assert row(text, shipped) == [measured["small_threads"], measured["small_accuracy"]]
    timed = json.loads((ROOT / "results/time-to-accuracy.json").read_text(encoding="utf-8"))["rows"]
    for each in timed:
        assert {run["hardware"]["threads"] for run in each["runs"]} == {2}, "two cores"
        assert len(each["runs"]) == 2, "the mean of two runs"
