"""The landscape of the evidence: a dot and a row for each claim, with the records' numbers."""

from __future__ import annotations

import math
from statistics import fmean

import pytest
from bs4 import BeautifulSoup, Tag
from capsnet_book.experiments.plan import GROUPS, Experiments, Question
from capsnet_book.experiments.tables import results_by_seed
from capsnet_book.experiments.verdicts import NO_DIFFERENCE, answers, verdicts
from capsnet_book.figures import evidence_landscape

EXPERIMENTS = Experiments.read()
ASKED = answers(EXPERIMENTS)
EVERYTHING = [*ASKED, *verdicts(EXPERIMENTS)]
ERRORS = {"test": "error", "test_bent": "bent", "test_noisy": "noisy"}
"""A question's measure -> the name of its error in a record's ``rounds``."""


@pytest.fixture(scope="module")
def landscape() -> BeautifulSoup:
    html = evidence_landscape(EVERYTHING)._repr_html_()
    return BeautifulSoup(html, "html.parser")


def per_cent_at(place: str) -> float:
    """The value at a place, per cent of the width: the scale has square roots up to 120 %."""
    share = float(place) / 50 - 1
    return math.copysign(120 * share**2, share)


def places(dot: Tag) -> dict[str, float]:
    """Mean and interval of a dot, in per cent."""
    pairs = (declaration.split(":") for declaration in str(dot["style"]).split(";"))
    return {name.removeprefix("--"): per_cent_at(place) for name, place in pairs}


def row_of(landscape: BeautifulSoup, dot: Tag) -> Tag:
    return landscape.find(id=str(dot["href"]).removeprefix("#"))


def claim_of(row: Tag) -> str:
    return row.select_one("summary span").get_text()


@pytest.fixture(scope="module")
def dots(landscape: BeautifulSoup) -> dict[str, Tag]:
    """The dots by the claims of their rows."""
    return {claim_of(row_of(landscape, dot)): dot for dot in landscape.select(".lines a")}


def test_every_verdict_has_a_dot_and_a_row_in_its_group(landscape):
    assert len(landscape.select(".lines a")) == len(landscape.select("li")) == len(EVERYTHING)
    headings = {}
    for group in landscape.select(".group:has(.lines)"):
        for dot in group.select("a"):
            headings[claim_of(row_of(landscape, dot))] = group.select_one("b").get_text()
    wanted = {verdict.text: GROUPS[verdict.question.group] for verdict in EVERYTHING}
    assert headings == wanted


def test_a_dot_stands_at_its_verdicts_numbers(dots):
    for verdict in EVERYTHING:
        drawn = places(dots[verdict.text])
        difference = verdict.difference
        numbers = {"mean": difference.value, "low": difference.low, "high": difference.high}
        for name, value in numbers.items():
            per_cent = min(max(100 * value / verdict.reference, -120), 120)
            assert drawn[name] == pytest.approx(per_cent, abs=0.15), verdict.text


@pytest.mark.parametrize(
    "verdict",
    [verdict for verdict in ASKED if "run" in verdict.question.smaller],
    ids=lambda verdict: verdict.question.name,
)
def test_a_dot_stands_at_the_records_numbers(dots, verdict):
    """Of the questions about runs, whose records have their errors by round."""
    question = verdict.question
    errors = []
    for side in (question.smaller, question.larger):
        records = results_by_seed(EXPERIMENTS, side["run"])
        by_seed = [records[seed]["rounds"][side["rounds"] - 1] for seed in question.seeds]
        errors.append(fmean(round_[ERRORS[question.measure]] for round_ in by_seed))
    smaller, larger = errors
    drawn = places(dots[verdict.text])
    assert drawn["mean"] == pytest.approx(100 * (larger - smaller) / larger, abs=0.15)


def test_a_row_says_where_holm_decides_against_the_interval(landscape, dots):
    for verdict in EVERYTHING:
        difference = verdict.difference
        is_clear = difference.low * difference.high > 0
        row = row_of(landscape, dots[verdict.text])
        is_told = "leaves out zero" in row.get_text()
        assert is_told == (is_clear and verdict.word == NO_DIFFERENCE), verdict.text


def test_a_row_opens_its_seeds_and_its_runs(landscape, dots):
    for verdict in EVERYTHING:
        row = row_of(landscape, dots[verdict.text])
        assert row.select_one(".seeds")["d"].count("M") == len(verdict.by_seed)
        runs = {code.get_text() for code in row.select("code")}
        for side in (verdict.question.smaller, verdict.question.larger):
            if isinstance(verdict.question, Question):
                assert (side.get("run") or side["arm"]) in runs
            else:
                assert runs >= ({side} if isinstance(side, str) else set(side))


def test_what_is_lit_stands_out():
    name = ASKED[0].question.name
    html = evidence_landscape(EVERYTHING, [name])._repr_html_()
    landscape = BeautifulSoup(html, "html.parser")
    (dot,) = landscape.select(".landscape.some .lines a.lit")
    (row,) = landscape.select("li.lit")
    assert row is row_of(landscape, dot)
    assert claim_of(row) == ASKED[0].text
