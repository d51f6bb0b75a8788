"""Variants of the paper's network, each with one difference, by name.

A variant has other parts (see `capsnet_tutorial.model.Parts`), other first weights, or another
loss. Its weights are drawn from the same random numbers as those of the paper's network, wherever
both have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

from capsnet_book.bugs import variant
from capsnet_book.routings.biased import BiasedRouting
from capsnet_book.routings.controls import (
    ClassmatesAgreement,
    DealtAgreement,
    LengthShares,
    OthersAgreement,
    OutputCompetition,
    ScaledAgreement,
    SelfRouting,
    StaticShares,
)
from capsnet_book.routings.zoo import ZOO
from capsnet_tutorial import functional
from capsnet_tutorial.errors import expect
from capsnet_tutorial.functional import route_last
from capsnet_tutorial.layers import draw_truncated, group_and_squash
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts
from capsnet_tutorial.train import Objective, paper_objective

# --- parts


class DividedPrimary(nn.Module):
    """Primary capsules of the convolution divided by the number of types, with a bias.

    In the released code the convolution goes through one round of routing over the types first:
    even shares.
    """

    def __init__(self, types: int, dim: int) -> None:
        super().__init__()
        self.types = types
        self.bias = nn.Parameter(torch.zeros(types * dim, 1, 1))

    def forward(self, features: Tensor, dim: int) -> Tensor:
        return group_and_squash(features / self.types + self.bias, dim)


# --- other first weights


def draw_as_released(network: CapsNet) -> None:
    """Draw the convolutions' weights from truncated normals; their biases are 0.1.

    The standard deviation is 0.05 of the first convolution, 0.1 of the second.
    """
    for conv, std in ((network.conv, 0.05), (network.primary.conv, 0.1)):
        draw_truncated(conv.weight, std)
        nn.init.constant_(conv.get_parameter("bias"), 0.1)


@torch.no_grad()
def move_bias(network: CapsNet) -> None:
    """Let divided primary capsules start with the convolution's whole bias.

    They get one share of it already, so that the rest goes into their own.
    """
    part = cast(DividedPrimary, network.primary.group)
    bias = network.primary.conv.get_parameter("bias").view_as(part.bias)
    part.bias.copy_((1 - 1 / part.types) * bias)


class _Shared(nn.Module):
    """One W_j [1, J, D_in, D_out] for all I capsules below."""

    def __init__(self, in_capsules: int) -> None:
        super().__init__()
        self.in_capsules = in_capsules

    def forward(self, weight: Tensor) -> Tensor:
        return weight.expand(self.in_capsules, -1, -1, -1)

    def right_inverse(self, weight: Tensor) -> Tensor:
        return weight[:1]


def share_matrices(network: CapsNet) -> None:
    """Let all capsules below use the same matrices: W_ij = W_j for every i (Gu and Tresp, 2020)."""
    parametrize.register_parametrization(
        network.routed, "weight", _Shared(network.config.primary_capsules)
    )


def with_own_matrices(network: CapsNet) -> CapsNet:
    """Return the same network with every W_ij written out, if they were shared.

    It is an ordinary CapsNet, which can be saved.
    """
    if not parametrize.is_parametrized(network.routed):
        return network
    state = {}
    for name, tensor in network.state_dict().items():
        if ".parametrizations." not in name:
            state[name] = tensor
    weight = network.routed.weight.detach()
    ordinary = CapsNet(network.config, network.parts).to(weight.device)
    ordinary.load_state_dict(state | {"routed.weight": weight})
    return ordinary.train(network.training)


# --- all of them


Make = Callable[[CapsNetConfig], Any]
"""Makes a part for a network of these sizes: see `capsnet_tutorial.model.Parts`."""


class Variant(NamedTuple):
    """One difference from the paper: in the network, in its first weights, or in a loss."""

    summary: str
    """The difference, in a few words."""
    routing: Make | None = None
    primary: Make | None = None
    mask: Make | None = None
    start: Callable[[CapsNet], None] | None = None
    """Draws other first weights of a fresh network."""
    margin_loss: Callable[..., Tensor] | None = None
    """(lengths [B, J], labels [B]) -> scalar, instead of equation 4."""
    reconstruction_loss: Callable[..., Tensor] | None = None
    """(reconstruction [B, P], images) -> scalar, not weighted yet, instead of the paper's."""
    sizes: Mapping[str, Any] = {}
    """Fields of `CapsNetConfig`."""


