"""The verdict's table says what the primary questions found, from the same records."""

import pytest
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.statistics import Difference
from capsnet_book.experiments.trial import Effect, trial
from capsnet_book.experiments.verdicts import answers


@pytest.fixture(scope="module")
def rows():
    return {(row.task, row.network): row for row in trial(Experiments.read())}


def test_its_differences_are_those_of_the_primary_questions(rows):
    answered = {answer.question.name: answer for answer in answers(Experiments.read())}
    small = rows["bent digits", "small"]
    assert small.in_training.difference == answered["training-bent"].difference
    large = rows["overlapping digits", "the paper's size"]
    assert large.at_inference.difference == answered["paper-pairs-reading"].difference


def test_a_row_has_ten_seeds_or_says_so(rows):
    few = {key for key, row in rows.items() if row.seeds != 10}
    assert few == {("overlapping digits", "small")}


def test_the_row_of_pictures_is_that_of_the_table_in_results(rows):
    row = rows["a bar and a wedge, in noise", "small"]
    assert f"{row.in_training.before:.1f} {row.in_training.after:.1f}" == "71.9 51.5"
    assert f"{row.at_inference.after:.1f}" == "49.5"
    gain = row.at_inference.difference
    assert f"{gain.value:.1f} {gain.low:.1f} {gain.high:.1f}" == "2.1 -0.5 4.7"


def test_an_interval_around_zero_is_no_difference():
    around_zero = Difference(0.1, -0.1, 0.3, 0.3, 0.4)
    assert str(Effect(2.0, 1.9, around_zero)) == "no difference seen"
    assert str(Effect(2.0, 2.0, None)) == "no difference seen"


def test_a_share_is_of_the_errors_before():
    assert str(Effect(2.5, 2.0, Difference(0.5, 0.3, 0.7, 0.001, 0.3))) == (
        "20% fewer: 2.50 → 2.00 %"
    )
    assert str(Effect(2.0, 2.2, Difference(-0.2, -0.3, -0.1, 0.001, 0.1))) == (
        "10% more: 2.00 → 2.20 %"
    )
