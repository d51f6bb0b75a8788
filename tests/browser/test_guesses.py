"""The hands of the guesses: a guess is kept, told beside its answer, and counted at the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .conftest import Visit

pytestmark = pytest.mark.slow

CHOICE, NUMBER, LAST = (
    f"book/chapters/{name}.html" for name in ("05-prediction-vectors", "13-message-passing", "19-where-next")
)


def test_a_guess_is_kept_told_at_its_answer_and_counted(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + CHOICE).page
    expect(page.locator(".guessed")).to_be_hidden()
    page.locator(".guess").get_by_role("button", name="all").click()
    expect(page.locator(".guessed")).to_have_text("You said “all”. It is “none”.")
    page.goto(address + NUMBER)
    page.locator(".guess input").focus()
    page.keyboard.press("Home")
    page.reload()
    expect(page.locator(".guess output")).to_have_text("0")
    expect(page.locator(".guessed")).to_contain_text("You said 0. It is 2")
    expect(page.locator(".guessed")).to_contain_text("As good as right")
    page.goto(address + LAST)
    expect(page.locator(".guess-tally")).to_contain_text("you made 2: 1 right, 0 near, 1 far off")


def test_without_javascript_a_question_stands_alone(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + CHOICE, java_script_enabled=False).page
    expect(page.get_by_text("How many numbers of the matrix must change")).to_be_visible()
    expect(page.locator(".guess")).to_be_hidden()
