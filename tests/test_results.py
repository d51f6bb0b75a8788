"""records.py, tables.py, verdicts.py: pages print what records hold, judged as written down."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from capsnet_book.experiments.evidence import pack_wrong
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import code_version
from capsnet_book.experiments.statistics import holm, paired, two_way, unpaired
from capsnet_book.experiments.tables import not_run, table_rows
from capsnet_book.experiments.verdicts import (
    CONTRARY_HINT,
    HINT,
    NO_DIFFERENCE,
    NO_INTERVAL,
    NOT_RUN,
    PLAIN,
    PLAIN_CONTRARY,
    SEEN,
    answers,
    verdicts,
)
from capsnet_book.figures import claims_board

ROOT = Path(__file__).resolve().parent.parent

# --- files


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_checkout_has_its_commit_and_only_the_packages_changes_make_it_dirty(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    assert code_version(package) is None
    (package / "__init__.py").write_text("")
    git(tmp_path, "init", "--quiet")
    assert code_version(package) is None  # it lies in a checkout, but is no part of it
    git(tmp_path, "add", ".")
    git(
        tmp_path,
        "-c",
        "user.name=n",
        "-c",
        "user.email=e",
        "commit",
        "--quiet",
        "--message",
        "first",
    )
    (tmp_path / "notes").write_text("elsewhere")
    assert code_version(package) == {"id": git(tmp_path, "rev-parse", "HEAD"), "dirty": False}
    (package / "new.py").write_text("")
    assert code_version(package)["dirty"] is True


# --- tables and claims

HEAD = """
seeds = [0, 1, 2, 3, 4, 5]
common = ""
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path


def store(folder: Path, run: str, errors: dict[int, float], **more: object) -> None:
    """Records of a run, by seed, errors in percent."""
    for seed, error in errors.items():
        result = {
            "network": "capsnet",
            "test": {"error": error / 100},
            "validation": {"error": error / 50},
            **more,
        }
        result = {key: value[seed] if key == "wrong" else value for key, value in result.items()}
        (folder / "runs" / f"{run}-{seed}.json").write_text(json.dumps(result))


def read(
    folder: Path, *claims: tuple[object, object], columns: str = '["error"]', questions: str = ""
) -> Experiments:
    """Experiments with such claims about runs, and a table of all runs."""
    names = {"never", *(path.name.rpartition("-")[0] for path in (folder / "runs").iterdir())}
    lines = [HEAD, "" if questions else "questions = []", "" if claims else "claims = []", "[runs]"]
    lines += [f'{name} = {{ arguments = "", not_run = "too dear" }}' for name in sorted(names)]
    rows = ", ".join(
        f'{{ label = "{name}", run = "{name}", paper = "0.25" }}' for name in sorted(names)
    )
    lines.append(f"[tables.t]\ncolumns = {columns}\nrows = [{rows}]")
    for smaller, larger in claims:
        lines.append(
            f'[[claims]]\ntext = "{smaller} < {larger}"\ncolumn = "error"\ngroup = "training"'
        )
        lines.append(f"smaller = {json.dumps(smaller)}\nlarger = {json.dumps(larger)}")
    (folder / "experiments.toml").write_text("\n".join([*lines, questions]), encoding="utf-8")
    return Experiments.read(folder)


GOOD = {0: 0.30, 1: 0.33, 2: 0.35, 3: 0.31}


def test_a_row_has_mean_and_spread_over_the_seeds_and_a_mean_for_each_round(folder):
    store(folder, "a", {0: 0.3, 1: 0.4}, rounds=[{"error": 0.5}, {"error": 0.25}])
    experiments = read(folder, columns='["error", "stopped", "entropy"]')
    text = table_rows(experiments, experiments.tables["t"])
    line = next(line for line in text.splitlines() if line.startswith("| a "))
    cells = [text.strip() for text in line.strip("|").split("|")]
    # No run has an entropy, so that there is no column of it.
    assert cells == ["a", "0.35 ± 0.071", "0.25", "50.00 → 25.00", "2 of 6"]
    assert "| never" not in text
    assert not_run(experiments) == "- Too dear: never (`never`).\n"


