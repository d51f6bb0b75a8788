"""verdicts.py: each claim is judged by the statistics of its own numbers, and all together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.statistics import holm, over_images, paired, unpaired
from capsnet_book.experiments.verdicts import (
    CONTRARY_HINT,
    HINT,
    NO_DIFFERENCE,
    NO_INTERVAL,
    OTHER_WAY,
    SEEN,
    verdict_list,
    verdicts,
)

HEAD = """
seeds = [0, 1, 2, 3, 4, 5]
common = ""
order = [["t"]]
[runs]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path


def store(
    folder: Path, run: str, errors: dict[int, float], network: str = "capsnet", wrong: dict | None = None
) -> None:
    """Records of a run, by seed, errors in percent."""
    for seed, error in errors.items():
        result = {"network": network, "test": {"error": error / 100}, "validation": {"error": error / 50}}
        result |= {"wrong": {"test": wrong[seed]}} if wrong else {}
        (folder / "runs" / f"{run}-{seed}.json").write_text(json.dumps(result))


def judge(folder: Path, *claims: tuple[object, object]) -> list:
    """The verdicts on such claims about runs."""
    names = {run for claim in claims for side in claim for run in ([side] if isinstance(side, str) else side)}
    lines = [HEAD, *(f'{name} = {{ arguments = "" }}' for name in sorted(names))]
    rows = ", ".join(f'{{ label = "{name}", run = "{name}" }}' for name in sorted(names))
    lines.append(f'[tables.t]\ntitle = "T"\ncolumns = ["error"]\nrows = [{rows}]')
    for smaller, larger in claims:
        lines.append(f'[[claims]]\ntext = "{smaller} < {larger}"\ncolumn = "error"')
        lines.append(f"smaller = {json.dumps(smaller)}\nlarger = {json.dumps(larger)}")
    (folder / "experiments.toml").write_text("\n".join(lines), encoding="utf-8")
    return verdicts(Experiments.read(folder))


GOOD = {0: 0.30, 1: 0.33, 2: 0.35, 3: 0.31}


def test_capsnets_of_the_same_seed_are_paired(folder):
    store(folder, "good", GOOD)
    store(folder, "bad", {1: 0.45, 2: 0.46, 3: 0.44, 5: 9.0})
    (verdict,) = judge(folder, ("good", "bad"))
    expected = paired([0.33, 0.35, 0.31], [0.45, 0.46, 0.44])
    assert verdict.difference == pytest.approx(expected)
    assert (verdict.word, verdict.seeds) == (SEEN, "3 seeds, paired")
    assert "error, %: 0.33 ± 0.020 against 0.45 ± 0.010; difference +0.12 (95 %: +0.10 to +0.14)" in verdict.sentence


def test_a_cnn_is_compared_by_itself_with_all_seeds(folder):
    store(folder, "good", GOOD)
    store(folder, "cnn", {1: 0.45, 2: 0.46}, network="cnn")
    (verdict,) = judge(folder, ("good", "cnn"))
    assert verdict.difference == pytest.approx(unpaired([*GOOD.values()], [0.45, 0.46]))
    assert verdict.seeds == "4 and 2 seeds"


def test_all_claims_of_the_page_count(folder):
    runs = {"good": [0.30, 0.33, 0.35], "a": [0.41, 0.42, 0.47], "b": [0.34, 0.35, 0.38], "c": [0.30, 0.35, 0.36]}
    for run, errors in runs.items():
        store(folder, run, dict(enumerate(errors)))
    found = {each.claim.larger: each for each in judge(folder, ("good", "a"), ("good", "b"), ("good", "c"))}
    alone = {run: paired(runs["good"], errors).p for run, errors in runs.items() if run != "good"}
    assert {run: each.p for run, each in found.items()} == pytest.approx(
        dict(zip(alone, holm(list(alone.values())), strict=True))
    )
    assert alone["b"] < 0.05 < found["b"].p and found["b"].word == HINT
    (back, *_) = judge(folder, ("b", "good"), ("good", "a"), ("good", "c"))
    assert (back.word, back.difference.p) == (CONTRARY_HINT, pytest.approx(alone["b"]))
    assert alone["c"] > 0.05 and found["c"].word == NO_DIFFERENCE
    assert f"could be as large as {found['c'].difference.reach:.2f}" in found["c"].sentence


def test_what_did_not_come_out_is_first_and_what_was_not_run_is_left_out(folder):
    store(folder, "good", GOOD)
    store(folder, "bad", {0: 0.51, 1: 0.53, 2: 0.57, 3: 0.52})
    store(folder, "single", {0: 0.6})
    store(folder, "always", {seed: each + 0.05 for seed, each in GOOD.items()})
    found = judge(folder, ("good", "single"), ("good", "bad"), ("good", "always"), ("bad", "good"), ("good", "never"))
    assert [each.word for each in found] == [OTHER_WAY, SEEN, NO_INTERVAL, NO_INTERVAL]
    assert [each.seeds for each in found[2:]] == [
        "1 seed",
        "4 seeds, paired, all +0.05, no spread to judge by",
    ]
    assert verdict_list(found).count("\n- ") == 3


def test_of_several_runs_the_validation_digits_choose_one(folder):
    store(folder, "slow", {0: 0.50, 1: 0.52})
    store(folder, "fast", {0: 0.40, 1: 0.43})
    store(folder, "other", {0: 0.60, 1: 0.61})
    (verdict,) = judge(folder, (["slow", "fast", "never"], "other"))
    assert verdict.smaller.values == [0.40, 0.43]


def test_where_the_misread_images_are_known_they_are_compared_too(folder):
    wrong = {"good": {0: [1, 2], 1: [1]}, "bad": {0: [1, 2, 3, 4], 1: [1, 9]}}
    store(folder, "good", {0: 0.02, 1: 0.01}, wrong=wrong["good"])
    store(folder, "bad", {0: 0.04, 1: 0.02}, wrong=wrong["bad"])
    (verdict,) = judge(folder, ("good", "bad"))
    expected = over_images([*wrong["good"].values()], [*wrong["bad"].values()], 10_000)
    assert verdict.images.low == pytest.approx(100 * expected.low)
    assert verdict.images.value == pytest.approx(verdict.difference.value)
    assert "with other images" in verdict.sentence
    store(folder, "bad", {0: 0.04, 1: 0.02})
    assert judge(folder, ("good", "bad"))[0].images is None
