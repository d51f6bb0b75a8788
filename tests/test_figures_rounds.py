"""The figure on rounds shows every seed that it is given, with one to three seeds."""

import json

import pytest
from capsnet_book import figures
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import folder

TRAINED = {"small-r1": 1, "small-r2": 2, "small-r3": 3, "small-r5": 5}


def made_up(tmp_path, seeds):
    """The project's experiments, with errors from which run, seed and column can be told."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "experiments.toml").write_text((folder() / "experiments.toml").read_text("utf-8"), encoding="utf-8")
    for run, rounds in TRAINED.items():
        for seed in range(seeds):
            found = {
                "config": {"iterations": rounds},
                "test": {"error": 0.004 + 0.0001 * (10 * rounds + seed)},
                "test_bent": {"error": 0.02 + 0.0001 * (10 * rounds + seed)},
                "rounds": [
                    {"entropy": 1 - 0.01 * r - 0.001 * seed, "error": 0.005 - 0.0001 * r} for r in range(rounds)
                ],
            }
            (tmp_path / "runs" / f"{run}-{seed}.json").write_text(json.dumps(found), encoding="utf-8")
    return Experiments.read(tmp_path)


def points(axes):
    """The dots and lines of a panel, without the paper's, which are squares."""
    lines = [line for line in axes.lines if line.get_marker() == "o"]
    return [list(map(float, line.get_ydata())) for line in lines]


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_every_seed_is_a_dot_and_a_line(tmp_path, seeds):
    figure = figures.rounds_compared(made_up(tmp_path, seeds))
    figure.canvas.draw()
    error, bent, entropy, stopped = figure.axes
    for axes, base in ((error, 0.4), (bent, 2.0)):
        expected = [[base + 0.01 * (10 * rounds + seed) for seed in range(seeds)] for rounds in TRAINED.values()]
        assert points(axes) == [pytest.approx(row) for row in expected]
        assert axes.get_ylim()[0] == 0 and axes.get_ylim()[1] > max(map(max, points(axes)))
    drawn = [
        [1 - 0.01 * r - 0.001 * seed for r in range(rounds)] for rounds in TRAINED.values() for seed in range(seeds)
    ]
    assert points(entropy) == [pytest.approx(row) for row in drawn]
    assert [len(row) for row in points(stopped)] == [len(row) for row in drawn]
    assert [text.get_text() for text in entropy.get_legend().get_texts()] == [
        f"trained with {rounds}" for rounds in TRAINED.values()
    ]


def test_the_papers_numbers_stand_beside(tmp_path):
    error = figures.rounds_compared(made_up(tmp_path, 1)).axes[0]
    squares = [
        (float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in error.lines if line.get_marker() == "s"
    ]
    assert squares == [(1.0, 0.29), (3.0, 0.25)]


def test_a_run_that_diverged_or_is_missing_is_left_out(tmp_path):
    experiments = made_up(tmp_path, 2)
    (tmp_path / "runs" / "small-r2-1.json").write_text('{"diverged": true}', encoding="utf-8")
    for seed in (0, 1):
        (tmp_path / "runs" / f"small-r5-{seed}.json").unlink()
    assert [len(row) for row in points(figures.rounds_compared(experiments).axes[0])] == [2, 1, 2]