def test_capsnets_of_the_same_seeds_are_paired_and_others_count_with_all_seeds(folder):
    store(folder, "good", GOOD)
    store(folder, "bad", {1: 0.45, 2: 0.46, 3: 0.44})
    store(folder, "few", {1: 0.45, 2: 0.46})
    store(folder, "cnn", {0: 0.45, 1: 0.46, 2: 0.4, 3: 0.5}, network="cnn")
    claims = [("good", "bad"), ("good", "few"), ("good", "cnn")]
    by_larger = {one.question.larger: one for one in verdicts(read(folder, *claims))}
    assert by_larger["bad"].difference == pytest.approx(
        paired([0.33, 0.35, 0.31], [0.45, 0.46, 0.44])
    )
    assert by_larger["bad"].word == PLAIN
    assert "; 3 seeds, paired (correlation +1.00)." in by_larger["bad"].sentence
    assert by_larger["few"].difference == pytest.approx(unpaired([*GOOD.values()], [0.45, 0.46]))
    assert "; 4 and 2 seeds." in by_larger["few"].sentence
    assert by_larger["cnn"].difference == pytest.approx(
        unpaired([*GOOD.values()], [0.45, 0.46, 0.4, 0.5])
    )
    assert (
        "error, %: 0.33 ± 0.020 against 0.45 ± 0.010; difference +0.12 (95 %: +0.10"
        in by_larger["bad"].sentence
    )


def test_what_did_not_come_out_is_first_and_what_was_not_run_is_left_out(folder):
    store(folder, "good", GOOD)
    store(folder, "bad", {seed: value + 0.2 + 0.01 * (seed == 1) for seed, value in GOOD.items()})
    store(folder, "same", {0: 0.33, 1: 0.31, 2: 0.32, 3: 0.34})
    store(folder, "shifted", {seed: value + 0.1 for seed, value in GOOD.items()})
    claims = [
        ("good", "bad"),
        ("good", "never"),
        ("good", "shifted"),
        ("good", "same"),
        ("bad", "good"),
    ]
    judged = verdicts(read(folder, *claims))
    words = [verdict.word for verdict in judged]
    assert words == [PLAIN_CONTRARY, NO_DIFFERENCE, PLAIN, NO_INTERVAL]
    assert judged[1].difference.detectable > 0
    assert "most likely have been seen" in judged[1].sentence
    board = claims_board(judged)._repr_html_().split("<li>")
    assert "Plainly the opposite, asked later</b><span>bad &lt; good</span>" in board[1]
    assert 'aria-label="−' in board[1] and 'aria-label="+' in board[3]
    assert board[1].count(" 21h0") == len(judged[0].by_seed) == len(GOOD)


def test_a_claim_is_plain_if_it_holds_among_all_of_them_and_a_hint_if_it_holds_alone(folder):
    seeds = range(5)
    store(folder, "good", {seed: 0.3 + 0.01 * seed for seed in seeds})
    store(folder, "bad", {seed: 0.4 + 0.011 * seed for seed in seeds})
    store(folder, "near", {seed: 0.32 + 0.01 * seed + 0.015 * (-1) ** seed for seed in seeds})
    claims = [("good", "bad"), *[("good", "near"), ("near", "good")] * 2]
    by_sides = {}
    for verdict in verdicts(read(folder, *claims)):
        by_sides[verdict.question.smaller, verdict.question.larger] = verdict
    assert by_sides["good", "bad"].word == PLAIN
    assert by_sides["near", "good"].word == CONTRARY_HINT and by_sides["good", "near"].word == HINT
    near = by_sides["good", "near"].difference.p
    assert near < 0.05 < 4 * near  # the smallest p of the five is that of "bad"
    assert f"p = {near:.3f} (Holm = " in by_sides["good", "near"].sentence
    assert "p < 0.001 (Holm < 0.001)" in by_sides["good", "bad"].sentence


def test_of_three_seeds_no_p_below_a_hundredth_is_printed_and_five_times_p_counts(folder):
    store(folder, "good", {seed: 0.3 + 0.01 * seed for seed in range(3)})
    store(folder, "bad", {seed: 0.35 + 0.02 * seed + 0.02 * (seed == 1) for seed in range(3)})
    verdict = verdicts(read(folder, ("good", "bad")))[0]
    assert 0.01 < verdict.difference.p < 0.05 < 5 * verdict.difference.p
    assert f"(Holm = {5 * verdict.difference.p:.3f})" in verdict.sentence and verdict.word == HINT
    store(folder, "worse", {seed: 0.4 + 0.0101 * seed for seed in range(3)})
    verdict = verdicts(read(folder, ("good", "worse")))[0]
    assert "p < 0.01 (Holm < 0.01)" in verdict.sentence and verdict.word == PLAIN


