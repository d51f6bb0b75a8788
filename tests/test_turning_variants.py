"""turning_variants.py, turning_limits.py: changes of the network turn along; tables say what the
records hold.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from capsnet_book.experiments import records, turning
from capsnet_book.experiments import turning_limits as limits
from capsnet_book.experiments import turning_variants as variants
from capsnet_book.experiments.evidence import pack_wrong

from capsnet_tutorial.data import digits

ROOT = Path(__file__).parent.parent
IMAGES = digits("test", "sample").images[:4].double()
OTHER_NETWORKS = ("second-layer", "together", "two-scales", "clusters", "drawing")
"""Variants that are other networks, not other sizes."""


@pytest.mark.parametrize("name", OTHER_NETWORKS)
def test_a_quarter_turn_of_the_picture_changes_no_score_of_a_variant(name):
    torch.manual_seed(0)
    network = variants.VARIANTS[name].build().double().eval()
    with torch.no_grad():
        scores = network(IMAGES)
        after = network(torch.rot90(IMAGES, 1, (2, 3)))
    assert scores.shape == (4, 10)
    torch.testing.assert_close(after, scores)


def test_larger_parts_are_the_votes_with_most_support_and_lie_apart():
    torch.manual_seed(0)
    network = variants.SecondLayer(larger=3, count=2).double()
    with torch.no_grad():
        poses, presence = network.lower.parts(IMAGES)
        larger, larger_presence = network.larger_parts(poses, presence)
        votes = network.lower.votes(poses)
        labels = torch.full((len(IMAGES),), 1)
        support = network.lower.agreement.support(votes, presence, labels)
    assert larger.shape == (4, 3, 2, 2, 3)
    assert (larger_presence[:, :, 0] >= larger_presence[:, :, 1]).all()
    most = torch.sigmoid(network.slope * (support.flatten(1).amax(dim=1) + 1e-3).log())
    torch.testing.assert_close(larger_presence[:, 1, 0], most.detach())


def run(arm, seed, wrong, processor_seconds=100.0):
    """A record of a run that misreads these validation digits, at new angles and upright."""
    packed = pack_wrong(wrong, variants.TESTED)
    share = len(wrong) / variants.TESTED
    return {
        "arm": arm,
        "seed": seed,
        "parameters": 5155,
        "processor_seconds": processor_seconds,
        "errors": {view: {"all": share, "apart": share / 2} for view in variants.VIEWS},
        "wrong": {view: packed for view in variants.VIEWS},
    }


def test_a_difference_is_paired_by_digit_over_the_seeds_that_both_have():
    record = {
        "runs": [
            run("base", 40, range(300)),
            run("base", 41, range(100, 500)),
            run("wholes", 40, range(100)),
            run("wholes", 41, range(400)),
            run("wholes", 42, range(5000)),
        ]
    }
    difference, error = variants.fewer(record, "wholes")
    assert difference == pytest.approx(100 * (200 + 0) / 2 / 5000)
    # 100 to 300: once fewer in seed 40; 0 to 100: once more in 41; 400 to 500: once fewer in 41.
    by_digit = torch.zeros(5000, dtype=torch.float64)
    by_digit[:100], by_digit[100:300], by_digit[400:500] = -50, 50, 50
    assert error == pytest.approx(float(by_digit.std()) / 5000**0.5)


def test_the_table_sorts_by_the_difference_and_bold_is_above_two_standard_errors():
    record = {
        "runs": [
            run("kinds-32", 40, [*range(1, 300), *range(4000, 4001)]),
            run("together", 40, range(200), 400),
            run("together", 41, range(210), 500),
            run("base", 40, range(300)),
            run("base", 41, range(310)),
        ]
    }
    first, second, third = variants.variant_table(record).splitlines()[2:]
    assert first == "| as it stands, 1,000 steps | 5,155 | 100 | 6.1 | 6.1 | 3.0 |  | 2 |"
    assert second.endswith("| 5,155 | 450 | 4.1 | 4.1 | 2.0 | **+2.0 ± 0.2** | 2 |")
    assert third.endswith("| 5,155 | 100 | 6.0 | 6.0 | 3.0 | +0.0 ± 0.0 | 1 |")


def test_variants_that_change_as_much_stand_in_the_order_of_their_list():
    others = [name for name in variants.VARIANTS if name != "base"]
    record = {"runs": [run(name, 40, range(300)) for name in ["base", *others]]}
    rows = variants.variant_table(record).splitlines()[3:]
    expected = [variants.VARIANTS[name].summary for name in others]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == expected


def test_confusion_counts_answers_by_the_true_class():
    scores = torch.tensor([[0.0, 1, 0], [2, 1, 0], [0, 0, 1], [0, 1, 0]])
    labels = torch.tensor([1, 1, 2, 0])
    assert limits.confusion(scores, labels) == [[0, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_pairs_are_counted_both_ways_and_the_rest_is_all_others():
    counts = [[80, 5, 1], [7, 90, 0], [2, 0, 815]]
    assert limits.most_confused(counts, 2) == [(0, 1), (0, 2)]
    confused = limits.digits_confused(counts, [(0, 1)])
    assert confused == {"0 and 1": 12, "all other pairs": 3}


def test_the_table_of_limits_has_the_mean_over_the_seeds():
    runs = [
        {
            "arm": "wholes",
            "seed": seed,
            "confusion": {"new": [[90, 10], [0, 100]]},
            "training": {"all": 0.04 + 0.02 * seed},
            "quarters": [0.1, 0.2, 0.3, 0.4],
        }
        for seed in (0, 1)
    ]
    rows = limits.limit_table({"runs": runs}, ["wholes"]).splitlines()[2:]
    assert rows == ["| 20 wholes, then a linear layer | 5.0 | 5.0 | 10.0 | 40.0 |"]


def test_quarters_are_of_each_class_by_its_ink():
    ink = torch.tensor([4.0, 1, 3, 2, 40, 10, 30, 20])
    images = ink.view(-1, 1, 1, 1).expand(-1, 1, 2, 2)
    labels = torch.tensor([0] * 4 + [1] * 4)
    assert limits.quarters_by_ink(images, labels).tolist() == [3, 0, 2, 1, 3, 0, 2, 1]


@pytest.mark.slow
def test_a_run_leaves_a_network_that_its_limits_are_measured_of(mnist, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    short = variants.VARIANTS["kinds-8"]._replace(steps=2)
    monkeypatch.setitem(variants.VARIANTS, "kinds-8", short)
    variants.main(["kinds-8", "--seeds", "3"])
    limits.main(["kinds-8", "--seeds", "3"])
    (made,) = json.loads((tmp_path / "turning_variants.json").read_text())["runs"]
    (measured,) = json.loads((tmp_path / "turning_limits.json").read_text())["runs"]
    confusion = torch.tensor(measured["confusion"]["new"])
    wrong = confusion.sum() - confusion.diag().sum()
    assert int(wrong) / variants.TESTED == pytest.approx(made["errors"]["new"]["all"])
    assert len(measured["by_angle"]["all"]) == len(limits.ANGLES)


def test_who_is_told_that_digits_are_upright_rules_out_what_would_be_upside_down(monkeypatch):
    class Reader(torch.nn.Module):
        """It cannot decide between 6 and 9, and believes every 9 to be upside down."""

        def __init__(self):
            super().__init__()
            self.gain = torch.nn.Parameter(torch.ones(()))

        def forward(self, images):
            scores = torch.zeros(len(images), 10)
            scores[:, 6], scores[:, 9] = 1.0, 2.0
            return scores

        def scores_and_turn(self, images, labels):
            cos = torch.where(labels == 9, -1.0, 1.0)
            return self(images), torch.stack([cos, torch.zeros_like(cos)], dim=1)

    data = limits.Digits(torch.zeros(3, 1, 28, 28), torch.tensor([6, 9, 6]), "sample")
    monkeypatch.setattr(limits, "validation_digits", lambda view: data)
    told = limits.measure_told_upright(Reader())
    assert told["error"] == pytest.approx(1 / 3, abs=1e-6)
    assert told["confusion"][6][6] == 2
    assert told["confusion"][9][6] == 1


# --- what chapter 19 and Results say of the records


def test_of_the_changes_run_these_help_as_results_say():
    record = records.stored("turning_variants")
    helpful = set()
    for name in {run["arm"] for run in record["runs"]} - {"base"}:
        difference, error = variants.fewer(record, name)
        if difference > 2 * error:
            helpful.add(name)
    assert helpful == {"second-layer", "wholes", "steps-2000"}


def test_a_network_told_what_is_up_errs_as_results_say():
    runs = {run["arm"]: run for run in records.stored("turning_limits")["runs"]}
    page, cnn = runs["digits-long"], runs["cnn-2500"]
    counts = page["confusion"]["straight"]
    pairs = limits.most_confused(counts, 2)
    assert pairs == [(6, 9), (6, 7)]
    confused = limits.digits_confused(counts, pairs)
    assert confused["6 and 9"] > sum(confused.values()) / 4
    told = limits.digits_confused(page["told_upright"]["confusion"], pairs)
    upright = limits.digits_confused(cnn["confusion"]["straight"], pairs)
    for pair in ("6 and 9", "6 and 7"):
        assert told[pair] == upright[pair] == 0
    errors = [sum(counted.values()) for counted in (confused, told, upright)]
    closed = (errors[0] - errors[1]) / (errors[0] - errors[2])
    assert closed == pytest.approx(2 / 3, abs=0.05)
    assert told["all other pairs"] == pytest.approx(confused["all other pairs"], rel=0.1)


def test_digits_of_training_are_misread_as_often_as_others():
    for run in records.stored("turning_limits")["runs"]:
        if not run["arm"].startswith("cnn"):
            counts = torch.tensor(run["confusion"]["new"])
            validation = 1 - float(counts.diag().sum()) / float(counts.sum())
            # Two standard errors of a difference of two shares of 5,000 digits.
            assert run["training"]["all"] == pytest.approx(validation, abs=0.009)


def described(notebook, cell):
    """The numbers in the description of a figure."""
    path = ROOT / "book" / notebook
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (figure,) = (candidate for candidate in cells if candidate["id"] == cell)
    return re.findall(r"\d+(?:\.\d+)?", figure["metadata"]["mystnb"]["image"]["alt"])


def test_errors_at_new_angles_are_described_as_the_record_has_them():
    record = records.stored("turning")
    names = ["coincidence", "scalar-r3", "group-cnn", "pooled", "capsnet", "cnn", "cnn-every"]
    wholes = turning.errors_at_new_angles(record, "wholes", names)
    digits_misread = turning.errors_at_new_angles(record, "digits", names)
    expected = []
    for whole, digit in zip(wholes.values(), digits_misread.values(), strict=True):
        expected += [f"{whole:.1f}", f"{digit:.1f}"]
    numbers = described("chapters/19-capsules-that-turn.ipynb", "turn-controls")
    assert [number for number in numbers if number != "2017"] == expected


def test_the_drawings_errors_are_described_as_the_record_has_them():
    errors = records.stored("turning_decoder")["errors"]["new"]
    assert described("results.ipynb", "turn-draws") == [
        f"{errors[name]:.1f}" for name in ("drawing", "mean", "blank")
    ]


def test_the_confused_pairs_are_described_as_the_record_has_them():
    runs = {run["arm"]: run for run in records.stored("turning_limits")["runs"]}
    counts = runs["digits-long"]["confusion"]["straight"]
    confused = limits.digits_confused(counts, [(6, 9), (6, 7)])
    numbers = described("results.ipynb", "turn-confused")
    assert f"{confused['6 and 9']:.0f}" in numbers
    assert f"{confused['6 and 7']:.0f}" in numbers
