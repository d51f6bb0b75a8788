"""Read and Build: the folds, the switch, links to what is folded; guesses are kept and counted."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from PIL import Image
from playwright.sync_api import expect

from .conftest import NO_STORAGE, ROOT, Visit

pytestmark = pytest.mark.slow

CHAPTERS = [
    f"book/chapters/{path.stem}.html" for path in sorted((ROOT / "book/chapters").glob("*.ipynb"))
]
PAGE = "book/chapters/04-squash.html"
CODE = "div.cell:not(.tag_hide-input, .tag_remove-cell) > .cell_input pre"


def test_read_folds_code_and_exercises_and_build_shows_them(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + PAGE).page
    code = page.locator(CODE).first
    exercise = page.locator(f"#exercises {CODE}").first
    expect(code).to_be_hidden()
    expect(exercise).to_be_hidden()
    page.locator(".fold.code").first.click()
    expect(code).to_be_visible()
    page.get_by_role("button", name="Build").click()
    expect(exercise).to_be_visible()
    expect(page.locator(".fold").first).to_be_hidden()


BLENDED = 8  # of 255: what a box between two pixels adds

PRINTS = ".cell_output > .output:is(.stream, .text_plain)"
ALONE = """(print) => {
    // Shown in Read without its code, and not kept.
    const cell = print.closest("div.cell");
    return print.checkVisibility() && !cell.matches(".tag_keep");
}"""


@pytest.mark.parametrize("page", CHAPTERS)
def test_read_shows_no_print_but_those_that_are_kept(
    visit: Callable[..., Visit], address: str, page: str
) -> None:
    page = visit(address + page).page
    expect(page.locator("html")).to_have_attribute("data-way", "read")
    shown = page.locator(PRINTS).evaluate_all(
        f"(prints) => prints.filter({ALONE}).map((print) => print.textContent.trim())"
    )
    assert shown == []


def test_a_mark_opens_code_and_what_it_prints(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + "book/chapters/06-routing.html").page
    cell = page.locator(f"div.cell.silent:has(.fold.code):has({PRINTS})").first
    mark = cell.locator(".fold.code")
    expect(cell.locator(PRINTS).first).to_be_hidden()
    expect(mark).to_have_accessible_name(re.compile(r"\d lines?$"))
    mark.press("Enter")
    expect(cell.locator(PRINTS).first).to_be_visible()
    expect(cell.locator("pre").first).to_be_visible()
    mark.press("Enter")
    expect(cell.locator(PRINTS).first).to_be_hidden()


def test_one_mark_opens_cells_that_follow_each_other(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + PAGE).page
    along = page.locator("div.cell.go-along").first
    expect(along.locator(".fold.code")).to_be_hidden()
    before = page.locator("div.cell.silent:has(+ .for-build + .go-along)").first
    before.locator(".fold.code").click()
    expect(along.locator("pre").first).to_be_visible()


def test_what_speaks_of_cells_is_for_build(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + PAGE).page
    passage = page.locator(".for-build").first
    expect(passage).to_be_hidden()
    page.get_by_role("button", name="Build").click()
    expect(passage).to_be_visible()


def test_the_choice_stays_on_the_next_page(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + PAGE).page
    page.get_by_role("button", name="Build").click()
    page.goto(address + "book/chapters/05-prediction-vectors.html")
    expect(page.locator(CODE).first).to_be_visible()
    expect(page.get_by_role("button", name="Build")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize(("stored", "way"), [("zzz", "Read"), ("build", "Build")])
def test_only_a_known_way_is_taken_from_what_is_stored(
    visit: Callable[..., Visit], address: str, stored: str, way: str
) -> None:
    """Other projects of the same origin store there, too."""
    page = visit(address + "search.html").page
    page.evaluate("way => localStorage.setItem('capsnet:way', way)", stored)
    page.goto(address + PAGE)
    expect(page.get_by_role("button", name=way, exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )


def test_a_link_to_what_is_folded_opens_it(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + PAGE).page
    expect(page.locator(f"#exercises {CODE}").first).to_be_hidden()
    page.evaluate("location.hash = document.querySelector('#exercises .cell').id ||= 'a-cell'")
    expect(page.locator("#exercises .cell").first).to_be_visible()


def test_without_javascript_all_is_there(visit: Callable[..., Visit], address: str) -> None:
    page = visit(address + PAGE, java_script_enabled=False).page
    expect(page.locator(CODE).first).to_be_visible()
    expect(page.locator(f"#exercises {CODE}").first).to_be_visible()
    expect(page.locator(".fold").first).to_be_hidden()


# --- guesses

CHOICE, NUMBER, LAST = (
    f"book/chapters/{name}.html"
    for name in ("05-prediction-vectors", "15-message-passing", "21-where-next")
)


def test_a_guess_is_kept_told_at_its_answer_and_counted(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + CHOICE).page
    expect(page.locator(".guessed")).to_be_hidden()
    page.locator(".guess").get_by_role("button", name="all").click()
    expect(page.locator(".guessed")).to_have_text("You said “all”. It is “none”.")
    page.goto(address + NUMBER)
    page.locator(".guess input").first.focus()
    page.keyboard.press("Home")
    page.reload()
    expect(page.locator(".guess output").first).to_have_text("0")
    answer = page.locator(".guessed").locator("visible=true")
    expect(answer).to_contain_text("You said 0. It is 2")
    expect(answer).to_contain_text("As good as right")
    page.goto(address + LAST)
    expect(page.locator(".guess-tally")).to_contain_text("you made 2: 1 right, 0 near, 1 far off")
    page.locator(".guess").first.locator("button, input").first.click()
    expect(page.locator(".guess-tally")).to_contain_text("you made 3")
    page.get_by_role("button", name="Forget them").click()
    expect(page.locator(".guess-tally, .guessed").locator("visible=true")).to_have_count(0)


def test_a_guess_is_told_beside_a_widget_with_a_guess_of_its_own(
    visit: Callable[..., Visit], address: str
) -> None:
    seen = visit(address + "book/chapters/04-squash.html")
    seen.widget("SquashVector")
    seen.page.locator(".guess").get_by_role("button", name="an error").click()
    answer = seen.page.locator("p.guessed").locator("visible=true")
    expect(answer).to_have_text("You said “an error”. It is “neither”.")


def test_a_first_drag_goes_on_and_its_answer_waits_for_the_end(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + NUMBER).page
    controls = page.locator(".guess:has(input)").first
    slider = controls.locator("input")
    slider.scroll_into_view_if_needed()
    expect(controls).to_have_attribute("data-untouched", "")
    expect(controls.locator("output")).to_have_text("slide to guess")
    box = slider.bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.2 * box["width"], y)
    page.mouse.down()
    expect(controls).not_to_have_attribute("data-untouched", "")
    expect(controls.locator("output")).to_have_text(slider.input_value())
    assert slider.bounding_box() == box, "it does not move under the hand"
    begun = slider.input_value()
    page.mouse.move(box["x"] + 0.8 * box["width"], y, steps=4)
    assert float(slider.input_value()) > float(begun)
    expect(page.locator(".guessed").first).to_be_hidden()
    page.mouse.up()
    expect(page.locator(".guessed").first).to_be_visible()


def test_an_answer_waits_for_a_guess_or_to_be_asked_for(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + "book/chapters/02-why-capsules.html").page
    twice = page.get_by_text("Both times the neuron answers 0.50.")
    none = page.get_by_text("None. Each maximum depends")
    for answer in (twice, none):
        expect(answer).to_have_js_property("inert", True)
    page.get_by_role("button", name="Show the answer").first.press("Enter")
    expect(twice).to_have_js_property("inert", False)
    expect(twice).to_be_focused()
    expect(none).to_have_js_property("inert", True)
    page.locator(".guess").get_by_role("button", name="half").click()
    expect(none).to_have_js_property("inert", False)
    page.reload()
    expect(none).to_have_js_property("inert", False)


def test_both_work_where_nothing_may_be_stored(visit: Callable[..., Visit], address: str) -> None:
    page = visit("about:blank", tolerate=True).page  # the theme's own script does complain
    page.add_init_script(NO_STORAGE)
    page.goto(address + CHOICE)
    page.locator(".guess").get_by_role("button", name="all").click()
    expect(page.locator(".guessed")).to_have_text("You said “all”. It is “none”.")
    page.get_by_role("button", name="Build").click()
    expect(page.get_by_role("button", name="Build")).to_have_attribute("aria-pressed", "true")


def test_without_javascript_a_question_stands_alone(
    visit: Callable[..., Visit], address: str
) -> None:
    page = visit(address + CHOICE, java_script_enabled=False).page
    expect(page.get_by_text("How many numbers of the matrix must change")).to_be_visible()
    expect(page.locator(".guess")).to_be_hidden()
    expect(page.locator(".veiled")).to_have_count(0)


@pytest.mark.parametrize("question", ["blockquote", "p"])
def test_a_question_and_its_controls_are_one_box_without_a_notch(
    visit: Callable[..., Visit], address: str, question: str
) -> None:
    page = visit(address + "book/chapters/19-capsules-that-turn.html").page
    controls = page.locator(f"article {question} + .guess").first
    controls.scroll_into_view_if_needed()
    box = controls.bounding_box()
    assert box
    last = box["x"] + box["width"] - 1
    for x in (box["x"], box["x"] + 3, last):  # the border, the pixel beside it, the other side
        strip = page.screenshot(clip={"x": x, "y": box["y"] - 8, "width": 1, "height": 24})
        channels = Image.open(io.BytesIO(strip)).convert("RGB").getextrema()
        assert all(highest - lowest <= BLENDED for lowest, highest in channels)


def test_a_veiled_answer_is_cut_on_a_phone_and_whole_once_it_is_asked_for(
    visit: Callable[..., Visit], address: str
) -> None:
    options = {"viewport": {"width": 375, "height": 812}}
    page = visit(address + "book/chapters/12-when-it-does-not-learn.html", **options).page
    section = page.locator("#what-each-symptom-points-to")
    table = section.locator(".cell:has(table)").first
    height = "(part) => part.offsetHeight"
    expect(table).to_have_class(re.compile("veiled"))
    assert table.evaluate(height) < 812 / 2
    section.locator(".veil").first.get_by_role("button").click()
    expect(table).not_to_have_class(re.compile("veiled"))
    assert table.evaluate(height) > 812
