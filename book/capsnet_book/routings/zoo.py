"""The zoo: published ways to route, by name, each with its source.

The wrong ones live in `capsnet_book.bugs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from capsnet_book.routings.em import EMRouting
from capsnet_book.routings.gained import GainedRouting
from capsnet_book.routings.inverted_attention import InvertedAttention
from capsnet_book.routings.k_means import KMeansRouting
from capsnet_book.routings.self_attention import SelfAttention
from capsnet_book.routings.sinkhorn import SinkhornRouting
from capsnet_tutorial.functional import route
from capsnet_tutorial.layers import Routing
from capsnet_tutorial.model import CapsNetConfig


class Species(NamedTuple):
    """A way to route."""

    summary: str
    source: str
    """Authors and year."""
    make: Callable[[CapsNetConfig], Routing]
    """A fresh one for a network of these sizes: (u_hat [B, I, J, D], iterations) -> v [B, J, D]."""


ZOO: dict[str, Species] = {
    "paper": Species(
        "routing by agreement: Procedure 1", "Sabour, Frosst and Hinton 2017", lambda config: route
    ),
    "even": Species(
        "even shares: nothing is routed", "Sabour, Frosst and Hinton 2017", lambda config: route
    ),
    "learned-gain": Species(
        "even shares with a learned gain for each class",
        "this book, after Sabour et al. 2017",
        lambda config: GainedRouting(config.classes),
    ),
    "self-attention": Species(
        "self-attention with a learned prior",
        "Mazzia, Salvetti and Chiaberge 2021",
        lambda config: SelfAttention(config.primary_capsules, config.classes),
    ),
    "inverted-attention": Species(
        "inverted dot-product attention",
        "Tsai, Srivastava, Goh and Salakhutdinov 2020",
        lambda config: InvertedAttention(config.class_dim),
    ),
    "em": Species(
        "EM of Gaussians, on vectors",
        "Hinton, Sabour and Frosst 2018",
        lambda config: EMRouting(config.classes),
    ),
    "k-means": Species(
        "soft k-means on the sphere",
        "Wang and Liu 2018",
        lambda config: KMeansRouting(),
    ),
    "sinkhorn": Species(
        "balanced couplings: every class gets an equal share",
        "Cuturi 2013",
        lambda config: SinkhornRouting(),
    ),
}
"""Every way to route that is no mistake, by its name."""
