"""A whole network, given as its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.check.calls import NotWritten, Trouble, accepts, called_in_time
from capsnet_tutorial.check.losses import check_margin_loss, check_reconstruction_loss
from capsnet_tutorial.check.mask import check_mask
from capsnet_tutorial.check.primary_capsules import check_primary_capsules
from capsnet_tutorial.check.report import Example, Finding, Report, failed, joined
from capsnet_tutorial.check.routing import check_routing
from capsnet_tutorial.check.squash import check_squash
from capsnet_tutorial.training.evaluation import in_eval_mode

CHECKERS: dict[str, Callable[..., Report]] = {
    "squash": check_squash,
    "primary_capsules": check_primary_capsules,
    "routing": check_routing,
    "margin_loss": check_margin_loss,
    "mask": check_mask,
    "reconstruction_loss": check_reconstruction_loss,
}
"""The checker of each piece."""

_LIMIT = 60.0  # seconds for a whole network on the images it was given


def check_model(model: Any, images: Tensor, labels: Tensor, *, time_limit: float = _LIMIT) -> Report:
    """Check a capsule network that somebody else wrote.

    Args:
        model: the network; or its parts, a mapping with any of these names:

            - ``network(images [B, C, H, W])`` or ``network(images, labels [B])``: returns the class capsules
              [B, J, D], their lengths [B, J], an object or a mapping with ``capsules``, ``lengths`` and
              ``reconstruction`` (any of them), or a tuple of these, which are told apart by their shapes;
            - ``squash``, ``primary_capsules``, ``routing``, ``margin_loss``, ``mask``, ``reconstruction_loss``: each
              as its own checker takes it.

            A bare network is ``{"network": model}``. A module is examined in eval mode and left in its own.
        images: [B, C, H, W], at least two.
        labels: class numbers [B].
        time_limit: seconds that one pass of the network may take.

    Returns:
        One `Report` of everything; each finding says which part. What the network as a whole can show: squash-axis
        (lengths above 1), lengths-softmax (they sum to 1), batch-agreement (an image's output depends on its
        neighbours), stale-logits (a second call differs), squash-nan, mask-prediction (the label changes nothing).

    Raises:
        ValueError: images or labels of another shape; a part of another name.
    """
    parts = dict(model) if isinstance(model, Mapping) else {"network": model}
    known = ("network", *CHECKERS)
    for name in parts:
        if name not in known:
            raise ValueError(f"expected parts named {', '.join(known)}; got {name!r}")
    if not parts:
        raise ValueError(f"expected at least one part, of {', '.join(known)}; got none")
    if not isinstance(images, Tensor) or images.dim() != 4 or len(images) < 2:
        came = f"shape {list(images.shape)}" if isinstance(images, Tensor) else type(images).__name__
        raise ValueError(f"expected at least two images [B, C, H, W]; got {came}")
    if not isinstance(labels, Tensor) or labels.shape != images.shape[:1] or labels.is_floating_point():
        came = f"{labels.dtype} {list(labels.shape)}" if isinstance(labels, Tensor) else type(labels).__name__
        raise ValueError(f"expected {len(images)} whole numbers as labels; got {came}")

    reports = {name: CHECKERS[name](part) for name, part in parts.items() if name != "network"}
    if "network" in parts:
        reports["network"] = _check_network(parts["network"], images, labels, time_limit)
    return joined("model", reports, f"Checked: {', '.join(parts)}.")


def _check_network(network: Any, images: Tensor, labels: Tensor, time_limit: float) -> Report:
    if network is ...:
        return Report(False, written=False)
    if not callable(network):
        return failed("network", Finding(None, f"Expected a network(images); got {type(network).__name__}."))
    takes_labels = accepts(network, 2)
    if not takes_labels and not accepts(network, 1):
        return failed("network", Finding(None, "Expected a network(images) or network(images, labels)."))
    examined = in_eval_mode(network) if isinstance(network, nn.Module) else nullcontext()
    try:
        with examined, torch.random.fork_rng(devices=[]):
            findings = _examine(network, images, labels if takes_labels else None, time_limit)
    except NotWritten:
        return Report(False, written=False)
    except Trouble as trouble:
        return failed("network", Finding(None, str(trouble)))
    return failed("network", *findings) if findings else Report(True, checked="network")


def _examine(network: Any, images: Tensor, labels: Tensor | None, time_limit: float) -> list[Finding]:
    def run(some: Tensor, their_labels: Tensor | None, grad: bool = False) -> dict[str, Tensor]:
        def call() -> Any:
            torch.manual_seed(0)
            with torch.set_grad_enabled(grad):
                return network(some.clone()) if their_labels is None else network(some.clone(), their_labels)

        return _outputs(called_in_time(call, time_limit, f"for images of shape {list(some.shape)}"), some)

    first, second = run(images, labels), run(images, labels)
    if "lengths" not in first:
        raise Trouble("Expected capsules [B, J, D] or lengths [B, J] among what the network returns; got neither.")
    if not first["lengths"].isfinite().all():
        raise Trouble("Its lengths for these images are not finite numbers.")
    findings = [*_lengths(first["lengths"])]
    stale = not _same(first["lengths"], second["lengths"])
    if stale:
        findings.append(Finding("stale-logits", "A second call with the same images gives another result."))
    else:
        alone = torch.cat([run(images[k : k + 1], _part(labels, k))["lengths"] for k in range(min(len(images), 4))])
        if not _same(alone, first["lengths"][: len(alone)]):
            example = Example("the first image alone, and in the batch", "lengths", alone[0], first["lengths"][0])
            findings.append(Finding("batch-agreement", "An image's lengths depend on the images beside it.", example))
    if labels is not None and "reconstruction" in first and not stale:
        classes = first["lengths"].shape[1]
        others = run(images, (labels + 1) % classes)
        if torch.equal(others["reconstruction"], first["reconstruction"]):
            findings.append(Finding("mask-prediction", "With other labels it reconstructs the very same."))
    return findings + _gradients(network, run, images, labels)


def _lengths(lengths: Tensor) -> list[Finding]:
    if lengths.max() > 1 + 1e-3:
        says = f"A class capsule is {float(lengths.max()):.3f} long; no squashed vector is longer than 1."
        return [Finding("squash-axis", says)]
    if lengths.shape[1] > 1 and ((lengths.sum(dim=1) - 1).abs() < 1e-4).all():
        return [Finding("lengths-softmax", "The lengths of every image sum to 1.")]
    return []


def _gradients(network: Any, run: Callable[..., dict[str, Tensor]], images: Tensor, labels: Tensor | None) -> list:
    """What an empty image does to the gradients of a module."""
    if not isinstance(network, nn.Module) or not any(each.requires_grad for each in network.parameters()):
        return []
    lengths = run(torch.zeros_like(images[:2]), None if labels is None else labels[:2], grad=True)["lengths"]
    if not lengths.isfinite().all():
        return [Finding("squash-nan", "An empty image gives nan.")]
    weights = [each for each in network.parameters() if each.requires_grad]
    if not lengths.requires_grad:
        return [Finding(None, "No gradient flows from its lengths to its weights.")]
    gradients = torch.autograd.grad(lengths.sum(), weights, allow_unused=True)
    if all(each is None or each.isfinite().all() for each in gradients):
        return []
    return [Finding("squash-nan", "An empty image gives a gradient of nan.")]


def _outputs(out: Any, images: Tensor) -> dict[str, Tensor]:
    """What a network returned, by name."""
    if out is None or out is ...:
        raise Trouble("It returns nothing; expected capsules [B, J, D] or lengths [B, J].")
    named = out if isinstance(out, Mapping) else {key: getattr(out, key, None) for key in _NAMES}
    found: dict[str, Tensor] = {key: each for key, each in named.items() if key in _NAMES and isinstance(each, Tensor)}
    if not found:
        batch, pixels = len(images), images[0].numel()
        for each in out if isinstance(out, (tuple, list)) else (out,):
            if not isinstance(each, Tensor) or each.dim() < 2 or len(each) != batch:
                continue
            if each[0].numel() == pixels:
                found.setdefault("reconstruction", each)
            elif each.dim() == 3 or (each.dim() == 4 and each.shape[-1] == 1):
                found.setdefault("capsules", each)
            elif each.dim() == 2:
                found.setdefault("lengths", each)
    if "capsules" in found and "lengths" not in found:
        found["lengths"] = torch.linalg.vector_norm(found["capsules"].flatten(2), dim=-1)
    return found


_NAMES = ("capsules", "lengths", "reconstruction")


def _same(one: Tensor, other: Tensor) -> bool:
    return bool(torch.allclose(one.double(), other.double(), rtol=1e-3, atol=1e-4))


def _part(labels: Tensor | None, k: int) -> Tensor | None:
    return None if labels is None else labels[k : k + 1]
