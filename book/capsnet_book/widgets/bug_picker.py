"""BugPicker: effect of a bug on a real digit's couplings, and on a training."""

from __future__ import annotations

import anywidget
import traitlets

from capsnet_book.experiments.recordings import recorded_bugs
from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network


class BugPicker(anywidget.AnyWidget):
    """The catalogue to choose from; the shipped network's routing and a short training, right and with the bug.

    The ten digits, one of each class, are the batch for the bug that mixes images; for the bug that remembers, the
    digit before was routed first.

    Args:
        bug: the id that is chosen first.
        index: the digit that is shown first, 0 to 9.

    Attributes:
        bug: the bug that is chosen.
        index: the digit that is shown.

    Raises:
        ValueError: no such bug, no such digit.
    """

    _esm = _parts.module("bug_picker.js")
    _css = _parts.stylesheet("bug_picker.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    catalogue = traitlets.List(traitlets.Dict()).tag(sync=True)
    steps = traitlets.List(traitlets.Int()).tag(sync=True)
    right = traitlets.List(traitlets.Float()).tag(sync=True)
    bug = traitlets.Unicode().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)

    def __init__(self, bug: str = "capsule-view", index: int = 2) -> None:
        from capsnet_book.bugs import BUGS  # here, because it brings torch along

        runs = recorded_bugs()
        mean = {name: errors.mean(axis=0).round(4).tolist() for name, errors in runs.error.items()}
        digits, labels = _parts.one_of_each()
        super().__init__(
            network=shared_network(),
            images=digits.tobytes(),
            labels=labels,
            catalogue=[{"id": name, "title": each.title, "error": mean[name]} for name, each in BUGS.items()],
            steps=runs.steps,
            right=mean["none"],
        )
        if isinstance(index, bool) or not isinstance(index, int):
            raise ValueError(f"expected index as a whole number; got {index!r}")
        self.bug, self.index = bug, index

    @traitlets.validate("bug")
    def _bug_is_known(self, proposal: dict) -> str:
        known = [each["id"] for each in self.catalogue]
        if proposal["value"] not in known:
            raise ValueError(f"expected a bug, one of {', '.join(known)}; got {proposal['value']!r}")
        return proposal["value"]

    @traitlets.validate("index")
    def _index_is_a_digit(self, proposal: dict) -> int:
        return _parts.index_of_a_digit(self.labels, proposal)

    def __repr__(self) -> str:
        return f"BugPicker({self.bug!r})"
