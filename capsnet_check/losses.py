"""Are these the margin loss, equation 4, and the reconstruction loss of section 4.1?"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_check.calls import CHANGED, Subject, Trouble, parameters_of
from capsnet_check.deviations import Deviation
from capsnet_check.examination import examine
from capsnet_check.gradients import gradient_findings
from capsnet_check.recognition import difference, recognise
from capsnet_check.report import Coverage, Finding, Report
from capsnet_tutorial.functional import margin_loss

_DIM = 16
"""Numbers of a capsule."""
_LABELS = re.compile(r"label|target|true|truth|one_?hot|^y$", re.IGNORECASE)
"""Names of arguments that are labels."""

Probe = tuple[Sequence[Any], Tensor]
"""Arguments and output of a call."""


class MarginForm(Enum):
    """The forms of a margin loss's arguments that people write, the usual first."""

    LENGTHS_AND_NUMBERS = ""
    LENGTHS_AND_ONE_HOT = "of lengths and one-hot labels"
    CAPSULES_AND_NUMBERS = "of capsules and class numbers"
    CAPSULES_AND_ONE_HOT = "of capsules and one-hot labels"

    def arguments(self, lengths: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return lengths [B, J] and class numbers [B] in this form."""
        scores = _capsules(lengths) if "capsules" in self.value else lengths
        if "one-hot" in self.value:
            labels = F.one_hot(labels, lengths.shape[1]).to(lengths)
        return scores, labels


def _capsules(lengths: Tensor) -> Tensor:
    """Return capsules [B, J, D] of these lengths, in random directions."""
    generator = torch.Generator().manual_seed(6)
    directions = torch.randn(*lengths.shape, _DIM, generator=generator)
    return F.normalize(directions, dim=-1) * lengths.unsqueeze(-1)


def check_margin_loss(function: Any, *, strict: bool = False) -> Report:
    """Check that a function is the margin loss, equation 4.

    Args:
        function: ``margin_loss(lengths [B, J], labels [B]) -> scalar``, a function or a module;
            with one-hot labels [B, J] or capsules [B, J, D] if it takes these, and with labels
            first if its arguments are named so, as in ``loss(y_true, y_pred)``. One that takes
            more arguments goes into a lambda that gives it the rest: only their names would tell
            which is which.
        strict: refuse other conventions than the paper's and other arguments than lengths and
            class numbers in this order, and try another ``lambda_``, where it has that argument:
            for exercises, which say what they ask for.

    Returns:
        A `Report`; bugs that it knows: margin-not-squared, lengths-softmax.
    """
    lengths = torch.rand(3, 10, generator=torch.Generator().manual_seed(3))
    labels = torch.tensor([int(lengths[0].argmin()), 9, int(lengths[2].argmax())])
    lengths[1, 9] = 0.95  # long enough: its term is 0
    lengths[1, 0] = 0.05  # short enough
    allowed = [MarginForm.LENGTHS_AND_NUMBERS] if strict else list(MarginForm)
    forms = [(form.value, form.arguments(lengths, labels)) for form in allowed]
    agrees = "It is equation 4, summed over the classes, averaged over the images."
    signature = "margin_loss(lengths, labels)"

    def steps() -> Iterator[Finding | Coverage]:
        loss = function if strict else _with_labels_last(function)
        results = list(_examine(Subject(loss, signature), "margin_loss", forms))
        yield from results
        is_right = not any(isinstance(result, Finding) for result in results)
        if strict and is_right:
            yield from _fewer_classes_findings(Subject(function, signature))
        if strict and is_right and "lambda_" in parameters_of(function):
            with_lambda_1 = Subject(partial(function, lambda_=1.0), signature)
            yield from _lambda_findings(with_lambda_1, forms[0][1])

    return examine("margin loss", steps, agrees, strict=strict)


def _with_labels_last(function: Any) -> Any:
    """Return a loss with labels as its second argument, by the names of its first two."""
    if not callable(function) or inspect.isclass(function):
        return function
    names = list(parameters_of(function))[:2]
    if [bool(_LABELS.search(name)) for name in names] != [True, False]:
        return function
    return lambda scores, labels: function(labels, scores)


def _fewer_classes_findings(subject: Subject) -> Iterator[Finding]:
    """Try seven classes, and labels that lack the last: a batch seldom has every class."""
    lengths = torch.rand(3, 7, generator=torch.Generator().manual_seed(8))
    labels = torch.tensor([0, 4, 2])
    try:
        output = subject.tensor((), lengths, labels)
    except Trouble as trouble:
        text = (
            "With 7 classes and the labels 0, 4 and 2 it fails: take the number of classes from "
            f"the lengths. {trouble}"
        )
        yield Finding(None, text, failed_call=True)
        return
    if not torch.isclose(output, margin_loss(lengths, labels).double(), rtol=1e-4):
        yield difference("margin_loss", (lengths, labels), output)


def _lambda_findings(with_lambda_1: Subject, batch: tuple[Tensor, Tensor]) -> Iterator[Finding]:
    """Compare the loss with λ = 1, where the function has that argument."""
    output = with_lambda_1.tensor((), *batch)
    right = margin_loss(*batch, lambda_=1.0)
    if not torch.isclose(output, right.double(), rtol=1e-4):
        text = "With lambda_=1.0 it is not the loss with λ = 1: is λ written in as a number?"
        yield Finding(None, text)


def check_reconstruction_loss(function: Any, *, strict: bool = False) -> Report:
    """Check that a function is the reconstruction loss of section 4.1, the 0.0005 included.

    Args:
        function: ``loss(reconstruction [B, 784], images [B, 1, 28, 28]) -> scalar``, a function or
            a module.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they
            ask for.

    Returns:
        A `Report`; the bug that it knows: recon-mean.
    """
    reconstruction, images = torch.rand(2, 3, 784, generator=torch.Generator().manual_seed(4))
    forms = [("", (reconstruction, images.reshape(3, 1, 28, 28)))]
    agrees = (
        "It is the squared difference, summed over the pixels, averaged over the images, "
        "times 0.0005."
    )
    signature = "reconstruction_loss(reconstruction, images)"
    return examine(
        "reconstruction loss",
        lambda: _examine(Subject(function, signature), "reconstruction_loss", forms),
        agrees,
        strict=strict,
    )


def _examine(
    subject: Subject, piece: str, forms: Sequence[tuple[str, tuple[Tensor, Tensor]]]
) -> Iterator[Finding | Coverage]:
    """Examine a loss of a batch of three, of its first image alone, and its gradient."""
    form, batch, probes, deviations = _in_the_form_that_it_takes(subject, piece, forms)
    if form:
        yield Coverage(f"{piece.replace('_', ' ')} ({form})")
    if deviations is None:
        yield _difference_of_the_worst(piece, probes)
    else:
        yield from (deviation.finding() for deviation in deviations)
        yield from gradient_findings(subject, piece, batch, *deviations)
    if subject.wrote:
        yield Finding(None, CHANGED, convention=True)


def _in_the_form_that_it_takes(
    subject: Subject, piece: str, forms: Sequence[tuple[str, tuple[Tensor, Tensor]]]
) -> tuple[str, tuple[Tensor, Tensor], list[Probe], tuple[Deviation, ...] | None]:
    """Return the first form whose outputs are recognised, else the first that can be called.

    Returns:
        (form, arguments, probes, deviations or None).

    Raises:
        Trouble: none can be called; what is said is what the usual form raises.
    """
    troubles = []
    unrecognised = []
    for form, batch in forms:
        try:
            probes = _probes(subject, batch)
        except Trouble as trouble:
            troubles.append(trouble)
            continue
        deviations = recognise(piece, probes)
        if deviations is not None:
            return form, batch, probes, deviations
        unrecognised.append((form, batch, probes, None))
    if unrecognised:
        return unrecognised[0]
    raise troubles[0]


def _probes(subject: Subject, batch: tuple[Tensor, Tensor]) -> list[Probe]:
    alone = (batch[0][:1], batch[1][:1])
    return [(arguments, subject.tensor((), *arguments)) for arguments in (batch, alone)]


def _difference_of_the_worst(piece: str, probes: Sequence[Probe]) -> Finding:
    """Return the difference of the first probe that is not right by itself."""
    for arguments, output in probes:
        if recognise(piece, [(arguments, output)], at_most=0) is None:
            return difference(piece, arguments, output, probes)
    return difference(piece, *probes[0], probes)
