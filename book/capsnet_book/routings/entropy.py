"""Entropy of couplings: a measure of how decided a routing is."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from capsnet_tutorial.errors import expect, expect_floating


def coupling_entropy(c: Tensor) -> Tensor:
    """Return the entropy in bits of a capsule's couplings, averaged over the capsules below.

    It is log2 J if each shares itself out evenly, 0 if each belongs to one capsule above.

    Args:
        c: [..., I, J], couplings; over j they sum to 1.

    Returns:
        [...].
    """
    expect_floating("c", c)
    expect(c.dim() >= 2, "c of shape [..., I, J]", f"shape {list(c.shape)}")
    return -torch.special.xlogy(c, c).sum(dim=-1).mean(dim=-1) / math.log(2)
