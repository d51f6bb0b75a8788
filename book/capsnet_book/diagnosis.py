"""Diagnose a training that does not learn: one batch, a few dozen steps, and a sentence.

The signs are those of the table in chapter 12, whose numbers
``python -m capsnet_book.experiments.breaks`` measured.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.words import said
from capsnet_tutorial.errors import expect
from capsnet_tutorial.functional import margin_loss, reconstruction_loss
from capsnet_tutorial.model import CapsNetOutput, named_output

STEPS = 60
"""Steps on the one batch: a sound network of the small size then knows 64 digits by heart."""

LOUD = 100
"""Images times this must not make a capsule longer than 1: squash cannot."""

Step = Callable[[Tensor, Tensor], Any]
"""(images, labels) -> anything; takes one training step with the network that is diagnosed."""


@dataclass(frozen=True)
class Diagnosis:
    """What was seen, and what it points to."""

    findings: tuple[str, ...]
    """One sentence a cause; none for a network that learns the batch by heart."""
    first_loss: float
    """The book's loss before the first step."""
    last_loss: float
    """The book's loss after the last step."""
    accuracy: float
    """Share of the batch that is read right after the last step."""

    def __str__(self) -> str:
        measured = (
            f"loss {self.first_loss:.2f} -> {self.last_loss:.2f}, "
            f"{self.accuracy:.0%} of the batch right"
        )
        if not self.findings:
            return said(f"✓ it learns this batch by heart ({measured})")
        findings = [f"  {said(finding)}" for finding in self.findings]
        return "\n".join([said(f"✗ {measured}"), *findings])

    def __repr__(self) -> str:
        return str(self)


