"""controls.py: couplings without agreement, or another image's, or with more, against loops and `route`."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
import torch
from capsnet_book.routings.controls import LengthShares, OthersAgreement, ScaledAgreement, SelfRouting, StaticShares
from networks import noise

from capsnet_tutorial.functional import route

B, I, J, D = 3, 5, 4, 6
U_HAT = noise(B, I, J, D)


def shares(logits: np.ndarray) -> np.ndarray:
    return np.array([[oracle.softmax(row) for row in image] for image in logits])


def outputs(c: np.ndarray) -> np.ndarray:
    """v = squash(Σ_i c_ij û_j|i)."""
    u_hat = U_HAT.numpy()
    return np.array(
        [[oracle.squash(sum(c[b, i, j] * u_hat[b, i, j] for i in range(I))) for j in range(J)] for b in range(B)]
    )


def test_a_capsule_chooses_by_its_own_vote_a_learned_prior_or_a_votes_length():
    votes, gate, prior = U_HAT.numpy(), noise(I, J, D, seed=1), noise(I, J, seed=2)
    own, static, length = SelfRouting(I, J, D), StaticShares(I, J), LengthShares()
    own.gate.data, static.prior.data, length.gain.data = gate, prior, torch.tensor([2.0], dtype=U_HAT.dtype)
    logits = {
        own: np.array([[[votes[b, i, j] @ gate[i, j].numpy() for j in range(J)] for i in range(I)] for b in range(B)]),
        static: np.broadcast_to(prior.numpy(), (B, I, J)),
        length: np.array([[[2 * oracle.length(votes[b, i, j]) for j in range(J)] for i in range(I)] for b in range(B)]),
    }
    for routing, expected in logits.items():
        oracle.agrees(routing.couplings(U_HAT, 3), shares(expected))
        oracle.agrees(routing(U_HAT, 3), outputs(shares(expected)))


@pytest.mark.parametrize(
    "routing", [SelfRouting(I, J, D), StaticShares(I, J), LengthShares(), ScaledAgreement(4), OthersAgreement()]
)
def test_with_one_round_all_have_even_shares(routing):
    torch.testing.assert_close(routing.eval().to(U_HAT.dtype)(U_HAT, 1), route(U_HAT, 1))


@pytest.mark.parametrize("rounds", [2, 3, 5])
def test_agreement_times_one_is_the_papers_and_times_zero_is_none(rounds):
    torch.testing.assert_close(ScaledAgreement(1)(U_HAT, rounds), route(U_HAT, rounds))
    torch.testing.assert_close(ScaledAgreement(0)(U_HAT, rounds), route(U_HAT, 1))
    trace = route(U_HAT, 2, return_trace=True)[1]
    torch.testing.assert_close(ScaledAgreement(4).couplings(U_HAT, 2), (4 * trace.b[1]).softmax(dim=2))


def test_in_training_couplings_are_the_neighbours_and_in_eval_mode_ones_own():
    routing = OthersAgreement()
    c = route(U_HAT, 3, return_trace=True)[1].c[-1].numpy()
    oracle.agrees(routing.train()(U_HAT, 3), outputs(c[[2, 0, 1]]))
    torch.testing.assert_close(routing.eval()(U_HAT, 3), route(U_HAT, 3))
