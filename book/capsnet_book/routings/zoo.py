"""Published ways to route, by name, each with its source.

The wrong ones live in `capsnet_book.bugs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from capsnet_book.routings.em import EMRouting
from capsnet_book.routings.gained import GainedRouting
from capsnet_book.routings.inverted_attention import InvertedAttention
from capsnet_book.routings.k_means import KMeansRouting
from capsnet_book.routings.self_attention import SelfAttention
from capsnet_book.routings.sinkhorn import SinkhornRouting
from capsnet_tutorial.functional import route
from capsnet_tutorial.layers import Routing
from capsnet_tutorial.model import CapsNetConfig


class RoutingEntry(NamedTuple):
    """A published way to route."""

    summary: str
    source: str
    """Authors and year."""
    make: Callable[[CapsNetConfig], Routing]
    """Returns a fresh routing for a network of these sizes."""


def even_shares(u_hat: Tensor, iterations: int) -> Tensor:
    """Give every capsule above an equal share of each vote: `route` with one round, always.

    u_hat [B, I, J, D] -> v [B, J, D]; the number of rounds has no meaning.
    """
    return route(u_hat, 1)


ZOO: dict[str, RoutingEntry] = {
    "paper": RoutingEntry(
        "routing by agreement: Procedure 1", "Sabour, Frosst and Hinton 2017", lambda config: route
    ),
    "even": RoutingEntry(
        "even shares: nothing is routed",
        "Sabour, Frosst and Hinton 2017",
        lambda config: even_shares,
    ),
    "learned-gain": RoutingEntry(
        "even shares with a learned gain for each class",
        "this book, after Sabour et al. 2017",
        lambda config: GainedRouting(config.classes),
    ),
    "self-attention": RoutingEntry(
        "self-attention with a learned prior",
        "Mazzia, Salvetti and Chiaberge 2021",
        lambda config: SelfAttention(config.primary_capsules, config.classes),
    ),
    "inverted-attention": RoutingEntry(
        "inverted dot-product attention",
        "Tsai, Srivastava, Goh and Salakhutdinov 2020",
        lambda config: InvertedAttention(config.class_dim),
    ),
    "em": RoutingEntry(
        "EM of Gaussians, on vectors",
        "Hinton, Sabour and Frosst 2018",
        lambda config: EMRouting(config.classes),
    ),
    "k-means": RoutingEntry(
        "soft k-means on the sphere",
        "Wang and Liu 2018",
        lambda config: KMeansRouting(),
    ),
    "sinkhorn": RoutingEntry(
        "balanced couplings: every class gets an equal share",
        "Cuturi 2013",
        lambda config: SinkhornRouting(),
    ),
}
"""A name -> a way to route."""
