"""A hand for the guesses: buttons, a slider or a line to draw below a question; how far off it was above the answer.

A notebook's cell that asks has in its metadata

    "guess": {"choices": ["all", "half", "none"], "answer": 2}
    "guess": {"from": 0, "to": 720, "step": 1, "unit": "couplings", "answer": 2}
    "guess": {"across": "length in", "at": [0, 1, 2], "unit": "length out", "from": 0, "to": 1, "step": 0.05,
              "answer": [0, 0.5, 0.8]}

and the cell that answers `"answers"`, the first's id. The controls stand below the last paragraph that asks. In a
notebook, and without JavaScript, the text stands alone. `_static/guesses.js` keeps what the reader said; the cell with
`"guesses": true` has the sum of it, above the exercises.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

ASKS = re.compile(r"guess|predict", re.IGNORECASE)

LAST = "## Exercises"

logger = logging.getLogger(__name__)


def give_hands(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the controls and the places of the answers into a notebook's text."""
    if Path(app.env.doc2path(page)).suffix != ".ipynb":
        return
    notebook = json.loads(source[0])
    asked = {
        cell["id"]: cell["metadata"]["guess"]
        for cell in notebook["cells"]
        if "guess" in cell["metadata"]
    }
    cells = []
    for cell in notebook["cells"]:
        meta, text = cell["metadata"], "".join(cell["source"])
        if key := meta.get("answers"):
            if key not in asked or not told(asked[key], notebook["cells"]):
                logger.warning(
                    f"{page}: {cell['id']} answers {key}, which does not ask, or asks for another number"
                )
                continue
            answer = f'<p class="guessed" data-key="{key}" hidden></p>'
            cells.append(
                {
                    "cell_type": "markdown",
                    "id": f"{key}-said",
                    "metadata": {},
                    "source": raw(answer),
                }
            )
        if key := meta.get("guess") and cell["id"]:
            blocks = text.split("\n\n")
            last = max(
                (k for k, block in enumerate(blocks) if ASKS.search(block)), default=len(blocks) - 1
            )
            text = "\n\n".join(
                [*blocks[: last + 1], raw(control(key, asked[key])), *blocks[last + 1 :]]
            )
        if meta.get("guesses"):
            text = text.replace(LAST, f"{raw(tally(app))}\n\n{LAST}")
        cells.append(cell | {"source": text})
    source[0] = json.dumps(notebook | {"cells": cells})


def told(guess: dict[str, Any], cells: list[dict[str, Any]]) -> bool:
    """Whether the page says the number that the guess is measured by: it may come from a run, and change."""
    if "choices" in guess or "at" in guess:
        return True
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    shown = [
        each
        for output in outputs
        for kind, each in output.get("data", {}).items()
        if kind.startswith("text")
    ]
    said = json.dumps(
        [[cell["source"] for cell in cells], [output.get("text") for output in outputs], shown]
    )
    return bool(re.search(rf"(?<![\d.]){re.escape(str(guess['answer']))}(?!\d)", said))


def control(key: str, guess: dict[str, Any]) -> str:
    """The hand itself."""
    if "choices" in guess:
        hand = "".join(
            f'<button type="button" value="{k}" aria-pressed="false">{escape(choice)}</button>'
            for k, choice in enumerate(guess["choices"])
        )
    elif "at" in guess:
        hand = '<span class="guess-curve"></span>'  # the script makes it, with its sliders
    else:
        low, high, step, unit = (
            escape(str(guess[name])) for name in ("from", "to", "step", "unit")
        )
        hand = (
            f'<input type="range" min="{low}" max="{high}" step="{step}" aria-label="Your guess, {unit}">'
            f"<output>?</output> {unit}"
        )
    hint = "Draw the line, or set its points with the arrow keys." if "at" in guess else ""
    return (
        f'<fieldset class="guess pst-js-only" data-key="{key}" data-guess="{escape(json.dumps(guess))}">'
        f'<legend>Your guess</legend>{hand}<small role="status">{hint}</small></fieldset>'
    )


def tally(app: Sphinx) -> str:
    """The place of the sum, with the number of guesses in the book."""
    notebooks = Path(app.srcdir, "book").rglob("*.ipynb")
    total = sum(path.read_text(encoding="utf-8").count('"guess": {') for path in notebooks)
    return f'<p class="guess-tally" data-total="{total}" hidden></p>'


def raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", give_hands)
    app.add_js_file("guesses.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
