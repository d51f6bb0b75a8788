"""Reports: what they say as text, as HTML and as JSON, and their statuses."""

from __future__ import annotations

import html
import json
import re

import pytest
from capsnet_book.bugs import BUGS, variant

from capsnet_check import Report, check_squash
from capsnet_check.report import Coverage, Finding, without_conventions

BUG = Finding("squash-axis", "Here: over the batch.")
FAULT = Finding(None, "It differs.")
HABIT = Finding(None, "A sum.", convention=True)
FAILED = Finding(None, "It raises TypeError.", failed_call=True)


def test_a_report_is_the_same_as_text_and_as_html():
    report = check_squash(variant("squash", "squash-axis"))
    words = html.unescape(re.sub("<[^>]*>", " ", report._repr_html_())).replace("`", "").split()
    assert words == str(report).replace("`", "").split()
    assert BUGS["squash-axis"].paper in str(report)


def test_nothing_that_a_function_says_becomes_html():
    def raises(s):
        raise ValueError("<script>alert(1)</script>")

    text = check_squash(raises)._repr_html_()
    assert "<script" not in text and "&lt;script&gt;" in text


@pytest.mark.parametrize(
    ("findings", "coverage", "status", "headline"),
    [
        ([], [], 0, "✓ mine: right. It agrees."),
        ([HABIT], [], 0, "✓ mine: right"),
        ([FAULT], [], 1, "✗ mine: not right yet"),
        ([BUG, FAILED], [], 1, "✗ mine: 1 known mistake"),
        ([FAILED], [], 2, "? mine: cannot be judged"),
        ([FAILED, HABIT], [Coverage("mask", "no labels")], 2, "? mine: cannot be judged"),
        ([], [Coverage("mask", "no labels")], 3, "? mine: nothing wrong found, but not all of it"),
        ([BUG], [Coverage("mask", "no labels")], 1, "✗ mine: 1 known mistake"),
    ],
)
def test_status_and_headline(findings, coverage, status, headline):
    report = Report.of("mine", findings, coverage, agrees="It agrees.")
    assert report.status == status
    assert str(report).startswith(headline), report
    assert bool(report) == report.passed == (status in (0, 3))


def test_it_has_passed_only_if_what_is_needed_was_examined():
    assert not Report.of("network", [], [Coverage("mask")], needed="routing").passed
    assert Report.of("network", [], [Coverage("mask")], needed="routing").status == 3
    assert Report.of("network", [], [Coverage("routing (72 below)")], needed="routing").passed
    assert not Report.of("network", [], [Coverage("routing", "none")], needed="routing").passed


def test_each_bug_stands_once_in_the_catalogues_order_before_other_faults():
    axis = Finding("softmax-axis", "the first")
    report = Report.of("mine", [FAULT, BUG, axis, Finding("softmax-axis", "the second")])
    assert report.bugs == ("softmax-axis", "squash-axis")
    assert report.findings == (axis, BUG, FAULT)


def test_a_strict_report_counts_conventions_as_faults():
    assert Report.of("mine", without_conventions([HABIT])).status == 1


def test_it_says_what_was_examined_and_what_was_not():
    report = Report.of("network", [], [Coverage("routing"), Coverage("mask", "no labels")])
    assert str(report).endswith("Examined: routing.\n\nNot examined: mask (no labels).")


def test_a_report_goes_into_json():
    report = json.loads(json.dumps(Report.of("mine", [BUG]).as_dict()))
    assert (report["status"], report["bugs"]) == (1, ["squash-axis"])
    assert report["findings"][0]["text"] == BUG.text