VARIANTS: dict[str, Variant] = {
    "loss-released": Variant(
        "margin loss times 0.5 and averaged over the classes: 1/20 of the paper's (released code)",
        margin_loss=lambda lengths, targets: (
            functional.margin_loss(lengths, targets) / (2 * lengths.shape[1])
        ),
    ),
    "init-released": Variant(
        "convolutions drawn with standard deviations 0.05 and 0.1, their biases 0.1 "
        "(released code)",
        start=draw_as_released,
    ),
    "primary-divided": Variant(
        "primary capsules' convolution divided by the number of their types (released code)",
        primary=lambda config: DividedPrimary(config.primary_types, config.primary_dim),
        start=move_bias,
    ),
    "bias-released": Variant(
        "a bias on s_j, 0.1 at first (released code)",
        lambda config: BiasedRouting(config.classes, config.class_dim),
    ),
    "stop-gradient": Variant(
        "the gradient of the last round of routing alone", lambda config: route_last
    ),
    "mask-prediction": Variant(
        "decoder masked by the prediction in training too",
        mask=lambda config: variant("mask", "mask-prediction"),
    ),
    "recon-mean": Variant(
        "reconstruction loss averaged over the pixels instead of summed: 784 times weaker",
        reconstruction_loss=lambda reconstruction, images: F.mse_loss(
            reconstruction, images.flatten(1)
        ),
    ),
    "softmax-axis": Variant(
        "couplings that sum to 1 over the layer below",
        lambda config: variant("routing", "softmax-axis"),
    ),
    **{
        name: Variant(kind.summary, kind.make)
        for name, kind in ZOO.items()
        if name not in ("paper", "even")
    },
    "self-routing": Variant(
        "each capsule below chooses by itself",
        lambda config: SelfRouting(config.primary_capsules, config.classes, config.class_dim),
    ),
    "static-shares": Variant(
        "learned couplings, the same for every image",
        lambda config: StaticShares(config.primary_capsules, config.classes),
    ),
    "length-shares": Variant(
        "couplings by the lengths of the votes alone", lambda config: LengthShares()
    ),
    "others-agreement": Variant(
        "trained with another image's couplings", lambda config: OthersAgreement()
    ),
    "classmates-agreement": Variant(
        "trained with the couplings of another image of its class",
        lambda config: ClassmatesAgreement(),
    ),
    "dealt-agreement": Variant(
        "trained with its own couplings dealt out anew among its capsules",
        lambda config: DealtAgreement(),
    ),
    "competition": Variant(
        "competition among the outputs, no vote compared: b_j += 2 ‖v_j‖",
        lambda config: OutputCompetition(2.0),
    ),
    "competition-learned": Variant(
        "competition among the outputs, no vote compared: b_j += γ ‖v_j‖, γ learned from 2 on",
        lambda config: OutputCompetition(2.0, learned=True),
    ),
    "beta-0.25": Variant("agreement times 0.25", lambda config: ScaledAgreement(0.25)),
    "beta-4": Variant("agreement times 4", lambda config: ScaledAgreement(4.0)),
    "beta-16": Variant("agreement times 16", lambda config: ScaledAgreement(16.0)),
    "types-2": Variant("2 types of primary capsules, not 8", sizes={"primary_types": 2}),
    "types-32": Variant("32 types of primary capsules, not 8", sizes={"primary_types": 32}),
    "shared-weight": Variant("one W_j shared by all capsules below", start=share_matrices),
    "w-std-0.01": Variant(
        "W drawn with a standard deviation of 0.01, not 0.1",
        start=lambda network: draw_truncated(network.routed.weight, 0.01),
    ),
    "w-std-1": Variant(
        "W drawn with a standard deviation of 1, not 0.1",
        start=lambda network: draw_truncated(network.routed.weight, 1.0),
    ),
}
"""A name -> a variant, in the order in which several are applied."""


def build_variant(config: CapsNetConfig, names: Sequence[str] = ()) -> CapsNet:
    """Return a fresh network of these sizes with these differences.

    Raises:
        ValueError: as `chosen`, or two of them need the same part.
    """
    differences = chosen(names)
    parts: dict[str, Any] = {}
    for difference in differences:
        for field in ("routing", "primary", "mask"):
            make = getattr(difference, field)
            if make is not None:
                expect(field not in parts, "one variant of each part", " ".join(names))
                parts[field] = make(config)
    network = CapsNet(config, Parts(**parts))
    for difference in differences:
        if difference.start is not None:
            difference.start(network)
    return network


def variant_objective(names: Sequence[str], reconstruction_weight: float) -> Objective:
    """Return the loss function of these differences: margin loss + weighted reconstruction loss."""
    margin_loss: Callable[..., Tensor] = functional.margin_loss
    reconstruction_loss: Callable[..., Tensor] = functional.reconstruction_loss
    for difference in chosen(names):
        margin_loss = difference.margin_loss or margin_loss
        reconstruction_loss = difference.reconstruction_loss or reconstruction_loss
    return paper_objective(reconstruction_weight, margin_loss, reconstruction_loss)


def chosen(names: Sequence[str]) -> list[Variant]:
    """Return the variants of these names, in the order of `VARIANTS`.

    Raises:
        ValueError: no such variant, or one twice.
    """
    for name in names:
        expect(name in VARIANTS, f"a variant, one of {', '.join(VARIANTS)}", repr(name))
    expect(len(set(names)) == len(names), "each variant once", " ".join(names))
    return [variant for name, variant in VARIANTS.items() if name in names]
