"""The paper's network with one thing done differently, each difference by its name: what experiments switch on.

A change is made from outside: the layers and the network know nothing of it. The weights of a changed network are
drawn from the same random numbers as those of an unchanged one, wherever both have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, Never, cast

import torch
from torch import Tensor, nn

from capsnet_tutorial import bugs, functional
from capsnet_tutorial.errors import expect
from capsnet_tutorial.experiments.cnn import ConvNet, ConvNetConfig, build
from capsnet_tutorial.layers import RoutedCapsules, draw_truncated
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.routings import self_attention as attention
from capsnet_tutorial.training.objective import Loss, paper_objective

# --- in the network


def divide_primary_capsules(network: CapsNet) -> None:
    """Divide the primary capsules' convolution by the number of their types; its bias is added afterwards.

    The released code sends the convolution through one round of routing over the types first: even shares.
    """
    types = network.config.primary_types

    def divide(conv: nn.Module, _inputs: object, features: Tensor) -> Tensor:
        bias = _bias(cast(nn.Conv2d, conv)).view(-1, 1, 1)
        return (features - bias) / types + bias

    network.primary.conv.register_forward_hook(divide)


def draw_as_released(network: CapsNet) -> None:
    """Draw the convolutions' weights from truncated normals, the first of standard deviation 0.05, the second of 0.1.

    Their biases are 0.1.
    """
    for conv, std in ((network.conv, 0.05), (network.primary.conv, 0.1)):
        draw_truncated(conv.weight, std)
        nn.init.constant_(_bias(conv), 0.1)


def add_bias(network: CapsNet) -> None:
    """Add a bias of its own to every s_j, 0.1 at first."""
    network.routed = BiasedRouting(network.routed)


def normalise_over_the_layer_below(network: CapsNet) -> None:
    """Let the couplings sum to 1 over i, the layer below, instead of over j."""
    network.routed = BuggyRouting(network.routed)


def route_by_attention(network: CapsNet) -> None:
    """Route once, by self-attention."""
    network.routed = AttentionRouting(network.routed)


def learn_gains(network: CapsNet) -> None:
    """Multiply every s_j by a learned gain g_j, 1 at first."""
    network.routed = GainedMatrices(network.routed)


def share_matrices(network: CapsNet) -> None:
    """Let all capsules below use the same matrices: W_ij is one W_j for every i."""
    network.routed = SharedMatrices(network.routed)


def mask_by_prediction(network: CapsNet) -> None:
    """Redraw from the longest capsule in training too: the network never gets to see the labels."""

    def blindfold(_network: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any]:
        return inputs[:1], {name: each for name, each in named.items() if name != "labels"}

    network.register_forward_pre_hook(blindfold, with_kwargs=True)


def draw_matrices(network: CapsNet, std: float) -> None:
    """Draw the W_ij with another standard deviation."""
    draw_truncated(network.routed.weight, std)


class GainedMatrices(RoutedCapsules):
    """The paper's routing with g_j W_ij for W_ij: with one round, v_j = squash(g_j Σ_i û_j|i / J)."""

    def __init__(self, routed: RoutedCapsules) -> None:
        expect(type(routed) is RoutedCapsules, "one change of the routing", "two")
        in_capsules, out_capsules, in_dim, out_dim = routed.weight.shape
        super().__init__(in_capsules, in_dim, out_capsules, out_dim, routed.iterations)
        self.weight = routed.weight
        self.gain = nn.Parameter(torch.ones(out_capsules))

    @property
    def matrices(self) -> Tensor:
        return self.weight * self.gain.view(-1, 1, 1)


class SharedMatrices(RoutedCapsules):
    """The paper's routing with one W_j [J, D_in, D_out] for all capsules below; kept as a weight with I = 1."""

    def __init__(self, routed: RoutedCapsules) -> None:
        expect(type(routed) is RoutedCapsules, "one change of the routing", "two")
        self.in_capsules, out_capsules, in_dim, out_dim = routed.weight.shape
        super().__init__(1, in_dim, out_capsules, out_dim, routed.iterations)
        self.weight = nn.Parameter(routed.weight.detach()[:1].clone())

    @property
    def matrices(self) -> Tensor:
        return self.weight.expand(self.in_capsules, -1, -1, -1)


class ChangedRouting(RoutedCapsules):
    """The matrices of a layer, routed otherwise; the gradient flows through every round."""

    def __init__(self, routed: RoutedCapsules) -> None:
        expect(type(routed) is RoutedCapsules, "one change of the routing", "two")
        in_capsules, out_capsules, in_dim, out_dim = routed.weight.shape
        super().__init__(in_capsules, in_dim, out_capsules, out_dim, routed.iterations)
        self.weight = routed.weight

    @property
    def gradient(self) -> Literal["all", "last"]:
        """ "all", and nothing else: there may be no last round."""
        return "all"

    @gradient.setter
    def gradient(self, gradient: Literal["all", "last"]) -> None:
        expect(gradient == "all", "a gradient through all rounds of a changed routing", repr(gradient))

    def forward(self, u: Tensor) -> Tensor:
        with torch.autocast(u.device.type, enabled=False):  # in float32 at least, as the paper's routing
            below, weight = functional.at_least_float32(u), functional.at_least_float32(self.weight)
            return self.rounds(functional.prediction_vectors(below, weight)).to(u.dtype)

    def rounds(self, u_hat: Tensor) -> Tensor:
        """[B, I, J, D_out] -> v [B, J, D_out]."""
        raise NotImplementedError

    def trace(self, u: Tensor) -> Never:
        """There is none: the inherited one would be of the paper's routing."""
        raise NotImplementedError(f"expected the paper's routing to trace; got {type(self).__name__}")


