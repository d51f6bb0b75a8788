"""A whole network, given as its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from capsnet_tutorial.check.losses import check_margin_loss, check_reconstruction_loss
from capsnet_tutorial.check.mask import check_mask
from capsnet_tutorial.check.network import examine_network
from capsnet_tutorial.check.primary_capsules import check_primary_capsules
from capsnet_tutorial.check.report import Finding, Report, failed, joined
from capsnet_tutorial.check.routing import check_routing
from capsnet_tutorial.check.squash import check_squash

CHECKERS: dict[str, Callable[..., Report]] = {
    "squash": check_squash,
    "primary_capsules": check_primary_capsules,
    "routing": check_routing,
    "margin_loss": check_margin_loss,
    "mask": check_mask,
    "reconstruction_loss": check_reconstruction_loss,
}
"""The checker of each piece."""


def check_model(
    model: Any,
    images: Tensor,
    labels: Tensor,
    *,
    weight: str | None = None,
    axes: Mapping[str, str] | None = None,
    iterations: str | None = None,
) -> Report:
    """Check a capsule network that somebody else wrote, as it is: no adapter.

    Args:
        model: the network; or its parts, a mapping with any of these names:

            - ``network(images [B, C, H, W])`` or ``network(images, labels)``, with labels as class numbers, one-hot
              or an attribute, and any size of batch: returns the class capsules, their lengths, a reconstruction, or
              several of these in any container;
            - ``squash``, ``primary_capsules``, ``routing``, ``margin_loss``, ``mask``, ``reconstruction_loss``: each
              as its own checker takes it.

            A bare network is ``{"network": model}``. A copy of it is examined in eval mode.
        images: [B, C, H, W], at least two.
        labels: class numbers [B].
        weight: the name of W among the parameters, where its size does not tell.
        axes: the order of the axes of "u", "weight" or "v", such as ``{"weight": "J I D_out D_in"}``.
        iterations: the attribute or argument that holds the number of rounds.

    Returns:
        One `Report` of everything; each finding says which part. In a module the routing and the primary capsules are
        found and examined by themselves; what the network as a whole shows: squash-axis (lengths above 1),
        lengths-softmax (they sum to 1), batch-agreement (an image's output depends on its neighbours), stale-logits (a
        second call differs), squash-nan, mask-prediction (the label changes nothing, or there is none).

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
        options = {"weight": weight, "axes": axes, "iterations": iterations}
        reports["network"] = _check_network(parts["network"], images, labels, **options)
    return joined("model", reports, f"Checked: {', '.join(parts)}.")


def _check_network(network: Any, images: Tensor, labels: Tensor, **options: Any) -> Report:
    if network is ...:
        return Report(False, written=False)
    if not callable(network):
        return failed("network", Finding(None, f"Expected a network(images); got {type(network).__name__}."))
    return examine_network(network, images, labels, **options)
