"""What users stumbled over once, so that nobody does twice."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpcourse import (
    Budget,
    BudgetExceeded,
    DiscreteLaplace,
    DiscreteLoss,
    Exponential,
    Gaussian,
    GaussianLoss,
    Laplace,
    LaplaceLoss,
    LeakRows,
    LocalLaplace,
    RandomizedResponse,
    audit,
)
from dpcourse.accounting import dp_sgd_epsilon, sigma_for
from dpcourse.privacy_loss import NeighbourWarning


def test_a_utility_that_releases_cannot_get_its_answers_refunded() -> None:
    budget, answers = Budget(epsilon=1), []

    def greedy(data: int, _: object) -> list[float]:
        answers.append(budget.release(Laplace(epsilon=0.4, sensitivity=1), data))
        return [1.0, math.nan]  # makes the outer release fail

    outer = Exponential(epsilon=0.1, sensitivity=1, candidates=[1, 2], utility=greedy, neighbours="add/remove")
    for _ in range(5):
        with pytest.raises((ValueError, BudgetExceeded)):
            budget.release(outer, 51)
    assert budget.spent[0] == pytest.approx(0.4 * len(answers))
    assert budget.spent[0] <= 1


def test_a_refused_release_does_not_fix_the_relation_and_ten_tenths_leave_exactly_nothing() -> None:
    budget = Budget(epsilon=0.1)
    with pytest.raises(BudgetExceeded):
        budget.release(Laplace(epsilon=1, sensitivity=1), 1)
    budget.release(RandomizedResponse(epsilon=0.1), 1)
    whole = Budget(epsilon=1)
    for _ in range(10):
        whole.spend(0.1)
    with pytest.raises(BudgetExceeded):
        whole.spend(1e-13)


def test_a_changed_sigma_does_not_keep_an_old_claim() -> None:
    weaker = replace(Gaussian.analytic(epsilon=1, delta=1e-5), sigma=0.1)
    assert weaker.guarantee.epsilon == pytest.approx(weaker.plrv().epsilon(1e-5))
    with pytest.raises(TypeError):
        Gaussian(sigma=0.1, sensitivity=1, claimed_epsilon=0.001)


def test_parameters_become_plain_floats() -> None:
    assert GaussianLoss(np.float32(1)).epsilon(1e-5) == GaussianLoss(1).epsilon(1e-5)
    assert isinstance(DiscreteLaplace(epsilon=np.float32(0.1)).release(3, rng=1), int)
    scale = np.array(1.0)
    mechanism = Laplace(epsilon=scale, sensitivity=1)
    scale[...] = 100
    assert mechanism.epsilon == 1.0
    assert hash(mechanism) == hash(Laplace(epsilon=1, sensitivity=1))


def test_an_audit_does_not_accuse_because_of_a_rare_label() -> None:
    fair = [0, 1] * 5_000
    assert audit.epsilon_lower_bound(fair, [*fair[:-1], "x"], claimed=1).epsilon < 1
    assert audit.epsilon_lower_bound([np.int64(x) for x in fair], [*fair[:-1], None], claimed=1).epsilon < 1


def test_a_reference_with_a_large_atom_may_be_constant() -> None:
    draws = DiscreteLaplace(epsilon=20).release(0, size=1_000, rng=1)
    assert set(draws) == {0}
    assert audit.ks_fit(draws, lambda x: np.exp(20 * np.minimum(np.floor(x), 0)), level=1e-2).passed
    constant = audit.ks_fit(np.zeros(1_000), lambda x: 1 / (1 + np.exp(-x)), level=1e-2)
    assert not constant.passed


def test_large_losses_neither_overflow_nor_saturate() -> None:
    assert LaplaceLoss(1000).subsample(0.1).epsilon(1e-5) == pytest.approx(1000 + math.log(0.1), abs=1e-3)
    assert dp_sgd_epsilon(0.025, 0.1, 1, 1e-5) == pytest.approx(945.502, abs=1e-3)
    assert GaussianLoss(60).epsilon(1e-5) == pytest.approx(2054.93, abs=0.01)
    assert RandomizedResponse(epsilon=800).plrv().epsilon(1e-5) == pytest.approx(800, rel=1e-6)
    assert sigma_for(1000, 1e-5) == pytest.approx(Gaussian.analytic(epsilon=1000, delta=1e-5).sigma, rel=1e-6)
    assert GaussianLoss(20).subsample(0.5).mean == pytest.approx(200 / 2 - math.log(2), abs=1e-6)


def test_sampling_after_composing_keeps_what_only_one_world_has() -> None:
    base = DiscreteLoss.from_probabilities([0.5, 0.5, 0], [0.45, 0.45, 0.1])
    pair = np.array([0.5, 0.5, 0.0]), np.array([0.45, 0.45, 0.1])
    p, q = (np.multiply.outer(each, each).ravel() for each in pair)
    mixture = 0.1 * q + 0.9 * p
    truth = max(
        np.maximum(mixture - math.e * q, 0).sum(),
        np.maximum(q - math.e * mixture, 0).sum(),
    )
    assert base.compose(2).subsample(0.9).delta(1.0) == pytest.approx(truth, rel=1e-9)
    composed = (GaussianLoss(1) + LaplaceLoss(1)).subsample(0.1)
    assert composed.label == "upper bound"
    lower, upper = composed.delta(3, bracket=True)
    assert 0 < lower < upper < lower * 1.001


def test_replace_one_neighbours_are_not_sampled_silently() -> None:
    with pytest.warns(NeighbourWarning, match="add/remove"):
        RandomizedResponse(epsilon=1).plrv().compose(2).subsample(0.1)


def test_far_outputs_keep_their_loss() -> None:
    assert Laplace(epsilon=1, sensitivity=1).privacy_loss(1e17, 2, 1) == 1
    assert Gaussian(sigma=1, sensitivity=1).privacy_loss(1e10, 1, 0) == 1e10 - 0.5
    with pytest.raises(ValueError, match="nan"):
        Gaussian(sigma=1, sensitivity=1).privacy_loss(math.nan, 1, 0)


@pytest.mark.parametrize(
    ("call", "quoted"),
    [
        (lambda: Laplace(epsilon=10**400, sensitivity=1), "1000000"),
        (lambda: Laplace(epsilon=1, sensitivity=1).plrv([1, 2], [1, 2, 3]), r"\(3,\)"),
        (lambda: Laplace(epsilon=1, sensitivity=1).release("2"), "'2'"),
        (lambda: Laplace(epsilon=1, sensitivity=1).release(None), "None"),
        (lambda: RandomizedResponse(epsilon=1).plrv([1, 0], [0, 1]), r"\[1, 0\]"),
        (lambda: LocalLaplace(epsilon=1, low=0, high=1).plrv([1, 1], [0, 0]), r"\[1, 1\]"),
        (lambda: Exponential(epsilon=1, sensitivity=1, candidates={1, 2}), r"\{1, 2\}"),
        (lambda: Exponential(epsilon=1, sensitivity=1, candidates=[1], utility=5), "5"),
        (lambda: LeakRows(delta=0.1).plrv(("x", "x"), ("x",)), "distinct"),
        (lambda: Budget(1).release("x", 1), "'x'"),
        (lambda: DiscreteLoss.from_atoms([0.0, 1.0], [2.0, -1.0]), r"2\.0"),
        (lambda: audit.audit_mechanism(5, 1, 0, draws=100), "5"),
    ],
)
def test_bad_input_is_quoted(call, quoted: str) -> None:
    with pytest.raises((ValueError, TypeError), match=quoted):
        call()


def test_losses_can_be_summed_compared_and_read_as_curves() -> None:
    one = RandomizedResponse(epsilon=1).plrv()
    assert sum([one, one, one]).epsilon(1e-9) == one.compose(3).epsilon(1e-9)
    assert one == RandomizedResponse(epsilon=1).plrv()
    assert LaplaceLoss(1).epsilon([1e-3, 1e-5]).shape == (2,)
    assert len(repr((GaussianLoss(1).subsample(0.5).compose(9) + LaplaceLoss(1)).subsample(0.1))) < 600