class BuggyRouting(ChangedRouting):
    """`bugs.variant` with the softmax over the wrong axis."""

    def rounds(self, u_hat: Tensor) -> Tensor:
        return bugs.variant("routing", "softmax-axis")(u_hat, self.iterations)


class BiasedRouting(ChangedRouting):
    """s_j = Σ_i c_ij û_j|i + bias_j, in every round."""

    def __init__(self, routed: RoutedCapsules) -> None:
        super().__init__(routed)
        self.bias = nn.Parameter(torch.full((routed.weight.shape[1], routed.weight.shape[3]), 0.1))

    def rounds(self, u_hat: Tensor) -> Tensor:
        b = u_hat.new_zeros(u_hat.shape[:3])  # [B, I, J]
        for r in range(self.iterations):
            v = functional.squash(torch.einsum("bij,bijd->bjd", b.softmax(dim=2), u_hat) + self.bias)
            if r < self.iterations - 1:
                b = b + torch.einsum("bijd,bjd->bij", u_hat, v)
        return v


class AttentionRouting(ChangedRouting):
    """`attention.route_by_attention` with a prior that is learned; the number of rounds has no meaning."""

    def __init__(self, routed: RoutedCapsules) -> None:
        super().__init__(routed)
        self.prior = nn.Parameter(torch.zeros(routed.weight.shape[:2]))

    def rounds(self, u_hat: Tensor) -> Tensor:
        return attention.route_by_attention(u_hat, self.prior)


# --- all of them


class Change(NamedTuple):
    """One difference, in the network or in a loss."""

    says: str
    """What it is, in a few words."""
    network: Callable[[CapsNet], None] | None = None
    """Makes it in a fresh network."""
    margin_loss: Loss | None = None
    """(lengths [B, J], labels [B]) -> scalar, instead of equation 4."""
    reconstruction_loss: Loss | None = None
    """(reconstruction [B, P], images) -> scalar, not weighted yet, instead of the paper's."""


CHANGES: dict[str, Change] = {
    "loss-released": Change(
        "margin loss times 0.5 and averaged over the classes: 1/20 of the paper's (released code)",
        margin_loss=partial(bugs.margin_loss, factor=0.5, over_classes="mean"),
    ),
    "primary-divided": Change(
        "primary capsules' convolution divided by the number of their types (released code)",
        network=divide_primary_capsules,
    ),
    "init-released": Change(
        "convolutions drawn with standard deviations 0.05 and 0.1, their biases 0.1 (released code)",
        network=draw_as_released,
    ),
    "bias-released": Change("a bias on s_j, 0.1 at first (released code)", network=add_bias),
    "mask-prediction": Change("decoder masked by the prediction in training too", network=mask_by_prediction),
    "recon-mean": Change(
        "reconstruction loss averaged over the pixels instead of summed: 784 times weaker",
        reconstruction_loss=partial(bugs.variant("reconstruction_loss", "recon-mean"), weight=1.0),
    ),
    "softmax-axis": Change("couplings that sum to 1 over the layer below", network=normalise_over_the_layer_below),
    "self-attention": Change("self-attention routing instead of rounds", network=route_by_attention),
    "learned-gain": Change("a learned gain on s_j, 1 at first", network=learn_gains),
    "shared-weight": Change("one W_j shared by all capsules below", network=share_matrices),
    "w-std-0.01": Change("W drawn with standard deviation 0.01 instead of 0.1", partial(draw_matrices, std=0.01)),
    "w-std-1": Change("W drawn with standard deviation 1 instead of 0.1", partial(draw_matrices, std=1.0)),
}
"""Every change, by its name."""


class ChangedCapsNet(CapsNet):
    """A CapsNet that knows what was changed in it."""

    def __init__(self, config: CapsNetConfig, changes: Sequence[str]) -> None:
        super().__init__(config)
        self.changes = tuple(changes)
        for name in changes:
            if (change := CHANGES[name].network) is not None:
                change(self)


def build_changed(config: CapsNetConfig | ConvNetConfig, changes: Sequence[str] = ()) -> CapsNet | ConvNet:
    """A fresh network of these sizes with these changes."""
    _check(changes)
    if not changes:
        return build(config)
    expect(isinstance(config, CapsNetConfig), "a CapsNet to change", "a CNN")
    return ChangedCapsNet(cast(CapsNetConfig, config), changes)


def changes_of(network: nn.Module) -> tuple[str, ...]:
    """What was changed in a network."""
    return network.changes if isinstance(network, ChangedCapsNet) else ()


def is_traceable(network: CapsNet) -> bool:
    """Whether its routing is the paper's, so that its rounds and couplings can be looked at."""
    return not isinstance(network.routed, ChangedRouting)


def changed_objective(changes: Sequence[str], reconstruction_weight: float) -> Callable[..., Tensor]:
    """What `fit` minimises with these changes: margin loss plus the weighted reconstruction loss."""
    _check(changes)
    margin_loss, reconstruction_loss = functional.margin_loss, functional.reconstruction_loss
    for name in changes:
        margin_loss = CHANGES[name].margin_loss or margin_loss
        reconstruction_loss = CHANGES[name].reconstruction_loss or reconstruction_loss
    return paper_objective(reconstruction_weight, margin_loss, reconstruction_loss)


def _check(changes: Sequence[str]) -> None:
    for name in changes:
        expect(name in CHANGES, f"a change, one of {', '.join(CHANGES)}", repr(name))
    expect(len(set(changes)) == len(changes), "each change once", " ".join(changes))


def _bias(conv: nn.Conv2d) -> Tensor:
    assert conv.bias is not None
    return conv.bias
