"""A number in a chapter's text is one that was computed: in a cell above, in results/, or known from elsewhere.

The text is written by hand, the outputs are not. When weights, code or results change, nbval and `make notebooks` see
to the outputs, and this test to the sentences about them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from measured import substitutions
from numbers_in_text import Number, equations, numbers, prose
from refresh_notebooks import all_notebooks
from test_appendices import row

from capsnet_tutorial import CapsNet, CapsNetConfig, digits

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = all_notebooks(ROOT)
CHAPTERS = [path for path in NOTEBOOKS if path.parent.name == "chapters"]

COUNTS = 10
"""Whole numbers up to here name digits, classes, exercises, equations; they are looked at only in "3 of 500", "5 %"."""

EVERYWHERE = ""
KNOWN: dict[str, dict[float, str]] = {
    EVERYWHERE: {
        2017: "the year of the paper",
        10_000: "MNIST's test digits",
        55_000: "its training digits less the sample",
        60_000: "its training digits",
    },
    "02-why-capsules": {90: "degrees", 180: "half a turn"},
    "03-primary-capsules": {
        17 * 17: "the pixels of a patch",
        **dict.fromkeys([25, 26, 27], "rows that no capsule reads"),
        64 * 3 * 3: "the features of an image",
    },
    "04-squash": {
        25: "5², so that the vector (3, 4) comes out 25/26 long",
        26: "5² + 1",
        65_504: "the largest number in half precision",
        round(100 * (math.sqrt(0.001**2 + 1e-7) / 0.001 - 1)): "%, by which an ε lengthens a short vector",
    },
    "05-prediction-vectors": {
        round(1152 / 10): "how much longer s is with the softmax over j",
        10e6: "10 MB, in a question",
    },
    "06-routing": {round(math.log2(10), 2): "bits, if all ten couplings are equal"},
    "07-message-passing": {2024: "DGL's last release"},
    "09-masking-and-decoder": {0.0005 * 784: "the weight that makes a mean a sum", 784: "pixels"},
    "10-training": {50: "a first loss that cannot be right", 475: "the least that the test digits shall reach"},
    "11-sixteen-numbers": {0.5: "how far the slider goes"},
    "18-what-the-numbers-mean": {
        5.1: "the paper's section on what the dimensions mean",
        **dict.fromkeys([0.20, 0.25], "its steps"),
        50 // 2: "the digits of a class to fit a readout to, and to try it on",
    },
    "19-who-votes-who-decides": {
        round(1152 / 10): "how much longer s is with the softmax over j",
        2018: "the thread on the softmax's axis",
        round(math.log2(10), 2): "bits, if all ten couplings are equal",
        10: "%, an equal share among ten",
        0.9**2: "the loss of a class that is there, at length 0",
        round(1 + 0.5 * math.log2(9), 2): "bits: one half and nine equal rests",
        **dict.fromkeys([7.5, 5.2], "%, the paper's table 1: overlapping digits, one round and three"),
    },
    "20-training-in-earnest": {
        0.001: "the learning rate of the authors' code",
        25: "the learning rate starts at 1/25 of its peak",
        50: "a first loss that cannot be right",
        90: "degrees: a right angle",
        0.9**2: "the loss of a class that is there, at length 0",
        0.5 * 9: "λ times the absent classes",
    },
    "12-two-digits-at-once": {
        80: "%, by which the boxes of the paper's pairs overlap",
        **dict.fromkeys([5.2, 8.1], "%, the paper's errors on them"),
        60e6: "the pairs that it trains on",
        round(60_000 * 128 / 1e6, 1) * 1e6: "chosen digits times possible partners",
    },
    "13-turned-sheared-shifted": {
        **dict.fromkeys([79, 66, 99.23, 99.22], "the paper's section 5.2, %"),
        93.21: "affNIST without routing, arXiv 1911.07968",
        round(100 * 2 * math.sqrt(0.5 * 0.5 / 500), 1): "points: two standard errors of a half of 500",
        99.0: "%, where our trainings stop",
        0.2: "affNIST's shear",
        **dict.fromkeys([0.8, 1.2, 20, 40], "its scales, its angle, its canvas"),
    },
    "14-does-routing-matter": {
        0.01: "%, one digit of 10,000",
        **dict.fromkeys([0.29, 0.25], "%, the paper's table 1"),
        **dict.fromkeys([79, 66], "%, the paper on affNIST, capsule and plain network"),
        **dict.fromkeys([5.2, 8.1], "%, the paper on overlapping digits, capsule and plain network"),
        93.21: "%, on affNIST without routing, arXiv 1911.07968",
        5: "%, what is usually called significant",
    },
    "16-bugs-in-the-wild": {
        2026: "when public code and its threads were read",
        30: "%, in the thread on a batch of one",
        **dict.fromkeys([99.51, 99.67], "%, in the thread in which the axis was mended"),
    },
    "17-where-next": {
        **dict.fromkeys(range(2017, 2024), "years of papers"),
        45: "% fewer errors on smallNORB, the paper on EM routing",
        98.7: "% on MNIST without labels, arXiv 1906.06818",
        **dict.fromkeys([161_824, 99.84], "Efficient-CapsNet's parameters and accuracy, arXiv 2101.12491"),
        99.64: "the original's best in its repository",
        18: "the layers of a ResNet",
        0.95: "the length that exercise 3 asks for",
    },
}
"""What no cell computes, and why it is known: facts from elsewhere, and arithmetic on constants. By chapter, solutions
included."""


@cache
def sizes() -> set[float]:
    """The sizes of both networks and of an image."""
    found: set[float] = set()
    for config in (CapsNetConfig.paper(), CapsNetConfig.small()):
        found |= {value for value in asdict(config).values() if isinstance(value, int)}
        found |= {*config.decoder_hidden, config.image_size**2, config.primary_types * config.primary_dim}
        found |= {config.primary_capsules, config.primary_capsules * config.classes}
        found |= {sum(parameter.numel() for parameter in CapsNet(config).parameters())}
    return found


@cache
def digits_in_the_sample() -> set[float]:
    """How many there are to train on, and to test."""
    return {float(len(digits(split, source="sample").images)) for split in ("train", "test")}


@cache
def results() -> list[Number]:
    """What results/ says: the numbers that pages name, and the settings of the shipped run."""
    run = json.loads((ROOT / "results" / "small.json").read_text(encoding="utf-8"))
    said = [*substitutions(ROOT / "results").values(), run["steps"], *run["recipe"].values()]
    return [number for text in said for number in numbers(str(text))]


@dataclass
class Passage:
    """Some text of a notebook, and what was computed around it."""

    chapter: str
    place: str
    text: str
    printed: list[list[Number]] = field(default_factory=list)
    """The numbers in the outputs above, and in that of the next cell: one list a cell."""
    coded: set[float] = field(default_factory=set)
    """The numbers in the code of the section so far, and in that of the next cell."""

    def guarded(self, number: Number) -> bool:
        """Whether somebody notices when this number is no longer true."""
        return self.known(number) or self.constant(number) or self.computed(number)

    def known(self, number: Number) -> bool:
        """Whether it is listed above."""
        return any(number.rounds(value) for chapter in (EVERYWHERE, self.chapter) for value in KNOWN.get(chapter, ()))

    def constant(self, number: Number) -> bool:
        """Whether it is a small count, a size, or a number that the code sets; a share of something never is."""
        if number.percent or number.total is not None:
            return False
        if number.decimals == 0 and number.value <= COUNTS and number.scale == 1:
            return True
        if number.scale != 1:
            return any(number.rounds(size) for size in sizes())
        return number.value in sizes() | digits_in_the_sample() | self.coded

    def computed(self, number: Number) -> bool:
        """Whether an output or a result is this number. The output of "3 of 500" has to know of 500, too."""
        cells = self.printed
        if number.total is not None and number.total not in sizes():
            cells = [cell for cell in cells if any(other.value == number.total for other in cell)]
        return any(number.says(other) for cell in [*cells, results()] for other in cell)


def passages(path: Path) -> Iterator[Passage]:
    """The texts of a notebook, the descriptions of its pictures among them."""
    cells = nbformat.read(path, as_version=4).cells
    code = [k for k, cell in enumerate(cells) if cell.cell_type == "code"]
    for k, cell in enumerate(cells):
        text = described(cell) if cell.cell_type == "code" else cell.source
        following = [n for n in code if n > k][: 1 if cell.cell_type == "markdown" else 0]
        seen = [cells[n] for n in code if n <= k] + [cells[n] for n in following]
        printed = [numbers(output_text(each)) for each in seen]
        section = max((n for n in range(k) if "## " in cells[n].source), default=0)
        near = [cells[n] for n in code if section <= n <= k] + [cells[n] for n in following]
        coded = {number.value for each in near for number in numbers(each.source)}
        yield Passage(path.stem, f"{path.parent.name}/{path.stem} [{k}]", prose(text), printed, coded)


def described(cell: Any) -> str:
    return cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")


def output_text(cell: Any) -> str:
    """What a cell printed and returned."""
    data = [output.get("data", {}) for output in cell.outputs]
    shown = [each.get("text/markdown", each.get("text/plain", "")) for each in data]
    return "\n".join([*(output.get("text", "") for output in cell.outputs), *shown])


def unguarded(passage: Passage) -> list[str]:
    """The numbers of a passage that nothing computes, with the words around them; and equations that are not true."""
    stated = equations(passage.text)
    proven = [number.text for equation in stated for number in numbers(equation)]
    found = [f"{passage.place}: {equation} is not true" for equation, holds in stated.items() if not holds]
    for number in numbers(passage.text):
        if number.text not in proven and not passage.guarded(number):
            around = " ".join(passage.text[max(0, number.start - 50) : number.start + 40].split())
            found.append(f"{passage.place}: {number.text} in “… {around} …”")
    return found


each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")


@each_notebook
def test_every_number_was_computed_or_is_known(path: Path) -> None:
    found = [line for passage in passages(path) for line in unguarded(passage)]
    assert not found, "print it in the cell above, or say in KNOWN where it is from:\n" + "\n".join(found)


def test_a_changed_figure_is_found() -> None:
    """Change the last digit of every figure that only an output guards. Some land on another output; few may."""
    found = []
    for passage in (passage for path in CHAPTERS for passage in passages(path)):
        for number in numbers(passage.text):
            telling = len(number.text.replace(".", "").lstrip("0")) > 1 or number.percent or number.total
            if telling and passage.computed(number) and not passage.constant(number) and not passage.known(number):
                found += [not passage.guarded(number.changed(by)) for by in (-1, 1)]
    assert len(found) > 60, "figures to change"
    assert sum(found) > 0.6 * len(found), f"{sum(found)} of {len(found)} changes were found"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("mistakes fall from 154 down to 27", None),
        ("mistakes fall from 155 down to 27", "155"),
        ("it grows from 0.40 to 0.95", None),
        ("it grows from 0.40 to 0.96", "0.96"),
        ("27 of 500 are wrong, 5 % of all", None),
        ("28 of 500 are wrong", "28"),
        ("Five per cent of 500 are wrong", None),
        ("Six per cent are wrong", "Six"),
        ("3.3 million numbers, 64 MB", None),
        ("3.4 million numbers", "3.4"),
        (r"$2^8 = 256$ corners, $28^2 - 25^2 = 159$ pixels", None),
        (r"$28^2 - 25^2 = 158$ pixels", "158"),
        ("32 · 8 = 256 channels", None),
        ("32 · 8 = 266 channels", "266"),
        ("see [chapter 77](https://77.example/77) and `view(77)`", "77"),
    ],
)
def test_what_counts_as_guarded(text: str, wrong: str | None) -> None:
    outputs = [
        "71 alone: 154 of 500 wrong\nwithout 71: 27 of 500 wrong, 0.054",
        "0.40 0.76 0.9512",
        "3,276,800 64,000,000",
    ]
    found = unguarded(Passage("no-chapter", "here", prose(text), [numbers(output) for output in outputs]))
    assert bool(found) == bool(wrong)
    assert wrong is None or (wrong in found[0] and len(found) == 1)


def test_the_table_of_training_times_says_what_results_say() -> None:
    """In a notebook, unlike in the pages: Jupyter and Colab would show a reader `{{ … }}`."""
    assert [path.name for path in NOTEBOOKS if "{{ " in path.read_text(encoding="utf-8")] == []
    (text,) = [
        p.text for p in passages(ROOT / "book/chapters/20-training-in-earnest.ipynb") if "| half a minute |" in p.text
    ]
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
