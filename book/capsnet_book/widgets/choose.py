"""Choose: one of several lines of code, or of several losses; the page shows what it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

LINES = (
    "capsules",
    "squash",
    "predictions",
    "agreement",
    "sharing",
    "margin",
    "mask",
    "step",
)
"""The questions whose answer is one of a few lines, in the order of the chapters."""

CURVES = {
    "sound": "nothing: a sound run",
    "labels": "labels shuffled without their images",
    "rate": "a learning rate of 0.1",
    "detach": "a `detach` below the routing",
    "step": "`optimizer.step()` forgotten",
}
"""The trainings whose losses are shown, and the name of each in results/breaks.json."""

QUESTIONS = (*LINES, "bugs", "curves")

_MISREAD = 342
"""The place of a test digit of the sample that the shipped network misreads."""


class Choose(_parts.DigitsWidget):
    """A question whose answer is chosen, and runs on a digit.

    Attributes:
        question: one of `QUESTIONS`. "bugs": ten lines of which one is wrong, round after round;
            "curves": four losses, of which one belongs to a slip; the others: a line of that name.
        chosen: the place of what is chosen; -1: nothing yet.
        round: which of the bugs or slips, from 0.
        runs: for "curves" the loss of each of `CURVES`, and its network's ten lengths for a seven.

    Raises:
        ValueError: another question, or a place below -1.
    """

    _esm = _parts.module("choose.js")
    _css = _parts.stylesheet("choose.css")

    question = traitlets.Unicode("bugs").tag(sync=True)
    chosen = traitlets.Int(-1).tag(sync=True)
    round = traitlets.Int(0).tag(sync=True)
    runs = traitlets.Dict().tag(sync=True)

    def __init__(self, question: str = "bugs") -> None:
        images, labels = _digits()
        super().__init__(
            network=shared_network(),
            images=images.tobytes(),
            labels=labels,
            question=question,
            runs=_runs() if question == "curves" else {},
        )

    @traitlets.validate("question")
    def _question_is_known(self, proposal: dict[str, Any]) -> str:
        if proposal["value"] not in QUESTIONS:
            raise ValueError(
                f"expected question as one of {list(QUESTIONS)}; got {proposal['value']!r}"
            )
        return proposal["value"]

    @traitlets.validate("chosen", "round")
    def _place_is_known(self, proposal: dict[str, Any]) -> int:
        name = proposal["trait"].name
        least = -1 if name == "chosen" else 0
        if proposal["value"] < least:
            raise ValueError(f"expected {name} from {least} on; got {proposal['value']}")
        return proposal["value"]

    def __repr__(self) -> str:
        return f"Choose({self.question!r})"


def _runs() -> dict[str, dict[str, list[float]]]:
    """Return the losses [50] and lengths [10] of `CURVES`, as results/breaks.json has them."""
    from capsnet_book.experiments.records import stored  # here, because it brings torch along

    rows = {row["slip"]: row for row in stored("breaks")["breaks"]}
    return {
        name: {key: rows[slip][key] for key in ("curve", "lengths")}
        for name, slip in CURVES.items()
    }


def _digits() -> tuple[np.ndarray, list[int]]:
    """Return the pixels uint8 [11, 28, 28] and the labels: one of each class, and a misread one."""
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    plain, classes = _parts.default_digits()
    sample = digits("test", source="sample")
    misread, labels = _parts.digits_and_labels(sample.images[[_MISREAD]], sample.labels[[_MISREAD]])
    return np.concatenate([plain, misread]), classes + labels
