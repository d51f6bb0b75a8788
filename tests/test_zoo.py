"""zoo.py: each way to route against loops over b, i, j and d, written from its paper."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import oracle
import pytest
import torch
from capsnet_book.routings.controls import (
    ClassmatesAgreement,
    DealtAgreement,
    LengthShares,
    OthersAgreement,
    OutputCompetition,
    ScaledAgreement,
    SelfRouting,
    StaticShares,
    next_of_class,
)
from capsnet_book.routings.em import EMRouting
from capsnet_book.routings.inverted_attention import InvertedAttention
from capsnet_book.routings.k_means import KMeansRouting
from capsnet_book.routings.self_attention import attention_couplings, route_by_attention
from capsnet_book.routings.sinkhorn import SinkhornRouting
from capsnet_book.routings.zoo import ZOO
from networks import noise

from capsnet_tutorial.functional import capsule_lengths, route, squash
from capsnet_tutorial.model import CapsNetConfig

B, I, J, D = 3, 6, 3, 4
U_HAT = noise(B, I, J, D)
VOTES = U_HAT.numpy()
ROUNDS = pytest.mark.parametrize("rounds", [1, 2, 4])


def total(c: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """s [J, D] of one image."""
    return np.array([sum(c[i, j] * votes[i, j] for i in range(I)) for j in range(J)])


def agreements(votes: np.ndarray, v: np.ndarray) -> np.ndarray:
    """⟨û_j|i, v_j⟩, [I, J]."""
    return np.array([[float(votes[i, j] @ v[j]) for j in range(J)] for i in range(I)])


def shares(logits: np.ndarray) -> np.ndarray:
    return np.array([oracle.softmax(row) for row in logits])


def squashed(couplings: Iterable[np.ndarray]) -> np.ndarray:
    """v = squash(Σ_i c_ij û_j|i), by image."""
    return np.array(
        [oracle.squash(total(c, votes)) for c, votes in zip(couplings, VOTES, strict=True)]
    )


def check(routing: torch.nn.Module, rounds: int, couplings: list[np.ndarray]) -> None:
    """Couplings as expected, and what follows from them."""
    oracle.agrees(routing.couplings(U_HAT, rounds), np.array(couplings))
    oracle.agrees(routing(U_HAT, rounds), squashed(couplings))


@ROUNDS
def test_inverted_attention_normalises_the_layer_between_rounds(rounds):
    routing = InvertedAttention(D).double()
    gain, offset = noise(D, seed=1), noise(D, seed=2)
    routing.gain.data, routing.offset.data = gain, offset
    couplings = []
    for votes in VOTES:
        c = np.full((I, J), 1 / J)
        for _ in range(rounds - 1):
            v = []
            for s in total(c, votes):
                mean = sum(s) / D
                deviation = math.sqrt(sum((x - mean) ** 2 for x in s) / D + 1e-5)
                v.append((s - mean) / deviation * gain.numpy() + offset.numpy())
            c = shares(agreements(votes, np.array(v)))
        couplings.append(c)
    check(routing, rounds, couplings)


def k_means(votes: np.ndarray, rounds: int, alpha: float) -> tuple[np.ndarray, list[float]]:
    """Couplings of one image, and what is minimised after each half round."""
    c, objective = np.full((I, J), 1 / J), []
    for _ in range(rounds - 1):
        s = np.array([row / oracle.length(row) for row in total(c, votes)])
        for half in (c, shares(agreements(votes, s) / alpha)):
            c = half
            objective.append(float((alpha * c * np.log(c) - c * agreements(votes, s)).sum()))
    return c, objective


@ROUNDS
def test_k_means_alternates_between_centres_and_shares(rounds):
    check(KMeansRouting(alpha=0.5), rounds, [k_means(votes, rounds, 0.5)[0] for votes in VOTES])


@ROUNDS
def test_sinkhorn_is_procedure_1_with_rows_and_columns_normalised_in_turn(rounds):
    def balanced(b: np.ndarray) -> np.ndarray:
        c = np.exp(b)
        for _ in range(3):
            c = c / c.sum(axis=0) * I / J
            c = c / c.sum(axis=1)[:, None]
        return c

    couplings = []
    for votes in VOTES:
        b = np.zeros((I, J))
        for _ in range(rounds - 1):
            b = b + agreements(votes, oracle.squash(total(balanced(b), votes)))
        couplings.append(balanced(b))
    check(SinkhornRouting(sweeps=3), rounds, couplings)


@ROUNDS
def test_em_fits_gaussians_to_the_votes(rounds):
    routing = EMRouting(J, inverse_temperature=0.7, least_variance=0.02).double()
    routing.cost.data, routing.benefit.data = (
        torch.tensor(0.3, dtype=torch.float64),
        noise(J, seed=1),
    )
    beta_u, beta = 0.3, routing.benefit.detach().numpy()
    r_found, v_found = [], []
    for image in VOTES:
        active = np.array([oracle.length(image[i].ravel()) for i in range(I)])
        active = active / active.mean()
        votes = image / math.sqrt((image**2).mean())
        r = np.full((I, J), 1 / J)
        for step in range(rounds):
            w = r * active[:, None]
            mean = np.array(
                [sum(w[i, j] * votes[i, j] for i in range(I)) / w[:, j].sum() for j in range(J)]
            )
            var = np.array(
                [
                    sum(w[i, j] * (votes[i, j] - mean[j]) ** 2 for i in range(I)) / w[:, j].sum()
                    for j in range(J)
                ]
            )
            var = var + 0.02
            cost = [
                np.mean(beta_u + np.log(np.sqrt(var[j]))) * w[:, j].sum() * J / I for j in range(J)
            ]
            a = [1 / (1 + math.exp(-0.7 * (beta[j] - cost[j]))) for j in range(J)]
            if step == rounds - 1:
                break
            for i in range(I):
                density = [
                    a[j]
                    * np.prod(
                        np.exp(-((votes[i, j] - mean[j]) ** 2) / 2 / var[j]) / np.sqrt(var[j])
                    )
                    for j in range(J)
                ]
                r[i] = np.array(density) / sum(density)
        r_found.append(r.copy())
        v_found.append([a[j] * mean[j] / oracle.length(mean[j]) for j in range(J)])
    oracle.agrees(routing.couplings(U_HAT, rounds), np.array(r_found))
    oracle.agrees(routing(U_HAT, rounds), np.array(v_found))


# --- self-attention


def test_couplings_are_a_softmax_over_j_of_how_much_all_pairs_agree():
    c = attention_couplings(U_HAT)
    for u_hat, shares in zip(U_HAT, c, strict=True):
        attention = torch.einsum("ijd,kjd->ikj", u_hat, u_hat) / math.sqrt(
            D
        )  # every pair of capsules below
        torch.testing.assert_close(shares, attention.sum(dim=1).softmax(dim=1))


def test_the_output_is_the_squashed_sum_with_the_prior_added_after_the_softmax():
    prior = noise(I, J)
    c = attention_couplings(U_HAT) + prior
    for b in range(B):
        s = torch.stack([sum(c[b, i, j] * U_HAT[b, i, j] for i in range(I)) for j in range(J)])
        torch.testing.assert_close(route_by_attention(U_HAT, prior)[b], squash(s))
    assert route_by_attention(U_HAT).equal(route_by_attention(U_HAT, torch.zeros_like(prior)))


# --- controls


def test_a_capsule_chooses_by_its_own_vote_a_learned_prior_or_a_votes_length():
    votes, gate, prior = VOTES, noise(I, J, D, seed=1), noise(I, J, seed=2)
    own, static, length = SelfRouting(I, J, D), StaticShares(I, J), LengthShares()
    own.gate.data, static.prior.data, length.gain.data = (
        gate,
        prior,
        torch.tensor([2.0], dtype=U_HAT.dtype),
    )
    logits = {
        own: np.array(
            [
                [[votes[b, i, j] @ gate[i, j].numpy() for j in range(J)] for i in range(I)]
                for b in range(B)
            ]
        ),
        static: np.broadcast_to(prior.numpy(), (B, I, J)),
        length: np.array(
            [
                [[2 * oracle.length(votes[b, i, j]) for j in range(J)] for i in range(I)]
                for b in range(B)
            ]
        ),
    }
    for routing, expected in logits.items():
        check(routing, 3, [shares(image) for image in expected])


@pytest.mark.parametrize(
    "routing",
    [
        SelfRouting(I, J, D),
        StaticShares(I, J),
        LengthShares(),
        ScaledAgreement(4),
        OthersAgreement(),
        ClassmatesAgreement(),
        DealtAgreement(),
        OutputCompetition(),
    ],
)
def test_with_one_round_all_have_even_shares(routing):
    torch.testing.assert_close(routing.eval().to(U_HAT.dtype)(U_HAT, 1), route(U_HAT, 1))


@pytest.mark.parametrize("rounds", [2, 3, 5])
def test_agreement_times_one_is_the_papers_and_times_zero_is_none(rounds):
    torch.testing.assert_close(ScaledAgreement(1)(U_HAT, rounds), route(U_HAT, rounds))
    torch.testing.assert_close(ScaledAgreement(0)(U_HAT, rounds), route(U_HAT, 1))
    trace = route(U_HAT, 2, return_trace=True)[1]
    torch.testing.assert_close(
        ScaledAgreement(4).couplings(U_HAT, 2), (4 * trace.b[1]).softmax(dim=2)
    )


def test_in_training_couplings_are_the_neighbours_and_in_eval_mode_ones_own():
    routing = OthersAgreement()
    c = route(U_HAT, 3, return_trace=True)[1].c[-1].numpy()
    oracle.agrees(routing.train()(U_HAT, 3), squashed(c[[2, 0, 1]]))
    torch.testing.assert_close(routing.eval()(U_HAT, 3), route(U_HAT, 3))


def test_the_next_of_a_class_is_the_first_after_the_last_and_itself_if_alone():
    classes = torch.tensor([3, 1, 3, 7, 3, 1])
    assert next_of_class(classes).tolist() == [2, 5, 4, 3, 0, 1]


def test_classmates_swap_couplings_in_training():
    routing = ClassmatesAgreement()
    u_hat = torch.cat([U_HAT[:1], 1.1 * U_HAT[:1]])  # two images that are read as the same class
    c = route(u_hat, 3, return_trace=True)[1].c[-1]
    expected = squash(torch.einsum("bij,bije->bje", c.flip(0), u_hat))
    torch.testing.assert_close(routing.train()(u_hat, 3), expected)
    torch.testing.assert_close(routing.eval()(u_hat, 3), route(u_hat, 3))


def test_dealt_couplings_are_the_images_own_in_another_order():
    routing = DealtAgreement()
    torch.manual_seed(0)
    c = route(U_HAT, 3, return_trace=True)[1].c[-1]
    dealt = routing.foreign(c, U_HAT)
    assert not dealt.equal(c)
    for own, other in zip(c, dealt, strict=True):
        assert sorted(own.tolist()) == sorted(other.tolist())  # whole rows change places
    torch.testing.assert_close(routing.eval()(U_HAT, 3), route(U_HAT, 3))


def test_outputs_compete_by_their_lengths_alone():
    sums = VOTES.sum(axis=1)  # [B, J, D]
    for b in range(B):
        logits = np.zeros(J)
        for _ in range(2):
            c = oracle.softmax(logits)
            v = [oracle.squash(c[j] * sums[b, j]) for j in range(J)]
            logits += 2 * np.array([oracle.length(vector) for vector in v])
        c = oracle.softmax(logits)
        expected = np.stack([oracle.squash(c[j] * sums[b, j]) for j in range(J)])
        oracle.agrees(OutputCompetition(2.0).to(U_HAT.dtype)(U_HAT, 3)[b], expected)


@pytest.mark.parametrize("rounds", [2, 3, 5])
def test_competition_sharpens_and_keeps_the_order_of_lengths(rounds):
    routing = OutputCompetition(2.0).to(U_HAT.dtype)
    once, often = (capsule_lengths(routing(U_HAT, r)) for r in (1, rounds))
    assert once.argsort(dim=1).equal(often.argsort(dim=1))
    longest = once.argmax(dim=1, keepdim=True)
    assert (often.gather(1, longest) > once.gather(1, longest)).all()


def test_even_shares_stay_even_in_every_round():
    routing = ZOO["even"].make(CapsNetConfig.small())
    torch.testing.assert_close(routing(U_HAT, 3), route(U_HAT, 1))