def test_of_several_runs_the_validation_digits_choose_one(folder):
    store(folder, "slow", GOOD)
    store(folder, "fast", {seed: value + 0.1 for seed, value in GOOD.items()})
    store(folder, "bad", {seed: 0.6 + 0.01 * seed for seed in GOOD})
    (verdict,) = verdicts(read(folder, (["fast", "slow"], "bad")))
    assert "0.32 ± 0.022 against 0.61" in verdict.sentence


def test_where_the_misread_images_are_known_the_interval_is_over_them_too(folder):
    wrong = {seed: [*range(seed, 33 + seed)] for seed in GOOD}
    worse = {seed: [*range(seed, 40 + 2 * seed)] for seed in GOOD}
    store(
        folder,
        "good",
        dict.fromkeys(GOOD, 0.33),
        wrong={seed: {"test": misread} for seed, misread in wrong.items()},
    )
    store(
        folder,
        "bad",
        {s: len(w) / 100 for s, w in worse.items()},
        wrong={s: {"test": w} for s, w in worse.items()},
    )
    (verdict,) = verdicts(read(folder, ("good", "bad")))
    tables = np.zeros((2, 4, 10_000))
    for seed in GOOD:
        tables[0, seed, wrong[seed]] = tables[1, seed, worse[seed]] = 1
    assert verdict.difference == pytest.approx(two_way(*tables).times(100))
    assert "; 4 seeds, paired, and all images." in verdict.sentence


# --- the primary questions

QUESTION = """
[[questions]]
name = "reading"
text = "Fewer after three rounds"
group = "inference"
smaller = { run = "r3", rounds = 3 }
larger = { run = "r3", rounds = 1 }
measure = "test_bent"
seeds = [2, 3, 4]
[[questions]]
name = "view"
text = "Fewer with matrices"
group = "training"
smaller = { arm = "m", rounds = 1, view = "new", clutter = 6 }
larger = { arm = "v", rounds = 2, view = "new", clutter = 6 }
measure = "viewpoints"
seeds = [2, 3]
"""


def store_rounds(folder: Path, seed: int) -> None:
    after = [pack_wrong(range(seed, 300 + seed), 10_000), "", pack_wrong(range(200 + seed), 10_000)]
    record = {"network": "capsnet", "test": {"error": 0}, "wrong_after": {"test_bent": after}}
    (folder / "runs" / f"r3-{seed}.json").write_text(json.dumps(record))


def test_a_question_is_judged_when_all_its_seeds_are_there_and_only_of_these(folder):
    for seed in (2, 3, 5):
        store_rounds(folder, seed)
    (folder / "viewpoints.json").write_text('{"runs": []}')
    words = [answer.word for answer in answers(read(folder, questions=QUESTION))]
    assert words == [NOT_RUN, NOT_RUN]
    store_rounds(folder, 4)
    errors = {("m", 2): 0.2, ("m", 3): 0.21, ("v", 2): 0.3, ("v", 3): 0.32}
    runs = [
        {"arm": arm, "seed": seed, "errors": {"new": {"6": [e if arm == "m" else 1, e]}}}
        for (arm, seed), e in errors.items()
    ]
    (folder / "viewpoints.json").write_text(json.dumps({"runs": runs}))
    first, second = answers(read(folder, questions=QUESTION))
    tables = np.zeros((2, 3, 10_000))
    for row, seed in enumerate((2, 3, 4)):
        tables[0, row, : 200 + seed] = tables[1, row, seed : 300 + seed] = 1
    assert first.difference == pytest.approx(two_way(*tables).times(100))
    assert second.difference == pytest.approx(paired([20, 21], [30, 32]))
    p = max(holm([first.difference.p, second.difference.p]))
    assert f"(Holm = {p:.3f})" in second.sentence
    assert first.word == SEEN