def diagnose(
    network: nn.Module, step: Step, images: Tensor, labels: Tensor, steps: int = STEPS
) -> Diagnosis:
    """Train a fresh network on one batch, and name what keeps it from learning.

    Args:
        network: returns (capsules, lengths, drawing); its weights are changed.
        step: takes one training step of this network on (images, labels) and returns the loss.
        images: [B, 1, 28, 28]; 32 or 64 of them.
        labels: integers [B].
        steps: how many steps to take.

    Raises:
        ValueError: fewer than 8 images, or images and labels of different number.
    """
    expect(len(images) >= 8, "at least 8 images", f"{len(images)}")
    expect(len(images) == len(labels), "as many labels as images", f"{len(labels)}")
    findings = _findings_in_images(images)
    before = _look_at(network, images, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is asked on purpose for pixels above 1
        loud = _look_at(network, LOUD * images, labels)
    findings += _findings_in_lengths(torch.cat([before.lengths, loud.lengths]))
    findings += _findings_in_weights(network)
    first_loss = _book_loss(before, images, labels)
    weights = [parameter.detach().clone() for parameter in network.parameters()]
    labels_were_given: list[bool] = []
    hook = _watch_labels(network, labels_were_given)
    told_loss = _as_number(step(images, labels))
    hook.remove()
    findings += _findings_in_loss(told_loss, before, images, labels)
    if labels_were_given and not any(labels_were_given):
        findings.append(
            "The step calls the network without labels: in training the mask needs them."
        )
    findings += _findings_in_gradients(network)
    for _ in range(steps - 1):
        step(images, labels)
    after = _look_at(network, images, labels)
    accuracy = float((after.lengths.argmax(dim=1) == labels).float().mean())
    last_loss = _book_loss(after, images, labels)
    moved = _any_moved(network, weights)
    if not moved:
        findings.append(
            "No weight moved: is `optimizer.step()` called, with the parameters of this network?"
        )
    elif _adds_up_gradients(network, step, images, labels):
        findings.append("Gradients add up from step to step: `optimizer.zero_grad()` is missing.")
    elif accuracy < 0.5 and not findings:
        findings.append("The loss does not fall: try a tenth of the learning rate.")
    return Diagnosis(tuple(findings), first_loss, last_loss, accuracy)


# --- before the first step


def _look_at(network: nn.Module, images: Tensor, labels: Tensor) -> CapsNetOutput:
    """Return what the network says of the batch, without a gradient."""
    with torch.no_grad():
        return named_output(network(images, labels))


def _findings_in_images(images: Tensor) -> list[str]:
    low = float(images.min())
    high = float(images.max())
    if low >= 0 and high <= 1:
        return []
    return [
        f"The pixels lie between {low:.3g} and {high:.3g}: the decoder can draw 0 to 1 only. "
        "Divide by 255, and subtract no mean."
    ]


def _findings_in_lengths(lengths: Tensor) -> list[str]:
    if not bool(lengths.isfinite().all()):
        return ["A length is nan or infinite: put a floor under the root of squash."]
    longest = float(lengths.max())
    if longest > 1 + 1e-3:
        return [f"A capsule is {longest:.2f} long: squash runs along a wrong axis, or is missing."]
    return []


def _findings_in_weights(network: nn.Module) -> list[str]:
    """Name weights that are drawn too large; PyTorch's own layers stay far below 0.5."""
    weights = [parameter for parameter in network.parameters() if parameter.dim() > 1]
    spread = max(float(weight.detach().std()) for weight in weights)
    if spread < 0.5:
        return []
    return [
        f"Weights are drawn with a deviation of {spread:.1f}: W wants a standard deviation of 0.1."
    ]


# --- the first step


def _book_loss(output: CapsNetOutput, images: Tensor, labels: Tensor) -> float:
    """Return the loss of chapter 9."""
    margin = margin_loss(output.lengths, labels)
    return float(margin + 0.0005 * reconstruction_loss(output.reconstruction, images))


def _as_number(loss: Any) -> float:
    """Return what a step returned as a number; nan where it returned none."""
    try:
        return float(loss)
    except (TypeError, ValueError):
        return math.nan


def _findings_in_loss(
    told_loss: float, output: CapsNetOutput, images: Tensor, labels: Tensor
) -> list[str]:
    """Compare the loss that the first step returned with the losses of the usual slips."""
    margin = float(margin_loss(output.lengths, labels))
    drawing = 0.0005 * float(reconstruction_loss(output.reconstruction, images))
    swapped = float(margin_loss(output.lengths, labels, m_plus=0.1, m_minus=0.9))
    pixels = images[0].numel()
    slips = {
        "The loss is a sum over the batch: take the mean, or divide the learning rate.": (
            (margin + drawing) * len(images)
        ),
        "The drawing's loss is a mean over the pixels: 784 times too weak. Sum over them.": (
            margin + drawing / pixels
        ),
        "The two margins are swapped: 0.9 is for classes that are there.": swapped + drawing,
        "The loss leaves the drawing out.": margin,
    }
    if math.isnan(told_loss) or _is_close(told_loss, margin + drawing):
        return []
    for sentence, loss in slips.items():
        if _is_close(told_loss, loss):
            return [sentence]
    return [
        f"The first loss is {told_loss:.3g}; margin loss plus 0.0005 times the drawing's is "
        f"{margin + drawing:.3g}."
    ]


def _is_close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=2e-5)


def _watch_labels(network: nn.Module, labels_were_given: list[bool]) -> Any:
    """Record for every call of the network whether it is given labels."""

    def record(_: nn.Module, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        given = [*arguments[1:], *options.values()]
        labels_were_given.append(any(value is not None for value in given))

    return network.register_forward_pre_hook(record, with_kwargs=True)


def _findings_in_gradients(network: nn.Module) -> list[str]:
    """Name a first layer that the loss does not reach."""
    first = next(iter(network.parameters()))
    if first.grad is not None and bool(first.grad.any()):
        return []
    return ["The loss does not reach the first layer: look for a `detach`, a `no_grad`, a `.data`."]


# --- after the last step


def _any_moved(network: nn.Module, weights: list[Tensor]) -> bool:
    pairs = zip(network.parameters(), weights, strict=True)
    return any(not torch.equal(parameter, weight) for parameter, weight in pairs)


def _adds_up_gradients(network: nn.Module, step: Step, images: Tensor, labels: Tensor) -> bool:
    """Return True if a step keeps what it finds in ``grad``.

    A mark of 1,000 in every gradient is gone after a step that clears them first.
    """
    last = list(network.parameters())[-1]
    if last.grad is None:
        return False
    last.grad = torch.full_like(last, 1000.0)
    step(images, labels)
    return last.grad is not None and bool((F.relu(last.grad) > 500).any())
