"""The museum of bugs: it has every bug of the catalogue, and says what it does not have."""

from __future__ import annotations

import pytest
import torch
from capsnet_book.bugs import BUGS, piece_of, variant

from capsnet_tutorial.check import CHECKERS


def test_the_museum_has_every_bug_and_refuses_others():
    assert all(callable(variant(piece_of(bug), bug)) for bug in BUGS)
    assert {piece_of(bug) for bug in BUGS} < set(CHECKERS)
    first, second = variant("routing", "stale-logits"), variant("routing", "stale-logits")
    u_hat = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(first(u_hat, 3), second(u_hat, 3))
    assert not torch.equal(first(u_hat, 3), variant("routing", "stale-logits")(u_hat, 3))
    with pytest.raises(ValueError, match=r"expected a piece, one of squash, .*; got 'root'"):
        variant("root")
    with pytest.raises(ValueError, match=r"a bug that mask can have, one of mask-prediction; got 'squash-nan'"):
        variant("mask", "squash-nan")
    with pytest.raises(ValueError, match="expected a bug, one of softmax-axis.*; got 'typo'"):
        piece_of("typo")
