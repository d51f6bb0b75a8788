"""Controls for guesses: buttons or a slider, and an echo at the answer.

A notebook's cell that asks has in its metadata one of

    "guess": {"choices": ["all", "half", "none"], "answer": 2}
    "guess": {"from": 0, "to": 720, "step": 1, "unit": "couplings", "answer": 2}

and the cell that answers has `"answers"`: the id of the first. The controls stand below the last
paragraph that asks. In a notebook, and without JavaScript, the text stands alone.
`_static/guesses.js` keeps the guesses; the cell with `"guesses": true` shows their score above the
exercises.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from sphinx.locale import _
from sphinx.util import logging

from ..notebook import SUFFIX, Notebook, markdown_cell, outputs, raw_html, read_notebook, source
from .page import Page

Guess = dict[str, Any]  # the metadata of a question

logger = logging.getLogger(__name__)


def insert_controls(notebook: Notebook, page: Page) -> Notebook:
    """Put the controls, the places of the answers and the score into a notebook's text."""
    guesses = guesses_of(notebook)
    cells = []
    for cell in notebook["cells"]:
        question = cell["metadata"].get("answers")
        if question and not is_answered(question, guesses, notebook):
            logger.warning(
                f"{page.name}: {cell['id']} answers {question}, which does not ask, "
                "or asks for another number"
            )
            continue
        if question:
            cells.append(answer_cell(question))

        text = source(cell)
        if cell["metadata"].get("guess"):
            text = with_control(text, control(cell["id"], guesses[cell["id"]]))
        if cell["metadata"].get("guesses"):
            exercises = "## " + _("Exercises")
            text = text.replace(exercises, f"{raw_html(score(page))}\n\n{exercises}")
        cells.append(cell | {"source": text})
    return notebook | {"cells": cells}


def guesses_of(notebook: Notebook) -> dict[str, Guess]:
    """Return the guesses that a notebook asks for, by the ids of the cells that ask."""
    return {
        cell["id"]: cell["metadata"]["guess"]
        for cell in notebook["cells"]
        if "guess" in cell["metadata"]
    }


def is_answered(question: str, guesses: dict[str, Guess], notebook: Notebook) -> bool:
    """Return True if a question asks, and the page has the number that its guess is measured by.

    The number may come from a run, and change.
    """
    if question not in guesses:
        return False
    guess = guesses[question]
    if "choices" in guess:
        return True
    number = re.escape(str(guess["answer"]))
    return bool(re.search(rf"(?<![\d.]){number}(?!\d)", page_text(notebook)))


def page_text(notebook: Notebook) -> str:
    """Return all that a page has in words: sources, and the text of outputs."""
    texts = [cell["source"] for cell in notebook["cells"]]
    for output in outputs(notebook):
        texts.append(output.get("text"))
        data = output.get("data", {})
        texts += [content for kind, content in data.items() if kind.startswith("text")]
    return json.dumps(texts)


def answer_cell(question: str) -> dict[str, Any]:
    """Return the cell above an answer, where the page repeats the reader's guess."""
    echo = f'<p class="guessed" data-key="{question}" hidden></p>'
    return markdown_cell(f"{question}-said", raw_html(echo))


def with_control(text: str, html: str) -> str:
    """Return a text with a control below its last paragraph that asks."""
    paragraphs = text.split("\n\n")
    last = len(paragraphs) - 1
    # In no f-string: the tool that makes the catalogue looks into none.
    words = [str(_("guess")), str(_("predict"))]
    asking = re.compile("|".join(words), re.IGNORECASE)
    questions = [number for number, block in enumerate(paragraphs) if asking.search(block)]
    place = (questions[-1] if questions else last) + 1
    return "\n\n".join([*paragraphs[:place], raw_html(html), *paragraphs[place:]])


def control(question: str, guess: Guess) -> str:
    """Return the control of a guess as HTML."""
    inputs = choice_buttons(guess["choices"]) if "choices" in guess else slider(guess)
    legend = _("Your guess")
    return (
        f'<fieldset class="guess pst-js-only" data-key="{question}" '
        f'data-guess="{escape(json.dumps(guess))}">'
        f'<legend>{legend}</legend>{inputs}<small role="status"></small></fieldset>'
    )


def choice_buttons(choices: list[str]) -> str:
    """Return a button for each choice."""
    return "".join(
        f'<button type="button" value="{number}" aria-pressed="false">{escape(choice)}</button>'
        for number, choice in enumerate(choices)
    )


def slider(guess: Guess) -> str:
    """Return the slider for a guess of a number."""
    low, high, step, unit = (escape(str(guess[key])) for key in ("from", "to", "step", "unit"))
    label = _("Your guess, {0}").format(unit)
    untouched = _("slide to guess")  # where the number of the guess will stand
    return (
        f'<input type="range" min="{low}" max="{high}" step="{step}" '
        f'aria-label="{label}"><output>{untouched}</output> {unit}'
    )


def score(page: Page) -> str:
    """Return the place of the score, with the number of guesses in the book."""
    pages = [Path(page.env.doc2path(name)) for name in page.env.found_docs]
    notebooks = [read_notebook(path) for path in pages if path.suffix == SUFFIX]
    total = sum(len(guesses_of(notebook)) for notebook in notebooks)
    return f'<p class="guess-tally" data-total="{total}" hidden></p>'
